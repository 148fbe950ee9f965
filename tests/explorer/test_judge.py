"""All clusters are judged in the full graph, after the result and without holding it up."""

from types import SimpleNamespace

import kdegraph
import numpy as np
import pytest
from explorer_actions import choose, settle, silent
from explorer_objects import view
from kdegraph import datasets
from kdegraph.datasets import Dataset
from kdegraph_explorer.algorithm import judgement
from kdegraph_explorer.algorithm.judgement import judge
from kdegraph_explorer.results import Bandwidth
from kdegraph_explorer.views.scores import conductance_words

MOONS = datasets.make("moons", n=600, seed=0)
ONE, LOCAL = Bandwidth(0.2), Bandwidth("local", 10)


def exact(X, bandwidth, labels):
    """The conductances in the full graph, from its matrix."""
    return kdegraph.conductance(kdegraph.full_graph(X, **bandwidth.arguments), labels)


@pytest.mark.parametrize("bandwidth", [ONE, LOCAL])
def test_conductances_are_those_in_the_full_graph(bandwidth):
    labels = np.random.default_rng(0).integers(3, size=600)
    labels[MOONS.y == 1] = 4  # there is no number 3
    graph = kdegraph.similarity_graph(MOONS.X, **bandwidth.arguments, n_rounds=3, seed=0)
    found = judge(graph, labels, bandwidth, silent)
    assert found.exact
    np.testing.assert_allclose(
        found.conductances[[0, 1, 2, 4]], exact(MOONS.X, bandwidth, labels), rtol=graph.eps
    )
    assert np.isnan(found.conductances[3])
    assert found.largest == found.conductances[:3].max()


def test_some_points_speak_for_their_clusters_where_there_are_many(monkeypatch):
    labels = (MOONS.X[:, 0] > 0.5).astype(int)
    labels[MOONS.X[:, 0] > 1.8] = 2
    graph = kdegraph.similarity_graph(MOONS.X, sigma=0.2, n_rounds=3, seed=0)
    monkeypatch.setattr(judgement, "MIN_ROWS", 1)
    monkeypatch.setattr(judgement, "MAX_WORK", 300 * MOONS.X.size)
    found = judge(graph, labels, ONE, silent)
    assert not found.exact
    expected = exact(MOONS.X, ONE, labels)
    assert not np.allclose(found.conductances, expected, rtol=1e-3)
    np.testing.assert_allclose(found.conductances, expected, rtol=0.35)
    assert conductance_words(found).startswith("≈ ")


def test_a_graph_that_is_wrong_about_the_clusters_cannot_look_perfect(sessions):
    rng = np.random.default_rng(0)
    # A dense group beside a sparse one, within which two neighbors make components of their own.
    X = np.vstack([rng.normal(0, 0.05, size=(200, 2)), rng.normal((3, 0), 1, size=(200, 2))])
    dataset = Dataset(X, np.repeat([0, 1], 200), sigma=1.0)
    session = sessions(dataset, n_neighbors=2, n_clusters=6)
    settle(session)
    knn = session.state.outcome("knn")
    own = kdegraph.conductance(knn.adjacency, knn.colors)
    assert own.max() < 0.05
    assert session.state.judgement("knn").largest > 0.5
    assert session.state.judgement("knn").largest == pytest.approx(
        exact(X, Bandwidth(1.0), knn.colors).max(), rel=1e-4
    )


def test_a_judgement_holds_for_its_clusters_and_bandwidth_only():
    graph = kdegraph.similarity_graph(MOONS.X, sigma=0.2, n_rounds=3, seed=0)
    found = judge(graph, MOONS.y, ONE, silent)
    same, others = SimpleNamespace(colors=MOONS.y), SimpleNamespace(colors=1 - MOONS.y)
    assert found.holds_for(same, Bandwidth(0.2))
    assert not found.holds_for(same, Bandwidth(0.3))
    assert not found.holds_for(others, Bandwidth(0.2))


def test_without_edges_nothing_is_called_perfect(explore):
    explorer = explore(MOONS.X, sigma=1e-6, n_clusters=1)
    scores = {name: values for name, *values in view(explorer, "scores").rows()}
    assert scores["Edges"][0] == 0
    assert scores["Largest conductance"] == ["no edges", "no edges"]


def test_a_judgement_is_shown_of_the_present_clusters_only(sessions):
    session = sessions(MOONS, sigma=0.2, n_clusters=2)
    settle(session)
    state, first = session.state, session.state.judgement("kde")
    choose(session, n_rounds=21)  # the same clusters in the same full graph
    assert state.judgement("kde") is first
    choose(session, sigma=0.3)
    assert state.judgement("kde") is None
    settle(session)
    assert state.judgement("kde").bandwidth == Bandwidth(0.3)
    choose(session, n_clusters=3)
    settle(session)
    assert len(state.judgement("kde").conductances) == 3


def test_a_result_that_comes_late_does_not_replace_the_judgement_of_the_present_one(sessions):
    session = sessions(MOONS, sigma=0.2, n_clusters=2)
    state = session.state
    choose(session, sigma=0.3)
    late = state.result
    choose(session, sigma=0.2)
    settle(session)
    present, judgement = state.result, state.judgement("kde")
    assert judgement is not None
    # Quick work for a choice that was taken back still ends, and its result is shown.
    state.accept(late)
    state.accept(present)
    settle(session)
    assert state.judgement("kde") is judgement
