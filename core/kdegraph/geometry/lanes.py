"""Eight points at a time: their distances from a box, in the vector registers of the processor.

LLVM vectorizes long loops by itself, but not loops over as few points as a leaf of a tree holds.
"""

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

# Points that are looked at together: a register of AVX-512 holds as many coordinates. Processors
# with shorter registers use several.
LANES = 8


def in_all_lanes(builder, number, vector):
    """Return an LLVM vector of this type that holds a number in each of its lanes."""
    undefined = ir.Constant(vector, ir.Undefined)
    single = builder.insert_element(undefined, number, ir.IntType(32)(0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(single, undefined, lanes)


if numba.config.DISABLE_JIT:

    def squared_gaps(points, low, high, bounds, out):
        """Write the squared distances of eight points, (d, 8) and C-contiguous, from a box into
        `out`, and return an integer whose bit i is set where ``out[i] < bounds[i]``. The box of a
        point has equal `low` and `high`, (d,).
        """
        gaps = np.maximum(np.maximum(low[:, None] - points, points - high[:, None]), 0.0)
        out[:] = (gaps * gaps).sum(axis=0)
        return int(((out < bounds) << np.arange(LANES)).sum())

else:
    _INDEX = ir.IntType(64)
    _VECTOR = ir.VectorType(ir.DoubleType(), LANES)
    _ZERO = ir.Constant(_VECTOR, [0.0] * LANES)

    @intrinsic
    def squared_gaps(typing_context, points, low, high, bounds, out):
        """Do the same in vector registers."""

        def codegen(context, builder, signature, args):
            points, low, high, bounds, out = (
                context.make_array(kind)(context, builder, value)
                for kind, value in zip(signature.args, args, strict=True)
            )

            def vector_at(array, offset):
                place = builder.gep(array.data, [offset])
                return builder.bitcast(place, _VECTOR.as_pointer())

            def load(array, offset):
                return builder.load(vector_at(array, offset), align=8)

            def corner(array, c):
                return in_all_lanes(builder, builder.load(builder.gep(array.data, [c])), _VECTOR)

            def larger(a, b):
                return builder.select(builder.fcmp_ordered(">", a, b), a, b)

            total = cgutils.alloca_once_value(builder, _ZERO)
            (d,) = cgutils.unpack_tuple(builder, low.shape)
            with cgutils.for_range(builder, d) as loop:
                x = load(points, builder.mul(loop.index, _INDEX(LANES)))
                below = builder.fsub(corner(low, loop.index), x)
                above = builder.fsub(x, corner(high, loop.index))
                gap = larger(larger(below, above), _ZERO)
                square = builder.fmul(gap, gap, flags=["contract"])
                builder.store(builder.fadd(builder.load(total), square, flags=["contract"]), total)
            squared = builder.load(total)
            builder.store(squared, vector_at(out, _INDEX(0)), align=8)
            within = builder.fcmp_ordered("<", squared, load(bounds, _INDEX(0)))
            return builder.zext(builder.bitcast(within, ir.IntType(LANES)), _INDEX)

        return types.int64(points, low, high, bounds, out), codegen
