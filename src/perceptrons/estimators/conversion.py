"""A fitted linear classifier of scikit-learn as a learner of ours, with the same weights."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._sparse import is_sparse
from ..core import starting
from ..core.first_order import FirstOrder
from ..core.kernel_based import KernelBased
from .aggressive import PassiveAggressive
from .perceptron import MarginPerceptron, Perceptron

if TYPE_CHECKING:
    from ..core.learner import Learner

_NEEDED = ("coef_", "intercept_", "classes_", "decision_function", "predict")
_PROBES = 8  #: rows on which the scores of both are compared
_ENTRIES = 32  #: entries of such a row, at most


def from_sklearn(model: Any, learner: Any = None) -> Any:
    """Turn a fitted linear classifier of scikit-learn into a learner with the same weights.

    The result predicts as ``model`` does: its scores are those of ``model`` but for rounding, and ties go to
    the same label. It can be saved, and ``partial_fit`` and ``learn_one`` go on from these weights; ``fit``
    does so with ``warm_start=True``, and starts from 0 without it.

    Any classifier can be given that scores by ``coef_`` and ``intercept_``: ``Perceptron``,
    ``SGDClassifier``, ``PassiveAggressiveClassifier``, ``LogisticRegression``, ``LogisticRegressionCV``,
    ``LinearSVC``, ``RidgeClassifier``, ``LinearDiscriminantAnalysis`` and others. That it does so is checked
    on a few rows, and another model is refused. Theorems about runs from w = 0 do not apply to what is
    learned later: the upper end of ``margin_bounds_`` is infinite, and :func:`perceptrons.certify` states
    no bound on mistakes. Probabilities are not taken over.

    Parameters
    ----------
    model : fitted classifier of scikit-learn
        It has ``coef_``, ``intercept_`` and ``classes_``, and is left as it is.
    learner : estimator of perceptrons, optional
        An unfitted learner that goes on from the weights; a copy of it is returned. It adds rows to w and
        predicts by the last w: ``Perceptron``, ``MarginPerceptron``, ``MIRA``, ``PassiveAggressive``,
        ``ROMMA``, ``ALMA`` or ``OnlineClassifier``. By default it is :class:`perceptrons.Perceptron` for a
        ``Perceptron`` and for ``SGDClassifier(loss="perceptron")``, and
        :class:`perceptrons.PassiveAggressive` for all others, with the ``C`` and the variant of a
        passive-aggressive model; classes are learned one against the rest, or jointly where ``model``
        learned them so.

    Returns
    -------
    learner : estimator of perceptrons

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from perceptrons import from_sklearn
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 3.0]]), ["ham", "spam", "spam", "ham"]
    >>> theirs = LogisticRegression().fit(X, y)
    >>> ours = from_sklearn(theirs)
    >>> bool((ours.predict(X) == theirs.predict(X)).all()), bool(np.allclose(ours.coef_, theirs.coef_))
    (True, True)
    >>> ours.learn_one(np.array([0.0, 4.0]), "ham")
    """
    _check_model(model)
    coef, intercept = _weights(model)
    several = _labels_are_several(model, coef.shape[1])
    classes = np.asarray(model.classes_)
    _check_shapes(model, coef, intercept, classes, several)
    made = _default_learner(model, bool(intercept.any())) if learner is None else _checked_learner(learner)
    names = getattr(model, "feature_names_in_", None)
    if names is not None and not all(isinstance(name, str) for name in names):
        names = None
    if intercept.any() and not made.fit_intercept:
        raise ValueError(
            f"This {type(model).__name__} has an intercept, and the learner has fit_intercept=False: it "
            "would predict other labels."
        )
    starting.begin_at(made, coef, intercept, classes, several, names)
    _compare(model, made)
    return made


# ---------------------------------------------------------------- the model that is given


def _check_model(model: Any) -> None:
    kind = type(model).__name__
    if isinstance(model, type):
        raise TypeError(f"model must be a fitted classifier; got the class {model.__name__}.")
    if type(model).__module__.startswith("perceptrons."):
        raise TypeError(f"This {kind} is a learner of perceptrons already.")
    for attribute, advice in (
        ("steps", "give its last step, from_sklearn(pipeline[-1]), and transform rows before predicting"),
        ("best_estimator_", "give its best_estimator_"),
        ("estimators_", "it predicts by several models: give one of its estimators_"),
        ("calibrated_classifiers_", "it predicts by several models: give one that is linear"),
    ):
        if hasattr(model, attribute):
            raise TypeError(f"A {kind} has no weights of its own; {advice}.")
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise NotFittedError(f"This {kind} is not fitted: it has no weights yet.") from None
    except TypeError:
        raise TypeError(f"model must be a fitted classifier of scikit-learn; got {kind}.") from None
    missing = [name for name in _NEEDED if not hasattr(model, name)]
    if missing:
        raise TypeError(f"A {kind} is not a linear classifier with weights: it has no {missing[0]}.")


def _weights(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """coef_ (n, d) and intercept_ (n,), in one precision."""
    coef, intercept = model.coef_, np.atleast_1d(np.asarray(model.intercept_))
    coef = np.asarray(coef.toarray() if is_sparse(coef) else coef)
    if coef.ndim == 1:
        coef = coef[None, :]
    if coef.dtype.kind not in "fiu" or intercept.dtype.kind not in "fiu":
        raise TypeError(f"coef_ and intercept_ must hold numbers; got {coef.dtype} and {intercept.dtype}.")
    if len(intercept) == 1 and len(coef) > 1:  # fit_intercept=False leaves one 0 in some classes
        intercept = np.repeat(intercept, len(coef))
    single = coef.dtype == np.float32 and intercept.dtype == np.float32
    dtype = np.float32 if single or (coef.dtype == np.float32 and not intercept.any()) else np.float64
    return coef.astype(dtype), intercept.astype(dtype)


def _labels_are_several(model: Any, d: int) -> bool:
    """Whether rows may have several labels: ``predict`` returns an indicator matrix then."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the row has no names of features
        return np.ndim(model.predict(np.zeros((1, d)))) == 2


