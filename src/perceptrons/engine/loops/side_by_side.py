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
from .confidence import (
    Diagonal,
    gather_squares,
    of_scaled_row,
    shift,
    shifted,
    shrink,
    shrunk,
    variance,
    whole_variance,
)
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


def gather_all_squares(data, indices, p, stop, V, out):
    """The same for :func:`.confidence.gather_squares`."""
    for r in range(WIDTH):
        out[r] = gather_squares(data, indices, p, stop, V[:, r])


def move_lines(data, indices, p, stop, d, beta, V, S):
    """The entries of a row by :func:`.confidence.shifted` and `shrunk`, for the columns with a step.

    Column r of V moves by d[r], and column r of S by beta[r]; where both are 0 nothing changes.
    """
    for r in range(WIDTH):
        if d[r] != 0.0 or beta[r] != 0.0:
            for at in range(p, stop):
                j = indices[at]
                V[j, r] = shifted(V[j, r], d[r], S[j, r], data[at])
                S[j, r] = shrunk(S[j, r], beta[r], data[at])


@lowered(gather_dots)
def _gather_dots() -> Any:
    return _gathering(squared=False)


@lowered(gather_all_squares)
def _gather_all_squares() -> Any:
    return _gathering(squared=True)


FUSED = ("contract",)  # a product and a sum are rounded once, as in gather_dot


class _Lines:
    """Writes code for whole lines: the WIDTH numbers of a feature."""

    def __init__(self, builder, entries, columns):
        from llvmlite import ir

        self.ir, self.builder = ir, builder
        self.entries, self.columns = entries, columns
        self.place = ir.IntType(64)
        self.every = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)

    def vector(self, number):
        return self.ir.VectorType(number, WIDTH)

    def entry(self, p, number, squared=False):
        """The entry at position p, or its square, WIDTH times."""
        builder, x = self.builder, self.builder.load(self.builder.gep(self.entries, [p]))
        if squared:
            x = builder.fmul(x, x, flags=FUSED)
        if x.type != number:
            x = builder.fpext(x, number)
        unset = self.ir.Constant(self.vector(number), self.ir.Undefined)
        one = builder.insert_element(unset, x, self.ir.IntType(32)(0))
        return builder.shuffle_vector(one, unset, self.every)

    def line(self, array, p):
        """Where the array has the line of the feature at position p."""
        builder = self.builder
        j = builder.load(builder.gep(self.columns, [p]))
        j = builder.zext(j, self.place) if j.type != self.place else j
        return self.whole(builder.gep(array, [builder.mul(j, self.place(WIDTH))]))

    def whole(self, pointer):
        return self.builder.bitcast(pointer, self.vector(pointer.type.pointee).as_pointer())

    def load(self, line, aligned):
        return self.builder.load(line, align=aligned)


def _gathering(squared: bool) -> Any:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def gathered(typingctx, data, indices, p, stop, V, out):
        def code(context, builder, signature, args):
            given = (context.make_array(signature.args[a])(context, builder, args[a]) for a in (0, 1, 4, 5))
            x, columns, weights, target = (array.data for array in given)
            lines, number, aligned = _Lines(builder, x, columns), weights.type.pointee, V.dtype.bitwidth // 8
            place = lines.place
            zero = ir.Constant(lines.vector(number), [0.0] * WIDTH)
            sums = [cgutils.alloca_once_value(builder, zero) for _ in range(8)]
            length = builder.sub(args[3], args[2])

            def add(first, n, at):
                """Entries at, at + 1, ... to n of the sums, from the first one on."""
                for u in range(n):
                    p = builder.add(at, place(u))
                    w = lines.load(lines.line(weights, p), aligned)
                    product = builder.fmul(lines.entry(p, number, squared), w, flags=FUSED)
                    total = builder.fadd(builder.load(sums[first + u]), product, flags=FUSED)
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
                pairs = zip(found[::2], found[1::2], strict=True)
                found = [builder.fadd(a, b, flags=FUSED) for a, b in pairs]
            builder.store(found[0], lines.whole(target), align=aligned)
            return context.get_dummy_value()

        return types.void(data, indices, types.uint64, types.uint64, V, out), code

    gather: Any = gathered

    def chosen(data, indices, p, stop, V, out):
        return lambda data, indices, p, stop, V, out: gather(data, indices, p, stop, V, out)

    return chosen


