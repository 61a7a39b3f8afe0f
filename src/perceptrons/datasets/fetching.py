"""Public files on this machine: found, or downloaded and checked."""

from __future__ import annotations

import hashlib
import importlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

from .archives import ArchiveError, members, pieces
from .registry import SOURCES, Part, PublicSource

Progress = Callable[[str, int, int | None], None]


class FetchError(RuntimeError):
    """A file that could not be downloaded, or is not the expected one."""


def fetch(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    progress: Progress | None = None,
    verify: bool | None = None,
) -> dict[str, Path]:
    """The files of a public data set, downloaded only if they are not here yet.

    Looked for in the folder that the environment variable ``PERCEPTRONS_DATA`` names, then in the cache; else
    downloaded from their publisher into the cache (which needs pooch: ``pip install 'perceptrons[data]'``),
    with their digest checked before they get their name. A download that is longer than the registry allows
    is broken off.

    Parameters
    ----------
    name : str
        One of `available()`.
    folder : path, default=None
        The cache; None: ``perceptrons-data`` in the user's cache folder (``XDG_CACHE_HOME`` or ``~/.cache``).
    progress : callable, default=None
        Called as ``progress(file, bytes_so_far, bytes_in_all)`` during a download; the last is None when the
        server does not say.
    verify : bool, default=None
        Check the digest of what is downloaded (None), of what is found on this machine, too (True), or of
        nothing (False).

    Returns
    -------
    dict
        The path of each file by its name in the registry; files may share an archive.

    Examples
    --------
    >>> available()[:3]
    ['20newsgroups', 'a9a', 'adult']
    >>> fetch("adult")  # doctest: +SKIP
    {'adult.data': PosixPath('.../adult/adult.data'), 'adult.test': PosixPath('.../adult/adult.test')}
    """
    source, cache = _source(name), _cache(folder)
    paths = {}
    for part in source.parts:
        path = _found(source, part, cache)
        if path is None:
            path = _download(source, part, cache, progress, verify is not False)
        elif verify:
            _check(part, path, str(path))
        paths[part.name] = path
    return paths


def find(name: str, folder: str | os.PathLike[str] | None = None) -> dict[str, Path] | None:
    """What `fetch` would return without a download: the files if all are on this machine, else None."""
    source, cache = _source(name), _cache(folder)
    paths = {}
    for part in source.parts:
        path = _found(source, part, cache)
        if path is None:
            return None
        paths[part.name] = path
    return paths


def available() -> list[str]:
    """The names of the public data sets, for `fetch`."""
    return sorted(SOURCES)


def _found(source: PublicSource, part: Part, cache: Path) -> Path | None:
    """Where a file is on this machine already, or None."""
    named = os.environ.get("PERCEPTRONS_DATA")
    for root in (Path(named), cache) if named else (cache,):
        for file in part.files:
            if (path := root / source.folder / file).is_file():
                return path
    return None


def _cache(folder: str | os.PathLike[str] | None) -> Path:
    return cache_folder() if folder is None else Path(folder)


def cache_folder() -> Path:
    """Where downloads are kept: not beside the compiled code, whose old versions are deleted."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "perceptrons-data"


def _source(name: str) -> PublicSource:
    if name not in SOURCES:
        raise ValueError(f"There is no data set {name!r}; there are {', '.join(available())}.")
    return SOURCES[name]


# --------------------------------------------------------------------------------------- download


class _Bounded:
    """A file that refuses more bytes than the registry allows: a server may send without end."""

    def __init__(self, file: BinaryIO, part: Part):
        self._file, self._part, self._left = file, part, part.most_bytes

    def write(self, data: bytes) -> int:
        self._left -= len(data)
        if self._left < 0:
            raise FetchError(
                f"{self._part.url} sends more than the {self._part.most_bytes:,} bytes that "
                f"{self._part.name} may have: refused, and nothing is kept."
            )
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()


class _Bar:
    """The methods that pooch calls on a progress bar; they call a function."""

    def __init__(self, report: Progress, file: str):
        self.report, self.file = report, file
        self.total = self.done = 0

    def update(self, n: int) -> None:
        self.done += n
        self.report(self.file, min(self.done, self.total) if self.total else self.done, self.total or None)

    def reset(self) -> None:
        self.done = 0

    def close(self) -> None:
        pass


def _download(source: PublicSource, part: Part, cache: Path, progress: Progress | None, verify: bool) -> Path:
    """Download to a temporary name, renamed after the check: a partial file is never found."""
    pooch = _pooch(source, part)
    target = cache / source.folder / part.files[0]
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, half = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            bar = False if progress is None else _Bar(progress, part.files[0])
            downloader = pooch.HTTPDownloader(progressbar=bar)
            try:
                downloader(part.url, _Bounded(file, part), None)
            except FetchError:
                raise
            except Exception as error:  # pooch lets through whatever its libraries raise
                raise FetchError(
                    f"Could not download {part.url} ({type(error).__name__}: {error}). "
                    f"{_by_hand(source, part)}"
                ) from error
        if verify:
            _check(part, Path(half), part.url)
        os.chmod(half, 0o644)  # mkstemp's mode is 0o600
        os.replace(half, target)
    finally:
        Path(half).unlink(missing_ok=True)
    return target


def _pooch(source: PublicSource, part: Part) -> ModuleType:
    try:
        return importlib.import_module("pooch")
    except ImportError as error:
        raise ImportError(
            f"{source.name} is not on this machine, and downloading it needs pooch: "
            f"pip install 'perceptrons[data]'. {_by_hand(source, part)}"
        ) from error


def _by_hand(source: PublicSource, part: Part) -> str:
    return (
        f"Or put {part.files[0]} into {source.folder}/ below a folder of yours "
        "and name that folder in PERCEPTRONS_DATA."
    )


# ----------------------------------------------------------------------------------------- digests


def _check(part: Part, path: Path, origin: str) -> None:
    """Refuse a file whose digest is neither the publisher's nor that of the known content."""
    if part.served is not None:
        kind, expected = part.served.split(":")
        with open(path, "rb") as file:
            if hashlib.file_digest(file, kind).hexdigest() == expected:
                return
    try:
        found = content_digest(part, path)
    except ArchiveError as error:
        raise FetchError(f"{part.name}: {str(error).replace(str(path), origin)}") from error
    if found != part.sha256:
        raise FetchError(
            f"{origin} is not the {part.name} we know: expected content of sha256 {part.sha256}, "
            f"found {found}. Fetch it again; if its home has another version, verify=False takes it."
        )


def content_digest(part: Part, path: Path) -> str:
    """SHA-256 of the content: of the file uncompressed, or of the listing of an archive's members."""
    if part.members is None:
        digest = hashlib.sha256()
        for piece in pieces(path, part.name):
            digest.update(piece)
        return digest.hexdigest()
    lines = sorted((name, hashlib.sha256(raw).hexdigest()) for name, raw in members(path, part.members))
    return hashlib.sha256("".join(f"{digest}  {name}\n" for name, digest in lines).encode()).hexdigest()
