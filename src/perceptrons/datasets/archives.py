"""Reading of foreign archives: in memory, by name, within limits; nothing is ever unpacked to disk."""

from __future__ import annotations

import contextlib
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..io.records import FormatError
from ..io.records import Limits as ReaderLimits
from ..io.sources import OpenSource, sources
from ._tar import Member, Tar, TarError

MIB = 2**20


class ArchiveLimits(NamedTuple):
    """How much one archive may hold; the largest public set has 100,000 members and 320 MiB."""

    member_bytes: int = 256 * MIB
    total_bytes: int = 2048 * MIB
    members: int = 250_000


LIMITS = ArchiveLimits()

_PIECE = 1 << 20  # bytes read at a time

DAMAGES = (
    EOFError,
    zlib.error,
    FormatError,
    TarError,
    zipfile.BadZipFile,
    NotImplementedError,  # a zip with features that zipfile does not have
    RuntimeError,  # an encrypted one
    OSError,
)


class ArchiveError(ValueError):
    """A file that is damaged, too large, or holds what it should not."""


def read_one(path: Path, name: str, limits: ArchiveLimits = LIMITS) -> bytes:
    """The content of a file: plain, gz, bz2, xz or zst by its first bytes, or the member `name` of a zip."""
    return b"".join(pieces(path, name, limits))


def pieces(path: Path, name: str, limits: ArchiveLimits = LIMITS) -> Iterator[bytes]:
    """The content of a file, a megabyte at a time."""
    total = 0
    try:
        with _opened(path, name) as read:
            while piece := read(_PIECE):
                total += len(piece)
                if total > limits.member_bytes:
                    raise ArchiveError(f"{path} holds more than {limits.member_bytes:,} bytes: refused.")
                yield piece
    except (FileNotFoundError, ArchiveError):
        raise
    except DAMAGES as error:
        raise _damaged(path, error) from error


@contextlib.contextmanager
def _opened(path: Path, name: str = "") -> Iterator[Callable[[int], bytes]]:
    """A function that reads on: of the file, of what it is compressed from, or of a member of a zip."""
    with open(path, "rb") as file:
        first = file.read(4)
    if name and first == b"PK\x03\x04":
        with zipfile.ZipFile(path) as archive:
            if name not in archive.namelist():
                raise ArchiveError(f"{path} has no member {name!r}.")
            with archive.open(name) as member:
                yield member.read
        return
    opened = OpenSource(sources(path)[0], ReaderLimits())
    buffer = bytearray(_PIECE)

    def read(n: int) -> bytes:
        with memoryview(buffer) as view, view[: min(n, _PIECE)] as room:
            return bytes(room[: opened.content.readinto(room)])

    try:
        yield read
    finally:
        opened.close()


def members(path: Path, pattern: str, limits: ArchiveLimits = LIMITS) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files in a tar whose whole name matches; group 1 of the pattern is the name.

    Reads from the beginning to the end once, so that a compressed archive is decompressed once. A link or a
    device under such a name is refused.
    """
    wanted = re.compile(pattern)
    n_members = total = 0
    try:
        with _opened(path) as read:
            archive = Tar(read)
            for member in archive:
                n_members += member.headers
                total += member.size
                if n_members > limits.members or total > limits.total_bytes:
                    raise ArchiveError(
                        f"{path} holds more than {limits.members:,} members or {limits.total_bytes:,} bytes: "
                        "refused."
                    )
                match = wanted.fullmatch(member.name.removeprefix("./"))
                if match is not None and not member.is_folder:
                    yield match.group(1), _content(archive, member, path, limits)
    except (FileNotFoundError, ArchiveError):
        raise
    except DAMAGES as error:
        raise _damaged(path, error) from error


def _content(archive: Tar, member: Member, path: Path, limits: ArchiveLimits) -> bytes:
    if not member.is_regular:
        raise ArchiveError(f"{path}: {member.name} is not a plain file: refused.")
    if member.size > limits.member_bytes:
        raise ArchiveError(
            f"{path}: {member.name} has {member.size:,} bytes, more than {limits.member_bytes:,}: refused."
        )
    return archive.content(member)


def _damaged(path: Path, error: BaseException) -> ArchiveError:
    return ArchiveError(f"{path} is damaged ({error or type(error).__name__}): delete it and fetch it again.")
