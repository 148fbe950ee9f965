"""The compiled traversal of the source tree, one target group after another (see `treesum` for the
error).
"""

import math

import numpy as np

from kdegraph.geometry.kernels import exp_neg, exponents
from kdegraph.geometry.tree import box_distances
from kdegraph.kde.direct import BLOCK
from kdegraph.kde.expansions import simplex, tensor
from kdegraph.kde.expansions import taylor as expansions
from kdegraph.kde.tree.plan import DIRECT, FIELD, SMALL, TRANSLATE, choose
from kdegraph.runtime.jit import jit


@jit
def sums_range(
    begin, end, code, scale, t_points, t_columns, t_start, t_stop, t_low, t_high, columns, weights, start, stop, low, high,
    node_sum, node_mass, is_group, moment_row, moments, order, tensor_terms, costs,
    exponents_of, degree, parent, axis, inverse_factorial, n_terms, row, index_sums, sqrt, a, b, cut, exclude_self, sums,
):  # fmt: skip
    """Add the sums at the targets of the units begin..end-1 to `sums`."""
    d = low.shape[1]
    n_local = moments.shape[1]
    buffer = np.empty(BLOCK)
    stack = np.empty(256, np.int64)
    local, line = np.empty(n_local), np.empty((d, 2 * order))
    room, block = np.empty((2, n_local)), np.empty((n_local, expansions.BLOCK))
    z, half, target_half, source_half = np.empty(d), np.empty((2, d)), np.empty(d), np.empty(d)
    middle = np.empty(d)
    for unit in range(begin, end):
        first, last = t_start[unit], t_stop[unit]
        count = last - first
        bound = _lower_bound(
            code, scale, t_points, t_low, t_high, unit, first, count, columns, weights, start, stop, low, high, node_mass, is_group,
            cut, exclude_self, stack,
        )  # fmt: skip
        share = b * bound / node_mass[0] if node_mass[0] > 0.0 else 0.0
        center = t_low[unit] + (t_high[unit] - t_low[unit]) / 2
        expanded = False
        constant = 0.0
        top = 0
        stack[0] = 0
        while top >= 0:
            node = stack[top]
            top -= 1
            least, most = box_distances(code, scale, t_low, t_high, unit, low, high, node)
            largest = exp_neg(least)
            if least >= cut or largest <= share:
                continue
            size = stop[node] - start[node]
            own = 1.0 if exclude_self and start[node] <= first and last <= stop[node] else 0.0
            if own > 0.0 and size == 1:
                continue
            # A part of the unit is a source of its own for some targets and not for others: neither
            # lumped nor expanded.
            part = exclude_self and own == 0.0 and start[node] >= first and stop[node] <= last
            smallest = exp_neg(most)
            allowed = a * smallest + share
            if 0.5 * (largest - smallest) <= allowed and not part:
                constant += (node_sum[node] - own) * 0.5 * (largest + smallest)
                continue
            leaf = 2 * node + 2 >= start.size
            if is_group[node] and order > 1 and not part:
                for c in range(d):
                    # Far from the origin centers are rounded: what counts is where they are, as the
                    # moments know them.
                    middle[c] = low[node, c] + (high[node, c] - low[node, c]) / 2
                    target_half[c] = (
                        max(t_high[unit, c] - center[c], center[c] - t_low[unit, c]) * scale
                    )
                    source_half[c] = (
                        max(high[node, c] - middle[c], middle[c] - low[node, c]) * scale
                    )
                    z[c] = (center[c] - middle[c]) * scale
                if own > 0.0:
                    allowed *= (node_mass[node] - own) / node_mass[node]
                way, q, _ = choose(
                    count,
                    size,
                    moment_row[node] >= 0,
                    allowed,
                    z,
                    target_half,
                    source_half,
                    order,
                    costs,
                    tensor_terms,
                    half,
                    sqrt,
                )
                if way != DIRECT:
                    if way != FIELD and not expanded:
                        local[:] = 0.0
                        expanded = True
                    if way == TRANSLATE:
                        source = moments[moment_row[node]]
                        if tensor_terms:
                            tensor.translate(source, z, q, order, line, room, local)
                        else:
                            simplex.translate(
                                source,
                                z,
                                q,
                                exponents_of,
                                degree,
                                n_terms,
                                row,
                                index_sums,
                                line,
                                room[0],
                                local,
                            )
                    elif way == FIELD:
                        source = moments[moment_row[node]]
                        for i in range(first, last):
                            for c in range(d):
                                z[c] = (t_points[i, c] - middle[c]) * scale
                            if tensor_terms:
                                sums[i] += tensor.field_at(source, z, q, order, line)
                            else:
                                sums[i] += simplex.field_at(
                                    source, z, q, exponents_of, n_terms, line, room[0]
                                )
                    else:
                        for j in range(start[node], stop[node]):
                            for c in range(d):
                                z[c] = (center[c] - columns[c, j]) * scale
                            if tensor_terms:
                                tensor.add_source(weights[j], z, q, order, line, local)
                            else:
                                simplex.add_source(
                                    weights[j], z, q, exponents_of, n_terms, line, room[0], local
                                )
                    constant -= own
                    continue
            if leaf or size <= SMALL:
                _add_direct(
                    code,
                    scale,
                    t_points,
                    first,
                    last,
                    columns,
                    weights,
                    start[node],
                    stop[node],
                    exclude_self,
                    buffer,
                    sums,
                )
            else:
                stack[top + 1], stack[top + 2] = 2 * node + 1, 2 * node + 2
                top += 2
        if expanded:
            expansions.evaluate(
                t_columns,
                first,
                last,
                center,
                scale,
                local,
                parent,
                axis,
                inverse_factorial,
                block,
                sums,
            )
        for i in range(first, last):
            sums[i] += constant


