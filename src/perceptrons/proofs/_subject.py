"""A fitted learner as the theory sees it: its rule, its space, its kind of problem."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from .. import kernels, rules
from ..engine import spaces
from ..estimators.budget import BudgetKernelPerceptron
from ..estimators.kernel_based import KernelBased
from ..estimators.maximum_margin import MaxMargin
from ..estimators.multiplicative import BalancedWinnow, Elimination, PNormPerceptron, Winnow
from ..estimators.objects import describe
from ..estimators.risk import RiskDescent
from ..theory import digests
from ..theory._given import numbers
from ..theory._outward import float64_rounds
from ..theory.evidence import Space
from ._lines import LINES, OWN


class Subject:
    """The model, the data it was fitted on, and what follows from them without reading a row."""

    def __init__(self, model: Any, X: Any, y: Any):
        if not hasattr(model, "classes_") or len(model.classes_) < 2:
            raise ValueError(f"certify needs a fitted model with two classes or more; got {model!r}.")
        self.model: Any = model
        self.kernel: Any = getattr(model, "kernel_", None)
        objects = self.kernel is not None and self.kernel.takes in ("strings", "objects")
        self.X: Any = X if objects else _numbers(model, X)
        self.n_rows: int = self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)
        #: whether the run has seen other rows than X: integers that float64 rounds
        self.rounded: bool = not objects and float64_rounds(self.X)
        self.codes, self.labels = _codes(model.classes_, y, self.n_rows)
        self.y = y
        self.learners = _learners(model)
        self.problem = self._problem()
        self.n_parts = len(model.classes_) if self.problem == "one-vs-rest" else 1
        width = getattr(model, "n_features_in_", None)
        if hasattr(self.X, "shape") and width is not None and self.X.shape[1] != width:
            raise ValueError(f"X must have {width} features, as the model has; got {self.X.shape[1]}.")
        self.from_zero = all(getattr(learner, "from_zero", True) for learner in self.learners)
        self.single = any(
            getattr(getattr(learner, "frame", None), "dtype", None) == np.float32 for learner in self.learners
        )
        self.rule: Any = self._rule()
        self.parameters: dict[str, Any] = self._parameters()
        self.space = self._space()
        self.counts_rows = self.rule not in (BudgetKernelPerceptron, RiskDescent)
        self.visits = self._visits()
        self.converged = (
            str(getattr(model, "stop_reason_", "")) == "clean pass"
            and not hasattr(model, "best_iter_")
            and self.from_zero
        )

    def _problem(self) -> str:
        if len(self.model.classes_) == 2:
            return "binary"
        joint = any(isinstance(learner, spaces.Joint) for learner in self.learners)
        return "joint" if joint else "one-vs-rest"

    def _rule(self) -> Any:
        """The row of the table."""
        for kind in type(self.model).__mro__:
            if kind in LINES:
                return kind
        rule = self.record()
        return type(rule) if type(rule) in LINES else None

    def record(self) -> Any:
        """The record of the rule that the run went by; None for learners without one."""
        return self.model._rule_in_force() if hasattr(self.model, "_rule_in_force") else None

    def parameter(self, name: str) -> Any:
        """A parameter as the run went by it, whatever it was set to since."""
        return vars(self.model).get("_begun", {}).get(name, getattr(self.model, name, None))

    def _parameters(self) -> dict[str, Any]:
        """What enters the theorems, under the names of the claims."""
        out: dict[str, Any] = {}
        rule = self.record()
        if rule is not None:
            out["rule"] = type(rule).__name__
            out |= {name: getattr(rule, name) for name in getattr(rule, "_fields", ())}
            if self.rule is rules.Perceptron:
                out["learning_rate"] = out.pop("eta")
            names = {rules.RateByUpdates: "updates", rules.RateByExamples: "examples"}
            if self.rule in names:
                out["learning_rate"] = names[self.rule]
            variants = {rules.PA: "hard", rules.PA1: "I", rules.PA2: "II"}
            if self.rule in variants:
                out["variant"] = variants[self.rule]
            if self.rule in (rules.ROMMA, rules.AggressiveROMMA):
                out["aggressive"] = self.rule is rules.AggressiveROMMA
        for name in OWN.get(self.rule, ()):
            out[name] = self.parameter(name)
        for name in ("mistake", "readout", "scheme", "solver"):
            value = self.parameter(name)
            if name == "readout" and value == "auto":
                value = self.model._readout
            if isinstance(value, str):
                out[name] = value
        return out

    def _space(self) -> Space:
        model = self.model
        free = bool(self.parameter("fit_intercept")) and self.rule is MaxMargin  # an offset without a price
        bias = float(free) if self.rule is MaxMargin else float(model._bias())
        if self.kernel is not None:
            free = bias > 0.0 and not isinstance(model, KernelBased)
            return Space("kernel", 1.0 if free else bias, kernel=describe(self.kernel), free=free)
        if self.rule in (Winnow, Elimination):
            return Space("input", 1.0, free=True)
        if self.rule is MaxMargin:
            return Space("input", bias, free=free)
        unit = bool(model._unit_rows())
        order = 2.0
        if self.rule is BalancedWinnow:
            order = 1.0
        elif self.rule is PNormPerceptron:
            p = float(self.parameter("p"))
            order = p / (p - 1.0)
        return Space("augmented" if bias else "input", bias, unit, order=order)

    @property
    def function(self) -> Any:
        """The user's own kernel, wherever it is within the kernel of the model."""
        kernel = self.kernel
        while kernel is not None:
            if hasattr(kernel, "function"):
                return kernel.function
            inner = [*getattr(kernel, "terms", ()), getattr(kernel, "kernel", None)]
            kernel = next((k for k in inner if k is not None), None)
        return None

    def signs(self, r: int) -> np.ndarray:
        """+1 and -1 as learner r sees the labels."""
        return np.where(self.codes == (r if self.n_parts > 1 else 1), 1.0, -1.0)

    def one_sample(self) -> bool:
        """Whether the rows were met as rows of one X, in whole passes."""
        reason = str(getattr(self.model, "stop_reason_", ""))
        return reason not in ("partial_fit", "learn_one") or len(self.model.history_) == 1

    def _visits(self) -> int | None:
        """How often each row was met at most; None where the run does not tell."""
        if not hasattr(self.model, "history_") or not getattr(self.model, "_plain", True):
            return None
        if self.one_sample():
            return len(self.model.history_)
        passes = self.passes()
        visits = 1 if passes is None else len(passes)
        examples = sum(record["examples"] for record in self.model.history_)
        return visits if examples == visits * self.n_rows * self.n_parts else None

    def passes(self) -> list[list[dict[str, Any]]] | None:
        """The records of each pass over the rows; None where the run came in pieces without their number."""
        history = list(getattr(self.model, "history_", []))
        if self.one_sample():
            return [[record] for record in history]
        if not history or any("pass" not in record for record in history):
            return None
        return [list(records) for _, records in groupby(history, key=lambda record: record["pass"])]

    def unpeeking(self) -> bool:
        """Whether nothing about the learner was set by looking at all of the data."""
        if self.space.bias and self.parameter("intercept_scaling") == "auto":
            return False
        if self.kernel is not None and isinstance(self.model, KernelBased):
            return bool(kernels.as_kernel(self.parameter("kernel")) == self.kernel)
        return getattr(self.model, "gamma", None) != "auto"


