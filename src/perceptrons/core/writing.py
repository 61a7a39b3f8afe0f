"""One writer per model: who may change it, who waits, and what an interruption or a fork leaves behind.

A model is changed by one call at a time (``fit``, ``partial_fit``, ``learn_one``); a second one is refused.
:func:`held_still` is for those who read all of a model, as ``save`` does: it waits for the call that changes
the model, or for the end of its epoch, and calls that would change it wait in turn.

Whoever uses a model is known by the frame of the call. An interruption (Ctrl-C, a signal handler that
raises) may arrive between any two instructions, before ``__exit__`` is sure to run; but a frame that is on
no stack any more uses nothing. Only ``with lock`` must not be cut in two, and it is not: between taking a
lock that is written in C and the block, CPython does not look for signals.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.loops import linear

_FIRST_WAIT, _LONGEST_WAIT = 1e-5, 1e-2  # seconds
_LOOKS = 100  # at the stack of a thread that goes on


class Use:
    """A call that uses a model."""

    __slots__ = ("bottom", "frame", "ident", "resting")

    def __init__(self, frame: Any):
        self.ident = threading.get_ident()
        self.frame = frame
        self.bottom = _bottom(frame)  #: of the thread's stack
        self.resting = False  #: the model is whole, though the call goes on: user code runs

    def mine(self) -> bool:
        return self.ident == threading.get_ident()

    def goes_on(self) -> bool:
        """Whether the call is on the stack of its thread still.

        The thread may go on while its stack is looked at, and a generator that has paused knows its caller no
        more: only a look that has come to the bottom of the stack tells that the call is over.
        """
        for _ in range(_LOOKS):
            frame = last = sys._current_frames().get(self.ident)
            while frame is not None and frame is not self.frame:
                last, frame = frame, frame.f_back
            if frame is not None or last is None or last is self.bottom:
                return frame is not None
            time.sleep(_FIRST_WAIT)
        return False  # another thread has got the number of one that ended


def _bottom(frame: Any) -> Any:
    while frame.f_back is not None:
        frame = frame.f_back
    return frame


class Access:
    """Who uses a model. It belongs to the process: it is neither stored nor copied with the model."""

    __slots__ = ("__weakref__", "lock", "n_single", "readers", "row_buffer", "torn", "writer")

    def __init__(self) -> None:
        self.lock: Any = threading.Lock()  #: held for a few instructions only
        self.writer: Use | None = None
        self.readers: list[Use] = []  #: calls that hold the model still, or wait to
        self.row_buffer: Any = None  #: of the last fast way of learning single rows
        self.n_single = 0  #: rows that were learned one at a time, the general path
        self.torn = False  #: a fork cut off the thread that trained the model

    def written_by(self) -> Use | None:
        """The call that changes the model."""
        return self.writer if self.writer is not None and self.writer.goes_on() else None

    def read_by(self) -> list[Use]:
        """The calls that hold the model still, or wait to."""
        if self.readers:
            self.readers = [reader for reader in self.readers if reader.goes_on()]
        return self.readers

    def close_buffer(self, model: Any) -> int:
        """End the fast path for single rows; answers how it was used, if another thread uses it."""
        fast = vars(model).get("_fast_path")
        if fast is None:
            return linear.FREE
        used = int(linear.close_buffer(fast.row_buffer))
        if used in (linear.FREE, linear.CLOSED):
            vars(model).pop("_fast_path", None)
            model._take_longest()
            return linear.FREE
        return used

    def after_fork(self) -> None:
        """In the child, where no thread lives but the one that forked."""
        self.lock = threading.Lock()
        self.readers = [reader for reader in self.readers if reader.mine()]
        if self.writer is not None and not self.writer.mine():
            self.writer, self.torn = None, True
        if self.row_buffer is not None:
            use = self.row_buffer.view(np.int64)[linear.BUFFER_USE :]
            self.torn = self.torn or use[0] not in (linear.FREE, linear.SCORING, linear.CLOSED)
            use[0] = linear.CLOSED


class _Known:
    """Every :class:`Access` there is; without functions that are called, and interrupted, when one goes."""

    def __init__(self) -> None:
        self.lock: Any = threading.Lock()
        self.all: list[weakref.ref[Access]] = []
        self.limit = 64

    def add(self, access: Access) -> None:
        with self.lock:
            self.all.append(weakref.ref(access))
            if len(self.all) > self.limit:
                self.all = [one for one in self.all if one() is not None]
                self.limit = 64 + 2 * len(self.all)

    def after_fork(self) -> None:
        self.lock = threading.Lock()
        for one in self.all:
            access = one()
            if access is not None:
                access.after_fork()


_known = _Known()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_known.after_fork)


def access_to(model: Any) -> Access:
    """Who uses this model."""
    found = vars(model).get("_writer")
    if found is None:
        made = Access()
        found = vars(model).setdefault("_writer", made)
        if found is made:
            _known.add(made)
    return found


def _wait_until(ready: Callable[[], bool]) -> None:
    pause = _FIRST_WAIT
    while not ready():
        time.sleep(pause)
        pause = min(2.0 * pause, _LONGEST_WAIT)


class one_writer:
    """Context: refuse a second call that changes the model, and wait for those that hold it still.

    The fast path for single rows is closed meanwhile: rows then come by the general one, and here.
    ``anew``: the call forgets what the model has learned.
    """

    __slots__ = ("access", "anew", "model", "use")

    def __init__(self, model: Any, anew: bool = False):
        self.model = model
        self.anew = anew

    def __enter__(self) -> None:
        self.use = Use(sys._getframe(1))
        self.access = access_to(self.model)
        _wait_until(self._begins)

    def _begins(self) -> bool:
        """Take the model, or answer False where to wait."""
        access = self.access
        with access.lock:
            writer = access.written_by()
            if writer is not None:
                raise self._refusal(writer.mine())
            readers = access.read_by()
            if readers:
                if any(reader.mine() for reader in readers):
                    raise RuntimeError(f"This {type(self.model).__name__} is being saved: it cannot learn.")
                return False
            if access.torn and not self.anew:
                raise _torn(self.model)
            used = access.close_buffer(self.model)
            if used == linear.SCORING:
                return False
            if used != linear.FREE:
                raise self._refusal(False)
            access.writer = self.use
        return True

    def _refusal(self, mine: bool) -> RuntimeError:
        name = type(self.model).__name__
        if mine:
            return RuntimeError(
                f"This {name} is being trained by the call that called this one. Train it after that call."
            )
        return RuntimeError(f"This {name} is being trained by another thread. Train one model per thread.")

    def __exit__(self, error: Any, *rest: Any) -> None:
        access = self.access
        with access.lock:
            if access.writer is self.use:
                access.writer = None
                if self.anew and error is None:
                    access.torn = False


class at_rest:
    """Context within :class:`one_writer`: the model is whole, so others may hold it still."""

    __slots__ = ("access",)

    def __init__(self, model: Any):
        self.access = access_to(model)

    def __enter__(self) -> None:
        if self.access.writer is not None:
            self.access.writer.resting = True

    def __exit__(self, *error: Any) -> None:
        _wait_until(self._goes_on)

    def _goes_on(self) -> bool:
        access = self.access
        with access.lock:
            if any(not reader.mine() for reader in access.read_by()):
                return False
            if access.writer is not None:
                access.writer.resting = False
        return True


class held_still:
    """Context: nobody changes the model; what is read of it belongs together.

    It waits for the call that changes the model: to its end, or to the end of an epoch of ``fit``. Calls
    that begin later wait. Within a callback of ``fit`` the model is whole, and there is no waiting.
    """

    __slots__ = ("access", "model", "use")

    def __init__(self, model: Any):
        self.model = model

    def __enter__(self) -> None:
        self.use = Use(sys._getframe(1))
        self.access = access_to(self.model)
        with self.access.lock:
            self.access.read_by().append(self.use)
        try:
            _wait_until(self._begins)
        except BaseException:
            self.__exit__()
            raise

    def _begins(self) -> bool:
        access = self.access
        with access.lock:
            writer = access.written_by()
            if writer is not None and not writer.resting:
                if writer.mine():
                    raise RuntimeError(
                        f"This {type(self.model).__name__} is in the middle of a step. Save it from a "
                        "callback, or after the call that trains it."
                    )
                return False
            if access.torn:
                raise _torn(self.model)
            return access.close_buffer(self.model) == linear.FREE

    def __exit__(self, *error: Any) -> None:
        with self.access.lock:
            if self.use in self.access.readers:
                self.access.readers.remove(self.use)


def _torn(model: Any) -> RuntimeError:
    return RuntimeError(
        f"This {type(model).__name__} was being trained by another thread when this process was forked: it "
        "may hold half an update. Fit it anew, or load a stored model."
    )


def enable_fast_path(model: Any, fast: Any) -> None:
    """Let single rows be learned the fast path from now on; ``fast.row_buffer`` says who does."""
    access_to(model).row_buffer = fast.row_buffer
    model._fast_path = fast


def disable_fast_path(model: Any) -> None:
    """Let single rows be learned the general path, which reads the parameters; wait for a row under way."""
    access = access_to(model)

    def closed() -> bool:
        with access.lock:
            return access.close_buffer(model) == linear.FREE

    _wait_until(closed)


class unchanged_on_error:
    """Context: put the model's attributes back if the block raises."""

    __slots__ = ("before", "model")

    def __init__(self, model: Any):
        self.model = model
        self.before = dict(vars(model))

    def __enter__(self) -> None:
        pass

    def __exit__(self, error: Any, *rest: Any) -> None:
        if error is not None:
            attributes = vars(self.model)
            attributes.update(self.before)
            for name in attributes.keys() - self.before.keys():
                del attributes[name]
