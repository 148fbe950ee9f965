"""The search for eigenvectors that a block may have missed, by random probes.

In a block of random vectors, every eigenvector with a larger eigenvalue than the wanted ones has
grown by more when these have converged, so none is missing. This is not so if the block starts from
approximate eigenvectors: these may be good but incomplete, and small residuals do not show that. So
a few random vectors, the probes, are added to them. The share of a missed eigenvector in a random
vector is only about ``1 / sqrt(n)``. It is detected once the filters have made it larger than all
else in the probes (except for the approximate eigenvectors) by a factor s, the detection threshold.
Mixed with 1 / s of the rest, its Ritz value is smaller by ``1 / s^2`` than its eigenvalue, and must
still come before the guard vectors: s is at least 10 and ``2 / sqrt(1 - value of the first
guard)``.

Growth and sizes are logarithms of factors here.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from kdegraph.spectral.solver.chebyshev import (
    MAX_DEGREE,
    MAX_LOG_CONTRAST,
    MIN_DEGREE,
    ChebyshevFilter,
    FilteredBlock,
    log_growth,
)


def missed_value(values, k):
    """Return the smallest eigenvalue whose eigenvector must not be missed, from the Ritz values.

    Where the block ends inside a cluster of equal eigenvalues, it exceeds the last one by a tenth
    of the part of the spectrum that the block covers.
    """
    return max(values[k - 1], values[-1] + 0.1 * (1.0 - values[-1]))


def detection_threshold(values, k):
    """Return the detection threshold, from the Ritz values."""
    first_guard = values[min(k, len(values) - 1)]
    return math.log(max(10.0, 2 / math.sqrt(max(1.0 - first_guard, 1e-8))))


def visibility(gram, n_probes):
    """Return the size of a missed eigenvector in the filtered probes, had it not grown, relative to
    the rest.

    `gram` is the Gram matrix of the block, and the probes are its last `n_probes` vectors, which
    had entries of variance 1 / 12. Their parts orthogonal to the other vectors have a Gram matrix
    S. An eigenvector has random coefficients c in the probes, also of variance 1 / 12, and is ``s =
    sqrt(c^T S^-1 c)`` times as large as the rest in the combination where it is largest. The
    probability that s is far smaller than expected depends on the determinant of S alone: it is
    that for a matrix whose eigenvalues all equal their geometric mean.
    """
    given = slice(0, len(gram) - n_probes)
    probes = slice(len(gram) - n_probes, len(gram))
    mixed = gram[given, probes]
    inverse = np.linalg.pinv(gram[given, given], hermitian=True)
    rest = np.linalg.eigvalsh(gram[probes, probes] - mixed.T @ inverse @ mixed)
    floor = 1e-12 * np.diag(gram[probes, probes]).max()
    return 0.5 * (math.log(n_probes / 12) - np.log(np.maximum(rest, floor)).mean())


def revealing_filter(values, n_probes, value, threshold, n, radius):
    """Return the filter of least degree that lets a missed eigenvector of the eigenvalue `value`
    reach the detection threshold, in vectors of length n. There are few eigenvalues below
    ``-radius``; if there are many, `visibility` shows that.

    Most of a random vector belongs to eigenvalues near 0, so the filter may cut far below the end
    of the block: it raises missed eigenvectors above that mass in fewer products, and the few
    eigenvectors between the cut and the end of the block are too small a part to hide them.

    The `values` are estimates of the largest eigenvalues, in descending order, and the probes take
    the places of the last `n_probes`. The j-th keeps the eigenvector that belongs there, as far as
    the j probes before have not taken it up, and everything that was damped, with a mean square of
    1/2.
    """
    low = -min(radius, 1.0)
    # Cuts from the bulk, as most eigenvalues of a sampled graph are below 0.5, to the block's end.
    cuts = np.linspace(min(0.5, radius, values[-1]), values[-1], 16)[:, None]
    degrees = np.arange(1, MAX_DEGREE)
    shares = np.arange(n_probes, 0, -1) / n  # squared coefficients of those eigenvectors

    with np.errstate(over="ignore"):
        squares = [
            np.log(0.5 + share * np.exp(2 * degrees * log_growth(other, low, cuts)))
            for share, other in zip(shares, values[-n_probes:], strict=True)
        ]
    seen = degrees * log_growth(value, low, cuts)
    seen = seen + (math.log(shares[0]) - np.mean(squares, axis=0)) / 2
    allowed = degrees * log_growth(1.0, low, cuts) <= 2 * MAX_LOG_CONTRAST[np.float32]
    found = (seen >= threshold) & allowed
    degree = np.where(found.any(axis=1), degrees[found.argmax(axis=1)], MAX_DEGREE)
    best = len(cuts) - 1 - int(np.argmin(degree[::-1]))  # of equal degrees the last cut
    chebyshev = ChebyshevFilter(float(cuts[best, 0]), int(degree[best]), np.float32, low)
    if degree[best] == MAX_DEGREE:  # none suffices: take one that would if there were only the bulk
        alone = chebyshev.degree_for(value, threshold - math.log(shares[0]) / 2)
        chebyshev = replace(chebyshev, degree=min(math.ceil(alone), MAX_DEGREE))
    return chebyshev


@dataclass
class MissedEigenvectors:
    """The growth of missed eigenvectors in the probes of a block."""

    k: int  # wanted eigenvectors
    visibility: float  # see `visibility`; measured after the first filter
    filters: list[ChebyshevFilter]  # those that have been applied

    def lacking_growth(self, values):
        """Return how much more a missed eigenvector must grow to be detected; 0 or less if none is
        missed.

        The rest was measured after the first filter. Each later one lets it grow like the last
        vector of the block.
        """
        missed = missed_value(values, self.k)
        growth = self.filters[0].growth(missed)
        growth += sum(one.growth(missed) - one.growth(values[-1]) for one in self.filters[1:])
        return detection_threshold(values, self.k) - self.visibility - growth


def filter_and_measure(operator, null, start, k, max_degree, progress=None):
    """Filter the block of a `Start` with values until missed eigenvectors are detected. Return the
    `FilteredBlock`, its `Overlaps` and the `MissedEigenvectors`.
    """
    value = missed_value(start.values, k)
    threshold = detection_threshold(start.values, k) + 0.1  # a margin, as values are estimates
    chebyshev = revealing_filter(
        start.values, start.n_probes, value, threshold, operator.n, operator.bulk_radius()
    )
    max_degree = max(1, min(chebyshev.max_degree(start.values), max_degree))
    filtered = FilteredBlock(chebyshev, operator, start.block, progress=progress)
    degree = max(MIN_DEGREE, chebyshev.degree)
    while True:
        filtered.raise_to(min(degree, max_degree))
        overlaps = null.overlaps(filtered.vectors, progress=progress)
        measured = visibility(overlaps.gram, start.n_probes)
        shortfall = threshold - measured - filtered.degree * chebyshev.growth_per_degree(value)
        detected = shortfall <= 0
        # If much is lacking, more lies below the damped interval than expected. The next filter,
        # which damps down to -1, is better then.
        hopeless = shortfall > 1.5 and chebyshev.low > -1
        if detected or hopeless or filtered.degree >= max_degree:
            break
        degree = filtered.degree + math.ceil(chebyshev.degree_for(value, shortfall))
    applied = replace(chebyshev, degree=filtered.degree)
    return filtered, overlaps, MissedEigenvectors(k, measured, [applied])
