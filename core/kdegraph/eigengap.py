"""Suggest a number of clusters from the smallest eigenvalues of a graph."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from kdegraph.runtime.threads import blas_threads
from kdegraph.validation import as_array, check_count

MAX_ZERO = 1e-12  # eigenvalues up to this one count as those of connected components
# Score of "no more clusters than connected components", with eigenvectors.
NULL_SCORE = 0.4
# Least alignment of the eigenvectors of clusters. That of the two halves of a segment is 0.921, and
# up to 0.933 for points drawn from it.
MIN_ALIGNMENT = 0.935
ALIGNMENT_ROWS = 20_000  # largest number of vertices from which the alignment is computed
AUTO_EIGENVALUES = 20  # from which `spectral_clustering` finds the number of clusters
SEGMENT_EIGENVALUES = 31  # from which the number of segments of a photograph is found


class SuggestedNumber(int):
    """A number of clusters, and the confidence in it, as `suggest_n_clusters` returns it.

    Attributes
    ----------
    confidence : float
        In [0, 1]: how clear the number is compared with the next best one, and with more clusters
        than the given eigenvalues can show.
    candidates : tuple of (int, float)
        The number and others that come into question, the best first, each with its share of the
        weights of all; empty where nothing was weighed.

    Examples
    --------
    >>> from kdegraph import suggest_n_clusters
    >>> found = suggest_n_clusters([0.0, 1e-4, 2e-4, 0.3, 0.31, 0.35])
    >>> found, found.confidence > 0.9
    (3, True)
    """

    confidence: float
    candidates: tuple[tuple[int, float], ...]

    def __new__(
        cls, number: int, confidence: float = 0.0, candidates: tuple[tuple[int, float], ...] = ()
    ) -> "SuggestedNumber":
        made = super().__new__(cls, number)
        made.confidence, made.candidates = confidence, candidates
        return made

    @classmethod
    def by_weight(cls, weights: Mapping[int | None, float]) -> "SuggestedNumber":
        """Return the number with the largest weight; None stands for more than can be seen."""
        best, *others = sorted((k for k in weights if k is not None), key=lambda k: -weights[k])
        second = max((weight for k, weight in weights.items() if k != best), default=0.0)
        total = sum(weights.values())
        candidates = tuple((k, weights[k] / total) for k in (best, *others))
        return cls(best, max(0.0, 1.0 - second / weights[best]), candidates)


class Bounds(NamedTuple):
    """The smallest number of clusters that is allowed, and the largest one; None is any number."""

    least: int = 1
    most: int | None = None

    @classmethod
    def checked(cls, min_clusters, max_clusters):
        """Return the bounds for two parameters of a caller."""
        least = check_count(min_clusters, "min_clusters")
        most = max_clusters if max_clusters is None else check_count(max_clusters, "max_clusters")
        if most is not None and most < least:
            raise ValueError(f"max_clusters must be at least min_clusters, {least}, got {most}")
        return cls(least, most)

    def nearest(self, number):
        """Return the allowed number that is nearest to another one."""
        return max(self.least, number if self.most is None else min(number, self.most))


def suggest_n_clusters(
    eigenvalues: ArrayLike,
    *,
    eigenvectors: ArrayLike | None = None,
    min_clusters: int = 1,
    max_clusters: int | None = None,
    photograph: bool = False,
) -> SuggestedNumber:
    """Suggest a number of clusters from the smallest eigenvalues of a normalized Laplacian.

    This is the eigengap heuristic, with a check of the eigenvectors where these are given.

    Parameters
    ----------
    eigenvalues : (m,) array
        Ascending, starting with the smallest; at least one more than the largest number of clusters
        that is to be considered. 31 of them are used for a photograph.
    eigenvectors : (n, m) array, optional
        They improve the accuracy considerably. Rows of zeros (vertices that the spectrum excludes)
        are ignored.
    min_clusters : int, default=1
        Smallest number to suggest.
    max_clusters : int, optional
        Largest number to suggest.
    photograph : bool, default=False
        Suggest a number of segments for a photograph, whose spectrum has no gap: the number of
        those of the first 31 eigenvalues that are below a fifth of the last of these, at least 1.

    Returns
    -------
    SuggestedNumber
        An int between 1 and m, or `min_clusters` if that is larger. Its attribute `confidence`, in
        [0, 1), says how clear the number is; 0 for a photograph.

    Raises
    ------
    ValueError, TypeError
        If the eigenvalues are not ascending numbers in [0, 2], or fewer than 31 for a photograph,
        if the eigenvectors are not finite numbers in as many columns, or if a bound is not a
        positive whole number, or the largest number less than the smallest one.

    Notes
    -----
    *Gaps.* Eigenvalues below a thousandth of the largest count as equal to that. The gap of k is
    ``log(lambda_{k+1} / lambda_k)``; the three largest of k = 2, ..., m - 1 that are allowed are
    candidates.

    *Alignment.* If there are k clusters, the first k eigenvectors are nearly constant on each, and
    the rows of length 1 lie near k orthogonal axes. The axes are sought by a pivoted QR
    factorization and a few rotations towards the nearest rows. A candidate is dropped if the mean
    squared cosine between the rows and their nearest axes is below 0.935: a single segment, ring or
    square has large gaps, too, but 0.921, 0.80 and 0.86 at most. Cost: ``O(n k^2)`` for the largest
    candidate k, with n at most 20,000 (vertices at random beyond that).

    *Score.* That of a candidate is its gap times ``k ** 0.1``. The number of connected components,
    at least 1 (or the allowed number that is nearest to it), has a score of 0.4 (log 5 without
    eigenvectors). The largest score is the answer, and the confidence is ``1 - exp(second largest
    score - largest score)``, at least 0. If all given eigenvalues are zero, further ones may be
    zero as well: the answer is m, with confidence 0.

    *Too few eigenvalues.* Where the last given eigenvalue is still small, the next one may be far
    larger, and show the real clusters. For the confidence, though not as an answer, the score of m
    clusters is that of a next eigenvalue of 0.5. So the confidence is low where there may be more
    clusters than eigenvalues.

    *Measured* with 101 eigenvalues and eigenvectors of graphs with locally scaled bandwidths,
    perplexity 30 and 30 draws: 24 of 37 sets of public benchmarks are right, 48 of 62 other sets
    with classes, and all of 72 sets with one cluster. Clusters that overlap much, or that are long
    and thin, are taken for one. Of the answers with a confidence of at least 0.9, 36 of 38 are
    right, from 0.5 to 0.9 24 of 25, and below 0.5 84 of 108.

    *Photographs.* On 30 photographs of BSDS500 with 20,000 pixels and the sigma of
    `estimate_sigma` (two runs) the answers lie between 6 and 21, and the mean Rand index against
    human segmentations is 0.81 and 0.82; it is 0.76 and 0.78 with 8 segments in every photograph,
    0.80 and 0.80 with 12. The rule does not suit the paper's much larger sigma of 0.2, where it
    answers 2 or 3, nor bandwidths per point, where it is no better than 8.

    References
    ----------
    U. von Luxburg, "A tutorial on spectral clustering", Statistics and Computing 17 (2007),
    395-416, section 8.3. L. Zelnik-Manor, P. Perona, "Self-tuning spectral clustering", NIPS 2004
    (alignment). S. X. Yu, J. Shi, "Multiclass spectral clustering", ICCV 2003 (rotations).

    Examples
    --------
    >>> import kdegraph
    >>> X = kdegraph.datasets.make("moons", n=1000, seed=0).X
    >>> graph = kdegraph.similarity_graph(X, sigma=0.1, seed=0)
    >>> found = kdegraph.spectrum(graph, 20)
    >>> k = kdegraph.suggest_n_clusters(found.eigenvalues, eigenvectors=found.eigenvectors)
    >>> k, k.confidence > 0.5
    (2, True)
    """
    values = _check_eigenvalues(eigenvalues)
    vectors = None if eigenvectors is None else _check_eigenvectors(eigenvectors, len(values))
    bounds = Bounds.checked(min_clusters, max_clusters)
    if photograph:
        return SuggestedNumber(bounds.nearest(_number_of_segments(values)))
    return SuggestedNumber.by_weight(weigh(values, vectors, bounds))


def weigh(values, vectors, bounds):
    """Return the exponentials of the scores of numbers of clusters within the bounds, and None for
    more clusters than there are eigenvalues; see the notes of `suggest_n_clusters`.
    """
    n_zero = max(1, int(np.sum(values <= MAX_ZERO)))
    null = bounds.nearest(n_zero)
    if n_zero == len(values):
        return {null: 1.0, None: 1.0}
    # Without eigenvectors, log 5 is above the largest gap of a single elongated cluster, whose
    # eigenvalues are proportional to 1, 4, 9, ...
    scores = {null: math.log(5) if vectors is None else NULL_SCORE}
    gaps = np.diff(np.log(np.maximum(values, 1e-3 * values[-1])))
    allowed = [k for k in range(2, len(values)) if bounds.nearest(k) == k]
    for k in sorted(allowed, key=lambda k: -gaps[k - 1])[:3]:
        if vectors is None or alignment(vectors[:, :k]) >= MIN_ALIGNMENT:
            scores[k] = max(scores.get(k, 0.0), k**0.1 * float(gaps[k - 1]))
    of_more = len(values) ** 0.1 * max(0.0, math.log(0.5 / values[-1]))
    return {k: math.exp(score) for k, score in scores.items()} | {None: math.exp(of_more)}


def _number_of_segments(values):
    """Return the number of eigenvalues below a fifth of the 31st one."""
    if len(values) < SEGMENT_EIGENVALUES:
        raise ValueError(
            f"eigenvalues must be at least {SEGMENT_EIGENVALUES}, got {len(values)}; ask for more "
            "with spectrum(..., n_components)"
        )
    values = values[:SEGMENT_EIGENVALUES]
    return max(1, int(np.sum(values < 0.2 * values[-1])))


def alignment(vectors):
    """Return the mean squared cosine between rows of vectors, (n, k), and the nearest of k axes."""
    linked = np.flatnonzero(vectors.any(axis=1))
    if len(linked) > ALIGNMENT_ROWS:
        linked = np.random.default_rng(0).choice(linked, ALIGNMENT_ROWS, replace=False)
    rows = vectors[linked] / np.linalg.norm(vectors[linked], axis=1)[:, None]
    with blas_threads(rows.shape[1]):
        axes = axes_near(rows)
        for _ in range(5):  # after these rotations the axes hardly change
            axes = _rotated(axes, rows)
        return float(np.mean(np.max((rows @ axes) ** 2, axis=1)))


def axes_near(rows):
    """Return orthogonal axes (k, k) near some of the rows (n, k), as different ones as possible."""
    k = rows.shape[1]
    with blas_threads(k):
        _, pivots = scipy.linalg.qr(rows.T, mode="r", pivoting=True)
        return scipy.linalg.polar(rows[pivots[:k]].T)[0]


def _rotated(axes, rows):
    """Return the orthogonal axes that best fit the rows, each assigned to the nearest of `axes`."""
    cosines = rows @ axes
    nearest = np.abs(cosines).argmax(axis=1)[:, None]
    assigned = np.zeros_like(cosines)
    np.put_along_axis(assigned, nearest, np.sign(np.take_along_axis(cosines, nearest, 1)), 1)
    return scipy.linalg.polar(rows.T @ assigned)[0]


def _check_eigenvalues(eigenvalues):
    values = as_array(eigenvalues, "eigenvalues")
    if values.dtype.kind not in "fiu":
        raise TypeError(f"eigenvalues must be real numbers, got dtype {values.dtype}")
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"eigenvalues must be a list of at least one number, got shape {values.shape}"
        )
    if not np.isfinite(values).all() or values.min() < -1e-8 or values.max() > 2 + 1e-8:
        raise ValueError(
            "eigenvalues of a normalized Laplacian lie in [0, 2], got "
            f"{values.min()} to {values.max()}"
        )
    if (np.diff(values) < 0).any():
        at = int(np.flatnonzero(np.diff(values) < 0)[0])
        raise ValueError(
            f"eigenvalues must be ascending, but eigenvalues[{at}] = {values[at]} > "
            f"eigenvalues[{at + 1}] = {values[at + 1]}"
        )
    return values


def _check_eigenvectors(eigenvectors, n_eigenvalues):
    vectors = as_array(eigenvectors, "eigenvectors")
    if vectors.dtype.kind not in "fiu":
        raise TypeError(f"eigenvectors must be real numbers, got dtype {vectors.dtype}")
    if vectors.ndim != 2 or vectors.shape[1] != n_eigenvalues:
        raise ValueError(
            f"eigenvectors must have shape (n, {n_eigenvalues}), one column for each eigenvalue, "
            f"got {vectors.shape}"
        )
    if not np.isfinite(vectors).all():
        raise ValueError("eigenvectors must be finite, got nan or infinity")
    if (n_rows := int(np.count_nonzero(vectors.any(axis=1)))) < n_eigenvalues:
        raise ValueError(
            f"eigenvectors must have at least as many rows that are not zero as columns, got "
            f"{n_rows} such rows and {n_eigenvalues} columns"
        )
    return vectors
