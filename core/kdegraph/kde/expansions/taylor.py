"""Taylor expansions of the Gaussian between groups of points.

With ``z`` the vector between the centers of two groups and ``u``, ``v`` the offsets of target and
source from their centers (all in units of sigma), ``exp(-||z + u - v||^2) = sum_b u^b / b! sum_a
(-v)^a / a! G_{a+b}(z)``, where ``G_c`` is the derivative of ``exp(-||z||^2)`` of multi-index ``c``
(a Hermite function). The sources enter only through their moments ``sum_j w_j (-v_j)^a / a!``.

There are two ways to truncate: all exponents below p (`tensor`, up to 3 dimensions) and total
degree below q (`simplex`). This module has what they share, the loops over points, and calls the
one that the multi-indices are made for.
"""

from kdegraph.kde.expansions import simplex, tensor
from kdegraph.kde.expansions.indices import TAYLOR_BLOCK
from kdegraph.runtime.jit import jit


@jit(inline=True, borrow=True)
def needed_order(allowed, z, r, order, is_tensor):
    """The least order, at most `order`, whose error bound is at most `allowed`; 0 if there is none.

    `z` is the vector between the centers, `r` the sum of the half widths of both boxes, in units of
    sigma.
    """
    if is_tensor:
        return tensor.needed_order(allowed, z, r, order)
    return simplex.needed_order(allowed, z, r, order)


@jit(inline=True, borrow=True)
def translate(moments, z, q, indices, workspace, local):
    """Add the field of a source group's `moments` to the `local` expansion of a target group, up to
    order q.
    """
    if indices.is_tensor:
        tensor.translate(moments, z, q, indices.order, workspace, local)
    else:
        simplex.translate(moments, z, q, indices, workspace, local)


@jit(inline=True, borrow=True)
def field_at(moments, z, q, indices, workspace):
    """The field of a group's `moments` at the distance `z` from its center, up to order q."""
    if indices.is_tensor:
        return tensor.field_at(moments, z, q, indices.order, workspace)
    return simplex.field_at(moments, z, q, indices, workspace)


@jit(inline=True, borrow=True)
def add_source(weight, z, q, indices, workspace, local):
    """Add the field of one source to the `local` expansion of a target group, up to order q; `z`
    leads from the source to the center of the targets.
    """
    if indices.is_tensor:
        tensor.add_source(weight, z, q, indices.order, workspace, local)
    else:
        simplex.add_source(weight, z, q, indices, workspace, local)


@jit(reassociate=True, borrow=True)
def add_moments(columns, weights, begin, end, center, scale, indices, workspace, moments):
    """Write the moments ``sum_j w_j (-v_j)^a / a!`` of the points begin, ..., end - 1."""
    monomials = workspace.monomials
    moments[:] = 0.0
    for first in range(begin, end, TAYLOR_BLOCK):
        count = min(TAYLOR_BLOCK, end - first)
        _monomials(columns, first, count, center, -scale, indices, monomials)
        w = weights[first : first + count]
        for i in range(moments.size):
            total = 0.0
            line = monomials[i]
            for k in range(count):
                total += w[k] * line[k]
            moments[i] += total
    for i in range(moments.size):
        moments[i] *= indices.inverse_factorial[i]


@jit(reassociate=True, borrow=True)
def evaluate(columns, begin, end, center, scale, local, indices, workspace, sums):
    """Add the `local` expansion at the points begin, ..., end - 1 to their `sums`."""
    monomials = workspace.monomials
    for first in range(begin, end, TAYLOR_BLOCK):
        count = min(TAYLOR_BLOCK, end - first)
        _monomials(columns, first, count, center, scale, indices, monomials)
        out = sums[first : first + count]
        for i in range(local.size):
            coefficient = local[i] * indices.inverse_factorial[i]
            line = monomials[i]
            for k in range(count):
                out[k] += coefficient * line[k]


@jit(borrow=True)
def _monomials(columns, begin, count, center, scale, indices, out):
    """Write the monomials of (points - center) * scale into out[:, :count], for `count` points from
    `begin` on.
    """
    for k in range(count):
        out[0, k] = 1.0
    for i in range(1, indices.parent.size):
        axis = indices.axis[i]
        below = out[indices.parent[i]]
        x, shift = columns[axis, begin : begin + count], center[axis]
        line = out[i]
        for k in range(count):
            line[k] = below[k] * ((x[k] - shift) * scale)
