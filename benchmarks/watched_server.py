"""The explorer's server, which writes into a file each second what it holds: sessions, and those
that have ended but are still in memory.

    python -m benchmarks.watched_server PORT FILE
"""

import json
import sys
import threading
import time
import weakref
from pathlib import Path

from kdegraph_explorer import app, session


def main(port, path):
    made, servers, make = weakref.WeakSet(), [], app.server_of
    begin = session.Session.__init__

    def note_session(self, *args, **options):
        begin(self, *args, **options)
        made.add(self)

    def note_server(*args, **options):
        servers.append(make(*args, **options))
        return servers[-1]

    def write():
        while True:
            time.sleep(1)
            held = {"sessions": len(servers[0].get_sessions("/")), "kept": len(made)}
            new = path.with_suffix(".new")
            new.write_text(json.dumps(held))
            new.replace(path)

    session.Session.__init__, app.server_of = note_session, note_server
    threading.Thread(target=write, daemon=True).start()
    app.serve(port=port)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
