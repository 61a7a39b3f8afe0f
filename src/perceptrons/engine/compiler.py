"""Lazy compilation.

``@compiled`` marks a loop. Nothing is compiled, and numba is not even imported, until its first call.
Compiled code is kept on disk (:mod:`.cache`).
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import logging
import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from .. import rows, rules
from .._garbage import no_collections
from . import gathers, look_ahead, prefetch
from .cache import numba_cache

if TYPE_CHECKING:
    from .._types import Record

logger = logging.getLogger("perceptrons")

#: Sums may be reordered and contracted, but NaN and infinity stay what they are.
FASTMATH = {"reassoc", "contract"}
#: No wrapper for C: nothing calls a loop or a helper by its address, and a helper becomes part of its wrapper
#: too, which would then be optimised as a second copy.
OPTIONS: dict[str, Any] = {
    "fastmath": FASTMATH,
    "error_model": "numpy",
    "nogil": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,
}

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")

#: Held while numba is loaded and our functions are registered with it, and while a loop's dispatcher is made.
_lock = threading.RLock()
_records: dict[Callable[..., Any], dict[type, Any]] = dict(rows.VERBS)
_helpers: list[Callable[..., Any]] = [*rows.SHARED, *look_ahead.SHARED]
_seldom: list[Callable[..., Any]] = []
_lowered: dict[Callable[..., Any], Callable[[], Any]] = {
    look_ahead.request: prefetch.overload_of_request,
    look_ahead.request_early: prefetch.overload_of_early_request,
    look_ahead.ahead: prefetch.overload_of_ahead,
    look_ahead.waiting: prefetch.overload_of_waiting,
    look_ahead.most_lines: prefetch.overload_of_most_lines,
    look_ahead.fewer: prefetch.overload_of_fewer,
    look_ahead.apart: prefetch.overload_of_apart,
    look_ahead.asks_for_weights: prefetch.overload_of_asks_for_weights,
    look_ahead.forgets_requests: prefetch.overload_of_forgets_requests,
    look_ahead.foresees: prefetch.overload_of_foresees,
    rows.gather_dot: gathers.overload_of_sum(rows.gather_dot),
    rows.paired_dot: gathers.overload_of_pairs(),
    rows.sum_of_squares: gathers.overload_of_squares(rows.sum_of_squares),
}
_strict: list[Callable[..., Any]] = []
_as_written: list[Callable[..., Any]] = [*rows.AS_WRITTEN]


def by_record(stub: Callable[..., Any]) -> Callable[..., Callable[[F], F]]:
    """Decorator: a function of ``stub`` for some record types of its first argument."""

    def register(*types: type) -> Callable[[F], F]:
        def add(function: F) -> F:
            for record in types:
                _records.setdefault(stub, {})[record] = function
            return function

        return add

    return register


def dispatch(stub: F, record: object) -> F:
    """The function of ``stub`` for this record, in plain Python."""
    functions: dict[type, F] = _records[stub]
    return functions[type(record)]


def helper(function: F) -> F:
    """Decorator: a function that compiled code may call; it becomes part of its caller."""
    _helpers.append(function)
    return function


def seldom(function: F) -> F:
    """Decorator: a helper that is called so seldom that it must not take registers from the loop."""
    _seldom.append(function)
    return function


def lowered(stub: Callable[..., Any]) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Decorator: a function that imports numba and makes the overload that compiled code calls."""

    def add(make: Callable[[], Any]) -> Callable[[], Any]:
        _lowered[stub] = make
        return make

    return add


def strict(function: F) -> F:
    """Decorator: a helper whose operations are made as written, each rounded once: for error-free sums."""
    _strict.append(function)
    return function


def as_written(function: F) -> F:
    """Decorator: a helper whose operations are made in the order written; a product and its sum are fused."""
    _as_written.append(function)
    return function


def decide(rule: Record, m: float, q: float, state: rules.State) -> tuple[float, float]:
    """(keep, tau) of a first-order rule."""
    return dispatch(decide, rule)(rule, m, q, state)


