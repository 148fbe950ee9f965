"""Arguments of `spectrum` that are refused, each by its name."""

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import complete, separated_blobs
from kdegraph.dispatch import spectrum
from sklearn.exceptions import ConvergenceWarning


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([(0, 1, 1.0)], r"symmetric, but adjacency\[0, 1\] is 1.0 and adjacency\[1, 0\] is 0.0"),
        ([(1, 0, 1.0)], r"symmetric, but adjacency\[1, 0\] is 1.0 and adjacency\[0, 1\] is 0.0"),
        (
            [(0, 1, 1.0), (1, 0, 1.1)],
            r"symmetric, but adjacency\[0, 1\] is 1.0 and adjacency\[1, 0\] is 1.1",
        ),
        ([(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)], "symmetric"),
        ([(0, 1, 1.0), (1, 0, 1.0), (2, 1, 1.0)], r"symmetric, but adjacency\[2, 1\] is 1.0"),
        ([(0, 1, 1.0), (1, 0, 1.0), (1, 3, 1.0)], r"symmetric, but adjacency\[1, 3\] is 1.0"),
    ],
)
def test_asymmetric_weights_are_refused(entries, message):
    rows, columns, weights = zip(*entries, strict=True)
    A = sp.csr_array((weights, (rows, columns)), shape=(4, 4))
    for given in (A, A.toarray()):
        with pytest.raises(ValueError, match=message):
            spectrum(given, 2)


def test_effort_is_bounded_and_what_was_found_is_returned_with_a_warning():
    path = sp.diags_array([np.ones(8_999), np.ones(8_999)], offsets=[-1, 1]).tocsr()
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        found = spectrum(path, 5, max_products=30)
    assert not found.converged
    assert found.n_products <= 31
    assert found.residuals.max() > 0
    with pytest.raises(ValueError, match="max_products must be a whole number >= 1, got 0"):
        spectrum(path, 5, max_products=0)


def cancelling(key):
    """A path with two entries on one side of the diagonal only. For this key their hashes are the
    same, of which one is added and one subtracted.
    """
    A = sp.lil_array((41, 41))
    for k in range(40):
        A[k, k + 1] = A[k + 1, k] = 1.0
    low, other = 34, 36
    bits = int(np.float64(0.5).view(np.uint64)) ^ ((low + 1) * key ^ (other + 1) * key) % 2**64
    A[low, 40], A[40, other] = 0.5, np.uint64(bits).view(np.float64)
    return A.tocsr()


def test_asymmetry_is_found_though_hashes_may_cancel(monkeypatch):
    key = 0x9E3779B97F4A7C15
    A = cancelling(key)
    assert abs(A - A.T).max() > 0.4
    monkeypatch.setattr("secrets.randbits", lambda n: key)
    spectrum(A, 3)  # whoever knew the key could deceive the check
    monkeypatch.undo()
    for _ in range(5):
        with pytest.raises(ValueError, match="adjacency must be symmetric"):
            spectrum(A, 3)


def test_asymmetry_by_rounding_is_accepted():
    W = np.random.default_rng(0).random((20, 20))
    A = W + W.T
    A[3, 4] *= 1 + 1e-12
    assert spectrum(A, 3).eigenvalues[0] == 0


def test_omitting_isolated_vertices_limits_the_number():
    A = sp.csr_array(sp.block_diag([complete(3), sp.csr_array((2, 2))]))
    assert spectrum(A, 5).n_components == 5
    with pytest.raises(ValueError, match=r"at most 3.*2 are isolated"):
        spectrum(A, 4, omit_isolated=True)
    with pytest.raises(ValueError, match="no edges"):
        spectrum(sp.csr_array((4, 4)), 1, omit_isolated=True)


@pytest.mark.parametrize("k", [10, 300])
def test_what_cannot_fit_is_refused(monkeypatch, k):
    A, _ = separated_blobs(600, 2)
    monkeypatch.setattr("kdegraph.runtime.memory.ALWAYS_AVAILABLE", 0)
    monkeypatch.setattr("kdegraph.runtime.memory.available_memory", lambda: 8 * 600 * k)
    with pytest.raises(
        MemoryError, match=f"{k} eigenvectors of a graph of 600 vertices need .* fewer n_components"
    ):
        spectrum(A, k)
    dense_matrix_and_work = 3 * 8 * 600 * 600
    monkeypatch.setattr(
        "kdegraph.runtime.memory.available_memory", lambda: dense_matrix_and_work - 1
    )
    if k == 300:
        with pytest.raises(MemoryError, match="fewer n_components"):
            spectrum(A, k)
    else:
        assert spectrum(A, k).n_components == k
