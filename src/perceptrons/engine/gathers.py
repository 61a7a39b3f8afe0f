"""Products of a sparse row and a vector, eight entries at a time: the code behind :func:`.rows.gather_dot`.

A row's entries meet weights that lie anywhere. Where the processor has AVX-512, eight partial sums are one
vector: the same sums in the same order, rounded alike, so every bit is the same as in the loop that is
written out in Python. The last 0 to 7 entries of a row take no branch, and indices and values come eight at a
time. The eight weights come by one instruction, or by eight loads into the vector: on processors before those
with AVX512-FP16 (Intel's Sapphire Rapids), and on AMD's, one instruction is slower, because it has to be
guarded in microcode. Elsewhere compiled code has the loop, and so it has under NUMBA_BOUNDSCHECK, which wants
every index tested.
"""

# numba compares the signatures of what is made here, annotations included.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

#: The oldest processors with the first feature are the first on which gathers pay; vectors need the second.
GATHERING, LOADING = "+avx512fp16", "+avx512vl"
WIDTH = 8
#: LLVM's names: by the number of bits of a weight and of an index.
GATHERS = {
    (32, 32): "llvm.x86.avx512.mask.gather3siv8.sf",
    (32, 64): "llvm.x86.avx512.mask.gather.qps.512",
    (64, 32): "llvm.x86.avx512.mask.gather.dpd.512",
    (64, 64): "llvm.x86.avx512.mask.gather.qpd.512",
}
FUSED = ("contract",)  # a product and a sum are rounded once, as in the loop
#: Which of the eight sums the last 0 to 7 entries belong to: four to the first ones, two to the next, one.
REMAINDERS = [(n & 4 and 0b00001111) | (n & 2 and 0b00110000) | (n & 1 and 0b01000000) for n in range(WIDTH)]


def overload_of_sum(loop: Callable[..., float], squared: bool = False) -> Callable[[], Any]:
    """For the compiler: the overload of a sum over a row's entries, or over their squares; or the loop."""

    def make() -> Any:
        gather, load = (_sum_over_vectors(kind, squared) for kind in (_Vectors, _LoadedVectors))

        def chosen(data, indices, p, stop, w):
            vectors = pays() if squared else loads()  # squares of entries keep the loop's units busy enough
            if not (vectors and all(a.layout == "C" and a.aligned for a in (data, indices, w))):
                return loop
            if pays():
                return lambda data, indices, p, stop, w: gather(data, indices, p, stop, w)
            return lambda data, indices, p, stop, w: load(data, indices, p, stop, w)

        return chosen

    return make


def overload_of_squares(loop: Callable[..., float]) -> Callable[[], Any]:
    """For the compiler: the overload of the sum of squares of an array's entries; or the loop.

    Entries that follow each other need no gather, so that every processor makes vectors of them.
    """

    def make() -> Any:
        from numba import types

        vectors = _sum_of_squares()

        def chosen(data, p, stop):
            if not (data.layout == "C" and data.aligned and isinstance(data.dtype, types.Float)):
                return loop
            return lambda data, p, stop: vectors(data, p, stop)

        return chosen

    return make


def overload_of_pairs(squared: bool = False) -> Callable[[], Any]:
    """For the compiler: the overload of the sum over entries and weights that lie side by side."""

    def make() -> Any:
        vectors = _paired_sum(squared)

        def chosen(data, p, stop, w):
            return lambda data, p, stop, w: vectors(data, p, stop, w)

        return chosen

    return make


def pays() -> bool:
    """Whether code that is compiled now loads eight weights by one instruction."""
    return has(GATHERING) and known()


def loads() -> bool:
    """Whether code that is compiled now has vectors of eight weights, however they are loaded."""
    return pays() or has(LOADING)


def has(feature: str) -> bool:
    """Whether code is compiled for processors with this feature, and indices are not tested."""
    import numba
    from numba.core.registry import cpu_target

    features: str = cpu_target.target_context.codegen().magic_tuple()[2]
    tested: Any = getattr(numba.config, "BOUNDSCHECK", None)
    return feature in features.split(",") and not tested


