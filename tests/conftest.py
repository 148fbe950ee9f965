"""Settings and fixtures of all tests."""

import concurrent.futures
import multiprocessing
import os
import sys
import time

import pytest
from explorer_actions import PATIENCE, settle
from hypothesis import settings

# Other and more examples in each run, for hours: see CONTRIBUTING.md.
EXAMPLES = int(os.environ.get("KDEGRAPH_ATTACK", "1000"))
settings.register_profile("attack", deadline=None, max_examples=EXAMPLES, print_blob=True)
# The same examples in every run: a failure is a change in the code, not bad luck.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


TOGETHER = "/test_jupyter.py", "/test_screenshots.py"


def pytest_addoption(parser):
    parser.addoption(
        "--update-screenshots",
        action="store_true",
        help="write what the browser shows as the new baselines",
    )


@pytest.hookimpl(optionalhook=True)  # pytest-xdist may be absent
def pytest_xdist_make_scheduler(config, log):
    """With `--dist loadgroup`, a file whose tests share a slow server is for one process alone.

    Files begin first, so that no long test is left for the end: that of all views is among them.
    The marker xdist_group has no effect in pytest 9.2 with pytest-xdist 3.8.
    """
    from xdist.scheduler import LoadGroupScheduling

    class Scheduling(LoadGroupScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.split("::")[0]
            return file if file.endswith(TOGETHER) else nodeid

    return Scheduling(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory):
    """Servers that tests start keep their secret there, and not with the user."""
    os.environ["KDEGRAPH_STATE_DIR"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(autouse=True)
def no_document_stays_current():
    """End a test without a current document of Bokeh.

    Bokeh leaves one current in which a callback has raised an error, for instance as its page was
    gone. The explorers of all later tests would wait for that page to be loaded.
    """
    yield
    current = getattr(sys.modules.get("bokeh.io.doc"), "_PATCHED_CURDOCS", [])
    if before := list(current):
        time.sleep(0.2)  # a server in another thread may be at work
        if current[: len(before)] == before:
            current.clear()


@pytest.fixture(scope="session")
def pool():
    """One other process, which all tests share."""
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        yield pool


@pytest.fixture
def in_another_process(pool):
    """Let Dask compute in another process."""
    import dask

    with dask.config.set(scheduler="processes", pool=pool):
        yield


@pytest.fixture
def explore():
    """Make explorers, of small generated data if no points are given, and wait for their first
    results; they are closed at the end.
    """
    from kdegraph_explorer import Explorer

    explorers = []

    def make(*args, **options):
        explorer = Explorer(*args, **options)
        explorers.append(explorer)
        if not args:
            explorer.session.sources["generators"].n = 200
            explorer.session.history.forget()
        settle(explorer)
        return explorer

    yield make
    for explorer in explorers:
        explorer.close()


@pytest.fixture
def sessions():
    """Make sessions with choices, of small generated data if none are given, with first results."""
    from kdegraph_explorer.session import Session

    opened = []

    def make(given=None, start=True, **choices):
        session = Session(given=given)
        opened.append(session)
        if given is None:
            session.sources["generators"].n = 200
        session.state.choose(**choices)
        session.history.forget()
        if start:
            session.start()
            session.wait(PATIENCE)
        return session

    yield make
    for session in opened:
        session.close()
