"""KDE solvers as black boxes, as Algorithm 1 of Macgregor and Sun (2023) uses them."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kdegraph.geometry.kernels import Kernel
from kdegraph.kde.direct import direct_sums
from kdegraph.kde.dispatch import fast_sums
from kdegraph.validation import as_array, check_choice

SOLVERS = ("auto", "direct", "fgt")


class Solver(Protocol):
    """A KDE solver: any object with these two methods."""

    def fit(self, sources: NDArray[np.float64], kernel: Kernel) -> "Solver":
        """Prepare sums over the (n, d) `sources`; return the fitted solver, usually itself."""
        ...

    def sums(self, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Estimates of ``sum_j k(targets[i], sources[j])``, (m,)."""
        ...


class DirectKDE:
    """Exact sums, O(n m d)."""

    def fit(self, sources: NDArray[np.float64], kernel: Kernel) -> "DirectKDE":
        """Keep the (n, d) `sources` and the `kernel`."""
        self._sources, self._kernel = sources, kernel
        return self

    def sums(self, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Exact kernel sums at the (m, d) `targets`."""
        return direct_sums(self._kernel, self._sources, targets, np.ones(len(self._sources)))


class FastKDE(DirectKDE):
    """Sums of relative error `eps`, however small they are, by the method of least cost."""

    def __init__(self, eps: float) -> None:
        self.eps = eps

    def sums(self, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Kernel sums at the (m, d) `targets`, relative error `eps`."""
        return fast_sums(
            self._kernel, self._sources, targets, np.ones(len(self._sources)), self.eps, floor=0.0
        )


def make_solver(kde: str | Solver, eps: float) -> Solver:
    """The solver for the argument `kde` of `similarity_graph`: a name, or an object with the
    methods of `Solver`.
    """
    if isinstance(kde, str):
        check_choice(kde, "kde", SOLVERS)
        return DirectKDE() if kde == "direct" else FastKDE(eps)
    for method in ("fit", "sums"):
        if not callable(getattr(kde, method, None)):
            raise TypeError(
                f"kde must be one of {', '.join(map(repr, SOLVERS))} or an object with "
                "fit(sources, kernel) -> self and sums(targets) -> (m,); "
                f"{type(kde).__name__} has no method {method!r}"
            )
    return kde


def checked_sums(
    solver: Solver, sources: NDArray[np.float64], kernel: Kernel, targets: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Fit `solver` and return its sums, checked: (m,), finite; negative estimates count as 0."""
    name = type(solver).__name__
    fitted = solver.fit(sources, kernel)
    if fitted is None:
        raise TypeError(
            f"kde: {name}.fit(sources, kernel) must return the fitted object (self), got None"
        )
    sums = as_array(fitted.sums(targets), f"kde: the result of {name}.sums")
    if sums.dtype.kind not in "fiu":
        raise TypeError(
            f"kde: {name}.sums must return real numbers, got an array of dtype {sums.dtype}"
        )
    sums = sums.astype(np.float64, copy=False)
    if sums.shape != (len(targets),):
        raise ValueError(
            f"kde: {name}.sums must return shape ({len(targets)},), one per target, "
            f"got {sums.shape}"
        )
    if not np.isfinite(sums).all():
        first = sums[~np.isfinite(sums)][0]
        raise ValueError(f"kde: {name}.sums returned {first} (NaN or infinity)")
    return np.maximum(sums, 0.0)
