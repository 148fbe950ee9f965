"""Settings and fixtures of all tests."""

import os

import pytest
from explorer_objects import PATIENCE, settle
from hypothesis import settings

# The same examples in every run: a failure is a change in the code, not bad luck.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_addoption(parser):
    parser.addoption(
        "--update-screenshots",
        action="store_true",
        help="write what the browser shows as the new baselines",
    )


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory):
    """Servers that tests start keep their secret there, and not with the user."""
    os.environ["KDEGRAPH_STATE_DIR"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture
def explore():
    """Make explorers and wait for their first results; they are closed at the end."""
    from kdegraph_explorer import Explorer

    explorers = []

    def make(*args, **options):
        explorer = Explorer(*args, **options)
        explorers.append(explorer)
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
