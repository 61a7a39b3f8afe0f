"""Learning and predicting one row at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._sparse import is_sparse
from ..engine import intake, spaces
from . import changing
from .lanes import ArrayLane, DictLane
from .online import Online
from .parameters import spec
from .passes import CheckedRows, learn_in_order
from .undoing import whole_call
from .writing import access_to, one_writer, open_lane, unchanged_on_error


def _width(x: Any) -> int:
    """How many features a row has."""
    shape = x.shape if is_sparse(x) else np.shape(x)
    if not shape:
        raise ValueError(f"x must be an array of features, or a dict of named ones; got {x!r}.")
    return int(shape[-1])


def _plain(x: Any) -> dict[str, Any]:
    """A row of names without any code of the user's: it answers the same however often it is asked."""
    plain = {}
    for name, value in dict(x).items():
        if not isinstance(name, str):
            raise TypeError(f"feature names must be strings; got {name!r}.")
        plain[str.__str__(name)] = value
    return plain


def python_label(label: Any) -> Any:
    """A label as Python has it, which ``json.dumps`` takes: not numpy's numbers and words."""
    return label.item() if isinstance(label, _NUMPY) else label


_NUMPY = (np.bool_, np.number, np.str_, np.bytes_)


def python_scores(scores: Any) -> Any:
    """The score of a row as a float, or those of its classes as a list of floats."""
    return np.asarray(scores, np.float64).tolist()


def _finite_numbers(names: list[str], x: dict[str, Any], dtype: Any) -> np.ndarray:
    """The values of named features; one that is no finite number is refused by its name."""
    try:
        with np.errstate(over="ignore"):
            data = np.fromiter((x[name] for name in names), dtype, len(names))
    except (TypeError, ValueError, OverflowError):
        for name in names:
            try:
                np.fromiter((x[name],), dtype, 1)
            except (TypeError, ValueError, OverflowError) as error:
                said = f"x[{name!r}] must be a number: {str(error).rstrip('.')}."
                raise (TypeError if isinstance(error, TypeError) else ValueError)(said) from None
        raise
    wrong = np.flatnonzero(~np.isfinite(data))
    if len(wrong):
        name = names[int(wrong[0])]
        found = "None" if x[name] is None else "NaN" if np.isnan(data[wrong[0]]) else "infinity"
        raise ValueError(f"x[{name!r}] must be a finite number; got {found}.")
    return data


def _sparse_row(x: Any) -> Any:
    """One sparse row as CSR whose structure can be trusted."""
    return intake.checked_csr(x.reshape(1, -1) if x.ndim == 1 else x)