@lowered(move_lines)
def _move_lines() -> Any:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def moved(typingctx, data, indices, p, stop, d, beta, V, S):
        def code(context, builder, signature, args):
            chosen = (0, 1, 4, 5, 6, 7)
            given = (context.make_array(signature.args[a])(context, builder, args[a]) for a in chosen)
            x, columns, shifts, shrinks, weights, sigmas = (array.data for array in given)
            lines = _Lines(builder, x, columns)
            wide, of_w, of_s = sigmas.type.pointee, V.dtype.bitwidth // 8, S.dtype.bitwidth // 8
            shift, shrink = (lines.load(lines.whole(a), of_s) for a in (shifts, shrinks))
            zero = ir.Constant(lines.vector(wide), [0.0] * WIDTH)
            moves = builder.or_(
                builder.fcmp_unordered("!=", shift, zero), builder.fcmp_unordered("!=", shrink, zero)
            )
            with cgutils.for_range(builder, builder.sub(args[3], args[2])) as loop:
                p = builder.add(args[2], loop.index)
                line_w, line_s = lines.line(weights, p), lines.line(sigmas, p)
                before, s, entry = lines.load(line_w, of_w), lines.load(line_s, of_s), lines.entry(p, wide)
                narrow = before.type != s.type
                w = builder.fpext(before, s.type) if narrow else before
                product = builder.fmul(builder.fmul(shift, s, flags=FUSED), entry, flags=FUSED)
                after = builder.fadd(w, product, flags=FUSED)
                after = builder.fptrunc(after, before.type) if narrow else after
                sx = builder.fmul(s, entry, flags=FUSED)
                less = builder.fmul(builder.fmul(shrink, sx, flags=FUSED), sx, flags=FUSED)
                rest = builder.fsub(s, less, flags=FUSED)
                builder.store(builder.select(moves, after, before), line_w, align=of_w)
                builder.store(builder.select(moves, rest, s), line_s, align=of_s)
            return context.get_dummy_value()

        return types.void(data, indices, types.uint64, types.uint64, d, beta, V, S), code

    move: Any = moved

    def chosen(data, indices, p, stop, d, beta, V, S):
        return lambda data, indices, p, stop, d, beta, V, S: move(data, indices, p, stop, d, beta, V, S)

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


def variances(rows: Rows, i: int, S: Floats, dots: Floats, out: Floats) -> None:
    """out[r] = x' Sigma_r x; S has the diagonals, and ``dots`` is scratch space."""
    return dispatch(variances, rows)(rows, i, S, dots, out)


def move(rows: Rows, i: int, d: Floats, beta: Floats, V: Reals, S: Floats) -> None:
    """w_r <- w_r + d_r Sigma_r x, Sigma_r <- Sigma_r - beta_r Sigma_r x x' Sigma_r, where one is not 0.

    d and beta have WIDTH entries, which are changed.
    """
    return dispatch(move, rows)(rows, i, d, beta, V, S)


@by_record(variances)(Dense)
def _variances_dense(rows: Dense, i: int, S: Floats, dots: Floats, out: Floats) -> None:
    for r in range(out.shape[0]):
        out[r] = variance(Diagonal(S[:, r]), rows, i)


@by_record(variances)(Csr)
def _variances_csr(rows: Csr, i: int, S: Floats, dots: Floats, out: Floats) -> None:
    gather_all_squares(rows.data, rows.indices, rows.indptr[i], rows.indptr[i + 1], S, dots)
    last, multiple = S.shape[0] - 1, factor(rows, i)
    for r in range(out.shape[0]):
        out[r] = whole_variance(dots[r], S[last, r], rows.bias, multiple)


@by_record(move)(Dense)
def _move_dense(rows: Dense, i: int, d: Floats, beta: Floats, V: Reals, S: Floats) -> None:
    for r in range(WIDTH):
        if d[r] != 0.0 or beta[r] != 0.0:
            shift(Diagonal(S[:, r]), rows, i, d[r], V[:, r])
            shrink(Diagonal(S[:, r]), rows, i, beta[r])


@by_record(move)(Csr)
def _move_csr(rows: Csr, i: int, d: Floats, beta: Floats, V: Reals, S: Floats) -> None:
    last, multiple = S.shape[0] - 1, factor(rows, i)
    for r in range(WIDTH):
        d[r] *= multiple
        beta[r] = of_scaled_row(beta[r], multiple)
    move_lines(rows.data, rows.indices, rows.indptr[i], rows.indptr[i + 1], d, beta, V, S)
    for r in range(WIDTH):
        if d[r] != 0.0 or beta[r] != 0.0:
            V[last, r] = shifted(V[last, r], d[r], S[last, r], rows.bias)
            S[last, r] = shrunk(S[last, r], beta[r], rows.bias)


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


@helper
def hand_out(own: tuple[Reals, ...], n: int, V: Reals) -> None:
    """The learners' own weights become copies of the first n columns of V."""
    for start in range(0, V.shape[0], PIECE):
        stop = min(start + PIECE, V.shape[0])
        for r in range(n):
            v = own[r]
            for j in range(start, stop):
                v[j] = V[j, r]


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