@cache
def known(names: tuple[str, ...] = tuple(GATHERS.values())) -> bool:
    """Whether LLVM has the instructions: then it adds attributes to declarations of these names."""
    try:
        from llvmlite import binding

        kinds = {"sf": ("float", 32), "qps": ("float", 64), "dpd": ("double", 32), "qpd": ("double", 64)}
        lines = []
        for name in names:
            real, bits = next(kind for key, kind in kinds.items() if f".{key}" in name)
            takes = f"<8 x {real}>, i8*, <8 x i{bits}>, <8 x i1>, i32"
            lines.append(f"declare <8 x {real}> @{name}({takes})")
        module = binding.parse_assembly("\n".join(lines))
        return all(list(function.attributes) for function in module.functions)
    except Exception:  # another llvmlite: slower, same results
        return False


def _sum_over_vectors(kind: Any, squared: bool) -> Any:
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def summed(typingctx, data, indices, p, stop, w):
        def code(context, builder, signature, args):
            given = (context.make_array(signature.args[a])(context, builder, args[a]) for a in (0, 1, 4))
            entries, columns, weights = (array.data for array in given)
            return kind(builder, entries, columns, weights, squared).sum(args[2], args[3])

        number = max(data.dtype, w.dtype, key=lambda kind: kind.bitwidth)
        return number(data, indices, types.uint64, types.uint64, w), code

    return summed


def _sum_of_squares() -> Any:
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def squares(typingctx, data, p, stop):
        def code(context, builder, signature, args):
            entries = context.make_array(signature.args[0])(context, builder, args[0]).data
            return _Squares(builder, entries).sum(args[1], args[2])

        return types.float64(data, types.uint64, types.uint64), code

    return squares


def _paired_sum(squared: bool) -> Any:
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def paired(typingctx, data, p, stop, w):
        def code(context, builder, signature, args):
            given = (context.make_array(signature.args[a])(context, builder, args[a]) for a in (0, 3))
            entries, weights = (array.data for array in given)
            return _PairedVectors(builder, entries, None, weights, squared).sum(args[1], args[2])

        number = max(data.dtype, w.dtype, key=lambda kind: kind.bitwidth)
        return number(data, types.uint64, types.uint64, w), code

    return paired


