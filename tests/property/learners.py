"""Every online learner of the package beside its blackboard version.

The two have to make the same updates. They add in different orders, though, so a decision that hangs on
rounding may fall either way in either; `hangs_on_rounding` finds the runs that have one, and
`hypothesis.assume` leaves them out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, combinations
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import perceptrons as pc
from perceptrons import reference, rules
from perceptrons.reference.multiplicative import EliminationRun, WinnowRun

Goals = Callable[[float, float, float, int, float], Iterator[tuple[float, float, bool]]]


class Frame(NamedTuple):
    """How rows are seen: the constant coordinate (or None) and "l2" (or None)."""

    bias: float | None = None
    normalize: str | None = None

    def of_estimator(self) -> dict[str, Any]:
        if self.bias is None:
            return {"fit_intercept": False, "row_norm": self.normalize}
        return {"intercept_scaling": self.bias, "row_norm": self.normalize}


def frames() -> st.SearchStrategy[Frame]:
    return st.builds(Frame, st.sampled_from([None, 1.0, 0.5]), st.sampled_from([None, None, "l2"]))


class Learner(NamedTuple):
    """An estimator, its reference, and how to tell that the two must agree."""

    name: str
    estimator: Callable[..., Any]
    params: dict[str, Any]
    reference: Callable[..., reference.Run]
    blackboard: dict[str, Any]
    goals: Goals
    exact: bool = False  #: on rows of dyadic numbers nothing is rounded
    framed: bool = True  #: takes an intercept and unit rows
    tol: float = 1e-9  #: how well the weights agree
    top: bool = True  #: it matters which of the rivals scores most

    def __str__(self) -> str:
        return self.name

    def make(self, frame: Frame | None = None, **params: Any) -> Any:
        options = {} if frame is None or not self.framed else frame.of_estimator()
        return self.estimator(**self.params, **options, **params)

    def run(self, X: Any, y: Any, order: Any, frame: Frame | None = None, **params: Any) -> Any:
        options = {} if frame is None or not self.framed else frame._asdict()
        return self.reference(X, y, order, **self.blackboard, **options, **params)

    def hangs_on_rounding(self, run: Any, X: Any, y: Any, order: Any, relative: float = 0.0) -> bool:
        if self.exact and run.normalize is None and not relative:
            return False
        return hangs_on_rounding(run, X, y, order, self.goals, relative or self.tol, self.top)


# ------------------------------------------------------------------------------------- near ties


def hangs_on_rounding(
    run: reference.Run, X: Any, y: Any, order: Any, goals: Goals, relative: float, top: bool
) -> bool:
    """Whether some decision of the run was nearer to its threshold than ``relative``.

    ``goals(m, q, N, k, size)`` lists the decisions on an example of margin m and squared length q, met
    with squared norm N after k updates: triples (distance, scale, lands). ``size`` is that of all terms
    that were ever added up to m. An exact tie is safe if it has no terms at all: w is still 0 where x
    is not. Where a step *lands* on the threshold, on purpose, and ``LOSS_TOL`` makes that a pass, what is
    left of rounding is safe as well.
    """
    X = run.rows(X)
    after = np.repeat(np.arange(len(run.counts)), run.counts)
    before = [0, *after[:-1]]
    vectors = np.stack(run.vectors)
    for k, i in zip(before, chain.from_iterable(order), strict=True):
        for distance, scale, lands in _decisions(vectors[: k + 1], X[i], int(y[i]), goals, top):
            if relative * scale > abs(distance) > (1e-13 * scale if lands else -1.0):
                return True
    return False


def _decisions(vectors, x, label, goals, top):
    """(distance, scale, lands) of the decisions on one example; the last vector is the current one."""
    w, k, q = vectors[-1], len(vectors) - 1, float(x @ x)
    N, size = float(np.sum(w * w)), _size(vectors, x)
    if w.ndim == 1:
        m = label * float(w @ x)
        yield m, size, False  # the predicted label
        yield from goals(m, q, N, k, size)
        return
    for r, s in combinations(range(len(w)), 2):  # who scores more decides who pays
        if not top and label not in (r, s):
            continue
        difference = vectors[:, r] - vectors[:, s]
        yield float(difference[-1] @ x), _size(difference, x), False
    s = w @ x
    m = float(s[label] - np.max(np.delete(s, label)))
    yield from goals(m, 2.0 * q, N, k, size)


def _size(vectors, x):
    """The sum of |dw_i x_i| over all changes of w since its start at 0."""
    return float((np.abs(np.diff(vectors, axis=0, prepend=0.0)) * np.abs(x)).sum())


def at_zero(m, q, N, k, size):
    """The sign of the margin decides, which is looked at for every learner."""
    return iter(())


def at(goal: float, lands: bool = False) -> Goals:
    def goals(m, q, N, k, size):
        yield m - goal, size + goal, lands

    return goals


def times_norm(factor: float, stalls: bool = False) -> Goals:
    """The margin is compared with factor * ||w||."""

    def goals(m, q, N, k, size):
        yield m - factor * sqrt(N), size + factor * sqrt(N), False
        if stalls:
            yield m - 1.0, size + 1.0, True

    return goals


def relaxed(goal: float) -> Goals:
    """ROMMA also asks whether x is parallel to w, and divides by how far it is from that.

    That loses digits, and again with each update; so its weights agree to fewer of them.
    """

    def goals(m, q, N, k, size):
        yield m - goal, size + goal, goal > 0.0
        yield 1e-5 * (q * N - m * m), q * N, True

    return goals


def shrinking(alpha: float) -> Goals:
    """ALMA's band shrinks with the updates, and is for rows of length 1."""

    def goals(m, q, N, k, size):
        goal = (1.0 - alpha) * sqrt(8.0) / alpha / sqrt(k + 1.0) * sqrt(q)
        yield m - goal, size + goal, False

    return goals


