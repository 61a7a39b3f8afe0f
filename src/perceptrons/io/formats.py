"""Which format a file has: by its name, or by its first lines."""

from __future__ import annotations

import os
import re

from .sources import CODECS

FORMATS = ("libsvm", "vw", "csv", "tsv", "jsonl", "parquet")
_ENDINGS = {
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".libsvm": "libsvm",
    ".vw": "vw",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
_NUMBER = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"  # one way to match, so that failing is quick
_HEAD = 1 << 16  # bytes that are looked at
_LIBSVM = re.compile(rb"\s*" + _NUMBER + rb"(?:\s+\d+:\S+)*\s*(?:#.*)?$")
_PAIR = re.compile(rb"\s\d+:")
_VW = re.compile(rb"\s*(?:" + _NUMBER + rb"\s+){0,2}[^\s|]*\|")


def by_name(name: str) -> str | None:
    """The format a file's name promises; None if it promises nothing."""
    stem, ending = os.path.splitext(name.lower())
    if ending in {codec.suffix for codec in CODECS}:
        ending = os.path.splitext(stem)[1]
    return _ENDINGS.get(ending)


def by_content(head: bytes, name: str) -> str:
    """The format of a file that starts like this."""
    if head.startswith(b"PAR1"):
        return "parquet"
    whole = head[:_HEAD].rfind(b"\n") if len(head) > _HEAD else -1
    head = head[: whole if whole > 0 else _HEAD]
    lines = [line for line in head.split(b"\n", 20)[:20] if line.strip()]
    lines = [line for line in lines if not line.lstrip().startswith(b"#")] or lines
    if lines and all(line.lstrip().startswith(b"{") for line in lines):
        return "jsonl"
    if lines and all(map(_LIBSVM.match, lines)) and any(map(_PAIR.search, lines)):
        return "libsvm"
    if lines and all(map(_VW.match, lines)):
        return "vw"
    for format_, delimiter in (("tsv", b"\t"), ("csv", b",")):
        if lines and all(delimiter in line for line in lines):
            return format_
    raise ValueError(
        f"The format of {name} cannot be told from its name or its first lines; "
        f"give format=, one of {', '.join(FORMATS)}."
    )
