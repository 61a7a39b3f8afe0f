"""Learners as objects: the arrays of one space, and the calls into its compiled loop.

Every space implements :class:`Space`, so that an estimator does not depend on where w is stored. Labels are
class codes 0..K-1 here; a binary space trains code 1 as +1.
"""

from .additive import Additive, Joint, Linear
from .base import TRANSIENT, Bracket, Counts, Frame, LearnerState, NumericalError, SingleSpace
from .budget import Budget
from .confident import Confident
from .dual import Dual, KernelRows, shown
from .labels import Labels
from .multiplicative import Elimination, Multiplicative
from .protocol import ConfidentSpace, LinearSpace, Readable, Space, SupportSpace
from .rest import OneVsRest, PerLabel

#: every kind of space; by these types mypy checks that each implements the protocol
KINDS: tuple[type[Space], ...] = (
    Linear,
    Joint,
    OneVsRest,
    PerLabel,
    Labels,
    Confident,
    Multiplicative,
    Elimination,
    Dual,
    Budget,
)
LINEAR: tuple[type[LinearSpace], ...] = (
    Linear,
    Joint,
    OneVsRest,
    PerLabel,
    Labels,
    Confident,
    Multiplicative,
    Elimination,
)
SUPPORT: tuple[type[SupportSpace], ...] = (Dual,)
CONFIDENT: tuple[type[ConfidentSpace], ...] = (Confident,)

__all__ = [
    "KINDS",
    "TRANSIENT",
    "Additive",
    "Bracket",
    "Budget",
    "Confident",
    "ConfidentSpace",
    "Counts",
    "Dual",
    "Elimination",
    "Frame",
    "Joint",
    "KernelRows",
    "Labels",
    "LearnerState",
    "Linear",
    "LinearSpace",
    "Multiplicative",
    "NumericalError",
    "OneVsRest",
    "PerLabel",
    "Readable",
    "SingleSpace",
    "Space",
    "SupportSpace",
    "shown",
]
