"""The normalized adjacency matrix as an operator: its products, and its bulk radius."""

import kdegraph
import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from graphs import complete, cycle
from kdegraph.spectral.checked_graph import check_adjacency
from kdegraph.spectral.laplacian import NormalizedAdjacency
from kdegraph.spectral.products import CACHE_LINE, PREFETCH_ABOVE, aligned_zeros


@pytest.mark.parametrize("n", [50, PREFETCH_ABOVE // 16 + 5000])
@pytest.mark.parametrize("m", [1, 8, 16, 27])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_with_blocks_of_any_size(n, m, dtype):
    rng = np.random.default_rng(m)
    rows, columns = rng.integers(0, n, (2, 4 * n))
    A = sp.csr_array((rng.random(4 * n), (rows, columns)), shape=(n, n))
    A = A + A.T
    graph = check_adjacency(A)
    vertices = rng.permutation(np.flatnonzero(graph.degrees > 0)).astype(np.int32)
    operator = NormalizedAdjacency.of_graph(graph, vertices)
    scale = 1 / np.sqrt(graph.degrees[vertices])
    M = sp.diags_array(scale) @ A[vertices][:, vertices] @ sp.diags_array(scale)
    block, previous = (aligned_zeros(len(vertices), m, dtype) for _ in range(2))
    assert block.ctypes.data % CACHE_LINE == 0
    assert not block.any()
    block[:], previous[:] = rng.random((2, *block.shape))
    expected = 2.0 * (M @ block - 0.5 * block) - 0.25 * previous
    found = operator.step(block, previous, 2.0, 0.5, 0.25)
    assert np.abs(found - expected).max() < 100 * np.finfo(dtype).eps
    if n < 1000:
        assert np.abs(operator.toarray() - M.toarray()).max() < 1e-15
    else:
        assert len(operator.indices) == M.nnz


def sampled(n_rounds):
    X = kdegraph.datasets.make("moons", n=1500, seed=0).X
    return kdegraph.similarity_graph(X, sigma=0.1, n_rounds=n_rounds, seed=0).adjacency


def with_pair(A):
    """Two vertices that hang together by far more than to the rest."""
    changed = A.tolil()
    changed[3, 7] = changed[7, 3] = 5 * A.sum(axis=1).max()
    return sp.csr_array(changed)


@pytest.mark.parametrize(
    "make",
    [
        lambda: cycle(500),
        lambda: complete(60),
        lambda: sampled(10),
        lambda: sampled(30),
        lambda: with_pair(sampled(10)),
    ],
)
def test_radius_of_what_random_edges_make(make):
    """No eigenvalue lies far below; it says more than -1 does where there are many edges, and none
    that is far heavier than all others.
    """
    A = make()
    graph = check_adjacency(A)
    operator = NormalizedAdjacency.of_graph(graph, np.arange(A.shape[0], dtype=np.int32))
    radius = operator.bulk_radius()
    lowest = 1 - oracle.eigenvalues(A).max()
    assert -radius < lowest + 0.03
    assert (radius < 0.55) == (lowest > -0.55)
