"""The spectrum against LAPACK on graphs with everything at once, from 1 to 3,000 vertices and from
1 to n eigenvalues.

Each graph has up to 20 components of many shapes, some of them twice (repeated eigenvalues),
clusters that hang together by a hair (clustered eigenvalues), isolated vertices, and weights over
twelve orders of magnitude, its vertices in random order.
"""

import numpy as np
import oracle
import pytest
import scipy.linalg
import scipy.sparse as sp
from graphs import check_spectrum, complete, cycle
from threadpoolctl import threadpool_limits

SMALL = [(n, c) for n in (*range(1, 11), 13, 20, 40) for c in (1, 2, 5, 20) if c <= n]
LARGE = [(n, c, seed) for n, c in [(100, 1), (100, 20), (300, 3)] for seed in range(4)]
LARGE += [
    (450, 8, 0),
    (450, 8, 1),
    (700, 1, 2),
    (700, 1, 3),
    (700, 20, 0),
    (1500, 5, 1),
    (3000, 2, 3),
]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """With more, BLAS would wait longer than it works while other tests are running."""
    with threadpool_limits(1, user_api="blas"):
        yield


def scattered(n, rng):
    """A connected graph with weights from 1e-12 to 1: a random tree and as many edges again."""
    rows = np.r_[np.arange(1, n), rng.integers(0, n, n)]
    columns = np.r_[rng.integers(0, np.arange(1, n)), rng.integers(0, n, n)]
    A = sp.csr_array((10.0 ** rng.uniform(-12, 0, len(rows)), (rows, columns)), shape=(n, n))
    return A + A.T


def clustered(n, rng):
    """Three dense parts, joined by weights of 1e-9."""
    part, near = np.arange(n) * 3 // n, np.abs(np.subtract.outer(np.arange(n), np.arange(n))) < 30
    W = np.where(near, np.where(np.equal.outer(part, part), 1.0, 1e-9), 0.0)
    np.fill_diagonal(W, 0)
    return sp.csr_array(W)


SHAPES = (lambda n, rng: cycle(n), lambda n, rng: complete(n), scattered, clustered)


def assorted(n, c, seed):
    """Adjacency matrix of `n` vertices in `c` components, of which about one in four is an isolated
    vertex.
    """
    rng = np.random.default_rng([n, c, seed])
    n_single = min(c // 4, n)
    c_rest = max(c - n_single, 1)
    bounds = np.linspace(0, n - n_single, c_rest + 1).astype(int)
    parts = [sp.csr_array((n_single, n_single))] if n_single else []
    for i, size in enumerate(np.diff(bounds)):
        shape = SHAPES[
            (i // 2 + seed) % 4
        ]  # each shape twice: of the same size, the deterministic ones have the same eigenvalues
        parts.append(shape(size, rng) if size > 2 else complete(size))
    A = sp.csr_array(sp.block_diag(parts))
    A = A * 10.0 ** rng.uniform(-3, 3)
    order = rng.permutation(n)
    return sp.csr_array(A[order][:, order])


def exact(A):
    return scipy.linalg.eigh(oracle.normalized_laplacian(A), eigvals_only=True)


@pytest.mark.parametrize(("n", "c"), SMALL)
@pytest.mark.parametrize("seed", range(3))
def test_every_number_of_eigenvalues(n, c, seed):
    A = assorted(n, c, seed)
    assert sp.csgraph.connected_components(A)[0] == c
    eigenvalues = exact(A)
    for k in range(1, n + 1):
        found = check_spectrum(A, k, eigenvalues=eigenvalues)
        assert found.n_connected_components == c
        assert (found.eigenvalues[:c] == 0).all()


@pytest.mark.parametrize(("n", "c", "seed"), LARGE)
def test_spread_of_numbers_of_eigenvalues(n, c, seed):
    A = assorted(n, c, seed)
    eigenvalues = exact(A)
    numbers = {1, 2, c, c + 1, c + 7, 25, n} | ({n // 20, n // 3, n - 1} if n < 1000 else set())
    for k in sorted(numbers):
        found = check_spectrum(A, k, eigenvalues=eigenvalues)
        assert found.n_connected_components == c
        assert (found.eigenvalues[:c] == 0).all()