@jit(reassociate=True)
def _add_direct(
    code, scale, t_points, first, last, columns, weights, begin, end, exclude_self, buffer, sums
):
    """Add the sum over the sources begin..end-1 to every target; several rows of exponents share
    one long, vectorized run of exp.
    """
    size = end - begin
    rows = max(1, min(last - first, BLOCK // size))
    w = weights[begin:end]
    for i0 in range(first, last, rows):
        count = min(rows, last - i0)
        for k in range(count):
            exponents(
                code,
                scale,
                t_points[i0 + k],
                columns,
                begin,
                end,
                buffer[k * size : (k + 1) * size],
            )
        for j in range(count * size):
            buffer[j] = exp_neg(buffer[j])
        for k in range(count):
            values = buffer[k * size : (k + 1) * size]
            if exclude_self and begin <= i0 + k < end:
                values[i0 + k - begin] = 0.0
            total = 0.0
            for j in range(size):
                total += w[j] * values[j]
            sums[i0 + k] += total


@jit
def _lower_bound(
    code, scale, t_points, t_low, t_high, unit, first, count, columns, weights, start, stop, low, high, node_mass, is_group,
    cut, exclude_self, stack,
):  # fmt: skip
    """A lower bound of the sum of absolute contributions at every target of the unit; near nodes
    first, so that far ones are left out.
    """
    bound = 0.0
    total = node_mass[0]
    top = 0
    stack[0] = 0
    while top >= 0:
        node = stack[top]
        top -= 1
        least, most = box_distances(code, scale, t_low, t_high, unit, low, high, node)
        if least >= cut or exp_neg(least) * total <= 0.1 * bound:
            continue
        begin, end = start[node], stop[node]
        own = 1.0 if exclude_self and begin < first + count and first < end else 0.0
        if most - least <= 0.7:
            bound += (node_mass[node] - own) * exp_neg(most)
            continue
        if is_group[node] or 2 * node + 2 >= start.size:
            if count == 1 and end - begin <= SMALL:
                y = t_points[first]
                for j in range(begin, end):
                    if not (exclude_self and j == first):
                        t = 0.0
                        for c in range(y.size):
                            delta = (y[c] - columns[c, j]) * scale
                            t += abs(delta) if code == 1 else delta * delta
                        bound += abs(weights[j]) * exp_neg(math.sqrt(t) if code == 2 else t)
            else:
                bound += (node_mass[node] - own) * exp_neg(most)
            continue
        left, right = 2 * node + 1, 2 * node + 2
        near_left, _ = box_distances(code, scale, t_low, t_high, unit, low, high, left)
        near_right, _ = box_distances(code, scale, t_low, t_high, unit, low, high, right)
        if near_left > near_right:
            left, right = right, left
        stack[top + 1], stack[top + 2] = right, left
        top += 2
    return 0.999 * bound
