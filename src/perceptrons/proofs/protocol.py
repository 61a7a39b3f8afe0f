r"""The online protocol.

In each round t the learner receives :math:`x_t`, predicts, receives :math:`y_t`, and may update. What
counts is the number of wrong predictions; the theorems bound it for every sequence, so nothing is
drawn and nothing is held out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.exceptions import NotFittedError

from .. import theory
from .._sparse import is_sparse
from .._types import Matrix
from ..core.learner import Learner
from ._comparators import best_scale
from ._tables import number, text_table

__all__ = ["BoundCurves", "OnlineRun", "run_online"]


# ------------------------------------------------------------------------------ learners of any library


#: ``predict(x)`` and ``learn(x, y)``; x and y are what the sequence holds.
Methods: TypeAlias = tuple[Callable[[Any], Any], Callable[[Any, Any], object]]
#: The rows of a run: a matrix, or a list of arrays, CSR rows or dicts.
Rows: TypeAlias = Matrix | list[Any]
#: The comparator u, as the caller gives it.
Weights: TypeAlias = npt.ArrayLike | Mapping[Any, float] | None


class Player:
    """Adapter: a learner of any library with two methods, ``predict(x)`` and ``learn(x, y)``."""

    def __init__(self, learner: Any, classes: npt.ArrayLike | None) -> None:
        self.learner = learner
        self.classes = None if classes is None else np.asarray(classes)
        self.begun = False
        self.silent = 0
        self._predict, self._learn = self._methods(learner)

    def predict(self, x: Any) -> Any:
        if not self.begun:
            self._begin(x)
            self.begun = True
        try:
            predicted = self._predict(x)
        except NotFittedError:
            predicted = None
        if predicted is None:  # it is not fitted yet
            self.silent += 1
            predicted = None if self.classes is None else self.classes[0]
        return predicted.item() if isinstance(predicted, np.generic) else predicted

    def learn(self, x: Any, y: Any) -> None:
        self._learn(x, y)

    def n_mistakes(self) -> int | None:
        """The learner's own count, where it has one."""
        return int(getattr(self.learner, "n_mistakes_", 0)) if isinstance(self.learner, Learner) else None

    def _begin(self, x: Any) -> None:
        """Tell a learner of this package the classes, by a row of weight 0, which changes nothing else."""
        fresh = isinstance(self.learner, Learner) and not hasattr(self.learner, "n_mistakes_")
        if fresh and self.classes is not None and not isinstance(x, Mapping):
            first = x if is_sparse(x) else np.asarray(x)[None, :]
            self.learner.partial_fit(first, self.classes[:1], classes=self.classes, sample_weight=[0.0])

    def _methods(self, learner: Any) -> Methods:
        if isinstance(learner, tuple) and len(learner) == 2 and all(map(callable, learner)):
            return learner
        if hasattr(learner, "predict_one") and hasattr(learner, "learn_one"):
            if any(base.__module__.partition(".")[0] == "river" for base in type(learner).__mro__):
                return self._of_river(learner)
            return learner.predict_one, learner.learn_one
        if hasattr(learner, "predict") and hasattr(learner, "partial_fit"):
            return self._of_sklearn(learner)
        if hasattr(learner, "predict") and hasattr(learner, "learn"):
            return learner.predict, learner.learn
        raise TypeError(
            "learner must have predict_one and learn_one, or predict and partial_fit, or predict and learn, "
            f"or be a pair of functions (predict, learn); got {type(learner).__name__}."
        )

    def _of_river(self, learner: Any) -> Methods:
        """River, and what others derive from its classes, takes dicts; its two classes are False and True."""
        two = self.classes if self.classes is not None and len(self.classes) == 2 else None

        def named(x: Any) -> Mapping[Any, float]:
            return x if isinstance(x, Mapping) else dict(enumerate(_dense(x).tolist()))

        def predict(x: Any) -> Any:
            predicted = learner.predict_one(named(x))
            return two[int(predicted)] if two is not None and isinstance(predicted, bool) else predicted

        def learn(x: Any, y: Any) -> None:
            learner.learn_one(named(x), y if two is None else bool(y == two[1]))

        return predict, learn

    def _of_sklearn(self, learner: Any) -> Methods:
        """scikit-learn takes matrices; the first call of partial_fit has to name the classes."""
        if self.classes is None:
            raise ValueError(
                f"{type(learner).__name__} has to know its classes before the first row; give classes=, such "
                "as classes=[-1, 1]."
            )
        first = {"classes": self.classes}

        def row(x: Any) -> Any:
            return x if is_sparse(x) else np.asarray(x)[None, :]

        def learn(x: Any, y: Any) -> None:
            learner.partial_fit(row(x), [y], **first)
            first.clear()

        return lambda x: learner.predict(row(x))[0], learn


