"""A folder of files that were written together, and that are replaced and removed together.

The list of the files and their digests is a file, too. What is not on the list, or has changed since, is
somebody else's: it is neither overwritten nor removed, and nothing is written where it is in the way.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

LIST = "perceptrons-lab.json"
FORMAT = "perceptrons lab export"
SCHEMA = 1
#: The longest list that is read: many times what an export writes.
MOST_BYTES = 4 << 20


def replace(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make the files, by their paths below ``folder``, all that is ours there; the last one is moved last.

    ``ValueError`` before anything is written, where a file of somebody else is in the way.
    """
    if LIST in files:
        raise ValueError(f"{LIST} is the list of the files; it cannot be one of them.")
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is there and is no folder; name another one.")
    ours = _ours(folder)
    _check(folder, files, ours)
    new = {name: hashlib.sha256(body).hexdigest() for name, body in files.items()}
    folder.mkdir(parents=True, exist_ok=True)
    # Until all is done both the old and the new files are on the list: an interrupted call can be repeated.
    _write(
        folder / LIST,
        _listed({name: sorted({*ours.get(name, ()), new.get(name, "")} - {""}) for name in {*ours, *new}}),
    )
    for name, body in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        _write(folder / name, body)
    for name in sorted(ours.keys() - new.keys()):
        (folder / name).unlink(missing_ok=True)
        _remove_empty((folder / name).parent, folder)
    _write(folder / LIST, _listed({name: [digest] for name, digest in new.items()}))


def _check(folder: Path, files: Mapping[str, bytes], ours: Mapping[str, list[str]]) -> None:
    for name in files:
        path = folder / name
        for above in (folder / part for part in PurePosixPath(name).parents if part.name):
            if above.is_symlink() or (above.exists() and not above.is_dir()):
                raise ValueError(f"{above} is in the way: it is no folder. Name another folder, or move it.")
        if os.path.lexists(path) and not _is_ours(path, ours.get(name, [])):
            raise ValueError(
                f"{path} is there and is not as an export wrote it; it is left alone, and nothing was "
                "written. Name another folder, or move that file."
            )


def _ours(folder: Path) -> dict[str, list[str]]:
    """Digests by path, of those files on the list that are still as they were written."""
    try:
        with open(folder / LIST, "rb") as file:
            found = json.loads(file.read(MOST_BYTES))
        if found["format"] != FORMAT or found["schema"] != SCHEMA:
            raise ValueError("another format")
        pairs = [(str(name), [str(digest) for digest in digests]) for name, digests in found["files"].items()]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ValueError(
            f"{folder / LIST} is not the list that an export writes; name another folder, or move that file."
        ) from None
    return {name: digests for name, digests in pairs if _inside(name) and _is_ours(folder / name, digests)}


def _inside(name: str) -> bool:
    """A path below the folder, at most one level down: a list may have been forged."""
    parts = PurePosixPath(name).parts
    return (
        1 <= len(parts) <= 2
        and name == "/".join(parts)
        and not any(part in ("..", ".", "/") or "\\" in part or ":" in part or "\0" in part for part in parts)
    )


def _is_ours(path: Path, digests: list[str]) -> bool:
    if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
        return False
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() in digests


def _listed(files: Mapping[str, list[str]]) -> bytes:
    body = {"format": FORMAT, "schema": SCHEMA, "files": dict(sorted(files.items()))}
    return json.dumps(body, indent=1).encode()


def _write(path: Path, body: bytes) -> None:
    """The whole file or none of it, whatever happens on the way."""
    handle, part = tempfile.mkstemp(prefix=".part-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body)
        os.chmod(part, 0o644)  # a web server reads it, perhaps as another user
        os.replace(part, path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def _remove_empty(folder: Path, top: Path) -> None:
    if folder != top and not any(folder.iterdir()):
        folder.rmdir()
