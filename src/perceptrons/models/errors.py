"""The error of model files."""

from __future__ import annotations


class ModelError(ValueError):
    """A model cannot be stored, or a file is not a model that can be trusted; the message says why."""
