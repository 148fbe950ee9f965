"""Sampled graphs: their expectation, weights, pattern and seeds; progress and cancelling."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import oracle
import programs
import pytest
import scipy.sparse
from kdegraph import SimilarityGraph, similarity_graph
from kdegraph.adjacency import weighted_adjacency
from kdegraph.geometry.kernels import Kernel
from kdegraph.geometry.tree import build_tree
from peak_memory import MEASURE, skip_unless_reported
from promises import check_reports, check_threads
from sampled import WAYS, check_matrix, cloud, digest, ways


def law(name):
    return "stratified" if name == "stratified" else "independent"


@ways
def test_expected_adjacency_is_the_kernel_matrix(name):
    """For other kernels there are tests of the law and of the weights."""
    X = cloud(50)
    options = {"sigma": 1.0, "n_rounds": 5, "eps": 1e-9} | WAYS[name]
    graphs = [similarity_graph(X, seed=seed, **options) for seed in range(400)]
    weights = np.array([graph.adjacency.toarray() for graph in graphs])
    oracle.check_unbiased(weights, oracle.full_graph(X, "gaussian", 1.0), 5, law(name))


@pytest.mark.parametrize(
    ("n_rounds", "kernel"),
    [  # 300: rows too long to be sorted by ranks
        *((7, kernel) for kernel in oracle.KERNELS),
        (1, "gaussian"),
        (300, "gaussian"),
    ],
)
def test_weights_entry_by_entry(n_rounds, kernel):
    """Plain loops recompute pattern and weights from the sampled pairs, for both weightings."""
    X = np.concatenate([cloud(90, seed=n_rounds), [[40.0, 0.0], [1e6, 1e6]]])
    K = oracle.full_graph(X, kernel, 0.6)
    for name, weighting in itertools.product(WAYS, ("inclusion", "paper")):
        options = {"kernel": kernel, "sigma": 0.6, "n_rounds": n_rounds, "eps": 1e-12, "seed": 5}
        graph = similarity_graph(X, weighting=weighting, **options, **WAYS[name])
        draws = "stratified" if weighting == "paper" else law(name)
        expected = oracle.sampled_weights(graph.neighbors, K, draws)
        got = graph.adjacency.toarray()
        assert np.array_equal(got > 0, expected > 0)
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=0)
        np.testing.assert_allclose(graph.kernel_degrees, K.sum(axis=1), rtol=1e-9, atol=0)


@pytest.mark.parametrize("n_rounds", [1, 12])
def test_vertices_that_very_many_draw(n_rounds):
    """Hubs and vertices without draws: rows of all lengths, as samplers seldom make them."""
    n, rng = 1500, np.random.default_rng(n_rounds)
    kernel, tree = Kernel("gaussian", 0.3), build_tree(rng.random((n, 2)))
    K = oracle.full_graph(tree.points, "gaussian", 0.3)
    neighbors = rng.integers(4, n, (n, n_rounds)).astype(np.int32)
    neighbors[:, 0] = np.arange(n) % 4
    neighbors[neighbors == np.arange(n)[:, None]] = 5
    neighbors[rng.integers(8, n, 100)] = -1
    neighbors[:8] = -1
    A = weighted_adjacency(kernel, tree, K.sum(axis=1), neighbors, independent=False)
    expected = oracle.sampled_weights(neighbors, K, "stratified")
    got = A.toarray()[np.ix_(tree.order, tree.order)]
    assert np.array_equal(got > 0, expected > 0)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=0)
    A.check_format(full_check=True)
    check_matrix(A, n)


def check_structure(graph, n, n_rounds):
    check_matrix(graph.adjacency, n)
    dense = graph.adjacency.toarray()
    assert graph.n_edges == np.count_nonzero(np.triu(dense))
    assert graph.n_edges <= n * n_rounds
    drawn = np.zeros((n, n), bool)
    for i, row in enumerate(graph.neighbors):
        drawn[i, row[row >= 0]] = True
    assert np.array_equal(dense > 0, drawn | drawn.T)


@pytest.mark.nojit
@ways
def test_structure(name):
    for n, n_rounds in ((2, 1), (3, 8), (17, 4), (40, 60)):
        graph = similarity_graph(cloud(n), sigma=1.0, n_rounds=n_rounds, seed=0, **WAYS[name])
        check_structure(graph, n, n_rounds)


def test_same_bits_for_any_number_of_threads_and_in_another_process(tmp_path):
    X, options = cloud(2500), {"sigma": 0.3, "n_rounds": 12, "seed": 2**64 - 5}
    for way in (*WAYS.values(), {"sampler": "mixture"}, {"sigma": "local"}):
        check_threads(lambda way=way: tuple(digest(similarity_graph(X, **options | way))))
    np.save(tmp_path / "X.npy", X)
    code = f"""
import kdegraph, numpy as np
X = np.load("X.npy")
for name, way in {WAYS!r}.items():
    kdegraph.similarity_graph(X, **{options!r}, **way).save(f"{{name}}.npz")