@spec
class Streaming(Online):
    """An online learner that also takes rows one at a time."""

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn one row.

        Parameters
        ----------
        x : array of shape (n_features,) or dict
            A dict maps feature names to values; names not met before become new features.
        y : label
            A label not met before becomes a new class.
        """
        lane = self.__dict__.get("_lane")
        if lane is not None and type(x) is lane.form and lane.learn(x, y):
            return
        # something is new here, or the fast way met trouble: this one does the same work and names it
        self._learn_slowly(x, y)

    def score_one(self, x: Any) -> Any:
        """Score of one row: a float, or a list of one per class for more than two classes."""
        lane = self.__dict__.get("_lane")
        if lane is not None and type(x) is lane.form and lane.serves:
            score = lane.score(x)
            if score is not None:
                return score
        if "_space" not in vars(self):
            raise self._validation.not_fitted(f"This {type(self).__name__} has learned nothing yet.")
        if isinstance(x, dict):  # names that the model does not know have no weight
            known = self._known_names()
            x = {name: value for name, value in x.items() if name in known}
        row, _ = self._one(x)
        self._check_values(row)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._score_row(row)
        if not np.isfinite(scores).all():
            self._rows(row)  # names the value, if it is the input
            raise spaces.NumericalError("A score is not finite: the values are too large. Scale the data.")
        return python_scores(scores)

    def _score_row(self, row: Any) -> Any:
        return self._scores(row)[0]

    def predict_one(self, x: Any) -> Any:
        """Label of one row, as Python has it: an int, a str, …"""
        lane = self.__dict__.get("_lane")
        if lane is not None and type(x) is lane.form and lane.serves:
            found = lane.predict(x)
            if found is not None:
                return found[0]
        score = np.asarray([self.score_one(x)])
        return python_label(self.classes_[self._decide(score)[0]])

    # ------------------------------------------------------------ the general way

    def _learn_slowly(self, x: Any, y: Any) -> None:
        with one_writer(self), whole_call(self) as call:
            with unchanged_on_error(self):
                fresh = "_space" not in vars(self)
                if fresh or changing.changed(self):
                    self._check_params()
                self._check_pieces()
                steps = changing.changed_steps(self)
                if fresh:
                    width, dtype = self._form(x)
                    self._begin(width, dtype, None)
                    self.n_features_in_ = width
                row, new_names = self._one(x)
                self._check_values(row)
                rows = self._rows(row, learn=True)
                if np.ndim(y) != 0:
                    raise ValueError(f"y must be one label; got {y!r}.")
                label = np.asarray([y])
                weights = self._row_weights(None, label)
                known = self.classes_
                codes = self._labels.codes(label, grow=True)  # the last step that can fail, before it acts
            since = self._known_since(known, codes, fresh)
            heard = self._single(since)
            self._take_up_names(new_names)
            exact, counted = self._held_exactly(x, row), self._to_count(label, weights)
            batch = CheckedRows(row, rows, codes, weights, exact, changed=steps, counted=counted)
            self._learn_single(batch, since, heard, call)
            self._open_lane(x)

    def _learn_single(self, batch: CheckedRows, since: np.ndarray, heard: Any, call: Any = None) -> None:
        """Learn a batch of one row."""
        self._prepare_pass(batch)
        tally = self._progressive_now()

        def note(counts: spaces.Counts) -> None:
            self.stop_reason_ = "learn_one"
            if self._progressive_now() is tally:
                self._tally_single(heard, batch.codes, since, counts)

        learn_in_order(self, batch, heard, note, call)

    def _form(self, x: Any) -> tuple[int, Any]:
        """Features and precision of a model whose first row is x."""
        width = 0 if isinstance(x, dict) else _width(x)
        return width, np.float32 if getattr(x, "dtype", None) == np.float32 else np.float64

    def _open_lane(self, x: Any) -> None:
        """Prepare the fast way for further rows like this one."""
        space, access = self._space, access_to(self)
        access.n_single += 1
        after = space.fast_path_after(type(x))
        if after is None or access.n_single < after or self._keeps_journal() or not self._steady():
            return
        labels, serves = self.classes_.tolist(), self._lane_serves()
        if type(x) is np.ndarray:
            if x.dtype == space.frame.dtype and x.flags.c_contiguous and x.ndim == 1:
                self._open(ArrayLane(space, labels, serves, x))
        elif type(x) is dict and space.frame.dtype == np.float64:
            self._open(DictLane(space, labels, serves, self._names))

    def _open(self, lane: Any) -> None:
        self._count_on(lane.row_buffer)
        open_lane(self, lane)

    def _lane_serves(self) -> bool:
        """Whether the fast way can score by the readout in force: it goes by what the loops keep."""
        return True

    def _steady(self) -> bool:
        """Whether every row is learned by the same rule, with weight 1."""
        return getattr(self, "class_weight", None) is None

    def _one(self, x: Any) -> tuple[Any, list[str]]:
        """x as one row, wide enough for all its names, and those of them that are new."""
        space = self._space
        if isinstance(x, dict):
            return self._named(x)
        with np.errstate(over="ignore"):  # an infinity is found with the others
            row = (_sparse_row(x) if is_sparse(x) else np.asarray(x)).astype(space.frame.dtype)
        if row.shape != (space.n_features,) and row.shape != (1, space.n_features):
            raise ValueError(
                f"x must have {space.n_features} features, as the model has; got shape {row.shape}."
            )
        return (row if is_sparse(row) else np.ascontiguousarray(row.reshape(1, -1))), []

    def _named(self, x: dict[str, float]) -> tuple[Any, list[str]]:
        names = self._known_names()
        if type(x) is not dict or not all(type(name) is str for name in x):
            x = _plain(x)
        new = [name for name in x if name not in names]
        places = {name: j for j, name in enumerate(new, len(names))}
        pairs = sorted((names[name] if name in names else places[name], name) for name in x)
        indices = np.fromiter((j for j, _ in pairs), np.int32, len(pairs))
        data = _finite_numbers([name for _, name in pairs], x, self._space.frame.dtype)
        indptr = np.asarray([0, len(pairs)], np.int32)
        return sp.csr_array((data, indices, indptr), shape=(1, len(names) + len(new))), new

    def _known_names(self) -> dict[str, int]:
        """Where the features of a row with names are."""
        names = vars(self).get("_names")
        if names is None:
            known = vars(self).get("_given_names")
            if known is None and self._space.n_features:
                raise ValueError(
                    "This model was trained on unnamed features; give an array of "
                    f"{self._space.n_features} numbers instead of a dict."
                )
            names = self._names = {} if known is None else {name: j for j, name in enumerate(known)}
        return names

    def _take_up_names(self, new: list[str]) -> None:
        if not new:
            return
        for name in new:
            self._names[name] = len(self._names)
        self._space.grow(len(self._names))
        self.n_features_in_ = len(self._names)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features, where they have names; made when asked for, as any row may add some."""
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
