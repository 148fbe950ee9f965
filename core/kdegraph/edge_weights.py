"""Horvitz-Thompson weights of edges: kernel values over the probabilities that they are drawn."""

from typing import NamedTuple

import numpy as np

from kdegraph.geometry.kernel_functions import exp_neg, to_exponents
from kdegraph.geometry.kernels import scaled_distances_to
from kdegraph.geometry.local_scale import LocalScale, rescale_to
from kdegraph.runtime.jit import jit


class EdgeLaw(NamedTuple):
    """The quantities that weights depend on, see `kdegraph.adjacency.weighted_adjacency`."""

    # The kernel.
    code: int
    inverse_sigma: float
    local: LocalScale
    points: np.ndarray  # (n, d) float64: in the tree's order
    # (n,) float64: one over the kernel degrees; infinite for isolated vertices
    inverse_degrees: np.ndarray
    n_rounds: int  # the paper's L
    independent: bool  # whether the L draws of a vertex are independent

    @classmethod
    def of_kernel(cls, kernel, points, inverse_degrees, n_rounds, independent):
        """Return the law of the edges between points with this kernel."""
        return cls(
            kernel.code, kernel.inverse_sigma, kernel.local, points, inverse_degrees, n_rounds,
            bool(independent),
        )  # fmt: skip


@jit
def weigh_edges(law, columns, work, out):
    """Write the weights of the edges to the vertices `columns` to `out`; `work` is the
    `RowWorkspace` with what is known of their other ends.
    """
    n = columns.size
    d = law.points.shape[1]
    probability = work.probability[:n]
    scaled_distances_to(law.code, law.inverse_sigma, work.own, law.points, columns, out)
    if law.local.factor.size:
        rescale_to(law.code, work.own[d + 1], work.own[d + 2], law.local, columns, out)
    else:
        to_exponents(law.code, out)
    for m in range(n):
        out[m] = exp_neg(out[m])
    # Of independent draws, neither end draws the other in any of the rounds with the probability of
    # that for one round, to the power n_rounds.
    n_draws = 1 if law.independent else law.n_rounds
    _edge_probability(out, work.own[d], law.inverse_degrees, columns, n_draws, probability)
    if law.independent:
        _in_any_round(probability, law.n_rounds, work.power[:n], work.miss[:n])
    for m in range(n):
        out[m] /= probability[m]


@jit(distinct=True)
def _edge_probability(values, inverse_own, inverse_degrees, columns, n_draws, out):
    """Write the probabilities that one end draws the other in `n_draws` stratified draws each."""
    for m in range(values.size):
        p = min(values[m] * inverse_own[m], 1.0)
        q = min(values[m] * inverse_degrees[np.uint32(columns[m])], 1.0)
        p, q = min(n_draws * p, 1.0), min(n_draws * q, 1.0)
        out[m] = p + q - p * q


@jit(distinct=True)
def _in_any_round(p, n_rounds, power, miss):
    """Replace the probability p of one round by ``1 - (1 - p)^n_rounds``."""
    for m in range(p.size):
        power[m] = 1.0 - p[m]
        miss[m] = 1.0
    left = n_rounds
    while left:
        if left & 1:
            for m in range(p.size):
                miss[m] *= power[m]
        for m in range(p.size):
            power[m] *= power[m]
        left >>= 1
    # Small probabilities from L p (1 - (L-1)/2 p (1 - (L-2)/3 p (...))), as 1 - miss would cancel.
    c2 = (n_rounds - 1) / 2.0
    c3 = (n_rounds - 2) / 3.0
    c4 = (n_rounds - 3) / 4.0
    c5 = (n_rounds - 4) / 5.0
    for m in range(p.size):
        x = p[m]
        series = n_rounds * x * (1.0 - c2 * x * (1.0 - c3 * x * (1.0 - c4 * x * (1.0 - c5 * x))))
        p[m] = series if n_rounds * x < 0.002 else 1.0 - miss[m]
