"""One number that several threads may change at the same time: compare and swap.

Compiled loops run without the interpreter's lock, so a flag that is read and then written can be taken twice.
The flag is one entry of a float64 array, used as 64 bits.
"""

# numba compares the signatures of what is made here, annotations included.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ..compiler import lowered

_lock = threading.Lock()  # for plain Python, which has no such instruction


def swap(a: np.ndarray, place: int, expected: int, new: int) -> int:
    """Put the bits of ``new`` at ``a[place]`` if those of ``expected`` are there; returns what was there."""
    bits = a.view(np.int64)
    with _lock:
        found = int(bits[place])
        if found == expected:
            bits[place] = new
    return found


@lowered(swap)
def _swap() -> Any:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def exchanged(typingctx, a, place, expected, new):
        def code(context, builder, signature, args):
            array = context.make_array(signature.args[0])(context, builder, args[0])
            entry = builder.bitcast(builder.gep(array.data, [args[1]]), ir.IntType(64).as_pointer())
            pair = builder.cmpxchg(entry, args[2], args[3], "acq_rel", "acquire")
            return builder.extract_value(pair, 0)

        return types.int64(a, types.int64, types.int64, types.int64), code

    exchange: Any = exchanged

    def chosen(a, place, expected, new):
        return lambda a, place, expected, new: exchange(a, place, expected, new)

    return chosen