"""
    programs.run(code, cwd=tmp_path, KDEGRAPH_NUM_THREADS="1")
    for name, way in WAYS.items():
        graph = SimilarityGraph.load(tmp_path / f"{name}.npz")
        assert digest(graph) == digest(similarity_graph(X, **options, **way))


@ways
def test_seeds(name):
    X = cloud(200)
    make = lambda seed: similarity_graph(X, sigma=0.5, seed=seed, **WAYS[name])  # noqa: E731
    assert digest(make(3)) == digest(make(3)) == digest(make(np.int64(3)))
    for other in (4, 2**32 + 3, 2**63):
        assert (make(3).neighbors != make(other).neighbors).mean() > 0.1
    fresh = make(None)
    assert (fresh.neighbors != make(None).neighbors).any()
    assert digest(make(fresh.seed)) == digest(fresh)
    assert digest(make(np.random.default_rng(1))) == digest(make(np.random.default_rng(1)))
    rng = np.random.default_rng(1)
    assert digest(make(rng)) != digest(make(rng))


def test_sampler_auto():
    X = cloud(30)
    assert similarity_graph(X, sigma="local").sampler == "near"
    assert similarity_graph(X, sigma=1.0).sampler == "rejection"
    line = np.linspace(0, 1, 3000)[:, None]
    assert similarity_graph(line, sigma=0.001).sampler == "near"
    assert similarity_graph(line, sigma=0.1).sampler == "rejection"
    assert similarity_graph(X, sigma=1.0).draws == "independent"
    assert similarity_graph(X, sigma=1.0, kde="direct").sampler == "recursive"
    assert similarity_graph(X, sigma=1.0, sampler="recursive").draws == "stratified"


def test_attributes_say_what_ran():
    expected = {"sigma": 0.7, "kernel": "laplacian", "n_rounds": 9, "seed": 11}
    expected |= {"draws": "independent", "weighting": "paper"}
    graph = similarity_graph(cloud(50), kde="fgt", **expected)
    assert {name: getattr(graph, name) for name in expected} == expected
    assert graph.sampler == "recursive"
    assert graph.eps == pytest.approx(1 / (6 * np.log2(50)))
    assert {"tree", "samples", "graph"} <= set(graph.timings)
    assert all(seconds >= 0 for seconds in graph.timings.values())


@pytest.mark.nojit
@ways
def test_laplacian(name):
    X = np.concatenate([cloud(40), [[1e5, 0.0]]])  # the last vertex is isolated
    graph = similarity_graph(X, sigma=1.0, seed=0, **WAYS[name])
    before = graph.adjacency.copy()
    L = graph.laplacian()
    assert isinstance(L, scipy.sparse.csr_array)
    np.testing.assert_allclose(
        L.toarray(), oracle.normalized_laplacian(graph.adjacency.toarray()), atol=1e-14
    )
    assert (L.toarray()[-1] == 0).all()
    assert np.array_equal(graph.adjacency.toarray(), before.toarray())


# Progress and cancelling.


@ways
def test_progress(name):
    calls, thread = [], threading.get_ident()

    def progress(stage, fraction):
        assert threading.get_ident() == thread
        calls.append((stage, fraction))

    graph = similarity_graph(cloud(3000), sigma=0.4, seed=0, progress=progress, **WAYS[name])
    assert check_reports(calls) == list(graph.timings)
    fractions = [f for s, f in calls if s == "samples"]
    assert fractions[0] == 0
    assert fractions[-1] == 1
    assert digest(graph) == digest(similarity_graph(cloud(3000), sigma=0.4, seed=0, **WAYS[name]))


@ways
def test_many_python_threads_at_once(name):
    X = [cloud(600 + 50 * i, seed=i) for i in range(6)]
    make = lambda i: digest(similarity_graph(X[i], sigma=0.4, n_rounds=10, seed=i, **WAYS[name]))  # noqa: E731
    expected = [make(i) for i in range(6)]
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda i: [make(i) for _ in range(3)], range(6)))
    assert found == [[one] * 3 for one in expected]


MADE = {"sigma": 0.1, "n_rounds": 20, "seed": 0}
MAKE_GRAPH = f"""
import numpy as np
from kdegraph import similarity_graph

X = np.random.default_rng(0).normal(size=(100_000, 2))
options = {MADE!r}
similarity_graph(X, **options)  # what is imported and loaded does not count
before = begin()
graph = similarity_graph(X, **options)
A = graph.adjacency
arrays = A.data, A.indices, A.indptr, graph.neighbors, graph.kernel_degrees
print(taken(before) / sum(array.nbytes for array in arrays))
"""


def test_a_graph_takes_less_memory_than_two():
    """Of the process: tracemalloc counts an array twice while NumPy 2.5 cuts off its end."""
    skip_unless_reported()
    # A process that compiles would reuse the memory that this took.
    similarity_graph(np.random.default_rng(0).normal(size=(100_000, 2)), **MADE)
    ratio = programs.run(MEASURE + MAKE_GRAPH).stdout
    assert float(ratio) < 1.8
