"""The theorem of Macgregor and Sun, measured: clusters and spectrum of the sampled graph against
those of the full kernel graph.

The theorem bounds rho_G(k) by O(k rho_K(k)) and lambda_{k+1}(N_G) from below by a constant times
lambda_{k+1}(N_K), with few edges. Here the constants are stated: 0.75 to 1.25 for lambda_{k+1}, 1.5
for conductances.
"""

import numpy as np
import oracle
import pytest
from kdegraph import datasets, similarity_graph
from sklearn.cluster import KMeans
from sklearn.datasets import load_sample_image
from sklearn.metrics import adjusted_rand_score

WAYS = {
    "rejection": {"sampler": "rejection"},
    "stratified": {"sampler": "recursive"},
    "paper": {"sampler": "recursive", "draws": "independent", "weighting": "paper"},
}
CUT = 1e-4  # conductances below are a handful of sampled edges, or none


def photograph():
    """About 1,500 pixels (r, g, b, row, column) of a picture."""
    pixels = load_sample_image("china.jpg")[::11, ::16] / 255.0
    height, width = pixels.shape[:2]
    row, column = np.mgrid[:height, :width] / max(height, width)
    return np.column_stack([pixels.reshape(-1, 3), row.ravel(), column.ravel()])


def clusters(vectors, k):
    rows = vectors[:, :k] / np.linalg.norm(vectors[:, :k], axis=1, keepdims=True)
    return KMeans(k, n_init=3, random_state=0).fit(rows).labels_


@pytest.fixture(scope="module", params=["moons", "circles", "blobs", "photograph"])
def case(request):
    """Points, planted labels or None, sigma, k; the full graph, its spectrum, its clusters."""
    if request.param == "photograph":
        X, y, sigma, k = photograph(), None, 0.2, 4
    else:
        data = datasets.make(request.param, n=1500, seed=0)
        sigma, k = (1.0, 3) if request.param == "blobs" else (0.1, 2)
        X, y = data.X, data.y
    K = oracle.full_graph(X, "gaussian", sigma)
    values, vectors = oracle.eigenpairs(K, k + 1)
    return X, y, sigma, k, K, values, clusters(vectors, k)


@pytest.mark.parametrize("name", WAYS)
def test_theorem(case, name):
    X, y, sigma, k, K, values, found = case
    graph = similarity_graph(X, sigma=sigma, seed=1, **WAYS[name])
    assert graph.n_edges <= len(X) * graph.n_rounds
    assert graph.n_edges < 0.05 * len(X) * (len(X) - 1) / 2
    A = graph.adjacency.toarray()
    sampled_values, sampled_vectors = oracle.eigenpairs(A, k + 1)

    # lambda_{k+1} does not collapse (the theorem), nor does it grow.
    assert 0.75 <= sampled_values[k] / values[k] <= 1.25
    # rho: every partition of the full graph, planted or found, cuts the sampled graph as little.
    for labels in (found, y):
        if labels is not None:
            full, sampled = oracle.conductances(K, labels), oracle.conductances(A, labels)
            assert (sampled <= 1.5 * full + CUT).all()
            assert (sampled >= full / 1.5 - CUT).all()
    # What a user wants: clusters found in the sampled graph are as good in the full one.
    ours = clusters(sampled_vectors, k)
    assert oracle.conductances(K, ours).max() <= 1.5 * oracle.conductances(K, found).max() + CUT
    if y is not None:
        assert adjusted_rand_score(y, ours) >= adjusted_rand_score(y, found) - 0.01


def test_too_few_rounds_do_lose_it():
    """The measure can fail: with one round the graph falls apart."""
    data = datasets.make("moons", n=1500, seed=0)
    graph = similarity_graph(data.X, sigma=0.1, n_rounds=1, seed=1)
    A = graph.adjacency.toarray()
    values, _ = oracle.eigenpairs(A, 3)
    full, _ = oracle.eigenpairs(oracle.full_graph(data.X, "gaussian", 0.1), 3)
    assert values[2] < 0.25 * full[2]
