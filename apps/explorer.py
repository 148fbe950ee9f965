"""The explorer for Panel's own server; a data file may follow `--args`:

    panel serve apps/explorer.py --show --args data.csv

`kdegraph explore` checks who may enter. This server does not: here the page itself refuses to show
anything under a foreign host name or in a session that an address has chosen, and Panel has flags
and variables for the rest.

--allow-websocket-origin example.org
    A host under which the page may be opened, with its port unless that is 80; never `*`.
BOKEH_SIGN_SESSIONS=yes, BOKEH_SECRET_KEY=$(bokeh secret)
    Without them, anybody can make the tokens with which pages connect.
--basic-auth PASSWORD-OR-FILE, --cookie-secret "$(bokeh secret)"
    A password.
--prefix /path
    The path under which a proxy passes on requests.

See docs/serving.md.
"""

import sys

from kdegraph_explorer.app import create_app
from kdegraph_explorer.serving.servers import prepare_panel

prepare_panel()
create_app(sys.argv[1] if len(sys.argv) > 1 else None).servable()
