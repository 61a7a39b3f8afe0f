"""The weights of several learners side by side: one read of a row serves all of them.

A block of :data:`WIDTH` learners has its weights in one array V, (features + 1, WIDTH), with a column for
each. For sparse rows it is in C order: the weights of a feature are one cache line, and one
instruction multiplies an entry with all of them. For dense rows it is in Fortran order: the row stays in the
cache while one learner after the other reads it. Each learner's sums are made in the order of
:func:`perceptrons.rows.look`.
"""

# numba compares the signatures of what is made here, annotations included.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...rows import Csr, Dense, factor, gather_dot, look
from ..compiler import by_record, compiled, dispatch, lowered
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


def gather_dots_and_squares(data, indices, p, stop, V, out, S, squares):
    """The same, and squares[r] = :func:`.confidence.gather_squares` of column r of S."""
    for r in range(WIDTH):
        out[r] = gather_dot(data, indices, p, stop, V[:, r])
        squares[r] = gather_squares(data, indices, p, stop, S[:, r])


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


class _LineSums:
    """Writes code for the sums of a row's products with the lines of an array, eight for each learner."""

    def __init__(self, lines, array, target, squared):
        from numba.core import cgutils

        self.lines, self.array, self.target, self.squared = lines, array, target, squared
        self.number = array.type.pointee
        self.aligned = 8 if str(self.number) == "double" else 4
        zero = lines.ir.Constant(lines.vector(self.number), [0.0] * WIDTH)
        self.sums = [cgutils.alloca_once_value(lines.builder, zero) for _ in range(8)]

    def add(self, u, p):
        """To sum u the product of the entry at position p."""
        lines, builder = self.lines, self.lines.builder
        w = lines.load(lines.line(self.array, p), self.aligned)
        product = builder.fmul(lines.entry(p, self.number, self.squared), w, flags=FUSED)
        builder.store(builder.fadd(builder.load(self.sums[u]), product, flags=FUSED), self.sums[u])

    def store(self):
        """The totals."""
        builder = self.lines.builder
        found = [builder.load(one) for one in self.sums]
        while len(found) > 1:
            pairs = zip(found[::2], found[1::2], strict=True)
            found = [builder.fadd(a, b, flags=FUSED) for a, b in pairs]
        builder.store(found[0], self.lines.whole(self.target), align=self.aligned)


def _write_sums(context, builder, signature, args, pairs):
    """Code that gathers. ``pairs`` says where arrays and targets of sums are, and which have squares."""
    from numba.core import cgutils

    def pointer(a):
        return context.make_array(signature.args[a])(context, builder, args[a]).data

    lines = _Lines(builder, pointer(0), pointer(1))
    place = lines.place
    every = [_LineSums(lines, pointer(a), pointer(b), squared) for a, b, squared in pairs]
    length = builder.sub(args[3], args[2])

    def add(first, n, at):
        """Entries at, at + 1, ... to n of the sums, from the first one on."""
        for u in range(n):
            p = builder.add(at, place(u))
            for one in every:
                one.add(first + u, p)

    with cgutils.for_range(builder, builder.lshr(length, place(3))) as loop:
        add(0, 8, builder.add(args[2], builder.shl(loop.index, place(3))))
    done = builder.and_(length, place(-8))
    for first, n in ((0, 4), (4, 2), (6, 1)):  # the remainder
        with builder.if_then(builder.icmp_unsigned("!=", builder.and_(length, place(n)), place(0))):
            add(first, n, builder.add(args[2], done))
        done = builder.or_(done, builder.and_(length, place(n)))
    for one in every:
        one.store()
    return context.get_dummy_value()


@lowered(gather_dots)
def _gather_dots() -> Any:
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def gathered(typingctx, data, indices, p, stop, V, out):
        def code(context, builder, signature, args):
            return _write_sums(context, builder, signature, args, [(4, 5, False)])

        return types.void(data, indices, types.uint64, types.uint64, V, out), code

    gather: Any = gathered

    def chosen(data, indices, p, stop, V, out):
        return lambda data, indices, p, stop, V, out: gather(data, indices, p, stop, V, out)

    return chosen


@lowered(gather_dots_and_squares)
def _gather_dots_and_squares() -> Any:
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def gathered(typingctx, data, indices, p, stop, V, out, S, squares):
        def code(context, builder, signature, args):
            return _write_sums(context, builder, signature, args, [(4, 5, False), (6, 7, True)])

        return types.void(data, indices, types.uint64, types.uint64, V, out, S, squares), code

    gather: Any = gathered

    def chosen(data, indices, p, stop, V, out, S, squares):
        return lambda data, indices, p, stop, V, out, S, squares: gather(
            data, indices, p, stop, V, out, S, squares
        )

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


def looks_and_variances(
    rows: Rows, i: int, V: Reals, dots: Reals, raw: Floats, S: Floats, squares: Floats, out: Floats
) -> None:
    """:func:`looks`, and out[r] = x' Sigma_r x; S has the diagonals, and ``squares`` is scratch space."""
    return dispatch(looks_and_variances, rows)(rows, i, V, dots, raw, S, squares, out)


def move(rows: Rows, i: int, d: Floats, beta: Floats, V: Reals, S: Floats) -> None:
    """w_r <- w_r + d_r Sigma_r x, Sigma_r <- Sigma_r - beta_r Sigma_r x x' Sigma_r, where one is not 0.

    d and beta have WIDTH entries, which are changed.
    """
    return dispatch(move, rows)(rows, i, d, beta, V, S)


@by_record(looks_and_variances)(Dense)
def _looks_and_variances_dense(
    rows: Dense, i: int, V: Reals, dots: Reals, raw: Floats, S: Floats, squares: Floats, out: Floats
) -> None:
    looks(rows, i, V, dots, raw)
    for r in range(out.shape[0]):
        out[r] = variance(Diagonal(S[:, r]), rows, i)


@by_record(looks_and_variances)(Csr)
def _looks_and_variances_csr(
    rows: Csr, i: int, V: Reals, dots: Reals, raw: Floats, S: Floats, squares: Floats, out: Floats
) -> None:
    p, stop = rows.indptr[i], rows.indptr[i + 1]
    gather_dots_and_squares(rows.data, rows.indices, p, stop, V, dots, S, squares)
    last, multiple = S.shape[0] - 1, factor(rows, i)
    for r in range(out.shape[0]):
        raw[r] = multiple * (dots[r] + rows.bias * V[last, r])
        out[r] = whole_variance(squares[r], S[last, r], rows.bias, multiple)


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


@compiled
def take_in(own: tuple[Reals, ...], n: int, V: Reals) -> None:
    """The first n columns of V become copies of the learners' own arrays."""
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
