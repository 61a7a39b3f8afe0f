"""Learning and predicting one row at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..engine import intake, spaces
from .checks import estimator
from .online import Batch, Online


class Lane(NamedTuple):
    """All that a dense row of known width and precision needs."""

    learn: Any
    score: Any
    rule: Any
    v: np.ndarray
    track: Any
    state: np.ndarray
    desk: np.ndarray
    dtype: np.dtype
    shape: tuple[int]
    strides: tuple[int]
    signs: dict[Any, float]


@estimator
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
        if lane is not None and type(x) is np.ndarray:
            learn, _, rule, v, track, state, desk, dtype, shape, strides, signs = lane
            if x.dtype is dtype and x.shape == shape and x.strides == strides:
                sign = signs.get(y)
                if sign is not None and learn(rule, x, sign, v, track, state, desk) == 0:
                    return
        # something is new here, or the fast way met trouble: this one does the same work and names it
        self._learn_slowly(x, y)

    def score_one(self, x: Any) -> Any:
        """Score of one row: a number, or one per class for more than two classes."""
        lane = self.__dict__.get("_lane")
        if lane is not None and type(x) is np.ndarray and self._readout == "last" and not self._unit_votes:
            _, score, _, v, _, state, desk, dtype, shape, strides, _ = lane
            if x.dtype is dtype and x.shape == shape and x.strides == strides:
                return score(x, v, state, desk)
        if "_space" not in vars(self):
            raise ValueError(f"This {type(self).__name__} has learned nothing yet.")
        return self._score_row(self._one(x, grow=False))

    def _score_row(self, row: Any) -> Any:
        return self._scores(row)[0]

    def predict_one(self, x: Any) -> Any:
        """Label of one row."""
        score = np.asarray([self.score_one(x)])
        return self.classes_[self._decide(score)[0]]

    # ------------------------------------------------------------ the general way

    def _learn_slowly(self, x: Any, y: Any) -> None:
        if "_space" not in vars(self):
            self._check_params()
            width = 0 if isinstance(x, dict) else np.asarray(x).shape[-1]
            dtype = getattr(x, "dtype", None)
            self._begin(width, np.float32 if dtype == np.float32 else np.float64, None)
            self.n_features_in_ = width
        row = self._one(x, grow=True)
        self._check_values(row)
        rows = self._rows(row)
        codes = self._codes(np.asarray([y]), grow=True)
        space = self._space
        batch = Batch(row, rows, codes, intake.EMPTY)
        logs = []
        self._low = None
        self.radius_ = self._radius(batch)
        order = intake.frozen(np.zeros(1, np.int64))
        try:
            log = space.run(rows, space.targets(codes), intake.EMPTY, order, self._keeps_journal())
            logs.append((0, log))
        finally:
            self._close(batch, logs)
        self._open_lane(x)

    def _open_lane(self, x: Any) -> None:
        """Prepare the fast way for further rows like this one."""
        space = self._space
        self.__dict__.pop("_lane", None)
        plain = isinstance(space, spaces.Linear) and not self._keeps_journal()
        if not plain or not isinstance(x, np.ndarray) or x.dtype != space.frame.dtype:
            return
        if not x.flags.c_contiguous or x.ndim != 1:
            return
        labels = self.classes_.tolist()
        signs = {labels[0]: 1.0} if len(labels) == 1 else {labels[0]: -1.0, labels[1]: 1.0}
        dtype = np.dtype(space.frame.dtype.type)
        self._lane = Lane._make((*space.fast_lane(), dtype, x.shape, x.strides, signs))

    def _one(self, x: Any, *, grow: bool) -> Any:
        """x as one row of the model's width and precision."""
        space = self._space
        dtype = space.frame.dtype
        if isinstance(x, dict):
            return self._named(x, grow=grow)
        row = np.asarray(x, dtype=dtype)
        if row.shape != (space.n_features,):
            raise ValueError(
                f"x must have {space.n_features} features, as the model has; got shape {row.shape}."
            )
        return row[None, :]

    def _named(self, x: dict[str, float], *, grow: bool) -> Any:
        names = vars(self).get("_names")
        space = self._space
        if names is None:
            known = vars(self).get("feature_names_in_")
            if known is None and space.n_features:
                raise ValueError(
                    "This model was trained on unnamed features; give an array of "
                    f"{space.n_features} numbers instead of a dict."
                )
            names = {} if known is None else {name: j for j, name in enumerate(known)}
            self._names = names
        if grow:
            for name in x:
                if not isinstance(name, str):
                    raise TypeError(f"feature names must be strings; got {name!r}.")
                names.setdefault(name, len(names))
            if len(names) > space.n_features:
                space.grow(len(names))
                self.n_features_in_ = len(names)
                self.feature_names_in_ = np.asarray(list(names), dtype=object)
                self.__dict__.pop("_lane", None)
        pairs = sorted((names[name], value) for name, value in x.items() if name in names)
        indices = np.fromiter((j for j, _ in pairs), np.int32, len(pairs))
        data = np.fromiter((v for _, v in pairs), space.frame.dtype, len(pairs))
        indptr = np.asarray([0, len(pairs)], np.int32)
        return sp.csr_array((data, indices, indptr), shape=(1, space.n_features))

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {k: v for k, v in state.items() if k not in ("_lane", "_writer")}
