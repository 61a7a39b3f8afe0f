"""Where compiled code is kept on disk, who may have put it there, and when it is removed.

The root is the folder ``PERCEPTRONS_CACHE`` names, or else ``perceptrons`` in the user's cache folder.
Compiled code lies in folders below it that are named by :func:`source_key`. What is read from there is run,
so nothing is read that another user could have written:

* Every folder from / to the file, links followed one by one, must belong to the effective user or to root,
  and must not be writable by group or others; a sticky folder such as /tmp may be.
* Files are opened without following a link. The open file must be regular, of the same owners, and not
  writable by group or others. It is read through that descriptor.
* Folders that are made here have mode 0700 whatever the umask, and an older folder of ours is set to 0700.
  If others could write to it, the files in it are deleted.
* A cache that is read-only for its owner (``chmod -R a=rX``) is read and left as it is, so that root can
  make one for all users of an image.

Where this does not hold, everything works without a cache, and one warning says what to do. Windows has
neither these owners nor these modes: no check is made there.

Old folders are removed after a month without use, see :func:`drop_stale`.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import logging
import os
import pickle
import re
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from .temporary import TemporaryFolder

logger = logging.getLogger("perceptrons")

#: Whether owners and modes can be checked.
POSIX = hasattr(os, "geteuid")
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OPEN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_MAX_LINKS = 40

ENGINE = Path(__file__).resolve().parent
#: What the compiled code of every package may call; packages that have more of their own add theirs.
SHARED = (ENGINE, ENGINE / "loops")


# -------------------------------------------------------------------------------------------------- the key

#: Settings of numba that change what is compiled: code kept on disk does not hold for other values. (The CPU
#: and its features are in numba's own key too.)
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


def package_of(function: Callable[..., Any]) -> Path:
    """The folder whose sources a loop is made of, beside those that all share; the engine's for these."""
    package = Path(function.__code__.co_filename).resolve().parent
    return ENGINE if package in SHARED else package


def code_settings() -> str:
    """The values of :data:`CODE_SETTINGS` that the next compilation uses."""
    from numba.core import config

    config.reload_config()  # the compiler does so too: the environment may have changed
    return " ".join(f"{name}={getattr(config, name, None)!r}" for name in CODE_SETTINGS)


def source_key(package: Path = ENGINE) -> str:
    """A hash of every source file whose code is compiled, of the compiler's version and of its settings."""
    return _source_key(package, code_settings())


@functools.cache
def _source_key(package: Path, settings: str) -> str:
    import llvmlite
    import numba

    if package != ENGINE:
        digest = hashlib.sha256(_source_key(ENGINE, settings).encode())
        for path in sorted(package.glob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
        return digest.hexdigest()[:20]
    versions = f"{sys.version} {numba.__version__} {llvmlite.__version__}"
    digest = hashlib.sha256(f"{versions} {settings}".encode())
    shared = [ENGINE.parent / name for name in ("rules.py", "rows.py")]
    for folder in SHARED:
        shared += folder.glob("*.py")
    for path in sorted(p for p in shared if p.exists()):
        digest.update(str(path.relative_to(ENGINE.parent)).encode() + path.read_bytes())
    return digest.hexdigest()[:20]


# --------------------------------------------------------------------------------------------------- trust


class Untrusted(PermissionError):
    """A folder or file that another user could have written; the text says which, why, and what to do."""


_warned = False


def _warn(text: str) -> None:
    """Log one warning per process, however many folders and files are refused."""
    global _warned
    if not _warned:
        _warned = True
        logger.warning(text)


def _check_owner(path: str, status: os.stat_result) -> None:
    if POSIX and status.st_uid not in (0, os.geteuid()):
        raise Untrusted(
            f"{path} belongs to user {status.st_uid}, who is neither root nor the user of this process "
            f"({os.geteuid()}). Set PERCEPTRONS_CACHE to a folder of your own"
        )


def _check_mode(path: str, status: os.stat_result) -> None:
    if POSIX and status.st_mode & _OTHERS_MAY_WRITE:
        raise Untrusted(
            f"{path} is writable by group or others. Run chmod go-w {path}, or set PERCEPTRONS_CACHE to a "
            "folder of your own"
        )


def _check_folder(path: str, status: os.stat_result) -> None:
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "Not a directory", path)
    _check_owner(path, status)
    if not status.st_mode & stat.S_ISVTX:  # sticky: others cannot replace what is ours
        _check_mode(path, status)


