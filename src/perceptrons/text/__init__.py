"""Raw text in: bytes to hashed rows in one compiled pass, and a learner that takes texts as they are."""

from __future__ import annotations

import importlib
from typing import Any

_WHERE = {
    "TextHasher": "hasher",
    "TextClassifier": "classifier",
    "SmallTextClassifier": "small_classifier",
    "Explanation": "explaining",
    "EncodingError": "hashing",
    "f1_scores": "label_scores",
    "precision_at_k": "label_scores",
    "recall_at_k": "label_scores",
}

__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
