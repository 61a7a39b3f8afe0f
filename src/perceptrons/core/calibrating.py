"""Probabilities of a learner: which scores they are fitted to, and when.

``calibration_rows`` says which rows. "first visits": the score of each row before it is learned for the first
time, recorded by the pass that learns it. "held out": rows that a fit does not learn, or, for learners that
need all rows at once, rows that a second learner of the same parameters has not learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from ..engine.predictions import Predictions
from ..engine.spaces import Additive, Confident
from . import checks, curves, first_visits, label_lists
from .curves import Calibrated
from .first_visits import FirstVisits
from .writing import access_to

if TYPE_CHECKING:
    from .classifier import Classifier
    from .learner import Learner
    from .passes import CheckedRows

FIRST_VISITS, HELD_OUT = "first visits", "held out"
MOST_SCORES = 1 << 24  #: of rows held out

#: A sample of scores, which curves are fitted to when they are needed, or the curves themselves.
Calibration: TypeAlias = FirstVisits | Calibrated


def check(model: Classifier) -> None:
    """Check the parameters of probabilities."""
    checks.flag("probability", model.probability)
    checks.one_of("calibration", model.calibration, curves.METHODS)
    checks.one_of("calibration_rows", model.calibration_rows, (FIRST_VISITS, HELD_OUT))


def silence(model: Classifier) -> str | None:
    """Why there is no ``predict_proba``; None where there is."""
    return None if model.probability else "it needs probability=True"


def on_first_visits(model: Classifier) -> bool:
    """Whether rows that are learned for the first time are recorded."""
    return bool(model.probability) and model.calibration_rows == FIRST_VISITS


def on_held_out_rows(model: Classifier) -> bool:
    """Whether rows of a fit are held out, and scored in the end."""
    return bool(model.probability) and model.calibration_rows == HELD_OUT


def check_run(model: Learner) -> None:
    """Refuse a readout whose scores before a row is learned are not known."""
    if not on_first_visits(model):
        return
    reading, what = model._reading, None
    if not model._records_scores:
        what = f"{type(model).__name__}, whose learning goes by other scores than its predictions"
    elif reading.logged:
        what = f"readout={model._readout!r}"
    elif reading.unit_last and model._is_joint():
        what = "normalized_votes=True with classes that are learned together"
    if what is not None:
        raise ValueError(
            "calibration_rows='first visits' needs the score of each row before it is learned, which is not "
            f"computed for {what}. Set calibration_rows='held out'."
        )


def check_pieces(model: Learner) -> None:
    """Refuse ``partial_fit`` and ``learn_one`` where rows of a fit are held out."""
    if on_held_out_rows(model):
        lists = model._several and model._takes_lists
        way = (
            "calibration_rows='first visits'" if model._records_scores and not lists else "probability=False"
        )
        raise ValueError(
            "probability=True holds out rows of a fit, to fit probabilities to their scores; partial_fit and "
            f"learn_one have none to spare. Call fit, or set {way}."
        )


def check_order(orders: object) -> None:
    """Refuse an order of rows where rows of a fit are held out."""
    if orders is not None:
        raise ValueError(
            "probability=True holds out rows of a fit, to fit probabilities to their scores, and order may "
            "visit any of them: drop order, or set probability=False."
        )


# ---------------------------------------------------------------- first visits


def readout_of(model: Classifier) -> str:
    """The readout in force, in words that differ where its scores do."""
    reading = getattr(model, "_reading", None)
    if reading is None:
        return "last"
    words = [reading.kind, *(["unit"] if reading.unit else []), *(["initial"] if reading.initial else [])]
    return " ".join(words)


def sample_of(model: Learner) -> FirstVisits:
    """The first visits so far; none where they belong to another readout."""
    kept, readout, columns = vars(model).get("_calibration"), readout_of(model), model._space.columns
    fits = isinstance(kept, FirstVisits) and kept.readout == readout and kept.scores.shape[1] == columns
    return cast(FirstVisits, kept) if fits else first_visits.none_yet(columns, readout)


class Recording:
    """The scores of one pass, before its rows are learned; :meth:`note` adds them to the sample."""

    def __init__(self, model: Learner, predictions: Predictions):
        self.model, self.predictions = model, predictions
        self.before, self.examples = sample_of(model), model._examples()
        predictions.keep_scores(model._space.columns)

    def note(self, codes: np.ndarray, weights: np.ndarray, first: np.ndarray | None = None) -> None:
        """Add the rows of the pass, with their codes and weights; ``first``: only those at these positions.

        A second call for the same pass changes nothing.
        """
        self.predictions.settle()
        if not self.predictions.reported:
            return  # the scores were lost by an interruption
        scores = self._of_readout(self.predictions.scores)
        weights = weights if len(weights) else np.ones(len(codes))
        if first is not None:
            scores, codes, weights = scores[first], codes[first], weights[first]
        outcomes = first_visits.outcomes(codes, scores.shape[1])
        self.model._calibration = self.before.plus(scores, outcomes, weights)

    def _of_readout(self, scores: np.ndarray) -> np.ndarray:
        """Where the initial vector counts, the loops have left it out of the average."""
        if self.model._readout != "average" or not self.model._reading.initial:
            return scores
        learned = ~np.isnan(scores[:, 0])
        t = np.maximum(1.0, self.examples + np.cumsum(learned) - learned)[:, None]
        found: np.ndarray = scores * (t / (t + 1.0))
        return found


def recording(
    model: Learner, n_rows: int, counted: Predictions | None, since: np.ndarray
) -> Recording | None:
    """What records a pass of ``partial_fit`` or ``learn_one``; None where its rows are not recorded.

    ``counted`` is where the pass records its predictions already, ``since`` when each class is known.
    """
    new = vars(model).get("_counting", {}).get("first_visits", True)
    if not on_first_visits(model) or not new:
        return None
    given = counted if counted is not None else Predictions(n_rows, since, model._reading.unit_last)
    return Recording(model, given)


class Visited:
    """The first visits of a fit: those of its first epoch, or of rows that an order visits later."""

    def __init__(self, model: Learner, batch: CheckedRows, any_order: bool):
        self.model, self.any_order = model, any_order
        self.left: np.ndarray | None = None  #: rows that were not visited yet; None: nothing is recorded
        self.recording: Recording | None = None
        self.first: np.ndarray | None = None
        forget_curves(model)
        if model._space.counts().examples:
            return  # rows of a warm start may have been learned before
        vars(model).pop("_calibration", None)
        if on_first_visits(model) and "_run_visits" not in vars(model):
            self.left = np.ones(len(batch.codes), bool)

    def begin(self, visit: np.ndarray) -> Predictions | None:
        """Where the epoch records its scores."""
        self.recording = None
        if self.left is None or not self.left.any():
            return None
        new = np.flatnonzero(self.left[visit])
        if not len(new):
            return None
        if self.any_order:
            new = np.sort(new[np.unique(visit[new], return_index=True)[1]])
        self.first = None if len(new) == len(visit) else new
        model = self.model
        made = Predictions(len(visit), np.zeros(len(model.classes_), np.int64), model._reading.unit_last)
        self.recording = Recording(model, made)
        return made

    def end(self, batch: CheckedRows, visit: np.ndarray) -> None:
        """The epoch has ended, if need be by an error: what was learned is noted."""
        if self.recording is None or self.left is None:
            return
        weights = batch.weights[visit] if len(batch.weights) else batch.weights
        self.recording.note(batch.codes[visit], weights, self.first)
        self.left[visit] = False


def class_added(model: Learner, n_before: int, code: int, factor: float = 1.0) -> None:
    """Bring the sample to one more class than the ``n_before`` that there were."""
    kept = vars(model).get("_calibration")
    if not isinstance(kept, FirstVisits):
        return
    if n_before == 1:
        model._calibration = kept.exchanged() if code == 1 else kept
        return
    if n_before == 2:
        kept = kept.spread(factor)
    additive = isinstance(model._space.learners[0], (Additive, Confident))
    model._calibration = kept.with_class(code, 0.0 if additive else np.nan)


# ---------------------------------------------------------------- rows that were not learned


def forget_curves(model: Learner) -> None:
    """Rows are learned: curves that were fitted to rows of a fit do not belong to the new weights."""
    if not isinstance(vars(model).get("_calibration"), FirstVisits):
        vars(model).pop("_calibration", None)


def fit_held_out(model: Learner, batch: CheckedRows, held_out: np.ndarray) -> None:
    """Fit the curves to the rows held out, by the weights that predict; of many labels, to some rows."""
    held_out = held_out[: max(first_visits.LEAST, MOST_SCORES // len(model.classes_))]
    with np.errstate(over="ignore", invalid="ignore"):
        scores = model._scores(batch.X[held_out])
    weights = batch.weights[held_out] if len(batch.weights) else np.ones(len(held_out))
    codes = batch.codes[held_out]
    if model._takes_lists and codes.ndim == 2:
        codes = label_lists.matrix(codes, len(model.classes_))
    keep_curves(model, scores, codes, weights)


FOLDS = 5


def folds(codes: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(rows to learn, rows to score) of each fold: the rows of a class are dealt out in turn."""
    codes = (
        codes.astype(np.int64) if codes.ndim == 1 else np.arange(len(codes)) % 2
    )  # several labels: any rows
    counts = np.bincount(codes)
    if len(counts) == 1:
        return  # one class: there is nothing to learn
    if counts.min() < 2:
        raise ValueError(
            "probability=True needs at least two rows of each class: one to learn, one to score."
        )
    order = np.argsort(codes, kind="stable")
    place = np.empty(len(codes), np.int64)
    place[order] = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    for fold in range(min(FOLDS, int(counts.max()))):
        yield np.flatnonzero(place % FOLDS != fold), np.flatnonzero(place % FOLDS == fold)


