"""Labels and their codes, and the change of a model when a class is added."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from .._sparse import is_sparse
from . import calibrating
from .label_lists import LabelLists, flat, gathered, is_listed, of_indicator
from .undoing import twin_of_journal

if TYPE_CHECKING:
    from .._types import Label
    from ..engine.spaces import Labels, SingleSpace
    from .classifier import Classifier
    from .learner import Learner


class LabelBook:
    """The labels of a model, in ascending order; the code of a label is its position.

    While one class is known it is trained as +1. When the second appears, the larger label becomes +1. From
    two to three classes w becomes W = (-f w, f w), with 0 for the new class.

    The book stores nothing itself: its labels are ``classes_`` of the model, as scikit-learn requires.
    """

    __slots__ = ("model",)

    def __init__(self, model: Learner):
        self.model = model

    def codes(self, y: Any, grow: bool = False) -> np.ndarray:
        """Labels as codes; new labels become classes where ``grow`` is true, else they are an error."""
        if isinstance(y, LabelLists):
            return self._codes_of_lists(y, grow)
        if y.ndim == 2:
            return np.asarray(y)
        self._check_same_kind(y)
        new = np.setdiff1d(y, self.model.classes_) if len(self.model.classes_) else np.unique(y)
        if len(new):
            if not grow:
                raise ValueError(f"y holds a label the model does not know: {new[0]!r}.")
            new = checked_labels(self.model, new, len(new))
            if len(self.model.classes_):  # on copies: an interruption leaves the model as it was
                self.model._space = self.model._space.copy_for_class(bool(self.model._journals))
                self.model._journals = [twin_of_journal(journal) for journal in self.model._journals]
            for label in new:
                self._take_up(label)
        if len(self.model.classes_) == 1:
            return np.ones(len(y), np.int64)  # the only class is trained as +1
        codes: np.ndarray = np.searchsorted(self.model.classes_, y).astype(np.int64)
        return codes

    def _codes_of_lists(self, y: LabelLists, grow: bool) -> np.ndarray:
        """The same for lists of labels. A label takes no part before its first row, so none is cut off."""
        if len(y.labels):
            self._check_same_kind(y.labels)
        known, labels = self.model.classes_, y.labels
        new = np.setdiff1d(labels, known) if len(known) else labels
        if len(new):
            if not grow:
                raise ValueError(f"y holds a label the model does not know: {new[0]!r}.")
            every = np.union1d(known, new) if len(known) else new
            space = cast(
                "Labels", self.model._space.copy_for_class(False)
            )  # an interruption leaves the model
            space.add_classes(np.searchsorted(every, new))
            self.model._space, self.model.classes_ = space, every
        return y.by(self.model.classes_)

    def segments(self, y: Any) -> list[slice]:
        """Cut a batch before the first row of each class that will be the third or a later one.

        A class takes part in the updates from its first row on, not from the start of the batch with that
        row: so any cut of the rows into batches makes the same model. The first two classes need no cut: a w
        that was trained with one class is also a w of two classes.
        """
        if y.ndim == 2:
            return [slice(0, len(y))]
        self._check_same_kind(y)
        known = self.model.classes_
        if len(known) and (known[np.minimum(np.searchsorted(known, y), len(known) - 1)] == y).all():
            return [slice(0, len(y))]
        labels, first = np.unique(y, return_index=True)
        new = ~np.isin(labels, known) if len(known) else np.ones(len(labels), bool)
        checked_labels(self.model, labels[new], int(np.count_nonzero(new)))  # before anything changes
        starts = np.sort(first[new])[max(0, 2 - len(known)) :]
        cuts = [0, *starts[starts > 0].tolist(), len(y)]
        return [slice(a, b) for a, b in pairwise(cuts)]

    def _check_same_kind(self, new: np.ndarray) -> None:
        def kind(labels: np.ndarray) -> str:
            return "number" if labels.dtype.kind in "biuf" else type(labels.tolist()[0]).__name__

        if len(self.model.classes_) and kind(self.model.classes_) != kind(new):
            raise ValueError(
                f"y must hold labels of one type: the model knows {self.model.classes_.tolist()[:3]!r}, "
                f"and now gets {new.tolist()[:3]!r}."
            )

    def _take_up(self, label: Label) -> None:
        """Add a class."""
        old = self.model.classes_
        merged = np.append(old, label) if len(old) else np.asarray([label])
        self.model.classes_ = np.unique(merged)
        code = int(np.searchsorted(self.model.classes_, label))
        if len(old) == 0:
            return
        if len(old) == 1:
            calibrating.class_added(self.model, 1, code)
            if code == 1:  # the one class so far is now the smaller one
                self._exchange()
        elif len(old) == 2:
            self._spread_to_three(code)
        else:
            self.model._space.add_class(code, self._fresh_learner)
            calibrating.class_added(self.model, len(old), code)
            self._log_class(code)

    def _fresh_learner(self) -> SingleSpace:
        """A learner of two classes in the frame of the existing learners."""
        other = self.model._space.learners[0]
        return self.model._binary_space(other.frame, other.n_features)

    def _log_class(self, code: int) -> None:
        """Add the new class to the log: the updates so far did not change its w."""
        if not self.model._prototypes() and self.model._journals:
            self.model._journals.insert(code, self.model._new_journals(self.model._space.learners[code])[0])
            return
        for journal in self.model._journals:
            journal.alpha = np.insert(journal.alpha, code, 0.0, axis=1)

    def _exchange(self) -> None:
        """Exchange -1 and +1."""
        space = self.model._space
        if space.from_zero and space.counts().updates == 0:
            return  # w is still 0
        space.negate()
        for journal in self.model._journals:
            journal.alpha = -journal.alpha

    def _spread_to_three(self, code: int) -> None:
        """From one w to one per class: W = (-f w, f w), and 0 for the new class."""
        journals, factor = self.model._journals, 1.0
        if self.model._is_joint():
            pair, binary = self.model._facts().step.pair, self.model._space.learners[0]
            assert pair is not None
            factor = pair
            prototypes = self.model._joint_space(binary.frame, binary.n_features, 2)
            self.model._space = self.model._space.spread_jointly(code, prototypes, factor)
            for journal in journals:
                column = factor * journal.alpha
                journal.alpha = np.hstack([-column, column])
        else:
            self.model._space = self.model._space.spread(code, self._fresh_learner, self.model._n_threads())
            if journals:
                flipped = twin_of_journal(journals[0])
                flipped.alpha = -flipped.alpha
                self.model._journals = [flipped, journals[0]]
        calibrating.class_added(self.model, 2, code, factor)
        self._log_class(code)


def checked_targets(
    model: Classifier, y: npt.ArrayLike | None, n_rows: int, goes_on: bool = False
) -> np.ndarray:
    """Labels, (n_rows,); or an indicator matrix, (n_rows, n_labels) of 0 and 1, uint8; or lists of labels.

    A model that ``goes_on`` has begun with one of them, and stays with it.
    """
    if model._takes_lists:
        found_lists: Any = _lists_or_labels(model, y, n_rows, goes_on)  # no array, but it is used as one
        return cast(np.ndarray, found_lists)
    found = indicator(y)
    if goes_on:
        _check_form(model, found)
    if found is None:
        return checked_labels(model, y, n_rows)
    if not model._takes_several:
        raise ValueError(
            f"{type(model).__name__} learns one label a row; y is an indicator matrix of {found.shape[1]} "
            "labels. Fit one model for each of its columns."
        )
    _check_unweighted(model)
    if len(found) != n_rows:
        raise ValueError(f"X has {n_rows} rows, y has {len(found)}.")
    return found


def _check_unweighted(model: Classifier) -> None:
    class_weight = getattr(model, "class_weight", None)
    if class_weight is not None:
        raise ValueError(
            "class_weight weighs a row by its class, and a row of several labels has none: use "
            f"sample_weight; got class_weight={class_weight!r}."
        )


def _lists_or_labels(model: Classifier, y: Any, n_rows: int, goes_on: bool) -> np.ndarray | LabelLists:
    """Labels, one a row; or lists of labels, for a model that learns those."""
    found = indicator(y) if is_sparse(y) or isinstance(y, np.ndarray) else None
    begun = goes_on and len(model.classes_) > 0
    several = found is not None or is_listed(y) or (goes_on and model._several)
    if not several:
        return checked_labels(model, y, n_rows)
    if begun and not model._several:
        raise ValueError(
            f"This {type(model).__name__} has learned one label a row; y has several. Begin anew with "
            "clone(model), or give one label a row."
        )
    _check_unweighted(model)
    lists = of_indicator(found) if found is not None else _gathered(model, *flat(y))
    if len(lists) != n_rows:
        raise ValueError(f"X has {n_rows} rows, y has labels for {len(lists)}.")
    if not begun:
        model._begin_lists(indicator=found is not None)
    return lists


def indicator(y: Any) -> np.ndarray | None:
    """y as a matrix of 0 and 1 with two columns or more; None where it is none."""
    if type(y) is np.ndarray and y.ndim != 2:
        return None
    if is_sparse(y):
        y = y.tocsr()
        y = y.astype(np.uint8).toarray() if ((y.data == 0) | (y.data == 1)).all() else y.toarray()
    try:
        found = np.asarray(y)
    except ValueError:  # ragged
        return None
    if found.ndim != 2 or found.shape[1] < 2 or found.dtype.kind not in "biuf":
        return None
    return found.astype(np.uint8) if ((found == 0) | (found == 1)).all() else None


def _gathered(model: Classifier, labels: list[Label], counts: np.ndarray) -> LabelLists:
    """Lists from the labels of all rows, one row after the other."""
    if not labels:
        return gathered(np.asarray([]), np.empty(0, np.int64), counts)
    every = np.asarray(labels, None if len(set(map(type, labels))) == 1 else object)
    return gathered(*np.unique(checked_labels(model, every, len(labels)), return_inverse=True), counts)


def given_classes(
    y: Any, classes: Sequence[Label] | np.ndarray | None
) -> Sequence[Label] | np.ndarray | None:
    """The classes that are declared; those of an indicator matrix are known, and others an error."""
    if isinstance(y, LabelLists) or y.ndim == 1:
        return classes
    own = np.arange(y.shape[1])
    if classes is not None and np.asarray(classes).tolist() != own.tolist():
        raise ValueError(
            f"The classes of an indicator matrix are the numbers of its columns, 0 to {len(own) - 1}; got "
            f"classes={classes!r}."
        )
    return own


def _check_form(model: Classifier, found: np.ndarray | None) -> None:
    """Refuse labels of another form than those that the model has begun with."""
    n = len(model.classes_)
    if found is not None and n and not model._several:
        raise ValueError(
            f"This {type(model).__name__} has learned one label a row; y is an indicator matrix. Begin anew "
            "with clone(model), or give one label a row."
        )
    if model._several and (found is None or found.shape[1] != n):
        got = "" if found is None else f"; got {found.shape[1]} columns"
        raise ValueError(
            f"This {type(model).__name__} has learned rows of several labels: y must be an indicator matrix "
            f"of 0 and 1 with {n} columns{got}."
        )


def checked_labels(model: Classifier, y: npt.ArrayLike | None, n_rows: int) -> np.ndarray:
    """Labels as an array of shape (n_rows,) without missing values."""
    if y is None:
        raise ValueError(
            f"This {type(model).__name__} estimator requires y to be passed, but the target y is None."
        )
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "Uiub":  # nothing can be wrong with these
        if len(y) != n_rows:
            raise ValueError(f"X has {n_rows} rows, y has {len(y)} labels.")
        return y
    y = model._contract.column(y)
    if y.dtype.kind == "O":
        missing = [label for label in y if label is None or label != label]
        if missing:
            raise ValueError(f"Input y contains {missing[0]}: every row needs a label.")
        types = {type(label) for label in y}
        if len(types) > 1 and not all(issubclass(t, (int, float, np.number)) for t in types):
            names = ", ".join(sorted(t.__name__ for t in types))
            raise ValueError(f"y must hold labels of one type; got a mixture of {names}.")
        if all(issubclass(t, (int, float, np.number)) for t in types):
            y = np.asarray(y.tolist())
    if len(y) != n_rows:
        raise ValueError(f"X has {n_rows} rows, y has {len(y)} labels.")
    model._contract.check_classes(y)
    return y


def coded(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """(classes, codes) of labels in any form."""
    if isinstance(y, LabelLists):
        return y.labels, y.codes
    return (np.arange(y.shape[1]), y) if y.ndim == 2 else distinct(y)


def distinct(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``np.unique(y, return_inverse=True)``; two different whole numbers need no sorting."""
    if y.dtype.kind in "iub" and len(y):
        low, high = y.min(), y.max()
        upper = y == high
        if low < high and (upper | (y == low)).all():
            return np.array([low, high], y.dtype), upper.astype(np.intp)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes
