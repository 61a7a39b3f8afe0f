"""Lazy compilation with a disk cache keyed by our own sources.

``@compiled`` marks a loop. Nothing is compiled, and numba is not even imported, until its first call.
Compiled code is kept in ``PERCEPTRONS_CACHE``, or else in the user's cache folder, below a folder named
by a hash of every source that ends up in it: numba itself does not notice an edit in another module. Loops of
other rooms have folders of their own, named by the engine's sources and theirs.
Each signature has files of its own, so that processes that compile side by side cannot mix theirs up.
Without a writable folder everything works, uncached.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import pickle
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import rows, rules

logger = logging.getLogger("perceptrons")

#: Sums may be reordered and contracted, but NaN and infinity stay what they are.
FASTMATH = {"reassoc", "contract"}
OPTIONS: dict[str, Any] = {
    "fastmath": FASTMATH,
    "error_model": "numpy",
    "nogil": True,
    "_nrt": False,
}
_KEEP_STALE_CACHES = 30 * 24 * 3600  # seconds

#: Modules beside this one that hold no compiled code.
_NOT_COMPILED = {
    "blocks.py",
    "device.py",
    "device_kernels.py",
    "device_rules.py",
    "device_writer.py",
    "on_device.py",
}

_lock = threading.Lock()
_records: dict[Callable[..., Any], dict[type, Callable[..., Any]]] = dict(rows.VERBS)
_helpers: list[Callable[..., Any]] = [*rows.SHARED]
_seldom: list[Callable[..., Any]] = []
_lowered: dict[Callable[..., Any], Callable[[], Any]] = {}


def by_record(stub: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: make a function of ``stub``, one per record type of its first argument."""

    def register(*types: type) -> Callable[..., Any]:
        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            for record in types:
                _records.setdefault(stub, {})[record] = function
            return function

        return add

    return register


def dispatch(stub: Callable[..., Any], record: Any) -> Callable[..., Any]:
    """The function of ``stub`` for this record, in plain Python."""
    return _records[stub][type(record)]