def confide(rule: Record, m: float, v: float, state: rules.State) -> tuple[float, float]:
    """(alpha, beta) of a second-order rule."""
    return dispatch(confide, rule)(rule, m, v, state)


_records[decide] = dict(rules.FIRST_ORDER)
_records[confide] = dict(rules.SECOND_ORDER)
_helpers.extend(rules.HELPERS)
_strict.extend(rules.STRICT_HELPERS)  # as the second-order rules themselves: the same numbers in every loop


def jit_disabled() -> bool:
    """Whether NUMBA_DISABLE_JIT is set: plain Python."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def load_numba() -> Any:
    """numba, imported under our lock: the process must not fork during the import."""
    with _lock:
        import numba
    return numba


_registered: set[Callable[..., Any]] = set()


def _register_with_numba() -> None:
    """Register every helper and every stub that is new since the last call with numba."""
    from numba.extending import overload, register_jitable

    options: Any = {
        "fastmath": FASTMATH,
        "error_model": "numpy",
        "forceinline": True,
        "no_cfunc_wrapper": True,
    }
    for functions, other in (
        (_helpers, {}),
        (_seldom, {"forceinline": False}),
        (_strict, {"fastmath": False}),
        (_as_written, {"fastmath": {"contract"}}),
    ):
        for function in functions:
            if function not in _registered and function not in _lowered:
                register_jitable(**{**options, **other})(function)
                _registered.add(function)
    for stub, table in _records.items():
        if stub not in _registered:
            chosen: Any = {**options, "fastmath": False} if stub is confide else options
            overload(stub, jit_options=chosen, strict=False)(_chooser(table))
            _registered.add(stub)
    for stub, make in _lowered.items():
        if stub not in _registered:
            given: Any = {**options, "fastmath": {"contract"}} if stub in _as_written else options
            overload(stub, jit_options=given, strict=False)(make())
            _registered.add(stub)


def _chooser(table: dict[type, Any]) -> Callable[..., Any]:
    """For numba: the function for a call whose first argument is a record of ``table``."""

    def choose(record: Any, *rest: Any) -> Any:
        return table.get(getattr(record, "instance_class", type(None)))

    return choose


class _Compiled(Generic[R]):
    """A function that is compiled when it is first called."""

    def __init__(self, function: Callable[..., R], fastmath: set[str] | bool = FASTMATH):
        functools.update_wrapper(self, function)
        self.function = function
        self.fastmath = fastmath
        self._target: Callable[..., R] | None = None
        self._direct: dict[Any, Callable[..., R]] = {}

    def __call__(self, *args: Any) -> R:
        try:
            if self._target is None:
                self._prepare(args)
            return (self._target or self.target())(*args)
        except Exception as error:
            if not type(error).__module__.startswith("numba"):
                raise
            raise self._refusal(args) from None

    def _prepare(self, args: tuple[Any, ...]) -> None:
        """Compile for the first arguments, or load what is stored; the first time numba itself is loaded.

        That makes hundreds of thousands of objects, which stay: looking for garbage among them again and
        again took a quarter of the time.
        """
        with no_collections():
            target = self.target()
            if hasattr(target, "compile"):
                from numba import typeof

                target.compile(tuple(typeof(arg) for arg in args))
            if _loaded_for_good:
                gc.freeze()  # or the next collection searches all of them

    def direct(self, *args: Any) -> Callable[..., R]:
        """The machine code for arguments of exactly these types, without numba's test of the types.

        Only for callers that have checked them: other types would be read as if they were these.
        """
        target = self.target()
        if jit_disabled():
            return target
        kinds = _kind(args)
        if kinds not in self._direct:
            import numba

            types = tuple(numba.typeof(arg) for arg in args)
            try:
                target.compile(types)  # type: ignore[attr-defined]  # numba's dispatcher
            except numba.core.errors.NumbaError:
                raise self._refusal(args) from None
            self._direct[kinds] = target.overloads[types].entry_point  # type: ignore[attr-defined]
        return self._direct[kinds]

    def _refusal(self, args: tuple[Any, ...]) -> TypeError:
        """One line instead of numba's many."""
        found = ", ".join(_spelled(arg) for arg in args)
        name = f"{self.function.__module__}.{getattr(self.function, '__name__', '')}"
        return TypeError(
            f"The compiled loop {name} does not take what it was given: {found}. "
            "The model's arrays were replaced, or damaged: fit it anew, or load it again."
        )

    def target(self) -> Callable[..., R]:
        """The compiled function, for all types."""
        with _lock:
            if self._target is None:
                self._target = _plain(self.function) if jit_disabled() else _jit(self.function, self.fastmath)
        return self._target


