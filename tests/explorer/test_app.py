"""The explorer as a program that serves a page."""

import gc
import subprocess
import sys
from types import SimpleNamespace

from kdegraph_explorer import app


def test_what_only_the_first_result_needs_is_not_imported_before_a_page_is_served():
    code = (
        "import sys, kdegraph_explorer.app; from kdegraph_explorer.process import LIBRARIES; "
        "print(*(name for name in (*LIBRARIES, 'scipy.ndimage') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_what_was_imported_is_no_garbage_to_be_searched_while_pages_are_served(monkeypatch):
    spared = []
    loop = SimpleNamespace(start=lambda: spared.append(gc.get_freeze_count()))
    server = SimpleNamespace(port=5006, prefix="", start=lambda: None, io_loop=loop)
    monkeypatch.setattr(app, "server_of", lambda *args, **options: server)
    monkeypatch.setattr(app, "application_of", lambda server: None)
    monkeypatch.setattr(app, "keep_spare", lambda application: None)
    monkeypatch.setattr(app.process, "start", lambda: None)
    app.serve()
    assert spared[0] > 100_000
    assert gc.get_freeze_count() == 0
