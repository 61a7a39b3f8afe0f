"""perceptrons: online, large-margin learning of halfspaces, exact, fast, with the proof attached."""

from __future__ import annotations

import importlib
from typing import Any

from ._deferred import FOR_FUNCTIONS_ALONE, deferred
from ._garbage import no_collections
from ._version import __version__

_WHERE = {
    "Perceptron": "estimators.perceptron",
    "AveragedPerceptron": "estimators.perceptron",
    "VotedPerceptron": "estimators.perceptron",
    "MarginPerceptron": "estimators.perceptron",
    "MIRA": "estimators.aggressive",
    "PassiveAggressive": "estimators.aggressive",
    "ROMMA": "estimators.aggressive",
    "ALMA": "estimators.aggressive",
    "OnlineClassifier": "estimators.first_order",
    "Winnow": "estimators.multiplicative",
    "BalancedWinnow": "estimators.multiplicative",
    "Elimination": "estimators.multiplicative",
    "PNormPerceptron": "estimators.multiplicative",
    "SecondOrderPerceptron": "estimators.confidence",
    "AROW": "estimators.confidence",
    "SCW": "estimators.confidence",
    "RiskDescent": "estimators.risk",
    "MaxMargin": "estimators.maximum_margin",
    "KernelPerceptron": "estimators.kernel",
    "KernelClassifier": "estimators.kernel",
    "BudgetKernelPerceptron": "estimators.budget",
    "from_sklearn": "estimators.conversion",
    "ParameterMixing": "mixing.parameter_mixing",
    "TextHasher": "text.hasher",
    "TextClassifier": "text.classifier",
    "SmallTextClassifier": "text.small_classifier",
    "advise": "proofs.advice",
    "certify": "proofs.certifying",
    "separability": "proofs.linear_separability",
    "trace": "proofs.tracing",
    "save": "models.saving",
    "load": "models.saving",
    "shrink": "models.shrinking",
    "tune": "tuning.search",
}
_MODULES = (
    "datasets",
    "io",
    "kernels",
    "models",
    "plots",
    "preprocessing",
    "proofs",
    "reference",
    "rules",
    "text",
    "theory",
)

__all__ = ["__version__", *_WHERE, *_MODULES]


def _imported(module: str) -> Any:
    """A module of ours, which may import thousands of functions and classes that stay."""
    with no_collections(), deferred(*FOR_FUNCTIONS_ALONE):
        return importlib.import_module(f".{module}", __name__)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(_imported(_WHERE[name]), name)
    if name in _MODULES:
        return _imported(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