def _numbers(model: Any, X: Any) -> Any:
    """The rows; texts as the rows of numbers that a learner of texts makes of them."""
    if hasattr(model, "hash") and getattr(X, "ndim", 1) == 1:
        X = model.hash(X)
    return numbers(X)


def _codes(classes: np.ndarray, y: Any, n_rows: int) -> tuple[np.ndarray, list[Any]]:
    """The number of each label, and the labels in order, as y writes them: 1, 1.0 and True are not one."""
    try:
        labels = y.tolist() if hasattr(y, "tolist") else list(y)
        written = {tuple(digests.encode_label(label)): label for label in dict.fromkeys(labels)}
    except TypeError as error:
        raise ValueError(f"y must be one label per row; got {type(y).__name__}: {error}.") from error
    if len(labels) != n_rows:
        raise ValueError(f"X has {n_rows} rows, y has {len(labels)} labels.")
    places = {label: code for code, label in enumerate(np.asarray(classes).tolist())}
    strange = next((label for label in written.values() if label not in places), None)
    if strange is not None:
        raise ValueError(f"y has a label {strange!r} that the model does not know.")
    given = set(labels)
    unseen = next((label for label in places if label not in given), None)
    if unseen is not None:
        raise ValueError(
            f"y must have every label that the model knows; it has no {unseen!r}. A certificate is about the "
            "classes of its rows: certify on rows of all classes."
        )
    own = sorted(written.values(), key=places.__getitem__)
    return np.asarray([places[label] for label in labels], np.int64), own


def _learners(model: Any) -> list[Any]:
    if "_space" not in vars(model):
        return []
    core = model._core
    return list(core.learners) if hasattr(core, "learners") else [core]
