"""Reading what others have packed: in memory, by name, within limits; nothing is ever unpacked to disk."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

MIB = 2**20


class Limits(NamedTuple):
    """How much one archive may hold; the largest public set has 100,000 members and 320 MiB."""

    member_bytes: int = 256 * MIB
    total_bytes: int = 2048 * MIB
    members: int = 250_000


LIMITS = Limits()

DAMAGES = (
    EOFError,
    zlib.error,
    lzma.LZMAError,
    gzip.BadGzipFile,
    tarfile.TarError,
    zipfile.BadZipFile,
    NotImplementedError,  # a zip that asks for what zipfile cannot do
    RuntimeError,  # an encrypted one
    OSError,  # bz2 has no error of its own
)


class ArchiveError(ValueError):
    """A file that is damaged, too large, or holds what it should not."""


def read_one(path: Path, name: str, limits: Limits = LIMITS) -> bytes:
    """The content of a file: plain, gz, bz2 or xz by its first bytes, or the member `name` of a zip."""
    try:
        with _opened(path, name) as content:
            raw = content.read(limits.member_bytes + 1)
    except FileNotFoundError:
        raise
    except DAMAGES as error:
        raise _damaged(path, error) from error
    if len(raw) > limits.member_bytes:
        raise ArchiveError(f"{path} holds more than {limits.member_bytes:,} bytes: refused.")
    return raw


def _opened(path: Path, name: str) -> Any:
    with open(path, "rb") as file:
        first = file.read(6)
    if first.startswith(b"PK\x03\x04"):
        return _zip_member(path, name)
    if first.startswith(b"\x1f\x8b"):
        return gzip.open(path)
    if first.startswith(b"BZh"):
        return bz2.open(path)
    if first == b"\xfd7zXZ\x00":
        return lzma.open(path)
    return open(path, "rb")


def _zip_member(path: Path, name: str) -> Any:
    with zipfile.ZipFile(path) as archive:
        if name not in archive.namelist():
            raise ArchiveError(f"{path} has no member {name!r}.")
        return archive.open(name)  # stays readable: it holds the file open until it is closed itself


def members(path: Path, pattern: str, limits: Limits = LIMITS) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files in a tar whose whole name matches; group 1 of the pattern is the name.

    Reads from the beginning to the end once, so that a compressed archive is decompressed once. A link or a
    device under such a name is refused.
    """
    wanted = re.compile(pattern)
    n_members = total = 0
    try:
        with tarfile.open(path, "r|*") as archive:
            for member in archive:
                n_members += 1
                total += member.size
                if n_members > limits.members or total > limits.total_bytes:
                    raise ArchiveError(
                        f"{path} holds more than {limits.members:,} members or {limits.total_bytes:,} bytes: "
                        "refused."
                    )
                match = wanted.fullmatch(member.name.removeprefix("./"))
                if match is not None and not member.isdir():
                    yield match.group(1), _content(archive, member, path, limits)
    except FileNotFoundError:
        raise
    except DAMAGES as error:
        raise _damaged(path, error) from error


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path, limits: Limits) -> bytes:
    if not member.isreg():
        raise ArchiveError(f"{path}: {member.name} is not a plain file: refused.")
    if member.size > limits.member_bytes:
        raise ArchiveError(
            f"{path}: {member.name} has {member.size:,} bytes, more than {limits.member_bytes:,}: refused."
        )
    file = archive.extractfile(member)
    raw = b"" if file is None else file.read()
    if len(raw) != member.size:
        raise EOFError(f"{member.name} ends early")
    return raw


def _damaged(path: Path, error: BaseException) -> ArchiveError:
    return ArchiveError(f"{path} is damaged ({error or type(error).__name__}): delete it and fetch it again.")
