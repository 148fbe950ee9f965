"""The state of the explorer, without a page: choices in, results out, and back."""

import numpy as np
from explorer_actions import put, undo
from kdegraph import datasets
from sklearn.metrics import adjusted_rand_score


def test_choices_and_results(sessions):
    data = datasets.make("moons", n=300, seed=0)
    session = sessions(data, sigma=0.2, n_clusters=2)
    state = session.state
    graph = state.outcome("kde").graph
    assert state.error == ""
    assert graph.sigma == 0.2
    assert adjusted_rand_score(data.y, state.outcome("kde").labels) > 0.95
    assert adjusted_rand_score(data.y, state.outcome("knn").labels) > 0.95

    put(session, n_clusters=3)
    assert len(np.unique(state.outcome("kde").labels)) == 3
    assert state.outcome("kde").graph is graph

    undo(session)
    assert state.n_clusters == 2
    assert adjusted_rand_score(data.y, state.outcome("kde").labels) > 0.95
