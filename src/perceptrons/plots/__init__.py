"""Pictures of halfspaces, weight spaces, risks, runs, margins and words, in scikit-learn's form of a Display.

A class method (``from_estimator``, ``from_trace``, ``from_data``) computes what is drawn, makes the display
and draws it. The display keeps the numbers and, after ``plot``, the artists; ``plot(ax=…)`` draws them again,
somewhere else. matplotlib is imported when something is drawn: ``pip install 'perceptrons[plot]'``.
``lab`` is no display: it shows the page of ``perceptrons lab`` in a notebook, and needs
``pip install 'perceptrons[lab]'``.
"""

from __future__ import annotations

import importlib
from typing import Any

_WHERE = {
    "HalfspaceDisplay": "x_space",
    "WeightSpaceDisplay": "w_space",
    "RiskSurfaceDisplay": "risk_surface",
    "MistakeCurveDisplay": "mistake_curve",
    "ConvergenceProofDisplay": "convergence_proof",
    "MarginBracketDisplay": "margin_bracket",
    "ProgressiveErrorDisplay": "progressive_error",
    "WeightsImageDisplay": "weight_images",
    "MarginDistributionDisplay": "margin_distribution",
    "TopFeaturesDisplay": "words",
    "ExplanationDisplay": "words",
    "lab": ".lab.notebook",  # of the package above this one, which imports the displays
}

__all__ = [*_WHERE]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