def _is_own(status: os.stat_result) -> bool:
    return not POSIX or status.st_uid == os.geteuid()


def _make_folder(path: str) -> None:
    with contextlib.suppress(FileExistsError):  # by another process: the caller checks whose it is
        os.mkdir(path, 0o700)
        os.chmod(path, 0o700)  # the umask may have taken more away


def trusted_folder(path: str, private: Callable[[str], bool] = lambda path: False) -> tuple[str, bool]:
    """The real path of a folder that no other user can write, made if it is missing.

    Raises :class:`Untrusted` if it, or a folder or link on the way, could have been put there by another
    user. If the folder belongs to the user and ``private`` says that nothing but our cache is in it, it is
    set to mode 0700 instead. The second value returned is whether others could write to it before.
    """
    path = os.path.abspath(path)
    if not POSIX:
        os.makedirs(path, exist_ok=True)
        return path, False
    current, names, links = os.sep, path.split(os.sep)[::-1], 0
    status = os.stat(current)
    _check_folder(current, status)
    was_open = False
    while names:
        name = names.pop()
        if name == os.pardir:
            current = os.path.dirname(current)
        if name in ("", os.curdir, os.pardir):
            continue
        inner = os.path.join(current, name)
        try:
            status = os.lstat(inner)
        except FileNotFoundError:
            _make_folder(inner)
            status = os.lstat(inner)
        if stat.S_ISLNK(status.st_mode):
            _check_owner(inner, status)
            links += 1
            if links > _MAX_LINKS:
                raise OSError(errno.ELOOP, "Too many levels of symbolic links", path)
            target = os.readlink(inner)
            current = os.sep if os.path.isabs(target) else current
            names += target.split(os.sep)[::-1]
            continue
        if not any(names) and stat.S_ISDIR(status.st_mode) and _to_be_closed(status) and private(inner):
            was_open = bool(status.st_mode & _OTHERS_MAY_WRITE)
            os.chmod(inner, 0o700)
            status = os.lstat(inner)
        _check_folder(inner, status)
        current = inner
    return current, was_open


def _to_be_closed(status: os.stat_result) -> bool:
    """A folder of the user's with a mode other than 0700; a read-only one is meant to be shared."""
    mode = stat.S_IMODE(status.st_mode)
    return _is_own(status) and mode != 0o700 and bool(mode & (stat.S_IWUSR | _OTHERS_MAY_WRITE))