# -------------------------------------------------------------------------------- two classes


def _perceptron(name, exact=True, **params):
    blackboard = {"rule" if k == "mistake" else k: v for k, v in params.items()}
    return Learner(name, pc.Perceptron, params, reference.perceptron, blackboard, at_zero, exact)


def _pa(name, variant, goals, **params):
    blackboard = {"variant": variant, **params}
    word = {"PA": "hard", "PA-I": "I", "PA-II": "II"}[variant]
    return Learner(
        name,
        pc.PassiveAggressive,
        {"variant": word, **params},
        reference.passive_aggressive,
        blackboard,
        goals,
    )


FIRST_ORDER = [
    _perceptron("perceptron"),
    _perceptron("perceptron, by prediction", mistake="prediction"),
    _perceptron("perceptron, rate 1/updates", exact=False, learning_rate="updates"),
    _perceptron("perceptron, rate 1/examples", exact=False, learning_rate="examples"),
    Learner(
        "margin perceptron",
        pc.MarginPerceptron,
        {"gamma": 0.75, "eps": 0.25},
        reference.margin_perceptron,
        {"gamma": 0.75, "eps": 0.25},
        times_norm(0.75 * 0.75),
    ),
    Learner("MIRA", pc.MIRA, {}, reference.mira, {}, at_zero),
    Learner("MIRA, p = 1/2", pc.MIRA, {"p": 0.5}, reference.mira, {"p": 0.5}, at(0.5)),
    Learner(
        "MIRA, geometric",
        pc.MIRA,
        {"p": 0.375, "margin": "geometric"},
        reference.mira,
        {"p": 0.375, "variant": "geometric"},
        times_norm(0.375, stalls=True),
    ),
    _pa("PA", "PA", at(1.0, lands=True)),
    _pa("PA-I", "PA-I", at(1.0, lands=True), C=0.125),
    _pa("PA-II", "PA-II", at(1.0), C=0.125),
    Learner("ROMMA", pc.ROMMA, {}, reference.romma, {}, relaxed(0.0), tol=1e-7),
    Learner(
        "ROMMA, aggressive",
        pc.ROMMA,
        {"aggressive": True, "delta": 0.25},
        reference.romma,
        {"aggressive": True, "delta": 0.25},
        relaxed(0.75),
        tol=1e-7,
    ),
    Learner("ALMA", pc.ALMA, {"alpha": 0.5}, reference.alma, {"alpha": 0.5}, shrinking(0.5)),
]


