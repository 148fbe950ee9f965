"""Attributes of an explorer that a program sets, reads and watches."""

import numpy as np
import pytest
from explorer_objects import PATIENCE, TWO_PAIRS, settle
from kdegraph_explorer import Explorer


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
    assert state.sigma_auto
    assert state.clusters_auto
    assert explorer.sigma == state.result.sigma != 5.0
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
