"""Sentences on what may be wrong with data, their warning, and two mistakes that matrices show.

`kdegraph.diagnosis` has the classes as public names.
"""

import sys
import warnings

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from kdegraph.manual import see

# Fewer rows may be symmetric by chance, and show little of what they are.
FEWEST_ROWS = 10


class GraphWarning(UserWarning):
    """Warn of a graph that may misrepresent the data; the message says why and what to do.

    Examples
    --------
    >>> import warnings
    >>> from kdegraph.diagnosis import GraphWarning
    >>> warnings.simplefilter("ignore", GraphWarning)
    """


class Finding(str):
    """Hold a sentence of `diagnose`: an observation and its remedy.

    Parameters
    ----------
    problem : {"columns", "matrix", "wide", "narrow", "concentrated", "parts", "distances"}
        Columns of very different scales, a symmetric matrix given as points, a sigma that is too
        wide or too narrow, distances that hardly differ, too many parts, distances given as
        weights.
    observation : str
    remedy : str

    Attributes
    ----------
    problem, observation, remedy : str
        The parameters, for programs that know a remedy of their own.
    page : str
        Where the manual says more: a page, and the place on it.

    Examples
    --------
    >>> import kdegraph
    >>> graph = kdegraph.similarity_graph([[0.0], [1.0]], sigma=20.0, seed=0)
    >>> [finding.problem for finding in kdegraph.diagnose(graph)]
    ['wide']
    """

    problem: str
    observation: str
    remedy: str

    def __new__(cls, problem: str, observation: str, remedy: str) -> "Finding":
        finding = super().__new__(cls, f"{observation}; {remedy}")
        finding.problem, finding.observation, finding.remedy = problem, observation, remedy
        return finding

    def __getnewargs__(self) -> tuple[str, str, str]:  # type: ignore[override]
        """Keep all parts in copies and pickles."""
        return self.problem, self.observation, self.remedy


def warn(finding: Finding) -> None:
    """Show a finding as a warning at the line outside this package that called into it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("kdegraph."):
        frame, level = frame.f_back, level + 1
    message = f"{finding} {see('warning-' + finding.problem)}"
    warnings.warn(message, GraphWarning, stacklevel=level)


def distances_as_weights(matrix: scipy.sparse.csr_array) -> Finding | None:
    """Find a matrix of distances in place of weights.

    In a matrix of distances, vertices with a small entry have nearly the same rows, and in one of
    weights vertices with a large entry. So in each row the entries are compared with the
    differences between rows, among 100 vertices. The numbers are ranks, because these are the same
    for all kernels, up to their order. The mean correlation is 0.5 to 0.98 for distances, except
    between points without clusters in 50 and more dimensions, and at most 0.2 for kernel matrices
    of any bandwidth. Matrices with zeros for a quarter of the pairs are not judged. The matrix is
    symmetric, without explicit zeros.
    """
    n = matrix.shape[0]
    if n < FEWEST_ROWS or matrix.nnz < 0.75 * n * (n - 1):
        return None
    some = np.sort(np.random.default_rng(0).choice(n, min(n, 100), replace=False))
    entries = matrix[some][:, some].toarray()
    if entries.diagonal().any():
        return None
    values, ranks = np.unique(entries, return_inverse=True)
    if len(values) < 4:  # zero, and two others: an unweighted graph, or nearly so
        return None
    if np.mean(list(_correlations(ranks.reshape(entries.shape)))) < 0.5:
        return None
    return Finding(
        "distances",
        "the matrix looks like distances, not weights: rows are alike where their entry is small, "
        "and its diagonal is zero",
        "turn distances into weights, which are large for near points, for instance with "
        "KDESpectralClustering(affinity='precomputed_distances'), or give the points",
    )


def _correlations(ranks):
    """Return for each row the correlation of its entries with the differences to other rows."""
    m = len(ranks)
    differences = np.abs(ranks[:, None] - ranks[None])
    own = np.arange(m)
    differences[own, :, own] = differences[:, own, own] = 0  # only entries with third vertices
    differences = differences.sum(axis=2)
    apart = ~np.eye(m, dtype=bool)
    for i in range(m):
        pair = ranks[i][apart[i]], differences[i][apart[i]]
        yield 0.0 if min(map(np.ptp, pair)) == 0 else np.corrcoef(*pair)[0, 1]


def matrix_as_points(points: NDArray[np.floating]) -> Finding | None:
    """Find a symmetric matrix, of weights or distances, in place of points: one of at least 10 rows
    that are not all the same.
    """
    n, d = points.shape
    if n != d or n < FEWEST_ROWS or not _is_symmetric(points):
        return None
    if points.min() == points.max():
        return None
    return Finding(
        "matrix",
        f"the points are a symmetric matrix of shape {points.shape}, which looks like weights or "
        "distances between points, but its rows are taken for coordinates",
        "give weights to spectral_clustering, or take KDESpectralClustering with "
        "affinity='precomputed', or affinity='precomputed_distances' for distances",
    )


def _is_symmetric(matrix):
    """Return whether a matrix is symmetric, up to rounding."""
    if scipy.sparse.issparse(matrix):
        return abs(matrix - matrix.T).max() <= 1e-8 * abs(matrix).max()
    return np.allclose(matrix, matrix.T, rtol=1e-8, atol=0.0)
