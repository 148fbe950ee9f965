"""One test of each layer of the library: Gaussian kernel, points of the plane, public names.

After a change of a layer, also run the tests in its folder: they cover the other kernels, other
dimensions and the edges.
"""

import numpy as np
import oracle
import pytest
from click.testing import CliRunner
from kdegraph import (
    SimilarityGraph,
    datasets,
    estimate_sigma,
    kernel_sum,
    similarity_graph,
    spectral_clustering,
    spectrum,
)
from kdegraph.cli import main
from kdegraph.geometry.tree import build_tree
from promises import check_reports
from sampled import assert_same_graph
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

SIGMA = 0.2
DATA = datasets.make("moons", n=300, seed=0)
X = DATA.X


OPTIONS = {"sigma": SIGMA, "n_rounds": 20, "eps": 1e-6, "seed": 1}


@pytest.fixture(scope="module")
def graph():
    return similarity_graph(X, **OPTIONS)


def test_tree():
    tree = build_tree(X)
    np.testing.assert_array_equal(np.sort(tree.order), np.arange(len(X)))
    np.testing.assert_array_equal(tree.points, X[tree.order])
    for start, stop, low, high in zip(tree.start, tree.stop, tree.low, tree.high, strict=True):
        np.testing.assert_array_equal(tree.points[start:stop].min(axis=0), low)
        np.testing.assert_array_equal(tree.points[start:stop].max(axis=0), high)


def test_bandwidth():
    distances = np.sort(cdist(X, X), axis=1)
    assert estimate_sigma(X) == pytest.approx(distances[:, 10].mean())


@pytest.mark.parametrize("method", ["direct", "tree", "fgt"])
def test_kernel_sums(method):
    for eps in (1e-2, 1e-8):
        sums = kernel_sum(X, sigma=SIGMA, eps=eps, method=method)
        assert oracle.excess(sums, X, X, "gaussian", SIGMA, eps) <= 1, eps


def test_law_of_the_sampler():
    n, n_rounds = 60, 2000
    graph = similarity_graph(X[:n], sigma=SIGMA, n_rounds=n_rounds, seed=0)
    oracle.check_draws(graph.neighbors, oracle.full_graph(X[:n], "gaussian", SIGMA))


def test_graph(graph):
    K = oracle.full_graph(X, "gaussian", SIGMA)
    np.testing.assert_allclose(graph.kernel_degrees, K.sum(axis=1), rtol=1e-6)
    expected = oracle.sampled_weights(graph.neighbors, K, "independent")
    np.testing.assert_allclose(graph.adjacency.toarray(), expected, rtol=1e-5)
    reports = []
    again = similarity_graph(X, progress=lambda *report: reports.append(report), **OPTIONS)
    assert check_reports(reports) == list(graph.timings)
    assert_same_graph(again, graph)


def test_spectrum(graph):
    found = spectrum(graph, 4, tol=1e-6)
    N = oracle.normalized_laplacian(graph.adjacency)
    np.testing.assert_allclose(found.eigenvalues, np.linalg.eigvalsh(N)[:4], atol=1e-7)
    residuals = N @ found.eigenvectors - found.eigenvectors * found.eigenvalues
    assert np.linalg.norm(residuals, axis=0).max() < 1e-5


def test_clusters(graph):
    clusters = spectral_clustering(graph, 2, seed=0)
    assert adjusted_rand_score(DATA.y, clusters.labels) > 0.95
    exact = oracle.conductances(graph.adjacency.toarray(), clusters.labels)
    np.testing.assert_allclose(clusters.conductances, exact)


def test_files_and_command_line(graph, tmp_path):
    graph.save(tmp_path / "graph.npz")
    assert_same_graph(SimilarityGraph.load(tmp_path / "graph.npz"), graph)
    table, labels = tmp_path / "points.csv", tmp_path / "labels.npy"
    rows = [f"{x!r},{y!r}" for x, y in X.tolist()]
    table.write_text("\n".join(["x,y", *rows]))
    np.testing.assert_array_equal(datasets.load(table).X, X)
    run = CliRunner().invoke(main, ["cluster", str(table), "-k", "2", "-o", str(labels)])
    assert run.exit_code == 0, run.output
    assert adjusted_rand_score(DATA.y, np.load(labels)) > 0.95


@pytest.mark.parametrize("bad", [[], [[np.nan, 1.0]], [["a", "b"]]])
def test_refusals(bad):
    with pytest.raises(ValueError, match=r"^X "):
        similarity_graph(bad)