def _dense(x: Any) -> np.ndarray:
    return np.asarray(x.toarray() if is_sparse(x) else x, dtype=float).ravel()


# ------------------------------------------------------------------------------------- the record


class BoundCurves(NamedTuple):
    """Bounds after each round, beside the mistakes; ``inf``: nothing is claimed, None: not computed."""

    mistakes: np.ndarray  #: wrong predictions so far
    radius: np.ndarray  #: R so far
    novikoff: np.ndarray | None  #: R²/γ²
    hinge: np.ndarray | None  #: R²‖u‖² + 2H
    hinge_tight: np.ndarray | None  #: ((a + √(a² + 4H))/2)², a = R‖u‖
    total_distance: np.ndarray | None  #: R²/γ² + 2·TD/γ
    u: np.ndarray | None  #: the comparator, with its weight of the constant coordinate if there is one


@dataclass(frozen=True, repr=False)
class OnlineRun:
    """What happened in the online protocol; see :func:`run_online`."""

    predictions: np.ndarray  #: one per round
    labels: np.ndarray  #: what was the truth
    mistakes: np.ndarray  #: rounds, from 0, with a wrong prediction
    counted: np.ndarray | None  #: rounds that the learner itself counts as mistakes, where it does
    n_silent: int  #: rounds in which it gave no prediction, and the smaller label was taken
    learner: Any  #: as it is after the last round
    rows: Rows = field(repr=False)  #: the rows x in order

    @property
    def n_examples(self) -> int:
        """How many rounds there were."""
        return len(self.labels)

    @property
    def n_mistakes(self) -> int:
        """How many predictions were wrong."""
        return len(self.mistakes)

    @property
    def curve(self) -> np.ndarray:
        """Wrong predictions up to each round, it included."""
        return _steps(self.mistakes, self.n_examples)

    def bounds(self, u: Weights = None, gamma: float | None = None, bias: float | None = None) -> BoundCurves:
        r"""What the perceptron's theorems allow after each round, as arrays beside the mistakes.

        R is the longest row so far. The bounds are about the perceptron from w = 0; another learner is
        only compared with them.

        Parameters
        ----------
        u : array or dict of weights, optional
            A comparator. ``hinge`` is :math:`R^2\|u\|^2 + 2H` with
            :math:`H = \sum\max(0, 1 - y\langle u, x\rangle)`, over the rounds that the learner itself
            counts as mistakes where it tells, and over all rounds so far where it does not. Without
            ``u`` and ``gamma`` it is c times the learner's final weights, for the best c. Not for
            kernel learners: R and γ are those of the kernel's space.
        gamma : float, optional
            A margin that some unit vector has on every row: ``novikoff`` is :math:`R^2/\gamma^2`. With
            ``u`` but no ``gamma`` it is the margin of u on the rows so far. With both,
            ``total_distance`` is what u/‖u‖ misses of the margin γ.
        bias : float, optional
            The constant coordinate B of the rows; default: that of the learner, 0 for one of another
            package. A ``u`` without a weight for it has weight 0 there.

        Returns
        -------
        BoundCurves
        """
        y = self._signs()
        B = _bias_of(self.learner) if bias is None else float(bias)
        lengths = self._lengths(B)
        unit = _is_ours(self.learner) and self.learner.run_record(evidence=False).unit
        R = np.maximum.accumulate((lengths > 0.0).astype(float) if unit else lengths)
        w = None
        if u is not None:
            w = self._vector(u, B)
        elif gamma is None:
            w = self._own_weights(B)
        novikoff = None if gamma is None else np.array([theory.novikoff(r, gamma) for r in R])
        if w is None:
            return BoundCurves(self.curve, R, novikoff, None, None, None, None)
        m = y * (_products(self.rows, w) + B * w[-1])
        if unit:
            m = m / np.where(lengths > 0.0, lengths, 1.0)
        length = float(np.linalg.norm(w))
        if u is None:
            c = best_scale(m, float(R[-1] * length) if len(R) else 0.0)
            w, m, length = c * w, c * m, c * length
        H = self._missed(np.maximum(0.0, 1.0 - m))
        distance = None
        if gamma is None:
            worst = np.minimum.accumulate(m)
            novikoff = np.array([theory.novikoff(r * length, max(low, 0.0)) for r, low in zip(R, worst)])
        elif length > 0.0:
            TD = self._missed(np.maximum(0.0, gamma - m / length))
            distance = np.array([theory.total_distance(r, gamma, td) for r, td in zip(R, TD)])
        return BoundCurves(
            self.curve,
            R,
            novikoff,
            np.array([theory.hinge(r, length, h) for r, h in zip(R, H)]),
            np.array([theory.hinge_tight(r, length, h) for r, h in zip(R, H)]),
            distance,
            w if B else w[:-1],
        )

    def table(self, u: Weights = None, gamma: float | None = None, bias: float | None = None) -> str:
        """Mistakes at rounds 1, 2, 5, 10, 20, 50, … and at the last, with the bounds if there are any.

        The arguments are those of :meth:`bounds`; without ``u`` and ``gamma`` there are none.
        """
        curves = None if u is None and gamma is None else self.bounds(u, gamma, bias)
        fields = () if curves is None else BoundCurves._fields[:-1]
        names = [n for n in fields if n != "mistakes" and getattr(curves, n) is not None]
        head = ["examples", "mistakes", *(name.replace("_", " ") for name in names)]
        rows = []
        for t in _checkpoints(self.n_examples):
            values = [number(float(getattr(curves, name)[t - 1])) for name in names]
            rows.append([str(t), str(int(self.curve[t - 1])), *values])
        return text_table(head, rows)

    def __repr__(self) -> str:
        return f"<OnlineRun: {self._sentence()}>"

    def __str__(self) -> str:
        return f"{self._sentence()}\n{self.table()}" if self.n_examples else self._sentence()

    def _sentence(self) -> str:
        n, rounds = self.n_mistakes, self.n_examples
        return f"{_name(self.learner)}, {n} mistake{'s' * (n != 1)} on {rounds} example{'s' * (rounds != 1)}"

    def _signs(self) -> np.ndarray:
        """Labels as -1 and +1; one label alone is +1 unless it is -1, 0 or False."""
        classes = np.unique(self.labels)
        if len(classes) > 2:
            raise ValueError(f"The bounds of bounds() are for two classes; the run has {len(classes)}.")
        if len(classes) == 1 and classes[0] in (-1, 0):
            return np.full(self.n_examples, -1.0)
        return np.where(self.labels == classes[-1], 1.0, -1.0) if len(classes) else np.zeros(0)

    def _lengths(self, B: float) -> np.ndarray:
        """Length of each row, in the space of the learner."""
        kernel = getattr(self.learner, "kernel_", None)
        if kernel is None:
            return np.asarray(np.hypot(_norms(self.rows), B))
        rows = np.array([_dense(x) for x in self.rows]) if isinstance(self.rows, list) else self.rows
        return np.sqrt(np.asarray(kernel.diagonal(kernel.prepare(rows)), dtype=float) + B * B)

    def _missed(self, losses: np.ndarray) -> np.ndarray:
        """Losses summed up to each round, over the rounds that count."""
        if self.counted is not None:
            chosen = np.zeros(len(losses))
            chosen[self.counted] = losses[self.counted]
            losses = chosen
        return np.cumsum(losses)

    def _vector(self, u: Weights, B: float) -> np.ndarray:
        """u with its weight of the constant coordinate last."""
        if hasattr(self.learner, "kernel_"):
            raise ValueError(
                f"u must live in the kernel's space for {_name(self.learner)}, and weights do not; "
                "give gamma=, a margin that holds there."
            )
        if isinstance(u, Mapping):
            names = _names(self.rows)
            return np.append([float(u.get(name, 0.0)) for name in names], 0.0)
        w = np.asarray(u, dtype=float).ravel()
        d = _width(self.rows)
        if w.size == d:
            return np.append(w, 0.0)
        if w.size == d + 1 and B:
            return w
        also = f", or {d + 1} with the constant coordinate" if B else ""
        raise ValueError(f"u must have {d} weights, one per feature{also}; got {w.size}.")

    def _own_weights(self, B: float) -> np.ndarray:
        coef = getattr(self.learner, "coef_", None)
        if coef is None or np.ndim(coef) != 2 or len(coef) != 1 or not isinstance(coef, np.ndarray):
            raise ValueError(
                f"{_name(self.learner)} has no weights coef_ of two classes to compare with; give u=, a "
                "vector of weights, or gamma=, a margin that holds."
            )
        intercept = float(np.ravel(getattr(self.learner, "intercept_", 0.0))[0])
        w = np.ravel(coef)
        if isinstance(self.rows, list) and self.rows and isinstance(self.rows[0], Mapping):
            known = dict(zip(self.learner.feature_names_in_, w))
            w = np.array([known.get(name, 0.0) for name in _names(self.rows)])
        return np.append(w, intercept / B if B else 0.0)


