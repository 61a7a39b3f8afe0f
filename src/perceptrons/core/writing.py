"""One writer per model: which calls may change it, which wait, and the state after an interruption or a fork.

A model is changed by one call at a time (``fit``, ``partial_fit``, ``learn_one``); a second one is refused.
:func:`held_still` is for calls that read all of a model, such as ``save``: it waits for the end of the call
that changes the model, or of its epoch, and calls that would change the model wait for it.

A call that uses a model is identified by its stack frame. An interruption (Ctrl-C, a signal handler that
raises) may arrive between any two instructions, also before ``__exit__`` runs. A frame that is on no stack
any more belongs to a call that has ended. ``with lock`` is not interrupted between taking the lock and
entering the block: the lock is written in C, and CPython does not check for signals there.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from .._garbage import no_collections
from ..engine.loops import linear

if TYPE_CHECKING:
    from .classifier import Classifier
    from .curves import Calibrated
    from .learner import Learner

_FIRST_WAIT, _LONGEST_WAIT = 1e-5, 1e-2  # seconds
_LOOKS = 100  # how often the stack of a running thread is read


class FastPath(Protocol):
    """Compiled calls for single rows, with the buffer that shows whether one of them runs."""

    @property
    def row_buffer(self) -> np.ndarray: ...


class Use:
    """A call that uses a model."""

    __slots__ = ("bottom", "frame", "ident", "resting")

    def __init__(self, frame: FrameType):
        self.ident = threading.get_ident()
        self.frame = frame
        self.bottom = _bottom(frame)  #: of the thread's stack
        self.resting = False  #: user code runs within the call, and the model is in a complete state

    def mine(self) -> bool:
        return self.ident == threading.get_ident()

    def goes_on(self) -> bool:
        """Whether the call is still on the stack of its thread.

        The thread may run while its stack is read, and a paused generator has no reference to its caller. So
        the call has ended only if the frame was not found on the way to the bottom of the stack.
        """
        for _ in range(_LOOKS):
            frame = last = _current_frames().get(self.ident)
            while frame is not None and frame is not self.frame:
                last, frame = frame, frame.f_back
            if frame is not None or last is None or last is self.bottom:
                return frame is not None
            time.sleep(_FIRST_WAIT)
        return False  # the thread has ended, and another one has its number


def _current_frames() -> dict[int, FrameType]:
    """``sys._current_frames()`` without a garbage collection in it.

    Up to CPython 3.11.8 a collection that begins within that call can wait for a lock that the call holds,
    or for another thread that waits for it: the process would hang (python/cpython issue 106883).
    """
    with no_collections():
        return sys._current_frames()


def _bottom(frame: FrameType) -> FrameType:
    while frame.f_back is not None:
        frame = frame.f_back
    return frame


class Access:
    """The calls that use a model. It belongs to the process: it is not stored or copied with the model."""

    __slots__ = ("__weakref__", "curves", "lock", "n_single", "readers", "row_buffer", "torn", "writer")

    def __init__(self) -> None:
        self.lock = threading.Lock()  #: held for a few instructions only
        self.writer: Use | None = None
        self.readers: list[Use] = []  #: calls that hold the model still, or wait to
        self.row_buffer: np.ndarray | None = None  #: of the last fast path
        self.n_single = 0  #: single rows that were learned on the general path
        #: (sample of scores, method, curves that were fitted to it), to fit them once
        self.curves: tuple[object, str, Calibrated] | None = None
        self.torn = False  #: the process was forked while another thread trained the model

    def written_by(self) -> Use | None:
        """The call that changes the model."""
        return self.writer if self.writer is not None and self.writer.goes_on() else None

    def read_by(self) -> list[Use]:
        """The calls that hold the model still, or wait to."""
        if self.readers:
            self.readers = [reader for reader in self.readers if reader.goes_on()]
        return self.readers

    def close_buffer(self, model: Classifier) -> int:
        """End the fast path for single rows; returns its use, where another thread is using it."""
        fast = vars(model).get("_fast_path")
        if fast is None:
            return linear.FREE
        used = int(linear.close_buffer(fast.row_buffer))
        if used in (linear.FREE, linear.CLOSED):
            vars(model).pop("_fast_path", None)
            _take_longest(cast("Learner", model))
            return linear.FREE
        return used

    def after_fork(self) -> None:
        """Called in the child, where only the thread that forked exists."""
        self.lock = threading.Lock()
        self.readers = [reader for reader in self.readers if reader.mine()]
        if self.writer is not None and not self.writer.mine():
            self.writer, self.torn = None, True
        if self.row_buffer is not None:
            use = self.row_buffer.view(np.int64)[linear.BUFFER_USE :]
            self.torn = self.torn or use[0] not in (linear.FREE, linear.SCORING, linear.CLOSED)
            use[0] = linear.CLOSED


class _Known:
    """All instances of :class:`Access`. Weak references without callbacks, which could be interrupted."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
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