def _check_shapes(
    model: Any, coef: np.ndarray, intercept: np.ndarray, classes: np.ndarray, several: bool
) -> None:
    n = len(classes)
    expected = n if several or n > 2 else 1
    if n < 2 or len(coef) != expected or len(intercept) != expected:
        raise ValueError(
            f"This {type(model).__name__} has {n} classes, coef_ of shape {coef.shape} and intercept_ of "
            f"shape {intercept.shape}: a linear classifier has one row of weights for two classes, and one "
            "for each of several."
        )


def _default_learner(model: Any, intercept: bool) -> Learner:
    """The learner whose rule is nearest to that of the model."""
    get = model.get_params(deep=False).get
    kind, loss, schedule = type(model).__name__, get("loss"), get("learning_rate")
    jointly = len(model.classes_) > 2 and (
        kind in ("LogisticRegression", "LogisticRegressionCV", "LinearDiscriminantAnalysis")
        or get("multi_class") == "crammer_singer"
    )
    common: dict[str, Any] = {
        "fit_intercept": bool(get("fit_intercept", True)) or intercept,
        "multiclass": "joint" if jointly else "ovr",
    }
    if kind == "Perceptron" or (kind == "SGDClassifier" and loss == "perceptron"):
        constant = kind == "Perceptron" or schedule == "constant"
        rate = float(get("eta0", 1.0)) if constant else 1.0
        return cast("Learner", Perceptron(learning_rate=rate, **common))
    if kind == "PassiveAggressiveClassifier":
        variant = "II" if loss == "squared_hinge" else "I"
        return cast("Learner", PassiveAggressive(C=float(get("C", 1.0)), variant=variant, **common))
    if kind == "SGDClassifier" and schedule in ("pa1", "pa2"):
        variant = "I" if schedule == "pa1" else "II"
        return cast("Learner", PassiveAggressive(C=float(get("eta0", 1.0)), variant=variant, **common))
    return cast("Learner", PassiveAggressive(**common))


# ---------------------------------------------------------------- the learner that goes on


def _checked_learner(learner: Any) -> Learner:
    """An unfitted copy of a learner that can begin with any w and predict by it."""
    kind = type(learner).__name__
    if isinstance(learner, type):
        raise TypeError(f"learner must be an estimator, such as {kind}(); got the class {learner.__name__}.")
    additive = isinstance(learner, FirstOrder) and not isinstance(learner, KernelBased)
    if not additive or learner._takes_lists:
        raise TypeError(
            f"{kind} cannot begin with given weights: give Perceptron, MarginPerceptron, MIRA, "
            "PassiveAggressive, ROMMA, ALMA or OnlineClassifier."
        )
    made: FirstOrder = clone(learner)
    made._check_params()
    if made._readout != "last" or made.normalized_votes:
        raise ValueError(
            f"{kind} would predict by all w since the start, and there is only the last one: use a learner "
            "with readout='last' and normalized_votes=False."
        )
    if made.row_norm is not None:
        raise ValueError("row_norm divides scores by the length of a row: use row_norm=None.")
    if isinstance(made, MarginPerceptron) and made.gamma == "auto":
        raise ValueError("gamma='auto' starts again from w = 0 whenever a guess is refuted: give a number.")
    return made


# ---------------------------------------------------------------- the check of both


def _compare(model: Any, made: Learner) -> None:
    """Compare scores and labels on a few rows."""
    import scipy.sparse as sp

    coef = made.coef_
    d, rng = coef.shape[1], np.random.default_rng(0)
    k = min(d, _ENTRIES)
    rows = np.zeros((_PROBES, d)) if d <= _ENTRIES else sp.lil_array((_PROBES, d))
    # the columns with the largest weights, and others; the first row stays 0
    heavy = np.argsort(-np.abs(coef).max(axis=0), kind="stable")[:k]
    for i in range(1, _PROBES):
        columns = heavy if i % 2 else rng.choice(d, k, replace=False)
        rows[i, columns] = rng.standard_normal(k)
    probes = rows if isinstance(rows, np.ndarray) else rows.tocsr()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows without names of features
        scores, labels = np.asarray(model.decision_function(probes)), np.asarray(model.predict(probes))
        own = made.decision_function(probes)
    if scores.ndim == 2 and scores.shape[1] == 1 and own.ndim == 1:
        scores = scores[:, 0]
    terms = abs(probes) @ np.abs(coef).T + np.abs(np.asarray(made.intercept_))  # a score adds up such terms
    size = float(terms.max())
    alike = scores.shape == own.shape and bool((np.abs(scores - own) <= 1e-4 * size).all())
    if alike:
        codes = made._decide(scores)
        alike = np.array_equal(codes if made.several_labels else made.classes_[codes], labels)
    if not alike:
        _refuse(model)


def _refuse(model: Any) -> NoReturn:
    raise ValueError(
        f"This {type(model).__name__} does not predict by coef_ and intercept_ alone: its scores or labels "
        "of some rows are others."
    )
