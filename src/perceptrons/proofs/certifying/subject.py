"""What the theory needs of a fitted learner: its rule, its space, its kind of problem."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import kernels, rules
from ..._sparse import is_sparse
from ..._types import JsonObject, Matrix, Objects, PairFunction
from ...certificates import digests
from ...certificates.evidence import RowSpace
from ...certificates.schema import MIXES
from ...core.kernel_based import KernelBased
from ...core.objects import describe
from ...estimators.budget import BudgetKernelPerceptron
from ...estimators.risk import RiskDescent
from ...kernels.names import of_own_class
from ...theory._given import label_codes, label_list, numbers
from ...theory._outward import float64_rounds
from ...theory.run_record import RunRecord


class Subject:
    """The run, the data it was made on, and what follows from them without reading a row."""

    def __init__(self, model: Any, X: Objects, y: npt.ArrayLike):
        if not hasattr(model, "classes_") or len(model.classes_) < 2:
            raise ValueError(f"certify needs a fitted model with two classes or more; got {model!r}.")
        if getattr(model, "several_labels", False):
            raise ValueError(
                "certify is for models of one label a row; this one has several. Each label is learned as by "
                "a model of its own: fit that on the column of the label, and certify it."
            )
        if getattr(getattr(model, "estimator_", model), "idf", False):
            raise ValueError(
                "A certificate is about rows that stay the same, and with idf=True the row of a text changes "
                "from visit to visit: certify a model with idf=False."
            )
        #: what the learner says of its run
        self.record: RunRecord = model.run_record()
        self.kernel: Any = self.record.kernel
        own = self.kernel is not None and of_own_class(self.kernel)
        if own and (is_sparse(X) or hasattr(X, "iloc")):
            raise ValueError(
                f"certify calls {self.kernel} for pairs of rows: give X as an array, such as X.toarray() of "
                "a sparse matrix or X.to_numpy() of a frame."
            )
        objects = own or (self.kernel is not None and self.kernel.takes in ("strings", "objects"))
        self.X: Objects = X if objects else _numbers(model, X)
        self.n_rows: int = self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)
        #: whether the run has seen other rows than X: integers that float64 rounds
        self.rounded: bool = not objects and float64_rounds(self.X)
        self.codes, self.labels = _codes(self.record.classes, y, self.n_rows)
        self.y = y
        self.problem = self.record.problem
        self.n_parts = len(self.record.learners)
        width = self.record.n_features
        if hasattr(self.X, "shape") and width is not None and self.X.shape[1] != width:
            raise ValueError(f"X must have {width} features, as the model has; got {self.X.shape[1]}.")
        self.from_zero = self.record.from_zero
        self.row = self._row()
        self.rule = self._rule()
        self.parameters: JsonObject = self._parameters()
        self.space = self._space()
        self.counts_rows = self.rule not in (BudgetKernelPerceptron, RiskDescent)
        self.visits = self._visits()
        self.converged = (
            self.record.stop_reason == "clean pass" and self.record.best_iter is None and self.from_zero
        )

    def _row(self) -> rules.Facts | None:
        """What the rule table says of the run; None where the theory has nothing for it."""
        row = rules.row_of(self.record.rule, self.record.kind)
        own = row is not None and (self.record.rule is None or row.family == "first order")
        return row if own else None

    def _rule(self) -> type | None:
        """The type of the record of a first-order rule, otherwise the class of the learner."""
        if self.row is None or self.row.family == "first order":
            return None if self.row is None else self.row.record
        return next(k for k in self.record.kind.__mro__ if k.__name__ == self.row.learner.class_name)

    @property
    def class_name(self) -> str:
        """Name of the class of the model: the learner, or what has mixed several runs of it."""
        return self.record.kind.__name__ if self.record.mixed is None else MIXES

    def learned_by(self, *kinds: type) -> bool:
        """Whether the learner is of one of these classes."""
        return issubclass(self.record.kind, kinds)

    def parameter(self, name: str) -> Any:
        """A parameter as the run used it, whatever it was set to since."""
        return self.record.parameters.get(name)

    def _parameters(self) -> JsonObject:
        """What enters the theorems, under the names of the claims."""
        out: JsonObject = {}
        rule = self.record.rule
        if rule is not None:
            out["rule"] = type(rule).__name__
            renamed = {} if self.row is None else self.row.learner.renamed
            out |= {renamed.get(name, name): getattr(rule, name) for name in getattr(rule, "_fields", ())}
        if self.row is not None:
            fixed = {} if rule is None else self.row.learner.fixed  # the rule alone says what they are
            stated = self.row.learner.stated
            out |= {name: fixed[name] if name in fixed else self.parameter(name) for name in stated}
        if self.record.mixed is not None:
            out["estimator"] = self.record.kind.__name__
            out |= {"mixing": self.record.mixed.mixing, "n_shards": self.record.mixed.n_shards}
        for name in ("mistake", "readout", "scheme", "solver"):
            value = self.parameter(name)
            if name == "readout" and value == "auto":
                value = self.record.readout
            if isinstance(value, str):
                out[name] = value
        return out

    def _space(self) -> RowSpace:
        run = self.record
        if self.kernel is not None:
            return RowSpace("kernel", run.bias, kernel=describe(self.kernel), free=run.free)
        augmented = run.bias > 0.0 and not run.free
        return RowSpace(
            "augmented" if augmented else "input", run.bias, run.unit, free=run.free, order=run.order
        )

    @property
    def function(self) -> PairFunction | None:
        """The user's own kernel, which a certificate cannot hold; None where it holds the whole kernel."""
        found: PairFunction | None = kernels.function_of(self.kernel)
        return found

    def signs(self, r: int) -> np.ndarray:
        """The labels as +1 and -1 for learner r."""
        return np.where(self.codes == (r if self.n_parts > 1 else 1), 1.0, -1.0)

    def one_sample(self) -> bool:
        """Whether the rows were learned as rows of one X, in whole passes."""
        return not self.record.in_pieces or len(self.record.history or ()) == 1

    def _visits(self) -> int | None:
        """How often each row was learned at most; None where the run did not record it."""
        history = self.record.history
        if history is None or not self.record.plain:
            return None
        if self.one_sample():
            return len(history)
        passes = self.passes()
        visits = 1 if passes is None else len(passes)
        return visits if self.record.examples == visits * self.n_rows * self.n_parts else None

    def passes(self) -> list[list[Mapping[str, Any]]] | None:
        """The records of each pass over the rows; None where the run came in pieces without their number."""
        history = self.record.history or ()
        if self.one_sample():
            return [[record] for record in history]
        if not history or any("pass" not in record for record in history):
            return None
        return [list(records) for _, records in groupby(history, key=lambda record: record["pass"])]

    def set_before_the_data(self) -> bool:
        """Whether nothing about the learner was set by looking at all of the data."""
        if self.space.bias and self.parameter("intercept_scaling") == "auto":
            return False
        if self.kernel is not None and self.learned_by(KernelBased):
            return bool(kernels.as_kernel(self.parameter("kernel")) == self.kernel)
        return bool(self.parameter("gamma") != "auto")