def helper(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: a function that compiled code may call; it becomes part of its caller."""
    _helpers.append(function)
    return function


def seldom(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: a helper that is called so seldom that it must not take registers from the loop."""
    _seldom.append(function)
    return function


def lowered(stub: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: a function that imports numba and makes the overload that compiled code calls."""

    def add(make: Callable[[], Any]) -> Callable[[], Any]:
        _lowered[stub] = make
        return make

    return add


def decide(rule, m, q, state):
    """(keep, tau) of a first-order rule."""
    return dispatch(decide, rule)(rule, m, q, state)


def confide(rule, m, v, state):
    """(alpha, beta) of a second-order rule."""
    return dispatch(confide, rule)(rule, m, v, state)


_records[decide] = dict(rules.FIRST_ORDER)
_records[confide] = dict(rules.SECOND_ORDER)
_helpers.extend(rules.HELPERS)


def jit_disabled() -> bool:
    """Whether NUMBA_DISABLE_JIT asks for plain Python."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


_taught: set[Callable[..., Any]] = set()


def _teach_numba() -> None:
    """Register every helper and every stub that is new since the last call with numba."""
    from numba.extending import overload, register_jitable

    options: Any = {"fastmath": FASTMATH, "error_model": "numpy", "forceinline": True}
    for functions, other in (
        (_helpers, {}),
        (_seldom, {"forceinline": False}),
        (rows.AS_WRITTEN, {"fastmath": {"contract"}}),
    ):
        for function in functions:
            if function not in _taught:
                register_jitable(**{**options, **other})(function)
                _taught.add(function)
    for stub, table in _records.items():
        if stub not in _taught:
            overload(stub, jit_options=options, strict=False)(_chooser(table))
            _taught.add(stub)
    for stub, make in _lowered.items():
        if stub not in _taught:
            overload(stub, jit_options=options)(make())
            _taught.add(stub)


def _chooser(table: dict[type, Callable[..., Any]]) -> Callable[..., Any]:
    """For numba: the function for a call whose first argument is a record of ``table``."""

    def choose(record, *rest):
        return table.get(getattr(record, "instance_class", type(None)))

    return choose


class _Compiled:
    """A function that is compiled when it is first called."""

    def __init__(self, function: Callable[..., Any]):
        functools.update_wrapper(self, function)
        self.function = function
        self._target: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> Any:
        return (self._target or self.target())(*args)

    def direct(self, *args: Any) -> Callable[..., Any]:
        """The machine code for arguments of these very types, without numba's look at the types.

        Only for callers that have checked them: other types would be read as if they were these.
        """
        target = self.target()
        if jit_disabled():
            return target
        import numba

        types = tuple(numba.typeof(arg) for arg in args)
        target.compile(types)  # type: ignore[attr-defined]  # numba's dispatcher
        return target.overloads[types].entry_point  # type: ignore[attr-defined]

    def target(self) -> Callable[..., Any]:
        """The compiled function, for all types."""
        with _lock:
            if self._target is None:
                self._target = _plain(self.function) if jit_disabled() else _jit(self.function)
        return self._target


def compiled(function: Callable[..., Any]) -> _Compiled:
    """Decorator: compile on first use, GIL released, cached on disk."""
    return _Compiled(function)


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is, as silent about overflow as machine code; hashes rely on it."""

    @functools.wraps(function)
    def quiet(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*args)

    return quiet


def _jit(function: Callable[..., Any]) -> Callable[..., Any]:
    import numba

    _teach_numba()
    dispatcher = numba.njit(**OPTIONS)(function)
    room = room_of(function)
    if cache_folder(room) is not None:
        try:
            dispatcher._cache = _cache_class(room)(function)
        except Exception:  # numba changed its private parts: slower starts, same results
            logger.warning("The compiled-code cache is off: numba's cache could not be set up.")
    return dispatcher


ENGINE = Path(__file__).resolve().parent


def room_of(function: Callable[..., Any]) -> Path:
    """The folder whose sources a loop is made of, beside the engine's."""
    return Path(function.__code__.co_filename).resolve().parent


#: Settings of numba that change what is compiled: under another value, code kept on disk is not what was
#: asked for. (The CPU and its features are in numba's own key too.)
CODE_SETTINGS = (
    "BOUNDSCHECK",
    "CPU_FEATURES",
    "CPU_NAME",
    "DEBUGINFO_DEFAULT",
    "DEBUG_NRT",
    "ENABLE_AVX",
    "ENABLE_PROFILING",
    "EXTEND_VARIABLE_LIFETIMES",
    "FULL_TRACEBACKS",
    "JIT_COVERAGE",
    "LLVM_REFPRUNE_FLAGS",
    "LLVM_REFPRUNE_PASS",
    "LOOP_VECTORIZE",
    "OPT",
    "SLP_VECTORIZE",
    "USING_SVML",
)


def code_settings() -> str:
    """The values of :data:`CODE_SETTINGS` that the next compilation uses."""
    from numba.core import config

    config.reload_config()  # the compiler does so too: the environment may have changed
    return " ".join(f"{name}={getattr(config, name, None)!r}" for name in CODE_SETTINGS)


def source_key(room: Path = ENGINE) -> str:
    """A hash of every source file whose code is compiled, of the compiler's version and of its settings."""
    return _source_key(room, code_settings())


@functools.cache
def _source_key(room: Path, settings: str) -> str:
    import llvmlite
    import numba

    if room != ENGINE:
        digest = hashlib.sha256(_source_key(ENGINE, settings).encode())
        for path in sorted(room.glob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
        return digest.hexdigest()[:20]
    versions = f"{sys.version} {numba.__version__} {llvmlite.__version__}"
    digest = hashlib.sha256(f"{versions} {settings}".encode())
    shared = [ENGINE.parent / name for name in ("rules.py", "rows.py")]
    for path in sorted([*ENGINE.glob("*.py"), *(p for p in shared if p.exists())]):
        if path.name in _NOT_COMPILED:
            continue
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:20]


@functools.cache
def cache_folder(room: Path = ENGINE) -> Path | None:
    """The folder for compiled code, or None when none is writable."""
    root = os.environ.get("PERCEPTRONS_CACHE")
    if root is None:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        root = os.path.join(base, "perceptrons")
    folder = Path(root) / source_key(room)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        os.utime(folder)
    except OSError as error:
        logger.info("No compiled-code cache: %s is not writable (%s).", folder, error)
        return None
    _drop_stale(folder)
    return folder


def _drop_stale(folder: Path) -> None:
    """Remove the caches of sources that nobody has used for a month."""
    for other in folder.parent.iterdir():
        try:
            if other != folder and time.time() - other.stat().st_mtime > _KEEP_STALE_CACHES:
                shutil.rmtree(other)
        except OSError:
            continue


@functools.cache
def _cache_class(room: Path) -> Any:
    """numba's function cache, with our folder, our stamp and a pair of files per signature."""
    from numba.core import caching

    class Locator(caching._CacheLocator):
        def get_cache_path(self):
            return str(cache_folder(room))

        def get_source_stamp(self):
            return source_key(room)

        def get_disambiguator(self):
            return "0"

        @classmethod
        def from_function(cls, py_func, py_file):
            return cls()

    class CheckedFile(caching.IndexDataCacheFile):
        """Machine code behind its own digest: a flipped bit must not be run."""

        def _save_data(self, name, data):
            code = self._dump(data)
            with self._open_for_write(self._data_path(name)) as f:
                f.write(hashlib.sha256(code).digest() + code)

        def _load_data(self, name):
            content = Path(self._data_path(name)).read_bytes()
            if hashlib.sha256(content[32:]).digest() != content[:32]:
                raise ValueError(f"{name} is damaged.")
            return pickle.loads(content[32:])

    class Impl(caching.CompileResultCacheImpl):
        _locator_classes: Any = (Locator,)

    class SourceKeyedCache(caching.FunctionCache):
        _impl_class = Impl

        def _point_at(self, sig):
            name = hashlib.sha256(str(sig).encode()).hexdigest()[:16]
            self._cache_file = CheckedFile(
                cache_path=self._cache_path,
                filename_base=f"{self._impl.filename_base}-{name}",
                source_stamp=self._impl.locator.get_source_stamp(),
            )

        def _load_overload(self, sig, target_context):
            try:
                self._point_at(sig)
                return super()._load_overload(sig, target_context)
            except Exception as error:  # a damaged file is as good as none
                logger.info("Compiled code is rebuilt: %s", error)
                self._forget()
                return None

        def _forget(self):
            with contextlib.suppress(OSError):
                self._cache_file.flush()

        def _save_overload(self, sig, data):
            try:
                self._point_at(sig)
                super()._save_overload(sig, data)
            except OSError as error:  # full disk, lost permission: go on uncached
                logger.info("Compiled code was not saved: %s", error)

    return SourceKeyedCache
