"""The loop that copies numbers within compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .compiler import helper

if TYPE_CHECKING:
    import numpy as np


@helper
def copy_numbers(source: np.ndarray, target: np.ndarray) -> None:
    """target[j] = source[j] for all entries of ``source``."""
    for j in range(source.shape[0]):
        target[j] = source[j]
