"""Blocks of code in which no garbage collection begins."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
from collections.abc import Iterator

_lock = threading.RLock()
_blocks = 0  # under way, in all threads
_collects = False  # whether collections were on before the first of them


@contextlib.contextmanager
def no_collections() -> Iterator[None]:
    """No garbage collection begins in this block, in any thread. The last block turns them on again."""
    global _blocks, _collects
    begun = False
    try:
        with _lock:
            if _blocks == 0:
                _collects = gc.isenabled()
            _blocks += 1
            begun = True  # an interruption comes after a call, so not between these two lines
            gc.disable()
        yield
    finally:
        with _lock:
            _blocks -= begun
            if _blocks == 0 and _collects:
                gc.enable()


def _after_fork() -> None:
    """In the child, where the blocks of other threads do not end any more."""
    global _lock, _blocks
    _lock = threading.RLock()
    if _blocks and _collects:
        gc.enable()
    _blocks = 0


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork)
