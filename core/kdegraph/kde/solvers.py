"""KDE solvers as black boxes, as Algorithm 1 uses them.

The protocol: ``fit(sources, kernel) -> self`` and ``sums(targets) -> (m,)``, where `kernel` is a
`Kernel` and the sums are (estimates of) ``sum_j k(targets[i], sources[j])``. Any object with these
two methods will do.
"""

import numpy as np

from kdegraph.kde.direct import direct_sums
from kdegraph.kde.dispatch import fast_sums
from kdegraph.validation import check_choice

SOLVERS = ("auto", "direct", "fgt")


class DirectKDE:
    """Exact sums, O(n m d)."""

    def fit(self, sources, kernel):
        """Keep the (n, d) `sources` and the `kernel`."""
        self._sources, self._kernel = sources, kernel
        return self

    def sums(self, targets):
        """Exact kernel sums at the (m, d) `targets`."""
        return direct_sums(self._kernel, self._sources, targets, np.ones(len(self._sources)))


class FastKDE(DirectKDE):
    """Sums of relative error `eps` by the method of least cost (`kernel_sum`); small sums keep
    their relative error too.
    """

    def __init__(self, eps):
        self.eps = eps

    def sums(self, targets):
        """Kernel sums at the (m, d) `targets`, relative error `eps`."""
        return fast_sums(
            self._kernel, self._sources, targets, np.ones(len(self._sources)), self.eps, floor=0.0
        )


def make_solver(kde, eps):
    """The solver for the argument `kde` of `similarity_graph`: a name, or an object with the
    protocol.
    """
    if isinstance(kde, str):
        check_choice(kde, "kde", SOLVERS)
        return DirectKDE() if kde == "direct" else FastKDE(eps)
    for method in ("fit", "sums"):
        if not callable(getattr(kde, method, None)):
            raise TypeError(
                f"kde must be one of {', '.join(map(repr, SOLVERS))} or an object with fit(sources, kernel) -> self and "
                f"sums(targets) -> (m,); {type(kde).__name__} has no method {method!r}"
            )
    return kde


def checked_sums(solver, sources, kernel, targets):
    """Fit `solver` and return its sums, checked: (m,), finite, negative estimates (noise) raised to
    0.
    """
    fitted = solver.fit(sources, kernel)
    if fitted is None:
        raise TypeError(
            f"kde: {type(solver).__name__}.fit(sources, kernel) must return the fitted object (self), got None"
        )
    sums = np.asarray(fitted.sums(targets))
    if sums.dtype.kind not in "fiu":
        raise TypeError(
            f"kde: {type(solver).__name__}.sums must return real numbers, got an array of dtype {sums.dtype}"
        )
    sums = sums.astype(np.float64, copy=False)
    if sums.shape != (len(targets),):
        raise ValueError(
            f"kde: {type(solver).__name__}.sums must return shape ({len(targets)},), one per target, got {sums.shape}"
        )
    if not np.isfinite(sums).all():
        raise ValueError(
            f"kde: {type(solver).__name__}.sums returned {sums[~np.isfinite(sums)][0]} (NaN or infinity)"
        )
    return np.maximum(sums, 0.0)
