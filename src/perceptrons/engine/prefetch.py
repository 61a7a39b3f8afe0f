"""Ask for memory before it is read: the instruction behind :func:`perceptrons.engine.look_ahead.request`.

numba has no such call. LLVM has: ``llvm.prefetch`` becomes one instruction, or none on a processor without
it. It never faults and changes no number. A compiler that does not know the name gets no code at all.
"""

# numba compares the signatures of what is made here, annotations included.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
from __future__ import annotations

from functools import cache
from typing import Any

from ..rows import Dense
from .gathers import GATHERING, has
from .look_ahead import FAR, LARGE, LINES, LONG, MORE_LINES, NEAR

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


def overload_of_early_request() -> Any:
    """:func:`overload_of_request` for the second-level cache, since the first has room for few requests.

    Measured on two processors: a Zen 4 needs half to two thirds of the time for shuffled sparse rows so;
    Sapphire Rapids, the first with the feature, loses by it.
    """
    return overload_of_request(NEAREST if has(GATHERING) else SECOND)


def overload_of_ahead() -> Any:
    """For the compiler: how many rows ahead memory is asked for, a constant of the machine code.

    Measured on two processors: a Zen 4 waits for memory with four rows, and Sapphire Rapids, the first with
    the feature, loses a twentieth with eight.
    """

    def chosen():
        some = NEAR if has(GATHERING) else FAR
        return lambda: some

    return chosen


def overload_of_most_lines() -> Any:
    """For the compiler: how many lines of a dense row are asked for, a constant of the machine code.

    Measured on two processors, rows shuffled: a Zen 4 takes two thirds of the time when all lines are asked
    for; Sapphire Rapids, the first with the feature, gains nothing by more than a few.
    """

    def chosen():
        most = LINES if has(GATHERING) else MORE_LINES
        return lambda: most

    return chosen


def overload_of_asks_for_weights() -> Any:
    """For the compiler: whether weights are asked for; it depends on their size.

    Measured on two processors. A Zen 4 takes two thirds of the time for wide rows and several learners or
    classes, and more where the weights are few; Sapphire Rapids, the first with the feature, gains nothing.
    """

    def chosen(weights):
        if has(GATHERING):
            return lambda weights: False
        return lambda weights: weights.size * weights.itemsize > LARGE

    return chosen


def overload_of_forgets_requests() -> Any:
    """For the compiler: whether requests are dropped while many others wait, a constant of the machine code.

    Measured on one processor: a Zen 4 takes four fifths of the time for shuffled sparse rows of 60 MB, and
    three quarters for dense ones, when each is asked for twice. Sapphire Rapids, the first with the feature,
    has them asked for once, as before.
    """

    def chosen():
        drops = not has(GATHERING)
        return lambda: drops

    return chosen


def overload_of_foresees() -> Any:
    """For the compiler: whether rows in order need not be asked for, a constant of the machine code.

    Measured on two processors: Sapphire Rapids, the first with the feature, gains nothing by asking; a Zen 4
    gains an eighth on sparse rows, a twentieth on long dense rows, and loses as much on short ones.
    """

    def chosen(rows):
        alone = has(GATHERING)
        if rows.instance_class is Dense and not alone:
            return lambda rows: rows.X.shape[1] * rows.X.itemsize < LONG
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
