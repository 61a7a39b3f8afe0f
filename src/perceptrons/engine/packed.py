"""Numbers out of bytes: what ``struct.pack`` has written, read by compiled code without a copy.

A row that is packed into bytes belongs to one call alone: no other thread can change it meanwhile.
"""

# numba compares the signatures of what is made here, annotations included.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
from __future__ import annotations

import struct
from typing import Any

from .compiler import lowered


def float_at(raw: bytes, j: int) -> float:
    """The j-th float64 of the bytes; the caller has checked that it is there."""
    return float(struct.unpack_from("d", raw, 8 * j)[0])


def whole_at(raw: bytes, j: int) -> int:
    """The j-th int64 of the bytes; the caller has checked that it is there."""
    return int(struct.unpack_from("q", raw, 8 * j)[0])


def _reader(name: str) -> Any:
    """The overload that loads eight bytes as this type of numba's."""
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    found = getattr(types, name)

    @intrinsic
    def loaded(typingctx, raw, j):
        def code(context, builder, signature, args):
            array = context.make_array(signature.args[0])(context, builder, args[0])
            kind = ir.DoubleType() if name == "float64" else ir.IntType(64)
            start = builder.bitcast(array.data, kind.as_pointer())
            value = builder.load(builder.gep(start, [args[1]]))
            value.align = 1
            return value

        return found(raw, types.int64), code

    load: Any = loaded

    def chosen(raw, j):
        return lambda raw, j: load(raw, j)

    return chosen


@lowered(float_at)
def _float_at() -> Any:
    return _reader("float64")


@lowered(whole_at)
def _whole_at() -> Any:
    return _reader("int64")
