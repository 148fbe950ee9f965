"""Graphs by every way of drawing neighbors, and their comparison bit for bit."""

import numpy as np
import pytest
import scipy.sparse

WAYS = {
    "rejection": {"sampler": "rejection"},
    "near": {"sampler": "near"},
    "stratified": {"sampler": "recursive", "draws": "stratified", "kde": "direct"},
    "independent": {"sampler": "recursive", "draws": "independent", "kde": "direct"},
}


FIELDS = ("kernel_degrees", "neighbors", "points", "order", "sigma", "densities")
PARAMETERS = ("kernel", "n_rounds", "seed", "sampler", "draws", "weighting", "eps", "alpha")


def ways(function):
    return pytest.mark.parametrize("name", WAYS)(function)


def cloud(n, d=2, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.normal(size=(n // 2, d)), 3 + 0.5 * rng.normal(size=(n - n // 2, d))]
    )


def check_matrix(A, n):
    """Check that a sparse matrix is as all graphs have it: symmetric, with positive weights, each
    row in order, and neither loops nor entries twice.
    """
    assert isinstance(A, scipy.sparse.csr_array)
    assert A.shape == (n, n)
    assert A.dtype == np.float64
    assert A.indptr.shape == (n + 1,)
    assert A.indptr[-1] == A.indices.size == A.data.size
    for i in range(n):
        row = A.indices[A.indptr[i] : A.indptr[i + 1]]
        assert (np.diff(row) > 0).all()
        assert i not in row
    assert (A.data > 0).all()
    assert np.isfinite(A.data).all()
    assert (A != A.T).nnz == 0


def digest(graph):
    """All bits of a graph that depend on its draws."""
    matrix = graph.adjacency
    arrays = graph.neighbors, matrix.data, matrix.indices, matrix.indptr
    return [array.tobytes() for array in arrays]


def assert_same_graph(graph, expected):
    """Two graphs in memory are the same, bit for bit."""
    assert digest(graph) == digest(expected)
    for name in FIELDS:
        mine, other = getattr(graph, name), getattr(expected, name)
        assert np.array_equal(mine, other), name
        assert getattr(mine, "dtype", None) == getattr(other, "dtype", None), name
    for name in (*PARAMETERS, "n_edges"):
        assert getattr(graph, name) == getattr(expected, name), name
