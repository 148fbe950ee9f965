"""Graphs with known spectra, and the check of a computed spectrum against LAPACK."""

import numpy as np
import oracle
import scipy.sparse as sp
from kdegraph.dispatch import spectrum
from sklearn.datasets import make_blobs
from sklearn.neighbors import kneighbors_graph

TOL = 1e-4


def check_spectrum(A, k, *, eigenvalues=None, tol=TOL, **options):
    """Compute a spectrum and hold everything that is promised against the oracle."""
    found = spectrum(A, k, tol=tol, **options)
    N = oracle.normalized_laplacian(A)
    exact = oracle.eigenvalues(A) if eigenvalues is None else np.sort(eigenvalues)
    assert found.converged
    assert found.n_components == k
    assert found.eigenvalues.shape == (k,)
    assert found.eigenvectors.shape == (len(N), k)
    assert (np.diff(found.eigenvalues) >= -1e-12).all()
    assert found.eigenvalues.min() >= 0
    assert np.abs(found.eigenvalues - exact[:k]).max() < max(0.05 * tol, 1e-13)
    assert np.abs(found.eigenvectors.T @ found.eigenvectors - np.eye(k)).max() < 1e-9
    assert (found.eigenvectors.max(axis=0) >= -found.eigenvectors.min(axis=0)).all()
    residuals = np.linalg.norm(
        N @ found.eigenvectors - found.eigenvectors * found.eigenvalues, axis=0
    )
    assert residuals.max() <= tol * 1.01 + 1e-13
    assert np.allclose(residuals, found.residuals, atol=max(1e-12, 0.01 * tol))
    return found


def cycle(n):
    i = np.arange(n)
    A = sp.csr_array((np.ones(n), (i, (i + 1) % n)), shape=(n, n))
    return A + A.T


def cycle_values(n):
    return 1 - np.cos(2 * np.pi * np.arange(n) / n)


def complete(n):
    return sp.csr_array(np.ones((n, n)) - np.eye(n))


def blocks(*sizes):
    """Complete graphs of these sizes, side by side."""
    return sp.csr_array(sp.block_diag([complete(n) for n in sizes]))


def hypercube(d):
    A = sp.csr_array((1, 1))
    edge = sp.csr_array([[0.0, 1.0], [1.0, 0.0]])
    for _ in range(d):
        A = sp.kron(A, sp.eye_array(2)) + sp.kron(sp.eye_array(A.shape[0]), edge)
    return sp.csr_array(A)


def separated_blobs(n, c, k=8):
    """k-NN graph with exactly `c` components."""
    centers = np.array([[1000.0 * (i % 5), 1000.0 * (i // 5)] for i in range(c)])
    X, y = make_blobs(n, centers=centers, cluster_std=1.0, random_state=c)
    A = kneighbors_graph(X, k)
    return sp.csr_array(A + A.T), y