def _scw(variant, covariance):
    kind = {"I": 1, "II": 2}[variant]
    return Learner(
        f"SCW-{variant}, {covariance}",
        pc.SCW,
        {"variant": variant, "covariance": covariance, "eta": 0.8, "C": 0.5},
        reference.scw,
        {"kind": kind, "covariance": covariance, "eta": 0.8, "C": 0.5},
        at_zero,
    )


SECOND_ORDER = [
    Learner(
        "second-order perceptron",
        pc.SecondOrderPerceptron,
        {"a": 0.5},
        reference.second_order_perceptron,
        {"a": 0.5},
        at_zero,
    ),
    *(
        Learner(
            f"AROW, {covariance}",
            pc.AROW,
            {"r": 0.5, "covariance": covariance},
            reference.arow,
            {"r": 0.5, "covariance": covariance},
            at(1.0),
        )
        for covariance in ("full", "diagonal")
    ),
    *(_scw(variant, covariance) for variant in ("I", "II") for covariance in ("full", "diagonal")),
]

#: for any rows
POTENTIAL = [
    Learner(
        "balanced Winnow", pc.BalancedWinnow, {"eta": 0.25}, reference.balanced_winnow, {"eta": 0.25}, at_zero
    ),
    Learner("p-norm, p = 2", pc.PNormPerceptron, {"p": 2.0}, reference.pnorm, {"p": 2.0}, at_zero, True),
    Learner("p-norm, p = 3", pc.PNormPerceptron, {"p": 3.0}, reference.pnorm, {"p": 3.0}, at_zero),
    Learner(
        "p-norm, by prediction",
        pc.PNormPerceptron,
        {"p": 2.5, "mistake": "prediction"},
        reference.pnorm,
        {"p": 2.5, "rule": "prediction"},
        at_zero,
    ),
]


def _winnow(name, theta=None, exact=False, **params):
    def goals(m, q, N, k, size):
        if theta is not None:
            yield abs(m) - theta, size + theta, False

    return Learner(
        name,
        pc.Winnow,
        {**params, "threshold": theta},
        reference.winnow,
        {**params, "theta": theta},
        goals,
        exact,
        framed=False,
    )


def _elimination(literals):
    return Learner(
        f"elimination, {literals}",
        pc.Elimination,
        {"literals": literals},
        reference.elimination,
        {"literals": literals},
        at_zero,
        exact=True,
        framed=False,
    )


#: for 0/1 rows
DISJUNCTIVE = [
    _winnow("Winnow1", exact=True, kind=1),
    _winnow("Winnow2", exact=True),
    _winnow("Winnow2, alpha = 3/2", theta=2.25, alpha=1.5),
    _elimination("monotone"),
    _elimination("all"),
]
#: for rows in [0, 1]
FRACTIONAL = [
    _winnow("Winnow2, fractions", theta=2.0),
    _winnow("Winnow2, fractions, alpha = 3/2", theta=1.5, alpha=1.5),
]

# ------------------------------------------------------------------------------- many classes


def _joint_perceptron(name, exact=False, **params):
    words = {"mistake": "rule"}
    blackboard = {words.get(k, k): v for k, v in params.items()}
    return Learner(name, pc.Perceptron, params, reference.multiclass_perceptron, blackboard, at_zero, exact)


