"""What can be proved about a run: the bounds of the theorems, margins and brackets.

Nothing here imports the engine, so that the engine can be checked by it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import bounds
from .bounds import *  # noqa: F403
from .brackets import (
    Bracket,
    gamma_low,
    gamma_up,
    gamma_up_free,
    gamma_up_from_weights,
    margin_space,
    radius,
    sample_margins,
)
from .debugging import debug
from .model_margins import Margins, margins
from .risks import risk, risk_gradient
from .run_record import LearnerRecord, RunRecord, UpdateLog
from .separability import Separability

if TYPE_CHECKING:
    from ..certificates import Certificate, CertificateError, Verification

#: Names of :mod:`perceptrons.certificates`, which imports this package: loaded at their first use.
_OF_CERTIFICATES = ("Certificate", "CertificateError", "Verification")

__all__ = [
    *bounds.__all__,
    "Bracket",
    "Certificate",
    "CertificateError",
    "LearnerRecord",
    "Margins",
    "RunRecord",
    "Separability",
    "UpdateLog",
    "Verification",
    "bounds",
    "debug",
    "gamma_low",
    "gamma_up",
    "gamma_up_free",
    "gamma_up_from_weights",
    "margin_space",
    "margins",
    "radius",
    "risk",
    "risk_gradient",
    "sample_margins",
]


def __getattr__(name: str) -> Any:
    if name in _OF_CERTIFICATES:
        return getattr(importlib.import_module("perceptrons.certificates"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
