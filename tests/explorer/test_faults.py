"""A session that ends frees what it held; sessions on one server do not meet."""

import ctypes
import gc
import sys
import threading
import time
import weakref

import panel as pn
import pytest
from bokeh.client import pull_session
from bokeh.models import ImportedStyleSheet
from explorer_actions import PATIENCE
from kdegraph_explorer import explorer as module
from kdegraph_explorer import process
from kdegraph_explorer.app import create_app

N_SESSIONS = 2


@pytest.fixture
def server(monkeypatch):
    """The explorer on a server in a thread, which forgets sessions quickly; its address, and weak
    references to all explorers made.
    """
    made = []
    create = module.Explorer.__init__

    def remember(self, *args, **options):
        create(self, *args, **options)
        made.append(weakref.ref(self))

    monkeypatch.setattr(module.Explorer, "__init__", remember)
    others = set(pn.state._servers)  # of other tests in this process
    pn.serve(
        {"/": create_app},
        port=0,
        threaded=True,
        show=False,
        verbose=False,
        unused_session_lifetime=100,
        check_unused_sessions=100,
        session_token_expiration=600,
    )
    wait_until(lambda: pn.state._servers.keys() - others)
    (new,) = pn.state._servers.keys() - others
    running = pn.state._servers[new][0]
    yield f"http://localhost:{running.port}/", made
    pn.state.kill_all_servers()


def wait_until(holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it does not come about"
        time.sleep(0.05)


def workers():
    """Threads that compute for a session."""
    return [thread for thread in threading.enumerate() if thread.name == "kdegraph-explorer"]


@pytest.mark.slow
def test_sessions_that_end_free_their_memory_and_threads(server, monkeypatch):
    address, made = server
    ended = []
    monkeypatch.setattr(process, "give_back_soon", lambda: ended.append("gives its memory back"))
    # They begin only when the browser connects, as when loading the page took so long that its own
    # session has ended, and need no network.
    sessions = [pull_session(url=address) for _ in range(N_SESSIONS)]
    for session in sessions:
        links = [sheet.url for sheet in session.document.select({"type": ImportedStyleSheet})]
        assert links
        assert all(link.startswith("static/") for link in links), links
    assert len(made) == N_SESSIONS
    explorers = [reference() for reference in made]
    assert len({id(explorer.session.state) for explorer in explorers}) == N_SESSIONS
    # They compute the first page once.
    assert all(explorer.session.sources["generators"].shared for explorer in explorers)
    for explorer in explorers:
        explorer.session.start()
    jobs = [job for explorer in explorers for job in explorer.session.jobs]
    del explorer, explorers
    for session in sessions:
        session.force_roundtrip()
        session.close()
    del sessions, session
    wait_until(lambda: all(job.closed for job in jobs))
    wait_until(lambda: not workers())
    jobs.clear()  # they hold on to their session

    def freed():
        gc.collect()
        return not any(reference() for reference in made)

    wait_until(freed)
    assert len(ended) == N_SESSIONS


# ---- memory of ended sessions is given back to the system


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="an allocator of its own")
def test_freed_pages_are_given_back():
    if process.malloc_trim()(0) not in (0, 1):
        pytest.skip("no malloc_trim")
    blocks = [
        ctypes.create_string_buffer(b"x", 60_000) for _ in range(2000)
    ]  # each too small for a mapping of its own
    for block in blocks:
        ctypes.memset(block, 1, 60_000)
    keep = blocks[-1]  # what lies above them keeps the heap from shrinking by itself
    before = resident()
    del blocks, block
    process.give_back()
    assert resident() < before - 50e6
    assert len(keep) == 60_000


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
