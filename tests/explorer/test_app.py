"""The explorer as a program that serves a page."""

import gc
import subprocess
import sys
from types import SimpleNamespace

import pytest
from kdegraph_explorer import app, process


def test_what_only_the_first_result_needs_is_not_imported_before_a_page_is_served():
    code = (
        "import sys, kdegraph_explorer.app; from kdegraph_explorer.process import LIBRARIES; "
        "print(*(name for name in (*LIBRARIES, 'scipy.ndimage') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_threads_alternate_and_old_objects_are_spared_while_pages_are_served(monkeypatch):
    seen, interval = [], sys.getswitchinterval()

    def look():
        seen.append((gc.get_freeze_count(), sys.getswitchinterval()))

    loop = SimpleNamespace(start=look)
    server = SimpleNamespace(port=5006, prefix="", start=lambda: None, io_loop=loop)
    monkeypatch.setattr(app, "server_of", lambda *args, **options: server)
    monkeypatch.setattr(app, "application_of", lambda server: None)
    monkeypatch.setattr(app, "keep_spare", lambda application: None)
    monkeypatch.setattr(app.process, "start", lambda: None)
    app.serve()
    (spared, shorter), *_ = seen
    assert spared > 100_000
    assert shorter == pytest.approx(process.TURN)
    assert 10 * shorter < interval
    look()
    assert seen[-1] == (0, interval)
