"""Points painted with the mouse."""

from itertools import pairwise

import numpy as np
import pytest
from bokeh.events import Pan, PanEnd, PanStart, Tap
from explorer_actions import put, settle, undo
from explorer_objects import happen, source
from hypothesis import given
from hypothesis import strategies as st
from kdegraph_explorer.address import query, read
from kdegraph_explorer.history import take
from kdegraph_explorer.sources.painted import (
    CANVAS,
    GRID_STEPS,
    MAX_PAINTED,
    N_CLASSES,
    Painted,
    along,
    coordinates,
    near,
    pack,
    unpack,
)
from kdegraph_explorer.views.status import Status


@pytest.fixture
def explorer(explore):
    explorer = explore()
    put(explorer, source="painted", bandwidth="one")
    return explorer


def canvas(explorer):
    return explorer.views["paint"]


@given(
    st.lists(
        st.tuples(
            st.integers(0, GRID_STEPS), st.integers(0, GRID_STEPS), st.integers(0, N_CLASSES - 1)
        ),
        max_size=30,
    )
)
def test_painted_points_as_text(points):
    points = np.array(points, dtype=np.int64).reshape(-1, 3)
    np.testing.assert_array_equal(unpack(pack(points)), points)


def test_text_that_holds_no_points():
    for text in ("?", "AAAA", "////____", "AAAAAA==AAAA", "x" * 400_000, "AAAA/w=="):
        with pytest.raises(ValueError, match="does not hold"):
            unpack(text)


def test_a_stroke_scatters_points_along_itself():
    path = np.array([[0.2, 0.2], [0.8, 0.2], [0.8, 0.8]])
    points = along(path, 4000, 0.01, 3, seed=0)
    assert points.shape == (4000, 3)
    assert set(points[:, 2]) == {3}
    assert near(points, path, 0.05).all()
    X = coordinates(points)
    assert np.mean(X[:, 1] < 0.25) == pytest.approx(0.5, abs=0.05)  # both legs are equally long
    distance = np.abs(X[(X[:, 0] > 0.3) & (X[:, 0] < 0.7), 1] - 0.2)
    assert np.sqrt(np.mean(distance**2)) == pytest.approx(0.01, rel=0.1)
    np.testing.assert_array_equal(points, along(path, 4000, 0.01, 3, seed=0))
    # Points stay on the canvas.
    X = coordinates(along(np.array([[0.0, 0.0], [1.6, 1.0]]), 1000, 0.5, 0, seed=1))
    assert (X.min(axis=0) >= 0).all()
    assert (X.max(axis=0) <= CANVAS).all()


def test_near_a_stroke_is_near_the_nearest_place_of_a_fine_stroke():
    points = np.random.default_rng(0).integers(0, GRID_STEPS, (300, 3))
    path = np.array([[0.3, 0.1], [0.9, 0.5], [0.4, 0.9]])
    fine = np.concatenate(
        [a + np.linspace(0, 1, 2000)[:, None] * (b - a) for a, b in pairwise(path)]
    )
    distance = np.min(
        np.hypot(*(coordinates(points)[:, None] - fine[None]).transpose(2, 0, 1)), axis=1
    )
    clear = np.abs(distance - 0.1) > 1e-3
    np.testing.assert_array_equal(near(points, path, 0.1)[clear], (distance <= 0.1)[clear])


def test_there_are_points_to_begin_with_and_a_blob_needs_no_mouse(explorer):
    state = explorer.session.state
    assert state.dataset.name == "painted points"
    assert state.view == "paint"
    assert state.dataset.n_points == 300
    assert len(np.unique(state.dataset.y)) == 2
    assert state.outcome("kde").scores["Adjusted Rand index"] == 1.0
    # A blob is painted without the mouse where there is room.
    before = state.dataset.X
    canvas(explorer).add_blob()
    settle(explorer)
    blob = state.dataset.X[300:]
    assert len(blob) == 60
    assert np.min(np.hypot(*(blob[:, None] - before[None]).transpose(2, 0, 1))) > 0.05
    # An empty canvas keeps the last results.
    result = state.result
    canvas(explorer).clear()
    settle(explorer)
    assert state.result is result
    assert state.error == ""
    canvas(explorer).add_blob()
    settle(explorer)
    assert state.dataset.n_points == 60
    assert state.dataset.y is None  # one paint alone is no reference


def test_a_page_without_painted_points_says_where_to_paint(sessions):
    session = sessions(start=False)
    session.restore(read(session, 'source=painted&data.points=""'))
    assert Status(session).sentence() == "Paint points in the view Paint."


def test_a_stroke_becomes_points_and_undo_takes_it_back(explorer):
    view, state = canvas(explorer), explorer.session.state
    view.paint.value = "3"
    view.amount.value = 50
    stroke(view, [(1.2, 0.9), (1.3, 0.9), (1.4, 0.9)])
    view.strokes.data = {"xs": [[1.2, 1.3, 1.4]], "ys": [[0.9, 0.9, 0.9]]}  # what is seen of it
    settle(explorer)
    assert state.dataset.n_points == 350
    assert np.count_nonzero(state.dataset.y == 2) == 50
    assert not any(view.strokes.data["xs"])
    assert len(source(view.figures()[0], "points").data["x"]) == 350
    undo(explorer)
    assert state.dataset.n_points == 300
    assert len(source(view.figures()[0], "points").data["x"]) == 300
    # A click is a dab, and the eraser takes away.
    view.amount.value = 60
    happen(view.figures()[0], Tap, x=1.4, y=0.9)
    settle(explorer)
    assert state.dataset.n_points == 360
    view.tool.value = "erase"
    view.spread.value = 0.1
    happen(view.figures()[0], Tap, x=1.4, y=0.9)
    settle(explorer)
    assert state.dataset.n_points == 300


def stroke(view, places):
    """Drag the mouse over the canvas."""
    kinds = [PanStart, *[Pan] * (len(places) - 2), PanEnd]
    for kind, (x, y) in zip(kinds, places, strict=True):
        happen(view.figures()[0], kind, x=x, y=y)


def test_a_stroke_that_leaves_the_canvas_ends_and_its_line_goes(explorer):
    view, state = canvas(explorer), explorer.session.state
    sent = []
    view.strokes.on_change("data", lambda attr, old, new: sent.append(new))
    for number in (1, 2):  # the browser does not tell of a line that ends outside
        stroke(view, [(1.5, 0.5), (1.59, 0.5), (1.8, 0.5), (2.0, 0.5)])
        settle(explorer)
        assert state.dataset.n_points == 300 + 60 * number
        assert len(sent) == number
        assert not any(sent[-1]["xs"])
    stroke(view, [(2.0, 0.5), (2.1, 0.5)])
    settle(explorer)
    assert state.dataset.n_points == 420


def test_the_oldest_of_too_many_points_go():
    source = Painted(points=pack(np.zeros((MAX_PAINTED, 3), dtype=np.int64)))
    source.add(np.array([[5, 6, 1]]))
    points = unpack(source.points)
    assert len(points) == MAX_PAINTED
    assert points[-1].tolist() == [5, 6, 1]


def test_address_holds_a_painting(explorer):
    session = explorer.session
    canvas(explorer).add_blob()
    settle(explorer)
    text = query(session, take(session))
    assert read(session, text).only_data == take(session).only_data
    session.sources["painted"].points = pack(
        np.random.default_rng(0).integers(0, GRID_STEPS, (3000, 3)) * [1, 1, 0]
    )
    settle(explorer)
    with pytest.raises(ValueError, match="open a session file"):
        read(session, query(session, take(session)))
