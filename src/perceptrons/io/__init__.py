"""Rows from files and streams: libsvm, VW text, csv, tsv, jsonl, parquet; plain or compressed.

:func:`open_stream` yields batches in bounded memory, :func:`read_libsvm` reads a whole file, and
:func:`fit_stream` has a learner predict, then learn, batch after batch.
"""

from __future__ import annotations

import importlib
from typing import Any

_WHERE = {
    "open_stream": "stream",
    "Stream": "stream",
    "Batch": "records",
    "Texts": "records",
    "Limits": "records",
    "FormatError": "records",
    "read_libsvm": "libsvm",
    "fit_stream": "fitting",
    "FitReport": "fitting",
    "register": "formats",
}

__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
