"""Proofs one can run: certificates, traces, verdicts on separability, advice, the online protocol, and
adversaries.

Names are loaded at their first use.
"""

from __future__ import annotations

import importlib
from typing import Any

_WHERE = {
    "certify": ".certifying",
    "run_online": ".protocol",
    "OnlineRun": ".protocol",
    "BoundCurves": ".protocol",
    "force_mistakes": ".adversaries",
    "ForcedMistakes": ".adversaries",
    "Generated": "..datasets.generators",
    "separable": "..datasets.generators",
    "k_of_r": "..datasets.generators",
    "xor": "..datasets.generators",
    "shrinking_margin": "..datasets.generators",
    "decision_list": "..datasets.generators",
    "noisy": "..datasets.generators",
    "minimum_error_halfspace": ".smallest_error",
    "MinimumError": ".smallest_error",
    "errors_and_hinge": ".smallest_error",
    "ErrorsAndHinge": ".smallest_error",
    "separability": ".linear_separability",
    "best_comparator": ".best_u",
    "Comparator": ".best_u",
    "weight_space": ".half_spaces",
    "WeightSpace": ".half_spaces",
    "advise": ".advice",
    "Advice": ".advice",
    "trace": ".tracing",
    "Trace": ".tracing",
    "ProofTrace": ".tracing",
    "ProofError": ".tracing",
}

__all__ = [*_WHERE]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
