"""Check the parameters of `similarity_graph`."""

import math
from typing import Any, NamedTuple

import numpy as np

from kdegraph.geometry.kernel_functions import KERNELS
from kdegraph.kde.solvers import Solver, make_solver
from kdegraph.scaled_kernel import Bandwidth, check_sigma
from kdegraph.validation import (
    LOCAL_WORDS,
    check_choice,
    check_count,
    check_eps,
    check_fraction,
    check_seed,
)

SAMPLERS = ("auto", "mixture", "near", "recursive", "rejection")
DRAWS = ("stratified", "independent")
WEIGHTINGS = ("inclusion", "paper")
MAX_ROUNDS_ALLOWED = 2**20
# The largest default of `eps`, for few points.
MAX_DEFAULT_EPS = 0.5


class GraphOptions(NamedTuple):
    """The checked parameters of `similarity_graph`.

    The sampler is "auto" only without a `kde` of the caller; `kde` is a solver, and `eps` and
    `seed` are numbers.
    """

    sigma: Bandwidth | str
    perplexity: float | None
    alpha: float
    kernel: str
    n_rounds: int | str
    sampler: str
    draws: str
    kde: Solver
    weighting: str
    eps: float
    seed: int

    @property
    def allows_estimates(self):
        """Whether estimates of the kernel degrees suffice, as the sampler "mixture" returns."""
        return self.alpha == 0 and self.weighting == "inclusion"


def check_options(n: int, **options: Any) -> GraphOptions:
    """Return the `GraphOptions` for `n` points.

    Raises
    ------
    ValueError, TypeError
        If a parameter is invalid; the message names it.
    """
    given = GraphOptions(**options)
    eps = default_eps(n) if given.eps is None else check_eps(given.eps)
    takes_solver = not (isinstance(given.kde, str) and given.kde == "auto")
    sampler = check_choice(given.sampler, "sampler", SAMPLERS)
    checked = GraphOptions(
        sigma=check_sigma(given.sigma, n),
        perplexity=given.perplexity,
        alpha=check_fraction(given.alpha, "alpha"),
        kernel=check_choice(given.kernel, "kernel", tuple(KERNELS)),
        n_rounds=_check_n_rounds(given.n_rounds),
        sampler="recursive" if sampler == "auto" and takes_solver else sampler,
        draws=check_choice(given.draws, "draws", DRAWS),
        kde=make_solver(given.kde, eps),
        weighting=check_choice(given.weighting, "weighting", WEIGHTINGS),
        eps=eps,
        seed=check_seed(given.seed),
    )
    _check_sampler(checked)
    return checked


def default_eps(n):
    """Return the relative error of kernel degrees that the paper's theorem requires."""
    return min(MAX_DEFAULT_EPS, 1 / (6 * math.log2(max(n, 2))))


def _check_n_rounds(n_rounds):
    if not isinstance(n_rounds, str):
        return check_count(n_rounds, "n_rounds", maximum=MAX_ROUNDS_ALLOWED)
    if n_rounds != "auto":
        raise ValueError(f"n_rounds must be a number or 'auto', got {n_rounds!r}")
    return n_rounds


def _check_sampler(options):
    """Raise a `ValueError` if the sampler cannot work with the other options."""
    sampler, sigma = options.sampler, options.sigma
    is_local = isinstance(sigma, np.ndarray) or sigma in LOCAL_WORDS
    if sampler in ("recursive", "rejection") and (is_local or options.alpha > 0):
        raise ValueError(
            f"the sampler {sampler!r} needs kernel sums with one bandwidth; take one sigma and "
            "alpha=0, or sampler='auto'"
        )
    if sampler == "mixture" and not options.allows_estimates:
        raise ValueError(
            "the sampler 'mixture' estimates the kernel degrees; take alpha=0 and "
            "weighting='inclusion', or sampler='auto'"
        )
