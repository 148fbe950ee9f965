"""The draws of a group of targets, many at a time, from its list of nodes, see `rejection`."""

import numpy as np

from .._jit import jit
from ..kernels import UNDERFLOW, exp_neg, paired_exponents
from .streams import advance, streams, uniform

BATCH = 1024  # draws that are pending at a time


@jit
def draw_group(
    code, scale, points, order, degrees, seed, begin, end, count, entries, shape, state, place, choice, value, neighbors
):  # fmt: skip
    """Draw for the targets begin..end-1, many draws at a time: loop after loop over all that are pending, so that none waits for another.

    A pending draw has the `state` of its stream, its `place` in the flat `neighbors` and its `target`.
    """
    first, size, alias = entries
    level, threshold = shape
    target, source, node = choice
    pick, decision = value
    n_rounds = neighbors.shape[1]
    flat = neighbors.reshape(neighbors.size)
    pending, i, draw = 0, begin, 0
    while True:
        while pending < BATCH and i < end:
            taken = min(n_rounds - draw, BATCH - pending) if degrees[i] > 0.0 else 0
            if taken:
                streams(seed, order[i], draw, state[pending : pending + taken])
            for k in range(taken):
                place[pending + k] = i * n_rounds + draw + k
                target[pending + k] = i
            pending += taken
            draw += taken
            if draw == n_rounds or taken == 0:
                i, draw = i + 1, 0
        if pending == 0:
            return
        # Loops over few arrays, one after the other: each is vectorised.
        _uniforms(pending, state, pick, decision)
        _pick_nodes(pending, pick, count, alias, threshold, node)
        _pick_sources(pending, node, decision, size, first, source)
        paired_exponents(code, scale, points, target[:pending], source[:pending], pick)
        _decide(pending, pick, node, level, source, target, decision)
        for p in range(pending):
            flat[place[p]] = source[p]
        pending = _keep_rejected(pending, decision, state, place, target)


@jit
def _uniforms(pending, state, first, second):
    for p in range(pending):
        first[p] = uniform(state[p], 0)
        second[p] = uniform(state[p], 1)
        state[p] = advance(state[p], 2)


@jit
def _pick_nodes(pending, uniforms, count, alias, threshold, node):
    for p in range(pending):
        x = uniforms[p] * count
        k = np.int32(x)
        other = alias[np.uint32(k)]  # unsigned: no check for negative indices
        node[p] = other if x - k >= threshold[np.uint32(k)] else k


@jit
def _pick_sources(pending, node, uniforms, size, first, source):
    """Take one of the node's points; what is left of the uniform is one again."""
    for p in range(pending):
        k = np.uint32(node[p])
        x = uniforms[p] * size[k]
        offset = np.int32(x)
        source[p] = first[k] + offset
        uniforms[p] = x - offset


@jit
def _decide(pending, exponent, node, level, source, target, decision):
    """Make `decision` positive where the proposal is accepted."""
    for p in range(pending):
        exponent[p] = exponent[p] if (source[p] != target[p]) & (exponent[p] < UNDERFLOW) else np.inf
    for p in range(pending):
        exponent[p] = max(exponent[p] - level[np.uint32(node[p])], 0.0)
    for p in range(pending):
        decision[p] = exp_neg(exponent[p]) - decision[p]


@jit
def _keep_rejected(pending, decision, state, place, target):
    """Move what is still pending to the front, without a branch that a processor could guess wrong, and return its number."""
    left = 0
    for p in range(pending):
        state[left], place[left], target[left] = state[p], place[p], target[p]
        left += decision[p] <= 0.0
    return left
