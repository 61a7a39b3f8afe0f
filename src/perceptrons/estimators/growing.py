"""Labels as class codes, and classes that appear on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .. import rules
from ..engine import spaces
from ..engine.journal import Journal
from .checks import estimator
from .halfspace import Halfspace
from .undoing import twin_of_journal


@estimator
class Growing(Halfspace):
    """A classifier whose set of classes may grow while it learns.

    While one class is known it is trained as +1. When the second appears, the larger label becomes +1. From
    two to three classes w becomes W = (-f w, f w), with 0 for the new class.
    """

    if TYPE_CHECKING:  # what fitting sets; at run time these would be taken for parameters
        classes_: Any = None
        _space: Any = None
        _journals: Any = None

    #: w may live in a joint space of all classes
    _has_joint: ClassVar[bool] = False

    # ------------------------------------------------------------ what a subclass says

    def _binary_space(self, frame: spaces.Frame, n_features: int) -> Any:
        """A fresh space for two classes."""
        raise NotImplementedError

    def _joint_space(self, frame: spaces.Frame, n_features: int, n_classes: int) -> Any:
        """A fresh joint space, where the class has one."""
        raise NotImplementedError

    def _new_journals(self, space: Any) -> list[Journal]:
        """Empty logs, where updates are kept."""
        raise NotImplementedError

    def _is_joint(self) -> bool:
        return self._has_joint

    def _prototypes(self) -> bool:
        """Whether the classes that are there were learned together."""
        return bool(self._space.joint)

    def _facts(self) -> rules.Facts:
        """What the rule table says of this learner."""
        found = rules.facts_of(self)
        assert found is not None
        return found

    def _n_threads(self) -> int:
        return 1

    def _new_space(self, frame: spaces.Frame, n_features: int, n_classes: int) -> Any:
        if n_classes <= 2:
            return self._binary_space(frame, n_features)
        if self._is_joint():
            return self._joint_space(frame, n_features, n_classes)
        learners = [self._binary_space(frame, n_features) for _ in range(n_classes)]
        return spaces.OneVsRest(learners, self._n_threads())

    # ------------------------------------------------------------ labels

    def _codes(self, y: np.ndarray, grow: bool = False) -> np.ndarray:
        """Labels as codes; labels not known yet are taken up, or refused."""
        self._check_same_kind(y)
        new = np.setdiff1d(y, self.classes_) if len(self.classes_) else np.unique(y)
        if len(new):
            if not grow:
                raise ValueError(f"y holds a label the model does not know: {new[0]!r}.")
            new = self._validated_labels(new, len(new))
            if len(self.classes_):  # on copies: an interruption leaves the model as it was
                self._space = self._space.copy_for_class(bool(self._journals))
                self._journals = [twin_of_journal(journal) for journal in self._journals]
            for label in new:
                self._take_up(label)
        if len(self.classes_) == 1:
            return np.ones(len(y), np.int64)  # the only class is trained as +1
        return np.searchsorted(self.classes_, y).astype(np.int64)

    def _check_same_kind(self, new: np.ndarray) -> None:
        def kind(labels: np.ndarray) -> str:
            return "number" if labels.dtype.kind in "biuf" else type(labels.tolist()[0]).__name__

        if len(self.classes_) and kind(self.classes_) != kind(new):
            raise ValueError(
                f"y must hold labels of one type: the model knows {self.classes_.tolist()[:3]!r}, "
                f"and now gets {new.tolist()[:3]!r}."
            )

    def _take_up(self, label: Any) -> None:
        """A class that was not known so far."""
        old = self.classes_
        merged = np.append(old, label) if len(old) else np.asarray([label])
        self.classes_ = np.unique(merged)
        code = int(np.searchsorted(self.classes_, label))
        if len(old) == 0:
            return
        if len(old) == 1:
            if code == 1:  # the one class so far is now the smaller one
                self._exchange()
        elif len(old) == 2:
            self._spread_to_three(code)
        else:
            self._space.add_class(code, self._fresh_learner)
            self._log_class(code)

    def _fresh_learner(self) -> Any:
        """A learner of two classes in the frame of those that are there."""
        other = self._space.learners[0]
        return self._binary_space(other.frame, other.n_features)

    def _log_class(self, code: int) -> None:
        """The updates so far did not move the new class."""
        if not self._prototypes() and self._journals:
            self._journals.insert(code, self._new_journals(self._space.learners[code])[0])
            return
        for journal in self._journals:
            journal.alpha = np.insert(journal.alpha, code, 0.0, axis=1)

    def _exchange(self) -> None:
        """Exchange -1 and +1."""
        space = self._space
        if space.from_zero and space.counts().updates == 0:
            return  # w is 0 still
        space.negate()
        for journal in self._journals:
            journal.alpha = -journal.alpha

    def _spread_to_three(self, code: int) -> None:
        """From one w to one per class: W = (-f w, f w), and 0 for the new class."""
        journals = self._journals
        if self._is_joint():
            factor, binary = self._facts().step.pair, self._space.learners[0]
            prototypes = self._joint_space(binary.frame, binary.n_features, 2)
            self._space = self._space.spread_jointly(code, prototypes, factor)
            for journal in journals:
                column = factor * journal.alpha
                journal.alpha = np.hstack([-column, column])
        else:
            self._space = self._space.spread(code, self._fresh_learner, self._n_threads())
            if journals:
                flipped = twin_of_journal(journals[0])
                flipped.alpha = -flipped.alpha
                self._journals = [flipped, journals[0]]
        self._log_class(code)