def read_file(path: str) -> bytes:
    """The content of a regular file of the user's or of root's that no other user can write."""
    # O_NONBLOCK: opening a FIFO would wait for its writer
    descriptor = os.open(path, os.O_RDONLY | _OPEN | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Untrusted(f"{path} is not a regular file. Delete it")
        _check_owner(path, status)
        _check_mode(path, status)
        return file.read()


def write_file(path: str, content: bytes) -> None:
    """Put a file there, whole or not at all, readable by the user alone; a link in its place is replaced."""
    temporary = f"{path}.tmp.{os.urandom(8).hex()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN, 0o600)
    try:
        with open(descriptor, "wb") as file:
            if POSIX:
                os.fchmod(descriptor, 0o600)  # the umask may have taken more away
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


# -------------------------------------------------------------------------------------------------- folders

#: The file that marks a folder as ours.
MARKER = ".perceptrons-cache"
#: The folder beside the caches that Triton uses if its own is refused.
TRITON = "triton"
_KEY = re.compile("[0-9a-f]{20}")
_FILE = re.compile(r".+-0\.py\d+[a-z]*-[0-9a-f]{16}\.(nbi|\d+\.nbc)(\.tmp\.[0-9a-f]{16})?")
_MARK = b"Compiled code of the Python library perceptrons. This folder may be deleted.\n"
_KEEP_STALE_CACHES = 30 * 24 * 3600  # seconds


class Folder(NamedTuple):
    path: Path
    writable: bool


class Root(NamedTuple):
    """The folder that holds all caches, not yet checked."""

    path: str
    is_ours: bool  #: nothing but caches of ours belongs in it
    user: int  #: for whom it is checked


def root_folder() -> Root:
    """The folder that the environment names, or else the default."""
    user = os.geteuid() if POSIX else 0
    named = os.environ.get("PERCEPTRONS_CACHE")
    if named:
        return Root(named, False, user)
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return Root(os.path.join(base, "perceptrons"), True, user)


def cache_folder(package: Path = ENGINE) -> Path | None:
    """The folder for compiled code, or None when there is none to be used."""
    folder = open_folder(package)
    return None if folder is None else folder.path


def open_folder(package: Path = ENGINE) -> Folder | None:
    """The folder for compiled code: checked, made if need be, and old ones beside it removed."""
    return _open_folder(root_folder(), source_key(package))


@functools.cache
def _open_folder(root: Root, key: str) -> Folder | None:
    try:
        path, was_open = trusted_folder(os.path.join(_trusted_root(root), key), lambda path: True)
        status = os.lstat(path)
        _check_mode(path, status)  # sticky is not enough here
        writable = bool(status.st_mode & stat.S_IWUSR) and _may_write(path)
        if writable:
            if was_open:
                _empty(path)
            _mark(path)
            os.utime(path)
    except Untrusted as error:
        _warn(f"The compiled-code cache is off: {error}.")
        return None
    except OSError as error:
        logger.info("No compiled-code cache: %s is not writable (%s).", os.path.join(root.path, key), error)
        return None
    if writable:
        drop_stale(Path(path))
    return Folder(Path(path), writable)


def _trusted_root(root: Root) -> str:
    def private(path: str) -> bool:
        """A folder that the user named may be shared on purpose: closed only if it would be refused."""
        if root.is_ours:
            return True
        bits = os.lstat(path).st_mode
        return bool(bits & _OTHERS_MAY_WRITE) and not bits & stat.S_ISVTX and _holds_only_caches(path)

    path, was_open = trusted_folder(root.path, private)
    if was_open:
        for name in filter(_KEY.fullmatch, os.listdir(path)):
            with contextlib.suppress(OSError):
                trusted_folder(os.path.join(path, name))
                _empty(os.path.join(path, name))
    return path


def _may_write(path: str) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _mark(path: str) -> None:
    marker = os.path.join(path, MARKER)
    if not os.path.lexists(marker):
        write_file(marker, _MARK)


def _holds_only_caches(path: str) -> bool:
    """Whether every entry of a folder is a folder of ours, and there is one.

    Earlier versions wrote no marker: there the names of all files must be ours.
    """
    inner = [os.path.join(path, name) for name in os.listdir(path)]
    return bool(inner) and all(
        os.path.basename(one) == TRITON or _is_cache(one) or (_has_key(one) and _all_ours(one))
        for one in inner
    )


def _has_key(path: str) -> bool:
    """A real folder of the user's, named by twenty hex digits."""
    status = os.lstat(path)
    return bool(_KEY.fullmatch(os.path.basename(path))) and stat.S_ISDIR(status.st_mode) and _is_own(status)


def _is_cache(path: str) -> bool:
    """A real folder of the user's, named by twenty hex digits, with our marker in it."""
    try:
        return _has_key(path) and stat.S_ISREG(os.lstat(os.path.join(path, MARKER)).st_mode)
    except OSError:
        return False


def _all_ours(path: str) -> bool:
    return all(_FILE.fullmatch(name) for name in os.listdir(path))


def _empty(path: str) -> None:
    """Unlink the files in a cache whose names are ours, and nothing else."""
    for name in os.listdir(path):
        file = os.path.join(path, name)
        with contextlib.suppress(OSError):
            if (name == MARKER or _FILE.fullmatch(name)) and stat.S_ISREG(os.lstat(file).st_mode):
                os.unlink(file)


def drop_stale(folder: Path) -> None:
    """Remove the caches beside ``folder`` that have not been used for a month.

    Only real folders of the user's are considered, named by twenty hex digits and holding our marker. Files
    with names of ours are unlinked; the folder goes if it is empty then.
    """
    for name in os.listdir(folder.parent):
        path = os.path.join(folder.parent, name)
        with contextlib.suppress(OSError):
            if name == folder.name or not _is_cache(path):
                continue
            if time.time() - os.lstat(path).st_mtime > _KEEP_STALE_CACHES:
                _empty(path)
                os.rmdir(path)


# ------------------------------------------------------------------------------------------- numba's cache


def _seal(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + content).digest() + content


def _unseal(name: str, sealed: bytes) -> bytes:
    """The content behind its digest; the digest is of the name too, so that files cannot change places."""
    content = sealed[32:]
    if hashlib.sha256(name.encode() + content).digest() != sealed[:32]:
        raise ValueError(f"{name} is damaged.")
    return content


def numba_cache(function: Callable[..., Any]) -> Any:
    """numba's cache of a function's compiled code, in our folder; None without one."""
    package = package_of(function)
    folder = open_folder(package)
    return None if folder is None else _cache_class(folder, source_key(package))(function)


@functools.cache
def _cache_class(folder: Folder, key: str) -> Any:
    """numba's function cache, with our folder, our stamp, our checks and a pair of files per signature."""
    from numba.core import caching

    class Locator(caching._CacheLocator):
        def __init__(self, source: str):
            self._py_file = source  # named in a warning of numba's

        def ensure_cache_path(self) -> None:
            """It was made and checked before."""

        def get_cache_path(self) -> str:
            return str(folder.path)

        def get_source_stamp(self) -> str:
            return key

        def get_disambiguator(self) -> str:
            return "0"

    class CheckedFile(caching.IndexDataCacheFile):
        """Index and machine code, each after its digest, and only if no other user could write them."""

        def _load(self, name: str) -> Any:
            try:
                sealed = read_file(self._data_path(name))
            except Untrusted as error:
                _warn(f"Compiled code was refused and is made anew: {error}.")
                raise ValueError(str(error)) from error
            except OSError as error:
                if error.errno != errno.ELOOP:  # a link
                    raise
                raise ValueError(f"{name} is a link.") from error
            return pickle.loads(_unseal(name, sealed))

        def _save(self, name: str, data: Any) -> None:
            if not folder.writable:
                raise PermissionError(errno.EROFS, "The cache is read-only", str(folder.path))
            write_file(self._data_path(name), _seal(name, self._dump(data)))

        def _load_index(self) -> Any:
            try:
                version, stamp, overloads = self._load(self._index_name)
            except FileNotFoundError:
                return {}
            return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

        def _save_index(self, overloads: Any) -> None:
            self._save(self._index_name, (self._version, self._source_stamp, overloads))

        def _load_data(self, name: str) -> Any:
            return self._load(name)

        def _save_data(self, name: str, data: Any) -> None:
            self._save(name, data)

    class Impl(caching.CompileResultCacheImpl):
        def __init__(self, py_func: Any):  # numba's lets NUMBA_CACHE_LOCATOR_CLASSES choose another folder
            code = py_func.__code__
            self._lineno, self._locator = code.co_firstlineno, Locator(code.co_filename)
            name = f"{Path(code.co_filename).stem}.{py_func.__qualname__}"
            self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))

    class SourceKeyedCache(caching.FunctionCache):
        _impl_class = Impl

        def _point_at(self, sig: Any) -> None:
            name = hashlib.sha256(str(sig).encode()).hexdigest()[:16]
            self._cache_file = CheckedFile(
                cache_path=self._cache_path,
                filename_base=f"{self._impl.filename_base}-{name}",
                source_stamp=key,
            )

        def _load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                self._point_at(sig)
                return super()._load_overload(sig, target_context)
            except Exception as error:  # a damaged or refused file counts as missing
                logger.info("Compiled code is rebuilt: %s", error)
                self._forget()
                return None

        def _forget(self) -> None:
            with contextlib.suppress(OSError):
                self._cache_file.flush()

        def _save_overload(self, sig: Any, data: Any) -> None:
            try:
                self._point_at(sig)
                super()._save_overload(sig, data)
            except (OSError, ValueError) as error:  # full disk, lost permission: go on uncached
                logger.info("Compiled code was not saved: %s", error)

    return SourceKeyedCache


