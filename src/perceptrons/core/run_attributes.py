"""Attributes of a run: counters, the longest row, the bracket around the best margin, the log."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import numpy as np

from ..engine.journal import Journal
from ..theory.brackets import margin_space
from . import margin_brackets, progressive
from .classifier import Classifier
from .parameters import spec

if TYPE_CHECKING:
    from ..engine.spaces import Bracket, Space
    from .learner import Learner


T = TypeVar("T")


def one_or_all(brackets: list[T] | None) -> T | list[T] | None:
    """The bracket of a single learner, or the list of those of several."""
    return brackets[0] if brackets is not None and len(brackets) == 1 else brackets


@spec
class RunAttributes(Classifier):
    """Attributes of learners that go from row to row, all of them read from the space and the log."""

    log_updates: bool = False
    max_log: int = 10_000_000

    #: class of the log of updates
    _journal: ClassVar[type[Journal]] = Journal

    if TYPE_CHECKING:  # set by fit; at run time these annotations would declare parameters
        _space: Space = field(init=False)
        _journals: list[Journal] = field(init=False)
        _bounds: Bracket | list[Bracket] | None = field(init=False)
        _steps: list[np.ndarray | None] | None = field(init=False)
        _longest: float = field(init=False)
        random_step_: int = field(init=False)
        _progressive: np.ndarray = field(init=False)

    def _fitted(self, name: str) -> Space:
        if "_space" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted.")
        return self._space

    # ------------------------------------------------------------ computed from the space

    @property
    def n_mistakes_(self) -> int:
        """Rows met on the wrong side of the hyperplane, or on it."""
        return self._fitted("n_mistakes_").counts().mistakes

    @property
    def n_updates_(self) -> int:
        """Updates made."""
        return self._fitted("n_updates_").counts().updates

    @property
    def n_errors_(self) -> int:
        """Rows whose label was predicted wrongly when they were met."""
        return self._fitted("n_errors_").counts().errors

    @property
    def sum_sq_norms_(self) -> float:
        """Q, the squared lengths of the rows that were updated on, summed over the updates."""
        return self._fitted("sum_sq_norms_").sum_sq_norms()

    @property
    def radius_(self) -> float:
        """Length of the longest row."""
        longest = max(self._longest, self._fitted("radius_").longest())
        return float(longest > 0.0) if self._unit_rows() else longest

    @property
    def intercept_scaling_(self) -> float:
        """B, the constant coordinate of the rows that were learned; 0 without an intercept."""
        return float(self._fitted("intercept_scaling_").frame.bias)

    @property
    def margin_bounds_(self) -> Any:  # a Bracket, a list of them or None
        """(gamma_low, gamma_up) around the best margin in the learner's own space, which ``space`` names.

        There are two margins. With an intercept this is the margin of rows with a constant coordinate, whose
        weight is part of the length of w. The distance of the rows as given from a hyperplane anywhere is at
        least as large: ``MaxMargin`` finds that one, and ``free_margin_bounds_`` encloses it.

        Both ends hold in spite of rounding: no separator has a margin above gamma_up, and some separator has
        a margin of at least gamma_low. gamma_low is -inf where the last w does not separate the rows, None
        where the rows were not read again.
        """
        space = self._fitted("margin_bounds_")
        bounds = vars(self).get("_bounds")
        pairs = one_or_all(space.bracket()) if bounds is None else bounds
        return margin_brackets.in_space(pairs, self._margin_space())

    @property
    def free_margin_bounds_(self) -> Any:  # a Bracket, a list of them or None
        """(gamma_low, gamma_up) around the best margin with a free offset: distances of the rows as given.

        For linear learners that go from w = 0 by steps of at least 0, with an intercept and without
        ``row_norm``, on two classes or one against the rest; None for others. gamma_up is inf until rows of
        both classes are known to be there.
        """
        space = self._fitted("free_margin_bounds_")
        if len(self.classes_) < 2:
            return None
        kept = vars(self).get("_bounds")
        pairs = space.bracket() if kept is None else kept if isinstance(kept, list) else [kept]
        if pairs is None:
            return None
        both = kept is not None and len(pairs) == 1  # a fit has refused anything else
        return one_or_all(margin_brackets.free_of_run(space, pairs, self.radius_, both))

    def _margin_order(self) -> float:
        """Separators are measured in this norm."""
        return 2.0

    def _margin_space(self) -> str:
        """The space of ``margin_bounds_``."""
        frame, joint = self._space.frame, self._space.joint
        return margin_space(frame.bias, frame.unit, order=self._margin_order(), joint=joint)

    @property
    def update_log_(self) -> np.ndarray:
        """Updates in order: fields epoch, row, step; and code, the class, for one-vs-rest."""
        self._fitted("update_log_")
        if not self._journals:
            raise AttributeError("update_log_ needs log_updates=True, or readout 'vote' or 'random'.")
        fields = [("epoch", np.int64), ("row", np.int64), ("step", np.float64), ("code", np.int64)]
        parts = []
        for r, journal in enumerate(self._journals):
            part = np.zeros(len(journal), fields)
            part["epoch"], part["row"], part["code"] = journal.epoch, journal.row, r
            part["step"] = np.abs(journal.alpha).max(axis=1) if len(journal) else 0.0
            parts.append(part)
        if len(parts) == 1:
            return parts[0][["epoch", "row", "step"]]
        return np.concatenate(parts)

    @property
    def progressive_rows_(self) -> int:
        """Rows of ``partial_fit`` and ``learn_one`` that were counted."""
        return int(self._progressive_tally("progressive_rows_")[0])

    @property
    def progressive_errors_(self) -> int:
        """Those of them for which ``predict`` would have returned a wrong label before they were learned."""
        return int(self._progressive_tally("progressive_errors_")[1])

    def _progressive_tally(self, name: str) -> np.ndarray:
        self._fitted(name)
        model = cast("Learner", self)
        why = progressive.silence(model)
        if why is not None:
            raise AttributeError(f"{name} is not there: {why}.")
        return progressive.now(model)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features, where they have names; a copy, as any row may add names."""
        names = vars(self).get("_names") or vars(self).get("_given_names")
        if names is None or not len(names):
            raise AttributeError(f"The features of this {type(self).__name__} have no names.")
        return np.asarray(list(names), dtype=object)

    @feature_names_in_.setter
    def feature_names_in_(self, names: np.ndarray) -> None:
        self._given_names = names

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        self.__dict__.pop("_given_names", None)
