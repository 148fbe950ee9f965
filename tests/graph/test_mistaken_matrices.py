"""Distances given as weights, and matrices given as points, are warned of; others never are."""

import warnings

import kdegraph
import numpy as np
import pytest
import scipy.sparse as sp
from kdegraph import KDESpectralClustering, datasets, full_graph, knn_graph, similarity_graph
from kdegraph.diagnosis import GraphWarning
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris, load_wine

NAMES = [*datasets.names(), "iris", "wine", "digits", "noise", "heavy tails", "few"]


def points_of(name):
    rng = np.random.default_rng(0)
    made = {
        "iris": lambda: load_iris().data,
        "wine": lambda: load_wine().data,
        "digits": lambda: load_digits().data[:200],
        "noise": lambda: rng.normal(size=(200, 20)),
        "heavy tails": lambda: rng.standard_cauchy((200, 3)),
        "few": lambda: rng.normal(size=(12, 2)),
    }
    return made[name]() if name in made else datasets.make(name, n=200, seed=0).X


@pytest.mark.parametrize("name", NAMES)
def test_weights_are_never_taken_for_distances(name):
    X = points_of(name)
    sigma = kdegraph.estimate_sigma(X)
    matrices = [similarity_graph(X, sigma=s, seed=0).adjacency for s in ("auto", "local")]
    matrices += [similarity_graph(X, sigma=5 * sigma, n_rounds=300, seed=0).adjacency]
    matrices += [
        full_graph(X, sigma=s) for s in ("local", sigma / 5, sigma, 3 * sigma, 1e3 * sigma)
    ]
    matrices += [full_graph(X, sigma=2 * sigma, alpha=1.0, kernel="laplacian")]
    matrices += [knn_graph(X, k) for k in (5, len(X) - 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", GraphWarning)
        for matrix in matrices:
            kdegraph.conductance(matrix, np.zeros(len(X), int))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "noise"])
def test_distances_are_seen(name):
    X = points_of(name)
    for given in (cdist(X, X), cdist(X, X, "sqeuclidean"), cdist(X, X, "cityblock")):
        with pytest.warns(GraphWarning, match="looks like distances, not weights.*_distances"):
            kdegraph.conductance(sp.csr_array(given), np.zeros(len(X), int))


def test_every_function_that_takes_weights_warns_at_the_line_that_calls_it():
    X = points_of("iris")
    given = cdist(X, X)
    for call in (
        lambda: kdegraph.spectral_clustering(given, 3),
        lambda: kdegraph.spectrum(given, 3),
        lambda: kdegraph.diagnose(given),
        lambda: KDESpectralClustering(3, affinity="precomputed").fit(given),
    ):
        with pytest.warns(GraphWarning) as found:
            call()
        assert [one.filename for one in found] == [__file__]


@pytest.mark.parametrize(
    "matrix",
    [
        np.ones((20, 20)) - np.eye(20),  # the complete graph
        1.0 - np.kron(np.eye(4), np.ones((5, 5))),  # a complete graph of four parts
        np.kron([[0, 1], [1, 0]], np.random.default_rng(0).random((1, 1)) * np.ones((10, 10))),
        cdist(np.arange(9.0)[:, None], np.arange(9.0)[:, None]),  # too few to judge
        np.eye(30),
    ],
)
def test_matrices_that_could_be_either_are_not_judged(matrix):
    with warnings.catch_warnings():
        warnings.simplefilter("error", GraphWarning)
        kdegraph.conductance(matrix, np.zeros(len(matrix), int))


def test_a_symmetric_matrix_as_points_is_warned_of():
    X = datasets.make("blobs", n=60, seed=0).X
    for matrix in (cdist(X, X), np.exp(-(cdist(X, X) ** 2)), np.corrcoef(X)):
        with pytest.warns(
            GraphWarning, match=r"symmetric matrix of shape \(60, 60\).*affinity='pre"
        ):
            KDESpectralClustering(3, sigma="moderate", random_state=0).fit(matrix)
    graph = similarity_graph(cdist(X, X), seed=0)
    assert [finding.problem for finding in kdegraph.diagnose(graph)] == ["matrix"]


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).normal(size=(40, 40)),
        np.ones((15, 15)),
        np.array([[0.0, 1.0], [1.0, 0.0]]),
        cdist(np.arange(20.0)[:, None], np.arange(19.0)[:, None]),
    ],
)
def test_square_tables_of_points_are_not_warned_of(X):
    assert "matrix" not in [one.problem for one in kdegraph.diagnose(similarity_graph(X, seed=0))]