def _name(learner: object) -> str:
    return "Two functions" if isinstance(learner, tuple) else type(learner).__name__


def _steps(rounds: np.ndarray, n: int) -> np.ndarray:
    return np.cumsum(np.bincount(rounds, minlength=n)) if n else np.zeros(0, np.int64)


def _checkpoints(n: int) -> list[int]:
    marks = [k * 10**e for e in range(len(str(n))) for k in (1, 2, 5)]
    return [t for t in marks if t < n] + ([n] if n else [])


def _is_ours(learner: object) -> bool:
    """Whether a learner is of this package, and has seen a row."""
    return isinstance(learner, Learner) and hasattr(learner, "n_mistakes_")


def _bias_of(learner: Any) -> float:
    return float(learner.intercept_scaling_) if _is_ours(learner) else 0.0


# rows are a matrix, or a list of arrays or of dicts


def _names(rows: Rows) -> list[Any]:
    return sorted({name for x in rows for name in x}, key=str)


def _width(rows: Rows) -> int:
    if not isinstance(rows, list):
        return int(rows.shape[1])
    if rows and isinstance(rows[0], Mapping):
        return len(_names(rows))
    return len(_dense(rows[0])) if rows else 0


def _norms(rows: Rows) -> np.ndarray:
    if isinstance(rows, list):
        return np.array([_length(x) for x in rows])
    if is_sparse(rows):
        return np.asarray(np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1), dtype=float).ravel()))
    return np.asarray(np.linalg.norm(rows, axis=1))


