"""Docstrings that list every parameter and attribute of a class, each written once.

A class documents the parameters that it declares, in numpydoc's sections. A class that inherits them gets
their entries, with its own defaults; an entry of its own comes first and replaces an inherited one. Where
several classes declare a parameter, its entry may be in a common base class.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import NamedTuple

from .parameters import in_order

_HEADING = re.compile(r"^([A-Z][A-Za-z ]*)\n-{3,}\n", re.MULTILINE)
_ENTRY = re.compile(r"^(?=[A-Za-z_])", re.MULTILINE)
MERGED = ("Parameters", "Attributes")  #: the sections that are completed
_DEFAULT = re.compile(r", default=.*")


class Section(NamedTuple):
    """One section of a docstring."""

    title: str
    text: str


class Entry(NamedTuple):
    """One parameter or attribute, or several that share a text."""

    names: tuple[str, ...]
    kind: str  #: what follows the colon
    text: str  #: the indented lines


def sections(doc: str) -> tuple[Section, ...]:
    """A docstring cut at its headings; what comes before the first one has no title."""
    parts = _HEADING.split(doc)
    titles = ["", *parts[1::2]]
    return tuple(Section(title, text.strip("\n")) for title, text in zip(titles, parts[::2], strict=True))


def entries(text: str) -> tuple[Entry, ...]:
    """The entries of a section."""
    found = []
    for part in _ENTRY.split(text):
        if part.strip():
            head, _, body = part.partition("\n")
            names, _, kind = head.partition(" : ")
            found.append(Entry(tuple(name.strip() for name in names.split(",")), kind.strip(), body.rstrip()))
    return tuple(found)


#: class -> heading -> name -> entry: docstrings as they are in the source
_WRITTEN: dict[type, dict[str, dict[str, Entry]]] = {}


def described(cls: type, title: str) -> dict[str, Entry]:
    """Every name that the class, or one that it inherits from, describes under this heading."""
    found: dict[str, Entry] = {}
    for one in cls.__mro__:
        for name, entry in _written(one).get(title, {}).items():
            found.setdefault(name, entry)
    return found


def _written(cls: type) -> dict[str, dict[str, Entry]]:
    """The entries that a class itself describes, by heading and name."""
    if cls not in _WRITTEN:
        doc = vars(cls).get("__doc__") if "__dataclass_fields__" in vars(cls) else None
        _WRITTEN[cls] = {
            part.title: {
                name: Entry((name,), entry.kind, entry.text)
                for entry in entries(part.text)
                for name in entry.names
            }
            for part in sections(inspect.cleandoc(doc or ""))
            if part.title in MERGED
        }
    return _WRITTEN[cls]


def completed(cls: type) -> str | None:
    """The docstring of a class with all its parameters, as its signature has them, and all its attributes."""
    doc: str | None = vars(cls).get("__doc__")
    if not doc:  # python -OO
        return doc
    head, *parts = sections(inspect.cleandoc(doc))
    _written(cls)  # before the docstring is replaced
    known, lacks = described(cls, "Parameters"), getattr(cls, "_LACKS", ())
    defaults = {field.name: field.default for field in dataclasses.fields(cls)}
    listed = [
        _with_default(known[name], defaults[name])
        for name in in_order(cls)
        if name in known and name in defaults
    ]
    left = [entry for name, entry in described(cls, "Attributes").items() if name not in lacks]
    merged = [
        Section(title, "\n".join(map(_shown, found)))
        for title, found in zip(MERGED, (listed, left), strict=True)
        if found
    ]
    rest = [part for part in parts if part.title not in MERGED]
    return "\n\n".join(_section(part) for part in (head, *merged, *rest)) + "\n"


def _with_default(entry: Entry, default: object) -> Entry:
    """The entry with the default of the class; a default that is described in words stays as it is."""
    if ", default=" not in entry.kind:
        return entry
    shown = f'"{default}"' if isinstance(default, str) else f"{default!r}"
    if _same(entry.kind.rpartition("default=")[2], default):
        return entry
    return entry._replace(kind=_DEFAULT.sub(f", default={shown}", entry.kind))


def _same(written: str, default: object) -> bool:
    """Whether the text of an entry states this default."""
    if isinstance(default, bool) or not isinstance(default, (int, float)):
        return written.strip("\"'") == str(default)
    try:
        return float(written) == default
    except ValueError:
        return False


def _shown(entry: Entry) -> str:
    head = ", ".join(entry.names) + (f" : {entry.kind}" if entry.kind else "")
    return f"{head}\n{entry.text}" if entry.text else head


def _section(part: Section) -> str:
    return f"{part.title}\n{'-' * len(part.title)}\n{part.text}" if part.title else part.text