def keep_curves(model: Classifier, scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> None:
    """Fit the curves to these scores and class codes; rows of weight 0 do not count."""
    scores = scores.reshape(len(codes), -1)
    there = (weights > 0.0) & np.isfinite(scores).all(axis=1)
    outcomes = first_visits.outcomes(codes[there], scores.shape[1])
    found = curves.fitted(model.calibration, scores[there], outcomes, weights[there])
    model._calibration = Calibrated(found, readout_of(model))


# ---------------------------------------------------------------- probabilities


def settled(model: Classifier) -> Calibrated:
    """The curves in force; they are fitted anew where the sample, or ``calibration``, has changed."""
    kept: Any = vars(model).get("_calibration")
    if kept is None or (isinstance(kept, FirstVisits) and not len(kept.number)):
        raise model._contract.not_fitted(
            f"This {type(model).__name__} has no probabilities: no row was learned with probability=True, as "
            "a new row of fit, partial_fit or learn_one."
        )
    if isinstance(kept, Calibrated):
        return kept
    access = access_to(model)
    found = access.curves
    if found is None or found[0] is not kept or found[1] != model.calibration:
        of_sample = curves.fitted(model.calibration, kept.scores, kept.outcomes, kept.counting_weights())
        found = access.curves = (kept, model.calibration, Calibrated(of_sample, kept.readout))
    return found[2]


def log_probabilities(model: Classifier, scores: np.ndarray) -> np.ndarray:
    """(rows, classes): ln p of each class, for the scores of ``decision_function``."""
    found, readout = settled(model), readout_of(model)
    if found.readout != readout:
        raise ValueError(
            f"The probabilities were fitted to scores of readout {found.readout!r}, and the model now "
            f"predicts by {readout!r}: set it back, or fit again."
        )
    if len(model.classes_) == 1 and not model._several:
        return np.zeros((len(scores), 1))
    odds = found.curves.log_odds(scores.reshape(len(scores), -1))
    return curves.log_shares(odds) if model._several else curves.log_probabilities(odds)
