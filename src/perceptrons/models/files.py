"""Files that are there whole or not at all, and one writer at a time."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from collections.abc import Iterable
from typing import Any

from .errors import ModelError


def target(path: str | os.PathLike[str]) -> str:
    """The file that is really written: a link keeps pointing at it."""
    name = os.fspath(path)
    if isinstance(name, bytes):
        name = os.fsdecode(name)
    return os.path.realpath(name)


def write(path: str | os.PathLike[str], pieces: Iterable[Any], spare: str | None = None) -> None:
    """Put ``pieces`` one behind the other into a file that takes the place of ``path`` in one step.

    They go to a temporary file in the same folder (``spare``, or one of a fresh name), which reaches the disk
    before it is renamed. If anything fails the old file is untouched and the temporary one removed.
    """
    final = target(path)
    temporary = f"{final}.{secrets.token_hex(4)}.part" if spare is None else spare
    fresh = os.O_EXCL if spare is None else os.O_TRUNC
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | fresh | getattr(os, "O_BINARY", 0), 0o666)
    try:
        try:
            _keep_mode(handle, final)
            for piece in pieces:
                _write_all(handle, piece)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temporary, final)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(os.path.dirname(final))


def _keep_mode(handle: int, final: str) -> None:
    """A file that is replaced stays as private as it was."""
    if hasattr(os, "fchmod"):
        with contextlib.suppress(OSError):
            os.fchmod(handle, stat.S_IMODE(os.stat(final).st_mode))


def _write_all(handle: int, piece: Any) -> None:
    rest = memoryview(piece)
    while len(rest):
        rest = rest[os.write(handle, rest) :]


def _sync_folder(folder: str) -> None:
    """Make the new name survive a power cut, where folders can be synchronised."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows has no handle of a folder
        return
    try:
        with contextlib.suppress(OSError):  # nor have some network file systems
            os.fsync(handle)
    finally:
        os.close(handle)


class Lock:
    """The right to write one file, held by one process until it is released or the process ends.

    A file ``path + ".lock"`` is locked by the operating system, which lets go of it when its holder dies,
    however it dies: what such a process leaves behind blocks nobody.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = target(path)
        self.spare = f"{self.path}.part"  #: for the holder to write; what a dead one left is written over
        self._name = f"{self.path}.lock"
        self._handle: int | None = self._acquired()

    def _acquired(self) -> int:
        while True:
            handle = os.open(self._name, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                if not _locked(handle):
                    raise ModelError(
                        f"{self.path} is being written by {_holder(handle)}. Wait for it, or write to "
                        "another file."
                    )
                if _is_named(handle, self._name):
                    os.ftruncate(handle, 0)
                    os.lseek(handle, 0, os.SEEK_SET)
                    os.write(handle, str(os.getpid()).encode())  # for the message of those who are refused
                    return handle
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)  # its last holder has removed it meanwhile: take the new one

    def release(self) -> None:
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        with contextlib.suppress(OSError):  # Windows does not remove a file that is open
            os.unlink(self._name)
        os.close(handle)

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()


def _holder(handle: int) -> str:
    try:
        os.lseek(handle, 0, os.SEEK_SET)
        return f"process {int(os.read(handle, 20))}"
    except (OSError, ValueError):
        return "another process"


def _is_named(handle: int, name: str) -> bool:
    """Whether the open file still has its name."""
    try:
        there, here = os.stat(name), os.fstat(handle)
    except FileNotFoundError:
        return False
    return (there.st_ino, there.st_dev) == (here.st_ino, here.st_dev)


if sys.platform == "win32":

    def _locked(handle: int) -> bool:
        import msvcrt

        try:
            os.lseek(handle, 1 << 20, os.SEEK_SET)  # beyond the text: Windows locks forbid reading
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:

    def _locked(handle: int) -> bool:
        import fcntl

        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks: there is nobody to ask
            return True
        return True