def _numbers(model: Any, X: Any) -> Matrix:
    """The rows; texts as the rows of numbers that a learner of texts makes of them."""
    model = getattr(model, "estimator_", model)
    if hasattr(model, "hash") and getattr(X, "ndim", 1) == 1:
        X = model.hash(X)
    return numbers(X)


def _codes(classes: np.ndarray, y: npt.ArrayLike, n_rows: int) -> tuple[np.ndarray, list[Any]]:
    """The number of each label, and the labels in order, as y writes them: 1, 1.0 and True are not one."""
    try:
        labels = label_list(y)
        written = {tuple(digests.encode_label(label)): label for label in dict.fromkeys(labels)}
    except TypeError as error:
        raise ValueError(f"y must be one label per row; got {type(y).__name__}: {error}.") from error
    if len(labels) != n_rows:
        raise ValueError(f"X has {n_rows} rows, y has {len(labels)} labels.")
    codes = label_codes(classes, labels)
    given = set(labels)
    unseen = next((label for label in label_list(classes) if label not in given), None)
    if unseen is not None:
        raise ValueError(
            f"y must have every label that the model knows; it has no {unseen!r}. A certificate is about the "
            "classes of its rows: certify on rows of all classes."
        )
    place = dict(zip(labels, codes.tolist()))
    return codes, sorted(written.values(), key=place.__getitem__)