def _length(x: Any) -> float:
    values = list(x.values()) if isinstance(x, Mapping) else _dense(x)
    return float(np.linalg.norm(np.asarray(values, dtype=float)))


def _products(rows: Rows, w: np.ndarray) -> np.ndarray:
    """<w, x> of every row, the last weight left out."""
    if not isinstance(rows, list):
        return np.asarray(rows @ w[:-1], dtype=float).ravel()
    if rows and isinstance(rows[0], Mapping):
        place = {name: j for j, name in enumerate(_names(rows))}
        return np.array([sum(v * w[place[name]] for name, v in x.items()) for x in rows])
    return np.array([float(_dense(x) @ w[:-1]) for x in rows])


# ------------------------------------------------------------------------------------ the protocol


def run_online(learner: Any, sequence: Any, classes: npt.ArrayLike | None = None) -> OnlineRun:
    r"""Run the online protocol: receive x, predict, receive y, record, update.

    Parameters
    ----------
    learner : object, or a pair of functions
        Anything with ``predict_one(x)`` and ``learn_one(x, y)`` (ours, River's), with ``predict(X)`` and
        ``partial_fit(X, y, classes=)`` (scikit-learn's), with ``predict(x)`` and ``learn(x, y)``, or a
        pair of functions ``(predict, learn)``. It is trained in place. A learner that cannot predict yet,
        because it is not fitted or returns None, is taken to predict the smaller label. Learners derived
        from River's classes are given rows as dicts, and False and True for the two labels; any other
        object is given the rows as they are in ``sequence``.
    sequence : (X, y), an object with X and y, or an iterable of pairs (x, y)
        X is an array or a CSR matrix; x an array, a CSR row, or a dict for learners that take dicts. An
        iterable may be a generator that depends on the learner: the next pair is taken after the
        update.
    classes : array-like, optional
        All labels; default: those of the sequence, unless that is a generator.

    Returns
    -------
    OnlineRun
        ``predictions``, ``mistakes`` (rounds, from 0), ``curve`` (their number so far), ``n_examples``,
        ``learner``, and the method ``bounds``.

    Examples
    --------
    Four points, checked by hand. At w = 0 the first prediction is -1, which is wrong and gives
    w = (1, 2); the last row corrects it to (2, 1):

    >>> from perceptrons import Perceptron, datasets
    >>> points = datasets.four_points()
    >>> run = run_online(Perceptron(fit_intercept=False), points)
    >>> run.predictions, run.mistakes, run.curve
    (array([-1,  1, -1,  1]), array([0, 3]), array([1, 1, 1, 2]))
    >>> print(run.table(u=[3, 0], gamma=0.95))
    examples  mistakes  radius  novikoff  hinge  hinge tight  total distance
    1                1   2.236      5.54     45           45            5.54
    2                1   2.236      5.54     45           45            5.54
    4                2   2.236      5.54     45           45            5.54
    """
    pairs, rows, classes = _pairs(sequence, classes)
    player = Player(learner, classes)
    given: list[Any] = []
    predictions: list[Any] = []
    labels: list[Any] = []
    wrong, counted = [], []
    before = player.n_mistakes()
    for x, y in pairs:
        predicted = player.predict(x)
        if predicted is None or predicted != y:
            wrong.append(len(labels))
        player.learn(x, y)
        after = player.n_mistakes()
        if after is not None and after > (before or 0):
            counted.append(len(labels))
        before = after
        predictions.append(predicted)
        labels.append(y.item() if isinstance(y, np.generic) else y)
        if rows is None:
            given.append(x)
    return OnlineRun(
        predictions=np.array(predictions),
        labels=np.array(labels),
        mistakes=np.array(wrong, dtype=np.int64),
        counted=None if before is None else np.array(counted, dtype=np.int64),
        n_silent=player.silent,
        learner=learner,
        rows=given if rows is None else rows,
    )


