"""The explorer as an object: what it takes, its attributes, and what is read back."""

import threading

import kdegraph
import numpy as np
import panel as pn
import pytest
from bokeh.models import LassoSelectTool
from explorer_actions import PATIENCE, TWO_PAIRS, settle
from explorer_objects import source
from kdegraph import datasets
from kdegraph_explorer import Explorer
from kdegraph_explorer.views import VIEWS
from kdegraph_explorer.views.base import Caption
from kdegraph_explorer.views.markup import Beacon


def figure_names(place):
    """The names of the figures that a page or a notebook has been given."""
    return {fig.object.name for fig in place.select(pn.pane.Bokeh)}


def test_labels_graph_and_spectrum_are_read_back():
    explorer = Explorer(TWO_PAIRS, y=["a", "a", "b", "b"], sigma=1.0, n_rounds=5, n_clusters=2)
    assert explorer.labels.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    assert explorer.X.tolist() == TWO_PAIRS
    assert explorer.graph.sigma == 1.0
    assert explorer.graph.n_rounds == 5
    assert len(explorer.spectrum.eigenvalues) == 4
    assert explorer.selection.tolist() == []
    assert explorer.session.state.outcome("kde").scores["Adjusted Rand index"] == 1.0
    X = datasets.make("blobs", n=200, seed=0).X
    explorer = Explorer(X, sigma=0.6, n_clusters=3)
    direct = kdegraph.similarity_graph(X, sigma=0.6, n_rounds=20, seed=0)
    assert (explorer.graph.adjacency != direct.adjacency).nnz == 0
    assert len(np.unique(explorer.labels)) == 3


INVALID = (
    ({"X": [[0.0, np.nan]]}, ValueError, "X must be finite"),
    ({"X": [1.0, 2.0]}, ValueError, "X must have shape"),
    ({"X": TWO_PAIRS, "y": [1, 2]}, ValueError, r"y must have shape \(4,\)"),
    ({"y": [1, 2]}, ValueError, "y was given without X"),
    ({"X": TWO_PAIRS, "sigma": -1}, ValueError, "sigma must be positive"),
    ({"X": TWO_PAIRS, "n_rounds": 0}, ValueError, "n_rounds must be a whole number >= 1"),
    ({"X": TWO_PAIRS, "n_clusters": 5}, ValueError, "n_clusters must be at most 4"),
    ({"X": TWO_PAIRS, "n_clusters": "2"}, TypeError, "n_clusters"),
)


def test_bad_arguments_are_refused_at_once():
    for arguments, error, message in INVALID:
        with pytest.raises(error, match=message):
            Explorer(**arguments)


def test_results_that_do_not_exist_are_not_read_back(explore):
    explorer = explore(TWO_PAIRS, sigma=1e-300, n_clusters=2)
    with pytest.raises(RuntimeError, match="use a larger sigma"):
        _ = explorer.labels


def test_views_are_made_when_they_are_first_shown(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0, n_clusters=2)
    made, state = explorer.views.made, explorer.session.state
    assert set(made) == {"points", "spectrum", "scores"}
    state.tables = True
    state.selection = np.array([1])
    state.drag = "lasso"
    state.view = "rounds"
    state.view = "spectral"  # before the session has got round to open the other one
    explorer.session.mailbox.drain()
    settle(explorer)
    assert set(made) == {"points", "spectrum", "scores", "spectral"}
    figure = made["spectral"].figures()[0]
    assert source(figure, "points").selected.indices == [1]
    assert isinstance(figure.toolbar.active_drag, LassoSelectTool)
    heads = made["spectral"].__panel__().select(Caption)
    assert [head.table for head in heads] == [True] * 3
    assert list(explorer.views) == [view.key for view in VIEWS]
    with pytest.raises(KeyError, match="histogram"):
        _ = explorer.views["histogram"]


def test_results_are_delivered_while_a_view_is_being_made(explore, monkeypatch):
    """Whoever delivers a result looks for its document, in a thread of its own."""
    explorer = explore(TWO_PAIRS, sigma=1.0, n_clusters=2)
    made = explorer.views.made

    def figures():  # another thread gets its turn here
        explorer.views["rounds"]
        return ()

    monkeypatch.setattr(made["points"], "figures", figures)
    explorer.session.mailbox.post(delivered := threading.Event().set)
    explorer.session.mailbox.drain()
    assert "rounds" in made
    assert delivered.__self__.is_set()


def test_explorer_that_is_shown_again_moves(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0)
    places = [explorer.__panel__(), explorer.__panel__()]
    for place in places:
        place.select(Beacon)[0].beats = 1
        explorer.session.wait(PATIENCE)
    visible = [
        shown
        for shown in explorer.views.values()
        if shown.area == "bottom" or shown.key == explorer.session.state.view
    ]
    assert figure_names(places[0]) == set()
    assert figure_names(places[1]) == {
        figure.name for shown in visible for figure in shown.figures()
    }


