"""Raw text in: bytes to hashed rows in one compiled pass, and a learner that takes texts as they are."""

from __future__ import annotations

from .classifier import Explanation, TextClassifier
from .hasher import TextHasher
from .hashing import EncodingError

__all__ = ["TextHasher", "TextClassifier", "Explanation", "EncodingError"]
