"""Sums of weighted rows, which are kept in vector registers: products of a matrix, sparse or dense,
with a block of vectors.

Left to itself, LLVM keeps such a sum in memory, as it cannot know that the arrays do not overlap;
that takes twice the time.
"""

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kdegraph.runtime.jit import jit

WIDE, NARROW = 16, 8  # columns that are summed together
SUMS = (
    4  # that are added to in turn, as the processor begins an addition before it has ended the last
)
LINE = 64  # bytes of a cache line
AHEAD = 64  # entries between the one that is used and the one whose row of the block is fetched,
# Where the block has more numbers than that: smaller ones stay in the caches near the processor.
LARGE = 500_000


if numba.config.DISABLE_JIT:

    def _strip(width):
        def add_rows(indices, weights, block, begin, end, first, out):
            out[:width] = weights[begin:end] @ block[indices[begin:end], first : first + width]

        return add_rows

    def prefetch(array, place):
        """Does nothing."""

else:

    @intrinsic
    def prefetch(typing_context, array, place):
        """Ask for the cache line of ``array.ravel()[place]`` without waiting for it; the place may
        lie outside.
        """

        def codegen(context, builder, signature, args):
            first = context.make_array(signature.args[0])(context, builder, args[0]).data
            place = builder.sext(args[1], ir.IntType(64)) if args[1].type.width < 64 else args[1]
            address = builder.gep(first, [place])
            for_reading, keep, data = (ir.Constant(ir.IntType(32), flag) for flag in (0, 3, 1))
            fetch = builder.module.declare_intrinsic(
                "llvm.prefetch",
                (address.type,),
                ir.FunctionType(ir.VoidType(), [address.type] + [ir.IntType(32)] * 3),
            )
            builder.call(fetch, [address, for_reading, keep, data])
            return context.get_dummy_value()

        return types.void(array, place), codegen

    def _strip(width):
        """A function that sets ``out[:width] = sum_p weights[p] * block[indices[p], first:first +
        width]``, p from begin to end.
        """

        @intrinsic
        def add_rows(typing_context, indices, weights, block, begin, end, first, out):
            def codegen(context, builder, signature, args):
                arrays = {
                    name: context.make_array(signature.args[place])(context, builder, args[place])
                    for name, place in (("indices", 0), ("weights", 1), ("block", 2), ("out", 6))
                }
                begin, end, first = (
                    builder.sext(args[p], int64) if args[p].type.width < 64 else args[p]
                    for p in (3, 4, 5)
                )
                vector = ir.VectorType(context.get_value_type(signature.args[2].dtype), width)
                align = context.get_abi_sizeof(vector.element)
                zero = ir.Constant(vector, [0.0] * width)
                n_columns = builder.extract_value(arrays["block"].shape, 1)

                def add(total, p):
                    row = builder.load(builder.gep(arrays["indices"].data, [p]))
                    row = builder.sext(row, int64) if row.type.width < 64 else row
                    weight = builder.load(builder.gep(arrays["weights"].data, [p]))
                    place = builder.gep(
                        arrays["block"].data, [builder.add(builder.mul(row, n_columns), first)]
                    )
                    values = builder.load(builder.bitcast(place, vector.as_pointer()), align=align)
                    spread = builder.insert_element(
                        ir.Constant(vector, ir.Undefined), weight, ir.Constant(int32, 0)
                    )
                    spread = builder.shuffle_vector(
                        spread,
                        ir.Constant(vector, ir.Undefined),
                        ir.Constant(ir.VectorType(int32, width), [0] * width),
                    )
                    return builder.fadd(
                        total,
                        builder.fmul(spread, values, flags=("contract",)),
                        flags=("contract",),
                    )

                def loop(begin, total, n_sums):
                    """Add entries from `begin` on, as long as there are `n_sums` left; return where
                    that ends, and the sum.
                    """
                    step, before = ir.Constant(int64, n_sums), builder.block
                    body, after = (
                        builder.append_basic_block("body"),
                        builder.append_basic_block("after"),
                    )
                    builder.cbranch(
                        builder.icmp_signed("<=", builder.add(begin, step), end), body, after
                    )

                    builder.position_at_end(body)
                    p, totals = builder.phi(int64), [builder.phi(vector) for _ in range(n_sums)]
                    added = [
                        add(one, builder.add(p, ir.Constant(int64, place)))
                        for place, one in enumerate(totals)
                    ]
                    following = builder.add(p, step)
                    for phi, initial, later in (
                        (p, begin, following),
                        *zip(totals, [total] + [zero] * (n_sums - 1), added, strict=True),
                    ):
                        phi.add_incoming(initial, before)
                        phi.add_incoming(later, body)
                    joined = added[0]
                    for one in added[1:]:
                        joined = builder.fadd(joined, one)
                    builder.cbranch(
                        builder.icmp_signed("<=", builder.add(following, step), end), body, after
                    )

                    builder.position_at_end(after)
                    stop, result = builder.phi(int64), builder.phi(vector)
                    for phi, unchanged, later in (
                        (stop, begin, following),
                        (result, total, joined),
                    ):
                        phi.add_incoming(unchanged, before)
                        phi.add_incoming(later, body)
                    return stop, result

                _, result = loop(*loop(begin, zero, SUMS), 1)
                builder.store(
                    result, builder.bitcast(arrays["out"].data, vector.as_pointer()), align=align
                )
                return context.get_dummy_value()

            return types.void(indices, weights, block, begin, end, first, out), codegen

        int32, int64 = ir.IntType(32), ir.IntType(64)
        return add_rows


_add_wide, _add_narrow = _strip(WIDE), _strip(NARROW)


def zeros_in_lines(n, m, dtype):
    """An (n, m) array of zeros that begins with a cache line: elsewhere every row of 64 bytes would
    lie in two.
    """
    n_bytes = n * m * np.dtype(dtype).itemsize
    buffer = np.zeros(n_bytes + LINE, np.uint8)
    start = -buffer.ctypes.data % LINE
    return buffer[start : start + n_bytes].view(dtype).reshape(n, m)


@jit(reassociate=True)
def add_rows(indices, weights, block, begin, end, out):
    """``out = sum_p weights[p] * block[indices[p]]``, p from begin to end; all but the indices of
    one type.
    """
    m, first = len(out), 0
    while first + WIDE <= m:
        _add_wide(indices, weights, block, begin, end, first, out[first:])
        first += WIDE
    if first + NARROW <= m:
        _add_narrow(indices, weights, block, begin, end, first, out[first:])
        first += NARROW
    if first < m:
        out[first:] = 0
        for p in range(begin, end):
            for c in range(first, m):
                out[c] += weights[p] * block[indices[p], c]


@jit(reassociate=True)
def step_rows(start, stop, indptr, indices, weights, block, previous, alpha, shift, beta):
    """Rows of ``previous = alpha (M - shift) block - beta previous``; arrays are contiguous, of one
    type.
    """
    m, large = block.shape[1], block.size > LARGE
    total = np.empty(m, block.dtype)
    for i in range(start, stop):
        if large:
            for p in range(indptr[i] + AHEAD, min(indptr[i + 1] + AHEAD, len(indices))):
                prefetch(block, np.int64(indices[p]) * m)
        add_rows(indices, weights, block, indptr[i], indptr[i + 1], total)
        for c in range(m):
            previous[i, c] = alpha * (total[c] - shift * block[i, c]) - beta * previous[i, c]
