"""The weights of several learners side by side: one read of a row serves all of them.

A block of :data:`WIDTH` learners has a copy of its weights in one array V, (features + 1, WIDTH), with a
column for each. For sparse rows it is in C order: the weights of a feature are one cache line, and one
instruction multiplies an entry with all of them. For dense rows it is in Fortran order: the row stays in the
cache while one learner after the other reads it. Each learner's sums are made in the order of
:func:`perceptrons.rows.look`.
"""

# numba compares the signatures of what is made here, annotations included.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...rows import Csr, Dense, factor, gather_dot, look
from ..compiler import by_record, dispatch, helper, lowered
from .tracks import Average, Last, UnitAverage

if TYPE_CHECKING:
    from ..._types import Floats, Reals
    from ...rows import Rows
    from .tracks import Track

#: Learners in a block; some may be unused.
WIDTH = 8


def gather_dots(data, indices, p, stop, V, out):
    """out[r] = :func:`perceptrons.rows.gather_dot` of column r of V, for all WIDTH columns."""
    for r in range(WIDTH):
        out[r] = gather_dot(data, indices, p, stop, V[:, r])


@lowered(gather_dots)
def _gather_dots() -> Any:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def gathered(typingctx, data, indices, p, stop, V, out):
        if not all(isinstance(a, types.Array) for a in (data, indices, V, out)):
            return None

        def code(context, builder, signature, args):
            given = (context.make_array(signature.args[a])(context, builder, args[a]) for a in (0, 1, 4, 5))
            x, columns, weights, target = (array.data for array in given)
            number, place = weights.type.pointee, ir.IntType(64)
            vector, aligned = ir.VectorType(number, WIDTH), V.dtype.bitwidth // 8
            unset = ir.Constant(vector, ir.Undefined)
            every = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
            zero = ir.Constant(vector, [0.0] * WIDTH)
            sums = [cgutils.alloca_once_value(builder, zero) for _ in range(8)]
            length = builder.sub(args[3], args[2])

            def add(first, n, at):
                """Entries at, at + 1, ... to n of the sums, from the first one on."""
                for u in range(n):
                    p = builder.add(at, place(u))
                    entry = builder.load(builder.gep(x, [p]))
                    if entry.type != number:
                        entry = builder.fpext(entry, number)
                    j = builder.load(builder.gep(columns, [p]))
                    j = builder.zext(j, place) if j.type != place else j
                    line = builder.gep(weights, [builder.mul(j, place(WIDTH))])
                    w = builder.load(builder.bitcast(line, vector.as_pointer()), align=aligned)
                    entry = builder.insert_element(unset, entry, ir.IntType(32)(0))
                    entry = builder.shuffle_vector(entry, unset, every)
                    product = builder.fmul(entry, w, flags=fused)
                    total = builder.fadd(builder.load(sums[first + u]), product, flags=fused)
                    builder.store(total, sums[first + u])

            with cgutils.for_range(builder, builder.lshr(length, place(3))) as loop:
                add(0, 8, builder.add(args[2], builder.shl(loop.index, place(3))))
            done = builder.and_(length, place(-8))
            for first, n in ((0, 4), (4, 2), (6, 1)):  # the remainder
                with builder.if_then(builder.icmp_unsigned("!=", builder.and_(length, place(n)), place(0))):
                    add(first, n, builder.add(args[2], done))
                done = builder.or_(done, builder.and_(length, place(n)))
            found = [builder.load(one) for one in sums]
            while len(found) > 1:
                found = [
                    builder.fadd(a, b, flags=fused) for a, b in zip(found[::2], found[1::2], strict=True)
                ]
            builder.store(found[0], builder.bitcast(target, vector.as_pointer()), align=aligned)
            return context.get_dummy_value()

        return types.void(data, indices, types.uint64, types.uint64, V, out), code

    fused = ("contract",)  # a product and a sum are rounded once, as in gather_dot
    gather: Any = gathered

    def chosen(data, indices, p, stop, V, out):
        return lambda data, indices, p, stop, V, out: gather(data, indices, p, stop, V, out)

    return chosen


def looks(rows: Rows, i: int, V: Reals, dots: Reals, raw: Floats) -> None:
    """raw[r] = <v_r, x> of the augmented, possibly scaled row; ``dots`` is scratch space, aligned, like V."""
    return dispatch(looks, rows)(rows, i, V, dots, raw)


@by_record(looks)(Dense)
def _looks_dense(rows: Dense, i: int, V: Reals, dots: Reals, raw: Floats) -> None:
    for r in range(raw.shape[0]):
        raw[r] = look(rows, i, V[:, r])


@by_record(looks)(Csr)
def _looks_csr(rows: Csr, i: int, V: Reals, dots: Reals, raw: Floats) -> None:
    gather_dots(rows.data, rows.indices, rows.indptr[i], rows.indptr[i + 1], V, dots)
    last, multiple = V.shape[0] - 1, factor(rows, i)
    for r in range(raw.shape[0]):
        raw[r] = multiple * (dots[r] + rows.bias * V[last, r])


#: Features that are copied at a time: their lines stay in the cache.
PIECE = 64


@helper
def take_in(own: tuple[Reals, ...], n: int, V: Reals) -> None:
    """The first n columns of V become copies of the learners' own weights."""
    for start in range(0, V.shape[0], PIECE):
        stop = min(start + PIECE, V.shape[0])
        for r in range(n):
            v = own[r]
            for j in range(start, stop):
                V[j, r] = v[j]


def own_track(track: Track, A: tuple[Floats, ...], r: int) -> Track:
    """What is kept for the readout of learner r; ``track`` says of which kind it is."""
    return dispatch(own_track, track)(track, A, r)


@by_record(own_track)(Last)
def _own_last(track: Last, A: tuple[Floats, ...], r: int) -> Last:
    return track


@by_record(own_track)(Average)
def _own_average(track: Average, A: tuple[Floats, ...], r: int) -> Average:
    return Average(A[r])


@by_record(own_track)(UnitAverage)
def _own_unit_average(track: UnitAverage, A: tuple[Floats, ...], r: int) -> UnitAverage:
    return UnitAverage(A[r])