def _pairs(
    sequence: Any, classes: npt.ArrayLike | None
) -> tuple[Iterable[tuple[Any, Any]], Matrix | None, npt.ArrayLike | None]:
    """The pairs one by one, the matrix of rows if there is one, and the classes if they are known."""
    if hasattr(sequence, "X") and hasattr(sequence, "y"):
        sequence = (sequence.X, sequence.y)
    if _is_matrix_and_labels(sequence):
        X, y = sequence
        X = sparse.csr_array(X) if is_sparse(X) else np.asarray(X, dtype=float)
        y = np.asarray(y)
        if X.ndim != 2 or X.shape[0] != len(y):
            raise ValueError(f"sequence (X, y) must have a label per row; got X {X.shape}, y {y.shape}.")
        return _matrix_pairs(X, y), X, _labels(y) if classes is None and len(y) else classes
    if not isinstance(sequence, Iterable):
        raise TypeError(
            f"sequence must be (X, y) or an iterable of pairs (x, y); got {type(sequence).__name__}."
        )
    if classes is None and isinstance(sequence, (list, tuple)) and sequence:
        classes = _labels([y for _, y in sequence])
    return sequence, None, classes


def _labels(y: npt.ArrayLike) -> np.ndarray:
    """The labels there are; -1 and 1, or 0 and 1, are both there when only one of them occurs."""
    found = np.unique(y)
    if len(found) == 1 and found.dtype.kind in "iuf" and found[0] in (-1, 0, 1):
        return np.array([0, 1] if found[0] == 0 else [-1, 1])
    return found


def _is_matrix_and_labels(sequence: object) -> bool:
    if not isinstance(sequence, (tuple, list)) or len(sequence) != 2:
        return False
    X, y = sequence
    if is_sparse(X) or getattr(X, "ndim", 0) == 2:
        return True
    if isinstance(X, tuple) or isinstance(y, Mapping):
        return False
    with contextlib.suppress(ValueError, TypeError):  # ragged: pairs
        return np.ndim(y) == 1 and np.ndim(X) == 2
    return False


def _matrix_pairs(X: Matrix, y: np.ndarray) -> Iterator[tuple[Any, Any]]:
    dense = not is_sparse(X)
    for i in range(len(y)):
        yield (X[i] if dense else X[[i]]), y[i]
