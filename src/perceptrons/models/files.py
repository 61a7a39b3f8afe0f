"""Files that are written whole or not at all, by one process at a time. No other file is changed.

Two kinds of files appear beside a file while it is written, both under names of ours, with H for 16 hex
digits of the SHA-256 of the file's own name::

    .perceptrons-H.lock             locked by the operating system while a process writes the file
    .perceptrons-H-RANDOM.part      the new contents, renamed when they have reached the disk

Neither is ever opened through a link. What has such a name and is not ours (no regular file, another owner,
other contents) is refused or left alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from .errors import ModelError

#: Some bytes of a file.
Piece: TypeAlias = bytes | memoryview

_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_MARK = b"perceptrons lock "  #: how a lock file begins; the number of its process follows
_MARKED = re.compile(rb"(?:perceptrons lock [0-9]{10}\n)?\Z")
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a link that leads nowhere",
}


def target(path: str | os.PathLike[str]) -> str:
    """The file that is really written: a link is followed, and keeps pointing at it.

    What is there already must be a regular file; anything else is refused.
    """
    name = os.fspath(path)
    if isinstance(name, bytes):
        name = os.fsdecode(name)
    final = os.path.realpath(name)
    try:
        mode = os.lstat(final).st_mode
    except FileNotFoundError:
        return final
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "no regular file")
        raise ModelError(f"{name} is {kind}, and only a regular file can be replaced; give another name.")
    return final


class Lock:
    """The right to write one file, held by one process until it is released or the process ends.

    The operating system releases the lock when the process ends, however it ends. What such a process leaves
    behind blocks no other process, and the next holder removes it.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = target(path)
        self._folder, name = os.path.split(self.path)
        digest = hashlib.sha256(os.fsencode(os.path.normcase(name))).hexdigest()[:16]
        self._stem = f".perceptrons-{digest}"
        self._name = os.path.join(self._folder, f"{self._stem}.lock")
        self._alone = False  #: whether the operating system excludes other writers
        self._handle: int | None = self._acquired()
        if self._alone:
            self._sweep()

    def _acquired(self) -> int:
        while True:
            handle = self._opened()
            try:
                found = _locked(handle)
                if found is False:
                    raise ModelError(
                        f"{self.path} is being written by {_holder(handle)}. Wait for it, or write to "
                        "another file."
                    )
                if _is_named(handle, self._name):
                    self._alone = bool(found)
                    os.lseek(handle, 0, os.SEEK_SET)
                    os.write(handle, _MARK + b"%010d\n" % os.getpid())  # for the message to others
                    return handle
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)  # its last holder has removed it meanwhile: take the new one

    def _opened(self) -> int:
        """The lock file, made if need be; refused where it is not ours."""
        try:
            handle = os.open(self._name, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
        except (FileNotFoundError, NotADirectoryError):
            raise  # there is no such folder
        except OSError as error:
            if not os.path.lexists(self._name):
                raise
            raise ModelError(self._not_ours(str(error.strerror))) from None
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise ModelError(self._not_ours("it is no regular file"))
            if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
                raise ModelError(self._not_ours(f"it belongs to user {status.st_uid}"))
            if status.st_nlink > 1:
                raise ModelError(self._not_ours("it has another name as well"))
            if not _MARKED.match(_start(handle)):
                raise ModelError(self._not_ours("its contents are something else"))
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _not_ours(self, why: str) -> str:
        return (
            f"{self.path} cannot be locked: {self._name} is no lock of this user's ({why}). Remove it, or "
            "write to another file."
        )

    def _sweep(self) -> None:
        """Remove what writers of this file have left that were killed: ours by name, kind and owner."""
        pattern = re.compile(re.escape(self._stem) + r"-[0-9a-f]{16}\.part")
        with contextlib.suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                if pattern.fullmatch(entry.name) and _is_ours(entry):
                    with contextlib.suppress(OSError):
                        os.unlink(entry.path)

    @contextlib.contextmanager
    def replacing(self) -> Iterator[int]:
        """The handle of a fresh file that takes the place of the old one, in one step, when the block ends.

        It has a random name in the same folder and reaches the disk before it is renamed. If anything fails
        the old file is untouched and the new one removed. A new file has the mode that the umask leaves; one
        that replaces another has the mode of that one.
        """
        if self._handle is None:
            raise ModelError(f"The lock of {self.path} has been released.")
        mode = _mode(target(self.path))
        part = os.path.join(self._folder, f"{self._stem}-{secrets.token_hex(8)}.part")
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINK
        handle = os.open(part, flags, 0o666 if mode is None else 0o600)
        try:
            try:
                yield handle
                if mode is not None and hasattr(os, "fchmod"):
                    os.fchmod(handle, mode)
                os.fsync(handle)
            finally:
                os.close(handle)
            os.replace(part, self.path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(part)
            raise
        _sync_folder(self._folder)

    def write(self, pieces: Iterable[Piece], verify: Callable[[int], None] | None = None) -> None:
        """Replace the file by ``pieces``, one after the other.

        ``verify`` is called with the handle of the new file before it is renamed, and raises if the contents
        are wrong.
        """
        with self.replacing() as handle:
            for piece in pieces:
                _write_all(handle, piece)
            if verify is not None:
                verify(handle)

    def release(self) -> None:
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        if _is_named(handle, self._name):
            with contextlib.suppress(OSError):  # Windows does not remove a file that is open
                os.unlink(self._name)
        os.close(handle)

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()


def write(path: str | os.PathLike[str], pieces: Iterable[Piece]) -> None:
    """Lock and replace one file."""
    with Lock(path) as lock:
        lock.write(pieces)


def _mode(final: str) -> int | None:
    """The mode of the file that is replaced; None: there is none yet."""
    try:
        return stat.S_IMODE(os.lstat(final).st_mode)
    except FileNotFoundError:
        return None


def _is_ours(entry: os.DirEntry[str]) -> bool:
    status = entry.stat(follow_symlinks=False)
    return stat.S_ISREG(status.st_mode) and (not hasattr(os, "geteuid") or status.st_uid == os.geteuid())


def _write_all(handle: int, piece: Piece) -> None:
    rest = memoryview(piece)
    while len(rest):
        rest = rest[os.write(handle, rest) :]


def _sync_folder(folder: str) -> None:
    """Write the folder to the disk, where that is possible: the new name survives a power cut."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows has no handle of a folder
        return
    try:
        with contextlib.suppress(OSError):  # nor have some network file systems
            os.fsync(handle)
    finally:
        os.close(handle)


def _start(handle: int) -> bytes:
    os.lseek(handle, 0, os.SEEK_SET)
    return os.read(handle, 64)


def _holder(handle: int) -> str:
    try:
        return f"process {int(_start(handle)[len(_MARK) :])}"
    except (OSError, ValueError):
        return "another process"


def _is_named(handle: int, name: str) -> bool:
    """Whether the open file still has its name."""
    try:
        there, here = os.lstat(name), os.fstat(handle)
    except FileNotFoundError:
        return False
    return (there.st_ino, there.st_dev) == (here.st_ino, here.st_dev)


if sys.platform == "win32":

    def _locked(handle: int) -> bool | None:
        """Whether the lock was free; None on a file system without locks."""
        import msvcrt

        try:
            os.lseek(handle, 1 << 20, os.SEEK_SET)  # beyond the text: Windows locks forbid reading
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:

    def _locked(handle: int) -> bool | None:
        """Whether the lock was free; None on a file system without locks."""
        import fcntl

        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return None
        return True
