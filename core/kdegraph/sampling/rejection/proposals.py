"""Draws that wait for a proposal to be accepted, many at a time and of several groups of targets,
see `rejection`.
"""

import numpy as np

from kdegraph.geometry.kernels import UNDERFLOW, exp_neg, paired_exponents
from kdegraph.runtime.jit import jit
from kdegraph.runtime.random import advance, streams, uniform
from kdegraph.sampling.rejection.node_lists import ALIAS, FIRST, LEVEL, SIZE, WEIGHT

BATCH = 1024  # draws that are pending at most
LANES = 8  # lengths are rounded up to whole vectors
TARGET, BASE, COUNT, SOURCE, NODE = range(
    5
)  # rows of `choice`: what a draw is for, where its list is, what is proposed
KEPT = 3  # rows of `choice` that a draw keeps while it is pending


@jit
def room_for_draws():
    """Room for pending draws: the `state` of their streams, their `place` in the flat neighbors,
    `choice`, and two `uniforms` each.
    """
    size = BATCH + LANES
    return (
        np.empty(size, np.uint64),
        np.empty(size, np.int64),
        np.empty((5, size), np.int32),
        np.empty((2, size)),
    )


@jit
def draw_group(
    code,
    scale,
    points,
    order,
    degrees,
    seed,
    begin,
    end,
    base,
    count,
    entries,
    shape,
    pending,
    draws,
    neighbors,
):
    """Draw for the targets begin..end-1 from the list entries[:, base:base+count]; return how many
    draws are `pending` now.

    `draws` is the room for them. They are rounds of proposals for as many as there is room for,
    whatever group they are of.
    """
    state, place, choice, _ = draws
    n_rounds = neighbors.shape[1]
    for i in range(begin, end):
        draw = 0 if degrees[i] > 0.0 else n_rounds
        while draw < n_rounds:
            if pending == BATCH:
                pending = propose(code, scale, points, entries, shape, pending, draws, neighbors)
            taken = min(n_rounds - draw, BATCH - pending)
            # Whole vectors: what is too much is overwritten by the next.
            stop = pending + -(-taken // LANES) * LANES
            streams(seed, order[i], draw, state[pending:stop])
            _describe(
                i, base, count, i * n_rounds + draw, choice[TARGET, pending:stop], choice[BASE, pending:stop], choice[COUNT, pending:stop],
                place[pending:stop],
            )  # fmt: skip
            pending += taken
            draw += taken
    return pending


@jit(distinct=True)
def _describe(i, base, count, first_place, target, bases, counts, place):
    for k in range(place.size):
        target[k], bases[k], counts[k] = i, base, count
    for k in range(place.size):
        place[k] = first_place + k


@jit
def finish(code, scale, points, entries, shape, pending, draws, neighbors):
    """Propose until no draw is pending."""
    while pending:
        pending = propose(code, scale, points, entries, shape, pending, draws, neighbors)
    return pending


@jit
def propose(code, scale, points, entries, shape, pending, draws, neighbors):
    """One proposal for every pending draw; return how many are left.

    Loops over few arrays, one after the other, so that each is vectorized and no draw waits for
    another.
    """
    state, place, choice, uniforms = draws
    # Rows by their numbers: what is unpacked has lost that it is contiguous, and with it half the
    # speed.
    target, base, count, source, node = (
        choice[TARGET],
        choice[BASE],
        choice[COUNT],
        choice[SOURCE],
        choice[NODE],
    )
    pick, decision = uniforms[0], uniforms[1]
    _uniforms(pending, state, pick, decision)
    _pick_nodes(pending, pick, base, count, entries[ALIAS], shape[WEIGHT], node)
    _pick_sources(pending, node, decision, entries[SIZE], entries[FIRST], source)
    paired_exponents(code, scale, points, target[:pending], source[:pending], pick)
    _decide(pending, pick, node, shape[LEVEL], source, target, decision)
    flat = neighbors.reshape(neighbors.size)
    for p in range(pending):
        flat[place[p]] = source[p]
    return _keep_rejected(pending, decision, state, place, choice)


@jit(distinct=True)
def _uniforms(pending, state, first, second):
    for p in range(pending):
        first[p] = uniform(state[p], 0)
        second[p] = uniform(state[p], 1)
        state[p] = advance(state[p], 2)


@jit(distinct=True)
def _pick_nodes(pending, uniforms, base, count, alias, threshold, node):
    for p in range(pending):
        x = uniforms[p] * count[p]
        k = np.int32(x)
        at = np.uint32(base[p] + k)  # unsigned: no check for negative indices
        other = alias[at]
        node[p] = base[p] + (other if x - k >= threshold[at] else k)


@jit(distinct=True)
def _pick_sources(pending, node, uniforms, size, first, source):
    """Take one of the node's points; what is left of the uniform is one again."""
    for p in range(pending):
        k = np.uint32(node[p])
        x = uniforms[p] * size[k]
        offset = np.int32(x)
        source[p] = first[k] + offset
        uniforms[p] = x - offset


@jit(distinct=True)
def _decide(pending, exponent, node, level, source, target, decision):
    """Make `decision` positive where the proposal is accepted."""
    for p in range(pending):
        exponent[p] = (
            exponent[p] if (source[p] != target[p]) & (exponent[p] < UNDERFLOW) else np.inf
        )
    for p in range(pending):
        exponent[p] = max(exponent[p] - level[np.uint32(node[p])], 0.0)
    for p in range(pending):
        decision[p] = exp_neg(exponent[p]) - decision[p]


@jit(distinct=True)
def _keep_rejected(pending, decision, state, place, choice):
    """Move what is still pending to the front, without a branch that a processor could guess wrong,
    and return its number.
    """
    target, base, count = choice[TARGET], choice[BASE], choice[COUNT]
    left = 0
    for p in range(pending):
        state[left], place[left], target[left], base[left], count[left] = (
            state[p],
            place[p],
            target[p],
            base[p],
            count[p],
        )
        left += decision[p] <= 0.0
    return left