# ---- attributes that a program sets, reads and watches


def test_attributes_lead_the_session(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0, n_clusters=2)
    explorer.sigma, explorer.n_rounds, explorer.n_clusters = 0.3, 7, 3
    explorer.selection = np.array([True, False, False, True])
    assert explorer.graph.sigma == 0.3
    assert explorer.graph.n_rounds == 7
    assert len(np.unique(explorer.labels)) == 3
    state = explorer.session.state
    assert state.selection.tolist() == [0, 3]
    assert not state.sigma_auto
    explorer.selection = [2, 1, 2]
    assert state.selection.tolist() == explorer.selection.tolist() == [1, 2]
    explorer.selection = []
    assert state.selection.tolist() == []


def test_points_that_are_selected_at_once_stay_selected():
    explorer = Explorer(TWO_PAIRS, sigma=1.0, n_clusters=2)
    assert explorer.session.state.shown is None
    explorer.selection = [1, 3]
    settle(explorer)
    assert explorer.selection.tolist() == explorer.session.state.selection.tolist() == [1, 3]
    explorer.close()


@pytest.mark.parametrize("page_gone", [False, True])
def test_what_is_closed_at_work_comes_to_rest_unless_its_page_is_gone(explore, page_gone):
    explorer = explore(TWO_PAIRS, sigma=1.0, n_clusters=2)
    settle(explorer)
    session, told = explorer.session, []
    explorer.sigma = 0.3
    assert session.state.busy
    session.state.param.watch(lambda event: told.append(event.new), "busy")
    session.close(page_gone=page_gone)
    session.wait(PATIENCE)
    assert told == ([] if page_gone else [False])


def test_attributes_follow_the_session_and_are_watched(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0, n_clusters=2)
    seen = []
    explorer.param.watch(lambda event: seen.append((event.name, event.new)), ["sigma", "n_rounds"])
    explorer.session.state.choose(sigma=0.5)
    explorer.session.state.choose(n_rounds=4)
    assert (explorer.sigma, explorer.n_rounds) == (0.5, 4)
    assert seen == [("sigma", 0.5), ("n_rounds", 4)]
    explorer.session.state.selection = np.array([3])
    assert explorer.selection.tolist() == [3]


def test_none_means_automatic_and_local_means_a_width_for_each_point(explore):
    X = np.random.default_rng(0).normal(size=(60, 2))
    explorer = explore(X, sigma=5.0, n_clusters=3)
    explorer.sigma = explorer.n_clusters = None
    settle(explorer)
    state = explorer.session.state
    assert state.decides
    assert state.clusters_auto
    assert explorer.sigma == "moderate"
    assert explorer.n_clusters == state.outcome("kde").n_clusters
    for kind in ("local", "moderate"):
        explorer.sigma = kind
        assert state.is_local
        assert explorer.sigma == state.bandwidth == kind
    explorer.sigma = 2.0
    assert not state.is_local
    assert explorer.graph.sigma == 2.0


REFUSED = (
    ("sigma", -1, ValueError, "sigma must be positive"),
    ("sigma", "wide", TypeError, "sigma"),
    ("n_rounds", 0, ValueError, "n_rounds must be a whole number >= 1"),
    ("n_rounds", 1001, ValueError, "n_rounds must be at most 1000"),
    ("n_rounds", None, TypeError, "n_rounds"),
    ("n_clusters", 5, ValueError, "n_clusters must be at most 4"),
    ("selection", [True, False], ValueError, r"mask must have shape \(4,\)"),
    ("selection", [4], ValueError, "indices from 0 to 3, got 4 to 4"),
    ("selection", [-1], ValueError, "indices from 0 to 3"),
    ("selection", [0.5], TypeError, "list of the indices"),
    ("sgima", 0.3, AttributeError, "did you mean sigma"),
    ("clusters", 3, AttributeError, "did you mean n_clusters"),
    ("color", 3, AttributeError, "There are sigma, n_rounds, n_clusters, selection"),
    ("labels", [0], AttributeError, "labels is a result, which cannot be set"),
)


def test_invalid_values_are_refused_at_once(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0, n_clusters=2)
    for name, value, error, message in REFUSED:
        with pytest.raises(error, match=message):
            setattr(explorer, name, value)
    assert (explorer.sigma, explorer.n_clusters, explorer.n_rounds) == (1.0, 2, 20)
    explorer.session.wait(PATIENCE)
    assert explorer.session.state.selection.tolist() == []