# ------------------------------------------------------------------------------------------ Triton's cache


@functools.cache
def check_triton_cache() -> str:
    """Make sure that no other user can write the folder in which Triton keeps compiled kernels; return it.

    Triton opens its files itself, so the whole folder is checked here, once, before the first kernel runs:
    that of ``TRITON_CACHE_DIR``, or else Triton's own, ``~/.triton/cache``. Where another user could have
    written something there, ``TRITON_CACHE_DIR`` is set to ``triton`` in our cache, or else to a temporary
    folder of this process.
    """
    named = os.environ.get("TRITON_CACHE_DIR", "").strip()
    home = os.environ.get("TRITON_HOME") or os.path.expanduser("~")
    knobs = getattr(sys.modules.get("triton.knobs"), "cache", None)
    used = getattr(knobs, "dir", None) or named or os.path.join(home, ".triton", "cache")
    try:
        return _checked_tree(used)
    except OSError as error:
        if named:
            text = str(error).replace("PERCEPTRONS_CACHE", "TRITON_CACHE_DIR")
            _warn(f"The folder of TRITON_CACHE_DIR is not used: {text}.")
        else:
            logger.info("Triton's own cache is not used: %s", error)
    try:
        folder = _checked_tree(os.path.join(_trusted_root(root_folder()), TRITON))
    except OSError as error:
        _warn(f"The cache of compiled GPU kernels is off: {error}.")
        folder = _folder_of_this_process().name
    os.environ["TRITON_CACHE_DIR"] = folder
    if getattr(knobs, "dir", folder) != folder:  # it was set by the program, not by the environment
        knobs.dir = folder  # type: ignore[union-attr]  # knobs is not None where it has a folder
    return folder


def _checked_tree(path: str) -> str:
    """The real path of a folder in which no other user can write or has written, made if missing."""
    folder, _ = trusted_folder(path)
    if not POSIX:
        return folder
    _check_mode(folder, os.lstat(folder))  # sticky is not enough here
    _check_below(folder)
    if not _may_write(folder):
        raise PermissionError(errno.EACCES, "Permission denied", folder)
    return folder


def _check_below(folder: str) -> None:
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with contextlib.suppress(FileNotFoundError):  # another process may be writing there
            status = os.lstat(path)
            _check_owner(path, status)
            if stat.S_ISLNK(status.st_mode):
                raise Untrusted(f"{path} is a link. Delete it")
            _check_mode(path, status)
            if stat.S_ISDIR(status.st_mode):
                _check_below(path)


@functools.cache
def _folder_of_this_process() -> TemporaryFolder:
    return TemporaryFolder(prefix="perceptrons-triton-")
