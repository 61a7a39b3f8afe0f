"""What can be proved about a run: the bounds of the theorems, margins and brackets.

Nothing here imports the engine, so that it can judge it.
"""

from . import bounds
from .bounds import *  # noqa: F403
from .brackets import gamma_low, gamma_up, gamma_up_from_weights, radius, sample_margins

__all__ = [
    *bounds.__all__,
    "bounds",
    "gamma_low",
    "gamma_up",
    "gamma_up_from_weights",
    "radius",
    "sample_margins",
]
