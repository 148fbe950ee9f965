"""Parts of the eigensolver by themselves: products with small and large blocks, and how far a
missing vector stands out.
"""

import math

import kdegraph
import numpy as np
import oracle
import pytest
import scipy.linalg
import scipy.sparse as sp
from graphs import complete, cycle
from kdegraph.spectral.laplacian import NormalizedAdjacency, check_adjacency
from kdegraph.spectral.products import LARGE, LINE, zeros_in_lines
from kdegraph.spectral.solver.chebyshev_filter import Chebyshev
from kdegraph.spectral.solver.iteration import _standing_out


@pytest.mark.parametrize("n", [50, LARGE // 16 + 5000])
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
    block, previous = (zeros_in_lines(len(vertices), m, dtype) for _ in range(2))
    block[:], previous[:] = rng.random((2, *block.shape))
    expected = 2.0 * (M @ block - 0.5 * block) - 0.25 * previous
    found = operator.step(block, previous, 2.0, 0.5, 0.25)
    assert np.abs(found - expected).max() < 100 * np.finfo(dtype).eps
    assert (operator.toarray() != 0).sum() == M.nnz if n < 1000 else len(operator.indices) == M.nnz


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_begin_with_a_cache_line(dtype):
    block = zeros_in_lines(33, 5, dtype)
    assert block.ctypes.data % LINE == 0
    assert block.shape == (33, 5)
    assert block.dtype == dtype
    assert not block.any()


def stand_out(spread, n_given, n_random, n, rng):
    """The largest share of a vector that is missing among the given ones, in combinations of probes
    damped by these factors.
    """
    block = rng.normal(size=(n, n_given + n_random))
    block[:, n_given:] = rng.random((n, n_random)) - 0.5
    stray = np.zeros(n)
    stray[0] = 1.0
    coefficients = block[0, n_given:].copy()
    block[0] = 0
    block[:, n_given:] *= spread
    block[:, n_given:] += block[:, :n_given] @ rng.normal(
        size=(n_given, n_random)
    )  # of what is given nothing counts
    gram = block.T @ block
    expected = math.exp(_standing_out(gram, n_random))
    rest = (
        block[:, n_given:]
        - block[:, :n_given]
        @ np.linalg.lstsq(block[:, :n_given], block[:, n_given:], rcond=None)[0]
    )
    return math.sqrt(coefficients @ np.linalg.solve(rest.T @ rest, coefficients)) / expected


@pytest.mark.parametrize(
    "make",
    [
        lambda: cycle(500),
        lambda: complete(60),
        lambda: sampled(10),
        lambda: sampled(30),
        lambda: with_pairs(sampled(10)),
    ],
)
def test_radius_of_what_random_edges_make(make):
    """No eigenvalue lies far below; it says more than -1 does where there are many edges, and none
    that is far heavier than all others.
    """
    A = make()
    graph = check_adjacency(A)
    radius = NormalizedAdjacency.of_graph(graph, np.arange(A.shape[0], dtype=np.int32)).radius()
    lowest = 1 - scipy.linalg.eigh(oracle.normalized_laplacian(A), eigvals_only=True).max()
    assert -radius < lowest + 0.03
    assert (radius < 0.55) == (lowest > -0.55)


def sampled(n_rounds):
    return kdegraph.similarity_graph(
        kdegraph.datasets.make("moons", n=1500, seed=0).X, sigma=0.1, n_rounds=n_rounds, seed=0
    ).adjacency


def with_pairs(A):
    """Two vertices that hang together by far more than to the rest."""
    changed = A.tolil()
    changed[3, 7] = changed[7, 3] = 5 * A.sum(axis=1).max()
    return sp.csr_array(changed)


@pytest.mark.parametrize("spread", [np.ones(8), np.geomspace(1, 30, 8)])
def test_missing_vectors_hardly_ever_stand_out_much_less_than_said(spread):
    rng = np.random.default_rng(0)
    ratios = np.array([stand_out(spread, 6, 8, 500, rng) for _ in range(400)])
    assert np.median(ratios) > 0.8
    assert np.mean(ratios < 0.4) < 0.02


@pytest.mark.parametrize("n", [10_000, 1_000_000])
def test_first_filter_raises_missing_vectors_above_the_rest(n):
    values = 1 - 0.01 * np.arange(1, 17)
    proof = math.log(10)
    filters = [
        Chebyshev.revealing(values, 8, values[6], level, n, 0.5) for level in (proof, proof + 2)
    ]
    assert filters[0].degree < filters[1].degree
    rest = [
        0.5 + (8 - j) / n * math.exp(2 * filters[0].growth(value))
        for j, value in enumerate(values[8:])
    ]
    assert (
        math.exp(filters[0].growth(values[6]))
        * math.sqrt(8 / n)
        / math.exp(np.log(rest).mean() / 2)
        >= 10
    )