def _joint_pa(variant, solver):
    word = {"PA": "hard", "PA-I": "I", "PA-II": "II"}[variant]
    return Learner(
        f"{variant}, {solver}",
        pc.PassiveAggressive,
        {"variant": word, "solver": solver, "C": 0.125},
        reference.multiclass_passive_aggressive,
        {"variant": variant, "solver": solver, "C": 0.125},
        at(1.0, lands=variant != "PA-II"),
        top=solver == "top",
    )


JOINT = [
    _joint_perceptron("perceptron, top", exact=True),
    _joint_perceptron("perceptron, uniform", scheme="uniform"),
    _joint_perceptron("perceptron, proportional", scheme="proportional"),
    _joint_perceptron("perceptron, by prediction", exact=True, mistake="prediction"),
    _joint_perceptron("perceptron, rate 1/updates", learning_rate="updates"),
    Learner(
        "margin perceptron",
        pc.MarginPerceptron,
        {"gamma": 0.75, "eps": 0.25},
        reference.multiclass_margin_perceptron,
        {"gamma": 0.75, "eps": 0.25},
        times_norm(0.75 * 0.75),
    ),
    *(
        Learner(
            f"MIRA, {solver}",
            pc.MIRA,
            {"p": p, "solver": solver},
            reference.multiclass_mira,
            {"p": p, "solver": solver},
            at(p),
            top=solver == "top",
        )
        for p, solver in [(0.0, "top"), (0.25, "exact")]
    ),
    *(_joint_pa(variant, solver) for variant in ("PA", "PA-I", "PA-II") for solver in ("top", "exact")),
    Learner("ROMMA", pc.ROMMA, {}, reference.multiclass_romma, {}, relaxed(0.0), tol=1e-7),
    Learner(
        "ROMMA, aggressive",
        pc.ROMMA,
        {"aggressive": True, "delta": 0.25},
        reference.multiclass_romma,
        {"aggressive": True, "delta": 0.25},
        relaxed(0.75),
        tol=1e-7,
    ),
]


@rules.rule
def half_steps(m, q, state):
    """A rule of the user's."""
    return (1.0, 0.5) if m <= 0.0 else rules.NO_STEP


def pick(*names: str) -> list[Learner]:
    """Learners of two classes by their names."""
    known = {learner.name: learner for learner in FIRST_ORDER + SECOND_ORDER + POTENTIAL + DISJUNCTIVE}
    return [known[name] for name in names]


# ----------------------------------------------------------------------------- what is compared


def weights(model: Any) -> np.ndarray:
    """The weights as the reference stores them: a vector, or a row a class; the constant's last."""
    w = model.coef_
    if model.fit_intercept:
        w = np.hstack([w, model.intercept_[:, None] / model.intercept_scaling])
    return w[0] if len(w) == 1 else w


def blackboard_weights(run: reference.Run) -> np.ndarray:
    """The weights of a run as an estimator has them: a standing negation counts -1."""
    if isinstance(run, EliminationRun) and run.literals == "all":
        inputs, negations = np.split(run.w, 2)
        return inputs - negations
    return run.w


def decision_values(run: reference.Run, X: Any) -> np.ndarray:
    """The scores of a run as an estimator has them: learners of disjunctions subtract their threshold."""
    if isinstance(run, WinnowRun):
        return run.scores(X) - run.theta
    if isinstance(run, EliminationRun):
        return run.rows(X) @ run.w - 1.0
    return run.scores(X)


def close(a: Any, b: Any, tol: float = 1e-9) -> bool:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= tol * (1.0 + np.abs(b).max(initial=0.0))))


def updates(model: Any, n_epochs: int) -> list[list[int]]:
    """Rows updated on, one list an epoch, as the reference has them."""
    log = model.update_log_
    return [log["row"][log["epoch"] == e].tolist() for e in range(n_epochs)]
