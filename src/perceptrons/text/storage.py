"""What a text classifier stores: its parameters, counts of texts, and weights of one label or several."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

import numpy as np

from .. import rules
from .._types import Record
from ..core import calibrating, checks
from ..core.first_order import READOUTS, OnlineClassifierSpec
from ..core.parameters import spec
from ..engine import spaces
from .parameters import TextParameters

#: Parameters that say which columns a text has.
OF_HASHING = (
    *("bits", "analyzer", "tokens", "ngram_range", "lowercase", "stop_words", "values", "signed", "seed"),
)
#: The rule of a learner whose rule is None.
RULE = rules.AROW(r=0.1)


class LabelStorage(NamedTuple):
    """What the weights of texts with several labels take."""

    columns: int  #: in use, without the constant
    pairs: int  #: of a column and a label that have a weight of their own
    bytes: int  #: of weights, variances and lists, with room for more; without the table of the columns
    in_lists: bool  #: each column has a list of its labels, instead of a line of all


@spec
class StoredTexts(TextParameters, OnlineClassifierSpec):
    """Parameters of :class:`perceptrons.TextClassifier`, and the storage that they ask for."""

    tokens: str = "all"
    ngram_range: tuple[int, int] = (1, 2)
    values: str = "sublinear"
    readout: str = "auto"
    row_norm: str | None = "l2"
    max_iter: int | None = 3
    precision: str = "float32"
    cache_mb: float | None = 1024.0
    idf: bool = True

    if TYPE_CHECKING:  # set by fit
        _indicator: bool = field(init=False)  #: True where y was an indicator matrix

    _of_state = (*OF_HASHING, "precision", "idf")
    _takes_lists = True
    _READOUTS: ClassVar[tuple[str, ...]] = ("auto", *READOUTS)

    def _check_params(self) -> None:
        super()._check_params()
        self._check_text_params()
        checks.one_of("precision", self.precision, ("float32", "float64"))
        if self.cache_mb is not None:
            checks.positive("cache_mb", self.cache_mb, zero=True)
        checks.flag("idf", self.idf)
        if self.idf:
            self._check_idf()

    # ------------------------------------------------------------ the running idf

    def _check_idf(self) -> None:
        """Refuse what needs rows that are the same at every visit."""
        why = "with idf=True the row of a text changes from visit to visit"
        if self._readout in ("vote", "random"):
            raise ValueError(
                f"readout={self.readout!r} goes through the updates again, and {why}; use readout='last' or "
                "'average', or idf=False."
            )
        if self.log_updates:
            raise ValueError(
                f"log_updates=True names the row of each update, and {why}: set one of them to False."
            )
        if self.fit_intercept and self._scales_itself():
            raise ValueError(
                f"intercept_scaling='auto' takes B from the lengths of all rows, and {why}: give a number."
            )

    def _new_space(
        self, frame: spaces.Frame, n_features: int, n_classes: int, several: bool = False
    ) -> spaces.Space:
        space: spaces.Space
        if several:
            space = spaces.Labels(self._rule_of_labels(), frame, n_features, n_classes)
        else:
            space = super()._new_space(frame, n_features, n_classes)
        if self.idf:
            space.count_texts()
        return space

    def _counts(self) -> np.ndarray | None:
        """How many texts each column has occurred in, all texts last; None: they are not counted."""
        return self._space.df if "_space" in vars(self) else None

    def _counted_texts(self, name: str) -> np.ndarray:
        self._fitted(name)
        df = self._counts()
        if df is None:
            raise AttributeError(f"{name} is there with idf=True only.")
        return df

    @property
    def n_texts_(self) -> int:
        """Texts that were learned, each counted at every visit."""
        return int(self._counted_texts("n_texts_")[-1])

    @property
    def document_counts_(self) -> np.ndarray:
        """For each column, how many of them had an entry there."""
        return self._counted_texts("document_counts_")[:-1].copy()

    # ------------------------------------------------------------ several labels a text

    def _rule_of_labels(self) -> Record:
        """The rule by which every label is learned."""
        if not self._second_order():
            raise ValueError(
                "Texts with several labels are learned by rules with a confidence per column: give "
                f"rule=rules.AROW(), SCW1() or SCW2(); got rule={self.rule!r}."
            )
        if self.log_updates:
            raise ValueError("Updates on texts with several labels are not logged: set log_updates=False.")
        if calibrating.on_first_visits(self):
            raise ValueError(
                "The scores of texts with several labels are not kept when the texts are learned: set "
                "calibration_rows='held out' for probabilities."
            )
        return cast(Record, self._rule())

    @property
    def label_storage_(self) -> LabelStorage:
        """What the weights of several labels take: columns in use, pairs of column and label, bytes."""
        space = cast("spaces.Labels", self._fitted("label_storage_"))
        if not self._several:
            raise AttributeError("label_storage_ is there for texts with several labels only.")
        return LabelStorage(space.n_slots - 1, space.n_pairs, space.n_bytes, space.in_lists)

    def _begin_lists(self, indicator: bool) -> None:
        vars(self).pop("_indicator", None)
        if indicator:
            self._indicator = True

    def _check_run(self) -> None:
        if not self._several:
            super()._check_run()

    def _record_fields(self, evidence: bool) -> dict[str, Any]:
        if self._several:
            raise ValueError("A run on texts with several labels has no record: its theory is of one label.")
        return super()._record_fields(evidence)

    # ------------------------------------------------------------ rules with a confidence per column

    def _rule(self) -> Record | rules.UserRule:
        return RULE if self.rule is None else rules.named(self.rule)

    def _second_order(self) -> bool:
        return type(self._rule()) in rules.CONFIDENCE

    @property
    def _readout(self) -> str:
        if self.readout != "auto":
            return self.readout
        return "last" if self._second_order() else "average"

    def _check_rule(self, rule: Record | rules.UserRule) -> None:
        if not self._second_order():
            super()._check_rule(rule)
        elif self._readout != "last" or self.normalized_votes:
            raise ValueError(
                f"rule {type(rule).__name__} predicts with its last weights: give readout='last' and "
                f"normalized_votes=False; got readout={self.readout!r}."
            )

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> spaces.SingleSpace:
        if self._second_order():
            return spaces.Confident(cast(Record, self._rule()), frame, n_features, full=False)
        return super()._binary_space(frame, n_features)

    def _space_kinds(self) -> tuple[type, ...]:
        return (spaces.Confident, spaces.Labels) if self._second_order() else super()._space_kinds()

    def _is_joint(self) -> bool:
        return super()._is_joint() and not self._second_order()

    def _start_at(self, space: Any, d: int, coef_init: Any, intercept_init: Any) -> None:
        if self._second_order():
            raise ValueError(f"rule {type(self._rule()).__name__} starts from w = 0; drop coef_init.")
        super()._start_at(space, d, coef_init, intercept_init)

    def _learner_fields(self, r: int, learner: Any) -> dict[str, Any]:
        fields = super()._learner_fields(r, learner)
        if type(learner.rule) in rules.CONFIDENCE:
            fields["covariance"] = learner.trimmed_sigma()
        return fields

    @property
    def covariance_(self) -> np.ndarray:
        """Diagonal of Sigma, one row per learner, for rules that have one."""
        if not self._second_order():
            raise AttributeError("covariance_ is there for rules.AROW, SCW1 and SCW2 only.")
        if self._several:
            raise AttributeError("covariance_ is not there for texts with several labels.")
        learners = cast(list[spaces.Confident], self._fitted("covariance_").learners)
        return np.stack([learner.trimmed_sigma() for learner in learners])
