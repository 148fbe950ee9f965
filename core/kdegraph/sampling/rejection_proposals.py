"""Proposals of the sampler `rejection`, for many pending draws of several groups at a time."""

from typing import NamedTuple

import numpy as np

from kdegraph.geometry.kernel_functions import UNDERFLOW, exp_neg
from kdegraph.geometry.kernels import paired_exponents
from kdegraph.runtime.jit import jit
from kdegraph.runtime.random import advance, streams, uniform

# Maximum number of pending draws.
MAX_PENDING = 1024
# Numbers of draws are rounded up to a multiple of this, so that vectorized loops have no remainder.
VECTOR_LENGTH = 8


class DrawTask(NamedTuple):
    """The kernel, the points and the results of a call of `rejection.draw_neighbors`.

    A draw ``neighbors[i - first, m]`` is j with probability ``k(x_i, x_j) / degrees[i]``.
    """

    # The kernel.
    code: int
    inverse_sigma: float
    points: np.ndarray  # (n, d) float64: in the tree's order, as are the other arrays
    # (n,) int64: the original number of each point, which selects its random streams
    order: np.ndarray
    degrees: np.ndarray  # (n,) float64: 0 for a point without neighbors
    seed: np.uint64
    first: int  # the first target
    neighbors: np.ndarray  # (m, L) int32: the results for the targets from `first` on


class PendingDraws(NamedTuple):
    """Draws without an accepted proposal yet, and their current proposals."""

    stream: np.ndarray  # uint64: the random stream of the draw
    place: np.ndarray  # int64: the position of the result in the flattened neighbors
    # int32: the point that draws, and its list: the entries base ... base + n_listed - 1
    target: np.ndarray
    base: np.ndarray
    n_listed: np.ndarray
    # int32: the proposed entry of the list, and the proposed point of this entry
    entry: np.ndarray
    source: np.ndarray
    work: np.ndarray  # float64: the uniform that picks the entry, then the exponent of the proposal
    # float64: the uniform that picks the source and decides, then positive if the proposal is
    # accepted
    decision: np.ndarray


@jit
def allocate_pending():
    """Allocate memory for `MAX_PENDING` draws."""
    size = MAX_PENDING + VECTOR_LENGTH
    return PendingDraws(
        np.empty(size, np.uint64),
        np.empty(size, np.int64),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size),
        np.empty(size),
    )


@jit(inline=True)
def draw_group(task, begin, end, lists, base, count, pending, n_pending):
    """Start the draws of the targets begin ... end - 1; return the number of pending draws.

    The targets draw from the list of `count` entries from `base` on. Whenever `MAX_PENDING` draws
    of any groups are pending, one proposal is made for each.
    """
    n_rounds = task.neighbors.shape[1]
    seed, first_target, order, degrees = task.seed, task.first, task.order, task.degrees
    stream, place = pending.stream, pending.place
    target, bases, counts = pending.target, pending.base, pending.n_listed
    for i in range(begin, end):
        draw = 0 if degrees[i] > 0.0 else n_rounds
        while draw < n_rounds:
            if n_pending == MAX_PENDING:
                n_pending = propose(task, lists, pending, n_pending)
            started = min(n_rounds - draw, MAX_PENDING - n_pending)
            # Whole vectors: values beyond `started` are overwritten by the next draws.
            first, stop = n_pending, n_pending + -(-started // VECTOR_LENGTH) * VECTOR_LENGTH
            streams(seed, order[i], draw, stream[first:stop])
            _fill(i, target[first:stop])
            _fill(base, bases[first:stop])
            _fill(count, counts[first:stop])
            _number((i - first_target) * n_rounds + draw, place[first:stop])
            n_pending += started
            draw += started
    return n_pending


@jit
def _fill(value, out):
    for k in range(out.size):
        out[k] = value


@jit
def _number(first, out):
    for k in range(out.size):
        out[k] = first + k


@jit
def finish_draws(task, lists, pending, n_pending):
    """Propose until no draw is pending."""
    while n_pending:
        n_pending = propose(task, lists, pending, n_pending)


@jit
def propose(task, lists, pending, n_pending):
    """Make one proposal for every pending draw; return the number of draws that remain pending.

    Each step is a loop over few arrays, so that it is vectorized. Arrays are read from the tuple
    before a loop starts: in a loop, each access would count references.
    """
    _draw_uniforms(n_pending, pending.stream, pending.work, pending.decision)
    _pick_entries(n_pending, pending, lists.alias, lists.threshold)
    _pick_sources(n_pending, pending, lists.size, lists.first)
    paired_exponents(
        task.code, task.inverse_sigma, task.points,
        pending.target[:n_pending], pending.source[:n_pending], pending.work,
    )  # fmt: skip
    _decide(n_pending, pending, lists.nearest)
    _note_sources(n_pending, pending.place, pending.source, task.neighbors)
    return _keep_rejected(n_pending, pending)


@jit(distinct=True)
def _draw_uniforms(n_pending, stream, first, second):
    for p in range(n_pending):
        first[p] = uniform(stream[p], 0)
        second[p] = uniform(stream[p], 1)
        stream[p] = advance(stream[p], 2)


@jit(distinct=True)
def _pick_entries(n_pending, pending, alias, threshold):
    """Pick an entry of the list from its alias table."""
    work, base, count, entry = pending.work, pending.base, pending.n_listed, pending.entry
    for p in range(n_pending):
        x = work[p] * count[p]
        k = np.int32(x)
        at = np.uint32(base[p] + k)  # unsigned: no check for negative indices
        other = alias[at]
        entry[p] = base[p] + (other if x - k >= threshold[at] else k)


@jit(distinct=True)
def _pick_sources(n_pending, pending, size, first):
    """Pick one of the points of the entry; the remainder of the uniform is uniform again."""
    entry, decision, source = pending.entry, pending.decision, pending.source
    for p in range(n_pending):
        k = np.uint32(entry[p])
        x = decision[p] * size[k]
        offset = np.int32(x)
        source[p] = first[k] + offset
        decision[p] = x - offset


@jit(distinct=True)
def _decide(n_pending, pending, nearest):
    """Make `decision` positive where the proposal is accepted.

    The probability is ``k(x_i, x_j) / exp(-nearest)``, and 0 for the target itself and for a source
    out of its reach.
    """
    source, target, entry = pending.source, pending.target, pending.entry
    exponent, decision = pending.work, pending.decision
    for p in range(n_pending):
        valid = (source[p] != target[p]) & (exponent[p] < UNDERFLOW)
        exponent[p] = exponent[p] if valid else np.inf
    for p in range(n_pending):
        exponent[p] = max(exponent[p] - nearest[np.uint32(entry[p])], 0.0)
    for p in range(n_pending):
        decision[p] = exp_neg(exponent[p]) - decision[p]


@jit
def _note_sources(n_pending, place, source, neighbors):
    """Write the proposed sources as neighbors; later proposals overwrite rejected ones."""
    flat = neighbors.reshape(neighbors.size)
    for p in range(n_pending):
        flat[place[p]] = source[p]


@jit(distinct=True)
def _keep_rejected(n_pending, pending):
    """Move the draws with rejected proposals to the front and return their number.

    The loop has no branch, because a processor would often predict it wrongly.
    """
    stream, place, decision = pending.stream, pending.place, pending.decision
    target, base, count = pending.target, pending.base, pending.n_listed
    left = 0
    for p in range(n_pending):
        stream[left] = stream[p]
        place[left] = place[p]
        target[left] = target[p]
        base[left] = base[p]
        count[left] = count[p]
        left += decision[p] <= 0.0
    return left