class _Vectors:
    """Writes code for eight entries of a row at once."""

    def __init__(self, builder, entries, columns, weights, squared):
        from llvmlite import ir

        self.ir, self.builder, self.squared = ir, builder, squared
        self.entries, self.columns, self.weights = entries, columns, weights
        pointees = entries.type.pointee, weights.type.pointee
        self.number = ir.DoubleType() if ir.DoubleType() in pointees else ir.FloatType()
        self.mask = ir.VectorType(ir.IntType(1), WIDTH)
        self.zero = self.zeros(self.number)

    def vector(self, kind):
        return self.ir.VectorType(kind, WIDTH)

    def zeros(self, kind):
        return self.ir.Constant(self.vector(kind), [kind(0)] * WIDTH)

    def sum(self, begin, stop):
        """The sum over the entries from ``begin`` to ``stop`` - 1."""
        from numba.core import cgutils

        builder, place = self.builder, self.ir.IntType(64)
        length = builder.sub(stop, begin)
        end = builder.add(begin, builder.and_(length, place(-WIDTH)))
        sums = self.over_eights(begin, end)
        masks = self.ir.Constant(self.ir.ArrayType(self.ir.IntType(8), WIDTH), REMAINDERS)
        masks = cgutils.global_constant(builder, "remainders", masks)
        mask = builder.load(builder.gep(masks, [place(0), builder.and_(length, place(WIDTH - 1))]))
        found = self.plus(sums, end, builder.bitcast(mask, self.mask))
        terms = [builder.extract_element(found, self.ir.IntType(32)(r)) for r in range(WIDTH)]
        while len(terms) > 1:
            pairs = zip(terms[::2], terms[1::2], strict=True)
            terms = [builder.fadd(a, b) for a, b in pairs]
        return terms[0]

    def over_eights(self, begin, end):
        """The sums over the entries from ``begin`` to ``end``, whose number is a multiple of eight.

        The compiler cannot tell how often the loop runs, so that it does not repeat its body: that would add
        a branch for each row which no processor can predict.
        """
        builder, place = self.builder, begin.type
        before = builder.block
        test, body, after = (builder.append_basic_block(name) for name in ("test", "body", "after"))
        builder.branch(test)
        builder.position_at_end(test)
        at, sums = builder.phi(place), builder.phi(self.zero.type)
        builder.cbranch(builder.icmp_unsigned("<", at, end), body, after)
        builder.position_at_end(body)
        more, further = self.plus(sums, at), builder.add(at, place(WIDTH))
        further = builder.asm(self.ir.FunctionType(place, [place]), "", "=r,0", [further], False)
        builder.branch(test)
        for value, (first, later) in ((at, (begin, further)), (sums, (self.zero, more))):
            value.add_incoming(first, before)
            value.add_incoming(later, body)
        builder.position_at_end(after)
        return sums

    def plus(self, sums, at, mask=None):
        """The sums, and to each the product of an entry from ``at`` on; only where the mask is set."""
        builder = self.builder
        x = self.next(self.entries, at, mask)
        if self.squared:
            x = builder.fmul(x, x, flags=FUSED)
        w = self.weights_of(at, mask)
        after = builder.fadd(sums, builder.fmul(self.wide(x), self.wide(w), flags=FUSED), flags=FUSED)
        return after if mask is None else builder.select(mask, after, sums)

    def weights_of(self, at, mask):
        """The weights of the columns of eight entries."""
        return self.gather(self.next(self.columns, at, mask), mask)

    def next(self, array, at, mask):
        """Eight numbers from a place on; or as many as the mask has bits, each where a bit is, and zeros."""
        builder, kind = self.builder, array.type.pointee
        start = builder.gep(array, [at])
        vector = self.vector(kind)
        if mask is None:
            return builder.load(builder.bitcast(start, vector.as_pointer()), align=_bits(kind) // 8)
        name = f"llvm.masked.expandload.v{WIDTH}{'i' if hasattr(kind, 'width') else 'f'}{_bits(kind)}"
        return self.call(name, vector, [start, mask, self.zeros(kind)])

    def gather(self, columns, mask):
        """The weights of eight columns. Numbers of 32 bits are below 2^31: the instruction has a sign."""
        kind, number, flag = self.weights.type.pointee, self.ir.IntType(32), self.ir.IntType(1)
        name = GATHERS[_bits(kind), columns.type.element.width]
        start = self.builder.bitcast(self.weights, self.ir.IntType(8).as_pointer())
        mask = self.ir.Constant(self.mask, [flag(1)] * WIDTH) if mask is None else mask
        given = [self.zeros(kind), start, columns, mask, number(_bits(kind) // 8)]
        return self.call(name, self.vector(kind), given)

    def wide(self, x):
        vector = self.vector(self.number)
        return x if x.type == vector else self.builder.fpext(x, vector)

    def call(self, name, returns, given):
        from numba.core import cgutils

        kind = self.ir.FunctionType(returns, [value.type for value in given])
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, given)


class _LoadedVectors(_Vectors):
    """The same with eight loads of single weights."""

    def gather(self, columns, mask):
        """The weights of eight columns; without an entry that of column 0, which is not used."""
        builder, place = self.builder, self.ir.IntType(64)
        found = self.zeros(self.weights.type.pointee)
        for r, column in enumerate(self.numbers(columns)):
            weight = builder.load(builder.gep(self.weights, [column]))
            found = builder.insert_element(found, weight, place(r))
        return found

    def numbers(self, columns):
        """The eight numbers of a vector; those of 32 bits are taken out of it two by two."""
        builder, place = self.builder, self.ir.IntType(64)
        if columns.type.element.width == 64:
            return [builder.extract_element(columns, place(r)) for r in range(WIDTH)]
        pairs = builder.bitcast(columns, self.ir.VectorType(place, WIDTH // 2))
        halves = [builder.extract_element(pairs, place(r)) for r in range(WIDTH // 2)]
        low, shift = place((1 << 32) - 1), place(32)
        return [one for pair in halves for one in (builder.and_(pair, low), builder.lshr(pair, shift))]


class _PairedVectors(_Vectors):
    """The same where the weight of each entry has its place."""

    def weights_of(self, at, mask):
        return self.next(self.weights, at, mask)


class _Squares(_Vectors):
    """The same for the squares of the entries, in float64."""

    def __init__(self, builder, entries):
        super().__init__(builder, entries, None, entries, True)
        self.number = self.ir.DoubleType()
        self.zero = self.zeros(self.number)

    def plus(self, sums, at, mask=None):
        x = self.wide(self.next(self.entries, at, mask))
        after = self.builder.fadd(sums, self.builder.fmul(x, x, flags=FUSED), flags=FUSED)
        return after if mask is None else self.builder.select(mask, after, sums)


def _bits(kind: Any) -> int:
    return int(getattr(kind, "width", 64 if str(kind) == "double" else 32))
