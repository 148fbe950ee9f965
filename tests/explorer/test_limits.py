"""Limits that whoever serves the explorer sets by environment variables."""

import io
import time

import numpy as np
import pytest
from explorer_actions import PATIENCE, put
from explorer_objects import controls
from kdegraph.datasets import MAX_BYTES
from kdegraph_explorer import limits as module
from kdegraph_explorer.limits import Limits, Total, limits
from kdegraph_explorer.uploads import StoredFile
from kdegraph_explorer.views.controls import DataControls
from kdegraph_explorer.views.widgets import FileButton, size_words
from PIL import Image


@pytest.fixture
def limit(monkeypatch):
    """Set variables of the server's environment."""

    def put(**values):
        for field, value in values.items():
            monkeypatch.setenv(module.variable(field), str(value))
        limits.cache_clear()

    yield put
    monkeypatch.undo()
    limits.cache_clear()


def test_limits_are_read_from_the_environment(limit):
    assert limits() == Limits(bytes=MAX_BYTES)
    limit(points=5_000, bytes=2 * MAX_BYTES, seconds="")
    assert limits() == Limits(points=5_000, bytes=MAX_BYTES)


@pytest.mark.parametrize("value", ["many", "0", "-1", "1.5", "²"])
def test_other_values_name_the_variable(limit, value):
    limit(pixels=value)
    with pytest.raises(ValueError, match=f"KDEGRAPH_MAX_PIXELS must be .* not '{value}'"):
        limits()


def check_refusal(state, variable):
    """The page names the variable, and shows the last points."""
    assert variable in state.error
    assert state.outcome("kde") is not None
    assert state.shown.n_points == 200
    state.error = ""


def test_points_pixels_and_files_above_a_limit_leave_the_last_ones(limit, sessions):
    limit(points=300, pixels=100)
    session = sessions()
    state = session.state
    put(session, "generators", n=500)
    check_refusal(state, "KDEGRAPH_MAX_POINTS")
    put(session, "generators", n=200)
    assert state.error == ""
    state.source = "upload"
    picture = io.BytesIO()
    Image.new("RGB", (20, 20)).save(picture, "PNG")
    session.sources["upload"].file = StoredFile.of("black.png", picture.getvalue())
    session.wait(PATIENCE)
    check_refusal(state, "KDEGRAPH_MAX_PIXELS")


def test_a_file_is_refused_before_it_arrives(limit, explore):
    limit(bytes=1_000)
    explorer = explore(np.eye(4), sigma=1.0)
    (button,) = controls(explorer, DataControls).__panel__().select(FileButton)
    assert button.label.endswith("up to 1000 bytes")
    button._handle_msg({"file": 1, "name": "a.csv", "size": 1_001})
    explorer.session.state.source = "upload"
    explorer.session.wait(PATIENCE)
    assert "KDEGRAPH_MAX_BYTES" in explorer.session.state.error


def test_sizes_are_rounded_down():
    sizes = {1: "1 bytes", 1023: "1023 bytes", 1024: "1 KiB", 2**21 - 1: "1.9 MiB", 2**30: "1 GiB"}
    assert {size: size_words(size) for size in sizes} == sizes


def test_all_sessions_together_have_a_limit_that_ended_ones_give_back(limit):
    class Owner:
        """What can be referred to weakly."""

    limit(points_in_all=100)
    total, first, second = Total("points_in_all", "wait"), Owner(), Owner()
    total.hold(first, 60)
    with pytest.raises(ValueError, match=r"have 101, .* is 100 points \(KDEGRAPH_MAX_POINTS_IN_A"):
        total.hold(second, 41)
    total.hold(second, 40)
    total.hold(first, 50)
    total.hold(first, 0)
    total.hold(second, 100)
    del second
    total.hold(first, 100)


def test_a_computation_that_takes_too_long_ends_and_the_last_result_stays(limit, sessions):
    limit(seconds=1)
    session = sessions()
    state, last = session.state, session.state.result

    def slow(request, progress, publish):
        while True:
            progress("waiting", 0.5)
            time.sleep(0.01)

    session.latest(slow, deliver=None).request(None)
    until = time.monotonic() + PATIENCE
    while not state.error and time.monotonic() < until:
        session.mailbox.drain()
        time.sleep(0.05)
    assert "the limit of this server is 1 seconds (KDEGRAPH_MAX_SECONDS)" in state.error
    assert state.result is last
