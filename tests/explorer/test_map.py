"""The map of points in many dimensions: when it is made, and what it is a picture of."""

import kdegraph
import numpy as np
import pytest
from explorer_actions import choose, csv, give_file, redo, reopened, settle, undo
from kdegraph.datasets import Dataset
from kdegraph_explorer.algorithm import map as map_module
from kdegraph_explorer.projection import COMPONENTS, MAP, axes, has_map, perpendicular, positions

RNG = np.random.default_rng(0)
GROUP = np.arange(240) % 6
SIX = RNG.normal(size=(240, 20)) + 3 * RNG.normal(size=(6, 20))[GROUP]


def explored(sessions, X):
    session = sessions(Dataset(X, name="given"))
    settle(session)
    return session


def axes_of(session):
    return session.state.horizontal, session.state.vertical


def test_the_plots_turn_to_the_map_of_the_first_graph(sessions):
    session = explored(sessions, SIX)
    state = session.state
    assert axes_of(session) == MAP
    assert state.param.horizontal.objects[:4] == [*MAP, *COMPONENTS]
    graph = state.outcome("kde").graph
    places = positions(state.dataset, *MAP)
    np.testing.assert_array_equal(places, kdegraph.graph_layout(graph))
    assert not session.history.can_undo
    assert not perpendicular(state.dataset, *MAP)
    # Points of a group are nearer to each other than groups are.
    centers = np.stack([places[group == GROUP].mean(axis=0) for group in range(6)])
    nearest = np.linalg.norm(places[:, None] - centers, axis=2).argmin(axis=1)
    assert (nearest == GROUP).mean() > 0.95

    choose(session, perplexity=12)  # another graph: the points stay where they are
    settle(session)
    assert state.outcome("kde").graph is not graph
    np.testing.assert_array_equal(positions(state.dataset, *MAP), places)


def test_axes_that_were_chosen_stay(sessions):
    session = explored(sessions, SIX)
    session.state.horizontal = session.state.vertical = "x3"
    again = reopened(session, sessions(Dataset(SIX, name="given")))
    settle(again)
    assert axes_of(again) == ("x3", "x3")
    assert has_map(again.state.dataset)
    session.state.param.update(horizontal=COMPONENTS[0], vertical=COMPONENTS[1])
    choose(session, n_clusters=4)
    settle(session)
    assert axes_of(session) == COMPONENTS


def test_a_map_that_comes_after_undo_leaves_what_was_undone(sessions):
    session = sessions()
    give_file(session, csv(**{f"x{i}": SIX[:, i] for i in range(4)}))
    settle(session)
    assert axes_of(session) == MAP
    choose(session, source="generators")
    undo(session)  # the file is read again, and has no map at first
    settle(session)
    assert axes_of(session) == MAP
    redo(session)
    assert session.state.source == "generators"


@pytest.mark.parametrize(
    ("X", "most"), [(SIX[:, :3], 240), (SIX, 239)], ids=["three dimensions", "too many points"]
)
def test_others_have_no_map(sessions, monkeypatch, X, most):
    monkeypatch.setattr(map_module, "MAX_POINTS", most)
    session = explored(sessions, X)
    assert axes_of(session) == COMPONENTS
    assert MAP[0] not in axes(session.state.dataset)