def _spelled(x: object) -> str:
    """An argument in a few words."""
    if isinstance(x, np.ndarray):
        return f"{'' if x.flags.writeable else 'read-only '}{x.dtype}{list(x.shape)}"
    return type(x).__name__


def _kind(x: object) -> Any:
    """A key that determines numba's type of an argument; cheaper to find than that type."""
    if isinstance(x, np.ndarray):
        return x.dtype, x.ndim, x.flags.c_contiguous, x.flags.writeable
    return (type(x), *map(_kind, x)) if isinstance(x, tuple) else type(x)


def compiled(function: Callable[..., R]) -> _Compiled[R]:
    """Decorator: compile on first use, GIL released, cached on disk."""
    return _Compiled(function)


def compiled_strictly(function: Callable[..., R]) -> _Compiled[R]:
    """Decorator: like :func:`compiled`, but no sum is reordered and no product fused with one."""
    return _Compiled(function, fastmath=False)


def _plain(function: Callable[..., R]) -> Callable[..., R]:
    """The function as it is, without warnings of overflow, like machine code; hashes rely on it."""

    @functools.wraps(function)
    def quiet(*args: Any) -> R:
        with np.errstate(over="ignore"):
            return function(*args)

    return quiet


_BLAS = "scipy.linalg.cython_blas"
_looks_for_blas = True


def skip_blas() -> None:
    """Keep numba from looking for a BLAS: for a process that compiles loops of this package only.

    numba looks once, when its compiler is set up, and imports ``scipy.linalg`` for it, which takes as long as
    a third of numba itself. It could not compile products of matrices afterwards; no loop here has one.
    """
    global _looks_for_blas
    _looks_for_blas = False


_loaded_for_good = False


def load_for_good() -> None:
    """Never search for garbage what there is when a loop was loaded: for a process that runs one command."""
    global _loaded_for_good
    _loaded_for_good = True


def _set_up_numba() -> None:
    if _looks_for_blas or _BLAS in sys.modules:
        return
    sys.modules[_BLAS] = None  # type: ignore[assignment]  # an import of it fails
    try:
        importlib.import_module("numba.np.arraymath")  # where numba looks
    finally:
        del sys.modules[_BLAS]


def _jit(function: Callable[..., R], fastmath: set[str] | bool = FASTMATH) -> Callable[..., R]:
    _set_up_numba()
    import numba

    _register_with_numba()
    dispatcher: Any = numba.njit(**{**OPTIONS, "fastmath": fastmath})(function)
    try:
        kept = numba_cache(function)
    except Exception:  # numba's private names have changed: slower starts, same results
        logger.warning("The compiled-code cache is off: numba's cache could not be set up.")
        kept = None
    if kept is not None:
        dispatcher._cache = kept
    made: Callable[..., R] = dispatcher
    return made


# ---------------------------------------------------------------------------------------------------- forks

_held_for_fork = contextlib.ExitStack()


def _before_fork() -> None:
    """Wait until no thread compiles, and keep it so: a lock held by another thread stays locked in the child.

    The locks are taken from the outermost to the innermost, as the compiler takes them. Those of numba and
    LLVM exist only once numba is loaded.
    """
    global _held_for_fork
    held = contextlib.ExitStack()
    held.enter_context(_lock)  # from here on no other thread is in this function
    _held_for_fork = held
    numba = sys.modules.get("numba.core.compiler_lock")
    llvm = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
    for lock in (getattr(numba, "global_compiler_lock", None), getattr(llvm, "_lock", None)):
        if lock is not None:
            held.enter_context(lock)


def _after_fork() -> None:
    """In the parent and in the child: let compilation go on."""
    _held_for_fork.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
