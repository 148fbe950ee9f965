"""Define the parameters of sampled graphs, with their defaults and checks, in one place."""

import math
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from kdegraph.geometry.kernel_functions import KERNELS
from kdegraph.kde.api import make_solver
from kdegraph.metrics import check_metric
from kdegraph.scaled_kernel import Bandwidth, check_sigma
from kdegraph.summary import bandwidth_in_words, in_html
from kdegraph.validation import (
    LOCAL_WORDS,
    check_choice,
    check_count,
    check_eps,
    check_fraction,
    check_seed,
)


class Scale(NamedTuple):
    """Hold the parameters `sigma` and `perplexity` of `similarity_graph`."""

    sigma: Any
    perplexity: float | None = None

    def suits(self, n: int) -> bool:
        """Return whether n points are enough: the law of a perplexity is that of three times as
        many neighbors.
        """
        return self.perplexity is None or n > 3 * self.perplexity


class GraphParameters(NamedTuple):
    """Hold the parameters of `similarity_graph` on which the graph of given points depends.

    This is their only list: `similarity_graph` and the estimators have the same names and defaults,
    which `tests/test_public_names.py` checks.
    """

    sigma: Any = "auto"
    perplexity: float | None = None
    alpha: float = 0.0
    kernel: str = "gaussian"
    metric: str = "euclidean"
    n_rounds: int | str = "auto"
    sampler: str = "auto"
    draws: str = "stratified"
    kde: Any = "auto"
    weighting: str = "inclusion"
    eps: float | None = None
    seed: Any = None

    def checked(self, n: int) -> "GraphParameters":
        """Return the parameters for `n` points: `sigma` is a number, an array or a word, the
        `sampler` is "auto" only without a `kde` of the caller, `kde` is a solver, and `eps` and
        `seed` are numbers. Invalid parameters raise a ValueError or TypeError that names them.
        """
        # Without an `eps`, the relative error that the paper's theorem requires.
        eps = min(0.5, 1 / (6 * math.log2(max(n, 2)))) if self.eps is None else check_eps(self.eps)
        takes_solver = not (isinstance(self.kde, str) and self.kde == "auto")
        sampler = check_choice(
            self.sampler, "sampler", ("auto", "mixture", "near", "recursive", "rejection")
        )
        checked = GraphParameters(
            sigma=check_sigma(self.sigma, n),
            perplexity=self.perplexity,
            alpha=check_fraction(self.alpha, "alpha"),
            kernel=check_choice(self.kernel, "kernel", tuple(KERNELS)),
            metric=check_metric(self.metric, self.kernel),
            n_rounds=_check_n_rounds(self.n_rounds),
            sampler="recursive" if sampler == "auto" and takes_solver else sampler,
            draws=check_choice(self.draws, "draws", ("stratified", "independent")),
            kde=make_solver(self.kde, eps),
            weighting=check_choice(self.weighting, "weighting", ("inclusion", "paper")),
            eps=eps,
            seed=check_seed(self.seed),
        )
        _check_sampler(checked)
        return checked

    def for_sparse_points(self) -> "GraphParameters":
        """Return checked parameters for sparse points; raise a ValueError if they do not suit."""
        advice = "or, if it fits into memory, pass the dense array X.toarray()"
        if self.sampler not in ("auto", "mixture"):
            raise ValueError(
                f"the sampler {self.sampler!r} (which a `kde` needs) is not for sparse points; "
                f"take sampler='auto' and kde='auto', {advice}"
            )
        if not self.allows_estimates:
            raise ValueError(
                f"alpha={self.alpha:g} and weighting={self.weighting!r} need exact kernel degrees, "
                f"which are estimated for sparse points; take alpha=0 and weighting='inclusion', "
                f"{advice}"
            )
        return self._replace(sampler="mixture")

    @property
    def allows_estimates(self) -> bool:
        """Return whether estimates of the kernel degrees suffice, as "mixture" returns them."""
        return self.alpha == 0 and self.weighting == "inclusion"


# Parameters of the estimators, which have a `random_state` in place of the `seed`.
ESTIMATOR_PARAMETERS = tuple(name for name in GraphParameters._fields if name != "seed")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class KeptParameters:
    """Hold the parameters that a graph keeps, as they were used, and the time of each stage."""

    sigma: Bandwidth
    kernel: str
    n_rounds: int
    seed: int
    sampler: str
    draws: str
    weighting: str
    eps: float
    alpha: float = 0.0
    metric: str = "euclidean"
    timings: dict[str, float] = field(default_factory=dict)

    def _size(self) -> dict[str, int]:
        """Return the numbers of points and of edges, by these words."""
        raise NotImplementedError

    def _facts(self) -> dict[str, str]:
        """Return what describes the graph in a few words, by name."""
        facts = {name: f"{number:,}" for name, number in self._size().items()}
        facts["bandwidth"] = bandwidth_in_words(self.sigma)
        for name in ("kernel", "metric", "sampler"):
            facts[name] = getattr(self, name)
        return facts | {"rounds": f"{self.n_rounds:,}", "seed": str(self.seed)}

    def __repr__(self) -> str:
        """Return a line without the arrays."""
        words = ", ".join(f"{name}: {value}" for name, value in self._facts().items())
        return f"<{type(self).__name__} with {words}>"

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        return in_html(type(self).__name__, self._facts().items())


# Those that files keep as JSON, beside one sigma for all points. Files of earlier versions have no
# alpha and no metric.
PLAIN_PARAMETERS = tuple(one.name for one in fields(KeptParameters) if one.name != "sigma")


def _check_n_rounds(n_rounds):
    if not isinstance(n_rounds, str):
        return check_count(n_rounds, "n_rounds", maximum=2**20)
    if n_rounds != "auto":
        raise ValueError(f"n_rounds must be a number or 'auto', got {n_rounds!r}")
    return n_rounds


def _check_sampler(checked):
    """Raise a `ValueError` if the sampler cannot work with the other parameters."""
    sampler, sigma = checked.sampler, checked.sigma
    is_local = isinstance(sigma, np.ndarray) or sigma in LOCAL_WORDS
    if sampler in ("recursive", "rejection") and (is_local or checked.alpha > 0):
        raise ValueError(
            f"the sampler {sampler!r} needs kernel sums with one bandwidth; take one sigma and "
            "alpha=0, or sampler='auto'"
        )
    if sampler == "mixture" and not checked.allows_estimates:
        raise ValueError(
            "the sampler 'mixture' estimates the kernel degrees; take alpha=0 and "
            "weighting='inclusion', or sampler='auto'"
        )
