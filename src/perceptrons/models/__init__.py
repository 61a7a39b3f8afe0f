"""Models in files: :func:`save` and :func:`load`, :class:`Checkpoint` for long runs, :func:`export_onnx`.

A file is safetensors + JSON + SHA-256. Reading one runs no code of the file.
"""

from __future__ import annotations

import importlib
from typing import Any

_WHERE = {
    "Checkpoint": "checkpoint",
    "ModelError": "errors",
    "describe": "saving",
    "export_onnx": "onnx",
    "load": "saving",
    "save": "saving",
}

__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
