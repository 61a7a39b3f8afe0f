"""Ask for memory before it is read: the instruction behind :func:`perceptrons.engine.look_ahead.request`.

numba has no such call. LLVM has: ``llvm.prefetch`` becomes one instruction, or none on a processor without
it. It never faults and changes no number. A compiler that does not know the name gets no code at all.
"""

# numba compares the signatures of what is made here, annotations included.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from ..rows import Csr, Dense, Packed
from .gathers import GATHERING, has
from .look_ahead import APART, FAR, FEWER, LARGE, LINES, LONG, MORE_LINES, NEAR, WAITING

NAME = "llvm.prefetch"
#: To be read, not written; data, not code.
READ, DATA = 0, 1
#: How near the memory shall come: to all caches, or to the second level and those behind it.
NEAREST, SECOND = 3, 2


def overload_of_request(keep: int = NEAREST) -> Any:
    """The overload that compiled code calls; numba is imported here."""
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def prefetched(typingctx, a, place):
        def code(context, builder, signature, args):
            if known():
                array = context.make_array(signature.args[0])(context, builder, args[0])
                address, number = ir.IntType(8).as_pointer(), ir.IntType(32)
                kind = ir.FunctionType(ir.VoidType(), [address, number, number, number])
                prefetch = builder.module.declare_intrinsic(NAME, [address], kind)
                entry = builder.bitcast(builder.gep(array.data, [args[1]]), address)
                builder.call(prefetch, [entry, number(READ), number(keep), number(DATA)])
            return context.get_dummy_value()

        return types.void(a, place), code

    prefetch: Any = prefetched

    def chosen(a, place):
        return lambda a, place: prefetch(a, place)

    return chosen


class Processor(NamedTuple):
    """How a processor wants to be asked for memory. Each kind was measured on one machine."""

    keep: int  #: how near the memory shall come
    ahead: int  #: rows
    lines: int  #: of a dense row, at most
    fewer: int  #: so many rows less, for dense rows in order
    apart: int  #: of dense rows in order, one line of so many is asked for
    weights: int  #: lines of weights to ask for at a time, two rows at least, where they are many; 0: none
    forgets: tuple[type, ...]  #: rows to ask for twice: requests are dropped while many others wait
    foresees: bool  #: whether rows in order come soon enough without
    long: int  #: else they are asked for where a dense row has so many bytes
    in_one_piece: bool  #: whether a copy of sparse rows in one piece each is faster (:mod:`.packing`)


#: It loses a twentieth with eight rows ahead. More than a few lines of a dense row, weights, and rows in
#: order are asked for in vain. With rows in one piece it loses up to a fifth where all of them are in its
#: large third-level cache.
SAPPHIRE_RAPIDS = Processor(NEAREST, NEAR, LINES, 0, APART, 0, (), True, LONG, False)
#: The first cache has room for few requests: shuffled sparse rows take half to two thirds of the time by the
#: second. Shuffled dense rows take two thirds when all lines are asked for, wide rows and several learners or
#: classes two thirds when weights are, rows of 60 MB four fifths when each is asked for twice. In order it
#: gains an eighth on sparse rows, a twentieth on long dense ones, and loses as much on short ones. Rows in
#: one piece take a seventh to a quarter less.
ZEN_4 = Processor(SECOND, FAR, MORE_LINES, FEWER, APART, 1, (Csr, Packed, Dense), False, LONG, True)
#: Dense rows in order take two thirds of the time when all lines are asked for, up to the first cache: by
#: some lines, or up to the second, they lose. Rows of 800 bytes take four fifths, shorter ones more than
#: without. Sparse rows gain a tenth where they are asked for once; in one piece each they gain nothing with
#: the last w, and lose a tenth to a quarter with an average. Two threads with many weights gain a tenth in
#: order where more than two rows have asked for theirs, one thread and shuffled rows gain a twentieth.
ZEN_5 = Processor(NEAREST, FAR, MORE_LINES, FEWER + 1, 1, WAITING, (Dense,), False, LONG // 4, False)
#: Features that no other processor has together.
FIFTH = ("+clzero", "+avx512vp2intersect")


def processor() -> Processor:
    """The kind that code is compiled for; those that were not measured are taken for a Zen 4."""
    if has(GATHERING):
        return SAPPHIRE_RAPIDS
    return ZEN_5 if all(map(has, FIFTH)) else ZEN_4


# For the compiler: overloads that are constants of the machine code.


def overload_of_early_request() -> Any:
    """:func:`overload_of_request`, to the cache that is best."""
    return overload_of_request(processor().keep)


def overload_of_ahead() -> Any:
    """How many rows ahead memory is asked for."""
    return _constant(processor().ahead)


def overload_of_waiting() -> Any:
    """How many lines of weights are asked for at a time."""
    return _constant(processor().weights)


def overload_of_most_lines() -> Any:
    """How many lines of a dense row are asked for."""
    return _constant(processor().lines)


def overload_of_fewer() -> Any:
    """How many rows less it is for dense rows in order."""
    return _constant(processor().fewer)


def overload_of_apart() -> Any:
    """Of how many lines of dense rows in order one is asked for."""
    return _constant(processor().apart)


def _constant(number: int) -> Any:
    return lambda: lambda: number


def overload_of_asks_for_weights() -> Any:
    """Whether weights are asked for; it depends on their size."""

    def chosen(weights):
        if processor().weights > 0:
            return lambda weights: weights.size * weights.itemsize > LARGE
        return lambda weights: False

    return chosen


def overload_of_forgets_requests() -> Any:
    """Whether requests for rows are dropped while many others wait."""

    def chosen(rows):
        drops = rows.instance_class in processor().forgets
        return lambda rows: drops

    return chosen


def overload_of_foresees() -> Any:
    """Whether rows in order need not be asked for."""

    def chosen(rows):
        alone, least = processor().foresees, processor().long
        if rows.instance_class is Dense and not alone:
            return lambda rows: rows.X.shape[1] * rows.X.itemsize < least
        return lambda rows: alone

    return chosen


@cache
def known(name: str = NAME) -> bool:
    """Whether LLVM has the instruction: then it adds attributes to a declaration of that name."""
    try:
        from llvmlite import binding

        module = binding.parse_assembly(f"declare void @{name}(i8*, i32, i32, i32)")
        return any(list(function.attributes) for function in module.functions)
    except Exception:  # another llvmlite: slower on shuffled rows, same results
        return False
