"""Learners as objects: the arrays of one space, and the calls into its compiled loop.

Every space answers the same few questions (``run``, ``weights``, ``bracket``, ``grow``, counters), so that
an estimator need not know where its w lives. Labels are class codes 0..K-1 here; a binary space trains
code 1 as +1.
"""

from .additive import Additive, Joint, Linear
from .base import TRANSIENT, Counts, Frame, NumericalError, Space
from .budget import Budget
from .confident import Confident
from .dual import Dual, KernelRows, shown
from .multiplicative import Elimination, Multiplicative
from .rest import OneVsRest

__all__ = [
    "TRANSIENT",
    "Additive",
    "Budget",
    "Confident",
    "Counts",
    "Dual",
    "Elimination",
    "Frame",
    "Joint",
    "KernelRows",
    "Linear",
    "Multiplicative",
    "NumericalError",
    "OneVsRest",
    "Space",
    "shown",
]