def access_to(model: Classifier) -> Access:
    """The calls that use this model."""
    found: Access | None = vars(model).get("_writer")
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
    """Context: refuse a second call that changes the model, and wait for calls that hold it still.

    The fast path for single rows is disabled meanwhile. They take the general path, and enter this context.
    ``anew``: the call starts the model from the beginning.
    """

    __slots__ = ("access", "anew", "model", "use")

    def __init__(self, model: Classifier, anew: bool = False):
        self.model = model
        self.anew = anew

    def __enter__(self) -> None:
        self.use = Use(sys._getframe(1))
        self.access = access_to(self.model)
        _wait_until(self._begins)

    def _begins(self) -> bool:
        """Become the writer; returns False where the call has to wait."""
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

    def __exit__(self, error: type[BaseException] | None, *rest: object) -> None:
        access = self.access
        with access.lock:
            if access.writer is self.use:
                access.writer = None
                if self.anew and error is None:
                    access.torn = False


class at_rest:
    """Context within :class:`one_writer`: the model is in a complete state, so others may hold it still."""

    __slots__ = ("access",)

    def __init__(self, model: Classifier):
        self.access = access_to(model)

    def __enter__(self) -> None:
        if self.access.writer is not None:
            self.access.writer.resting = True

    def __exit__(self, *error: object) -> None:
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
    """Context: the model does not change, so all attributes that are read belong to one state.

    It waits for the end of the call that changes the model, or of an epoch of ``fit``. Calls that begin later
    wait. Within a callback of ``fit`` the model is in a complete state, and there is no waiting.
    """

    __slots__ = ("access", "model", "use")

    def __init__(self, model: Classifier):
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

    def __exit__(self, *error: object) -> None:
        with self.access.lock:
            if self.use in self.access.readers:
                self.access.readers.remove(self.use)


def _torn(model: Classifier) -> RuntimeError:
    return RuntimeError(
        f"This {type(model).__name__} was being trained by another thread when this process was forked: it "
        "may hold half an update. Fit it anew, or load a stored model."
    )


def enable_fast_path(model: Classifier, fast: FastPath) -> None:
    """Learn single rows on the fast path from now on; ``fast.row_buffer`` shows whether a call runs."""
    access_to(model).row_buffer = fast.row_buffer
    cast("Learner", model)._fast_path = fast


def _take_longest(model: Learner) -> None:
    """Store the length of the longest single row of the fast path, which has ended."""
    model._longest = max(model._longest, model._space.longest())
    model._space.forget_longest()


def disable_fast_path(model: Classifier) -> None:
    """Learn single rows on the general path, which reads the parameters; wait for a call that runs."""
    access = access_to(model)

    def closed() -> bool:
        with access.lock:
            return access.close_buffer(model) == linear.FREE

    _wait_until(closed)


class unchanged_on_error:
    """Context: restore the attributes of the model if the block raises."""

    __slots__ = ("before", "model")

    def __init__(self, model: Classifier):
        self.model = model
        self.before = dict(vars(model))

    def __enter__(self) -> None:
        pass

    def __exit__(self, error: type[BaseException] | None, *rest: object) -> None:
        if error is not None:
            attributes = vars(self.model)
            attributes.update(self.before)
            for name in attributes.keys() - self.before.keys():
                del attributes[name]
