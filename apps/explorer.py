"""The explorer for `panel serve apps/explorer.py`; a data file may follow `--args`."""

import sys

from kdegraph_explorer.app import create_app
from kdegraph_explorer.servers import ping_pages

ping_pages()
create_app(sys.argv[1] if len(sys.argv) > 1 else None).servable()
