r"""No false bracket, verdict or certificate: ill-conditioned data against tests/exact.py.

A case is a data set of tests/ill_conditioned.py and one thing that makes statements about it: a learner,
trained in one of several ways, with its certificate; ``separability``; ``MaxMargin``, with kernels too;
``minimum_error_halfspace``; ``errors_and_hinge``; ``advise``.
Every number that is claimed is compared with the exact one, as a fraction.

    python -m fuzz.brackets --seconds 60 --cases 100000 --seed 0
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

import exact
import numpy as np
from ill_conditioned import Case, draw
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import perceptrons as pc
from perceptrons import kernels, proofs
from perceptrons.core.maximum_margin import NotSeparableError

from . import advice

TIGHT = Fraction(1, 10**6)  # an end of a bracket is so near to its formula, relatively, in float64 ...
RELATIVE = Fraction(1, 10**9)  # ... where the formula is at least so much of the longest row

LEARNERS: dict[str, Callable[..., Any]] = {
    "Perceptron": pc.Perceptron,
    "Perceptron, by prediction": lambda **p: pc.Perceptron(mistake="prediction", **p),
    "Perceptron, rate 1/updates": lambda **p: pc.Perceptron(learning_rate="updates", **p),
    "Perceptron, uniform": lambda **p: pc.Perceptron(scheme="uniform", **p),
    "AveragedPerceptron": pc.AveragedPerceptron,
    "VotedPerceptron": pc.VotedPerceptron,
    "MarginPerceptron": lambda **p: pc.MarginPerceptron(gamma=0.75, eps=0.25, **p),
    "MarginPerceptron, auto": pc.MarginPerceptron,
    "MIRA": pc.MIRA,
    "MIRA, p = 1/2": lambda **p: pc.MIRA(p=0.5, **p),
    "MIRA, geometric": lambda **p: pc.MIRA(p=0.375, margin="geometric", **p),
    "MIRA, exact": lambda **p: pc.MIRA(p=0.25, solver="exact", **p),
    "PA": lambda **p: pc.PassiveAggressive(variant="hard", **p),
    "PA-I": pc.PassiveAggressive,
    "PA-II": lambda **p: pc.PassiveAggressive(variant="II", C=0.125, **p),
    "PA-I, exact": lambda **p: pc.PassiveAggressive(solver="exact", **p),
    "ROMMA": pc.ROMMA,
    "ROMMA, aggressive": lambda **p: pc.ROMMA(aggressive=True, delta=0.25, **p),
    "ALMA": pc.ALMA,
    "BalancedWinnow": lambda **p: pc.BalancedWinnow(eta=0.25, **p),
    "PNormPerceptron, p = 2": pc.PNormPerceptron,
    "PNormPerceptron, p = 3": lambda **p: pc.PNormPerceptron(p=3.0, **p),
    "RiskDescent": pc.RiskDescent,
    "RiskDescent, worst": lambda **p: pc.RiskDescent(pick="worst", max_steps=50, **p),
}
JOINT = {
    name for name in LEARNERS if name.split(",")[0] in ("Perceptron", "MIRA", "PA", "PA-I", "PA-II", "ROMMA")
} | {
    "AveragedPerceptron",
    "VotedPerceptron",
    "MarginPerceptron",
    "MarginPerceptron, auto",
}
WAYS = ("fit", "partial_fit", "learn_one", "fit and learn_one")
#: learners that are mixed from shards, too
MIXED = {name for name in JOINT if name.split(",")[0] not in ("VotedPerceptron", "ROMMA")} - {
    "Perceptron, rate 1/updates",
    "MIRA, geometric",
    "MarginPerceptron, auto",
}


class Outcome(NamedTuple):
    """What became of one case."""

    subject: str
    case: Case
    how: str  #: parameters and the way of training
    wrong: list[str]  #: false statements, raw exceptions, ends that are not tight
    said: str = ""  #: "refused", "nothing" (low None or up inf), "bracket", or a verdict

    def __str__(self) -> str:
        return f"{self.subject}, {self.how}: {'; '.join(self.wrong)}\n  {self.case}"


# ------------------------------------------------------------------------------------------------- learners


class Frame(NamedTuple):
    """How a learner sees the rows."""

    bias: float
    unit: bool

    def parameters(self) -> dict[str, Any]:
        scaling = {"intercept_scaling": self.bias} if self.bias else {}
        return {"fit_intercept": bool(self.bias), "row_norm": "l2" if self.unit else None, **scaling}

    def rows(self, X: Any) -> tuple[list[exact.Row], Fraction]:
        """The rows as the learner takes them, and by how much they may differ from the true ones."""
        found = exact.augmented(X, self.bias)
        return exact.unit_rows(found, 1024) if self.unit else (found, exact.NOUGHT)


class Problem(NamedTuple):
    """One bracket: signed rows, of which the margin is the best."""

    rows: list[exact.Row]
    slack: Fraction
    joint: int = 0  #: the number of classes learned together
    codes: tuple[int, ...] = ()  #: the class of each example, then

    def best(self) -> exact.Margin:
        return exact.best_margin(self.rows, self.slack)


def in_floats(X: Any) -> Any:
    """Rows as a learner stores them: integers are rounded to float64."""
    return X if X.dtype in (np.float64, np.float32) else X.astype(np.float64)


def problems(X: Any, codes: np.ndarray, n_classes: int, joint: bool, frame: Frame) -> list[Problem]:
    rows, slack = frame.rows(in_floats(X))
    if n_classes > 2 and joint:
        return [
            Problem(
                exact.difference_rows(rows, codes, n_classes), 2 * slack, n_classes, tuple(codes.tolist())
            )
        ]
    targets = range(n_classes) if n_classes > 2 else [n_classes - 1]
    return [Problem(exact.signed(rows, np.where(codes == r, 1, -1)), slack) for r in targets]


def trained(model: Any, X: Any, y: np.ndarray, way: str, rng: np.random.Generator) -> Any:
    if way == "fit":
        return model.fit(X, y)
    if way == "mixed":
        n_shards, mixing = int(rng.integers(1, min(4, len(y)) + 1)), str(rng.choice(["uniform", "mistakes"]))
        return pc.ParameterMixing(model, n_shards=n_shards, mixing=mixing, backend="serial").fit(X, y)
    classes = np.unique(y)
    if way == "partial_fit":
        start = 0
        while start < len(y):
            stop = start + int(rng.integers(1, 4))
            model.partial_fit(X[start:stop], y[start:stop], classes=classes)
            start = stop
        return model
    if way == "fit and learn_one":
        model.fit(X, y)
    else:
        model.partial_fit(X[:1], y[:1], classes=classes)
    for _ in range(2):
        for i in range(len(y)):
            model.learn_one(X[i] if not sparse.issparse(X) else X[[i]], y[i])
    return model


def learner_case(case: Case, rng: np.random.Generator, name: str | None = None) -> Outcome:
    name = list(LEARNERS)[rng.integers(len(LEARNERS))] if name is None else name
    frame = Frame(float(rng.choice([0.0, 0.5, 1.0])), bool(rng.random() < 0.25))
    X, y = case.X, case.y
    if rng.random() < 0.3 and len(y) > 2:
        y = np.where(y > 0, rng.integers(1, 3, len(y)), 0)
    classes, codes = np.unique(y, return_inverse=True)
    joint = name in JOINT and bool(rng.random() < 0.6)
    params: dict[str, Any] = {**frame.parameters()}
    if name in JOINT:
        params["multiclass"] = "joint" if joint else "ovr"
    online = not name.startswith("RiskDescent")
    if online:
        params |= {"random_state": int(rng.integers(100)), "max_iter": int(rng.choice([1, 3, 20]))}
    way = WAYS[rng.integers(len(WAYS))] if online else "fit"
    if way == "fit and learn_one" and name in MIXED:
        way = "mixed"
    how = f"{params}, {way}, {len(classes)} classes"
    certified = way in ("fit", "mixed") and rng.random() < 0.3

    def outcome(said: str, wrong: list[str]) -> Outcome:
        return Outcome(name, case, how, wrong, said)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = trained(LEARNERS[name](**params), X, y, way, rng)
            pairs, free = model.margin_bounds_, model.free_margin_bounds_
    except Exception as error:  # whatever a learner raises is looked at
        return outcome("refused", [] if refusal(error, X, classes) else [f"{type(error).__name__}: {error}"])
    asked = problems(X, codes, len(classes), joint, frame)
    pairs = pairs if isinstance(pairs, list) else [pairs]
    if len(pairs) != len(asked):
        return outcome("bracket", [f"{len(pairs)} brackets for {len(asked)} learners"])
    wrong: list[str] = []
    for r, (pair, problem) in enumerate(zip(pairs, asked)):
        wrong += bracket_faults(name, pair, problem)
        if way == "fit":
            wrong += loose_ends(model, r, pair, problem, frame, X)
    if name.split(",")[0] in ("BalancedWinnow", "PNormPerceptron") or (joint and len(classes) > 2):
        wrong += [] if free is None else [f"{free} with a free offset"]
    elif len(classes) > 1:
        wrong += free_faults(model, free, X, codes, len(classes), frame, way)
    if way == "mixed" and name.split(",")[0] in ("Perceptron", "AveragedPerceptron"):
        wrong += mixing_faults(model, asked)
    if certified:
        wrong += certificate_faults(model, X, y, asked, name)
    quiet = any(low is None or low == -math.inf or up == math.inf for low, up in pairs)
    return outcome("nothing" if quiet else "bracket", wrong)


def mixing_faults(model: Any, asked: list[Problem]) -> list[str]:
    """Weighted updates of shards beyond what the theorem allows."""
    found = model.weighted_updates_
    wrong = []
    for updates, problem in zip(found if isinstance(found, list) else [found], asked, strict=True):
        best = problem.best()
        if problem.slack == 0 and best.separable:
            longest = max(exact.inner(row, row) for row in problem.rows)  # differences have twice the square
            if Fraction(updates) * best.square > longest * (1 + TIGHT):
                wrong.append(f"{updates} weighted updates, and R^2/gamma^2 is {float(longest / best.square)}")
    return wrong


def refusal(error: Exception, X: Any, classes: np.ndarray) -> bool:
    """Whether a learner may refuse: one class where two are needed, or squares out of range, in one line."""
    text = str(error)
    if not isinstance(error, ValueError) or "\n" in text or isinstance(error, NotSeparableError):
        return False
    if len(classes) < 2 and "class" in text:
        return True
    if (
        "overflow the weights" in text
    ):  # ROMMA makes w as long as it takes, and rows may contradict each other
        return True
    values = np.abs(in_floats(X).data if sparse.issparse(X) else in_floats(X)).astype(float)
    some = values[values > 0.0]
    largest = 1e3 if "the score is" in text else 1e70  # exponents of multiplicative weights
    return bool(some.size and (some.max() > largest or some.min() < 1e-70))


def free_faults(
    model: Any, free: Any, X: Any, codes: np.ndarray, n_classes: int, frame: Frame, way: str
) -> list[str]:
    """What is false about the brackets with a free offset, and ends that are not tight."""
    rounded = exact.rows_of(X) != exact.rows_of(in_floats(X))
    if not frame.bias or frame.unit or (rounded and way not in ("fit", "mixed")):
        return [] if free is None else [f"{free} with a free offset"]
    if free is None:
        return ["nothing with a free offset"]
    free = free if isinstance(free, list) else [free]
    targets = range(n_classes) if n_classes > 2 else [1]
    wrong: list[str] = []
    for r, (target, (low, up)) in enumerate(zip(targets, free, strict=True)):
        y = np.where(codes == target, 1, -1)
        said = f"({low!r}, {up!r}) with a free offset"
        if (low is not None and low > up) or math.isnan(up) or (low is not None and math.isnan(low)):
            wrong.append(said)
        for rows in (
            [in_floats(X), X] if rounded and not isinstance(model, pc.RiskDescent) else [in_floats(X)]
        ):
            best = exact.best_free_margin(rows, y)
            if best is not None and not (best.at_least(low) and best.at_most(up)):
                wrong.append(f"{said}, and the best margin is {float(best)!r}")
        alpha = model.run_record().learners[r].steps
        if way != "fit" or X.dtype == np.float32 or alpha is None or not alpha.any():
            continue
        a = [Fraction(v) for v in alpha.tolist()]
        bare = exact.rows_of(in_floats(X))
        length2, mass2 = exact.length_of(a, exact.signed(bare, y))
        delta, longest = abs(exact.inner(a, y.tolist())) / sum(a), max(exact.inner(row, row) for row in bare)
        formula = (exact.root(length2 / mass2) + exact.root(longest) * float(delta)) / (1.0 + float(delta))
        clear = 1e-6 < longest / Fraction(frame.bias) ** 2 < 1e8 and formula > 1e-3 * exact.root(longest)
        if clear and (n_classes == 2 or delta < 1) and not up <= formula * (1.0 + 1e-6):
            wrong.append(f"{said}, and the steps say {formula!r}")
    return wrong


def bracket_faults(name: str, pair: tuple[Any, float], problem: Problem) -> list[str]:
    """What is false about (low, up)."""
    low, up = pair
    said = f"({low!r}, {up!r})"
    if (low is not None and math.isnan(low)) or math.isnan(up):
        return [f"{said} is no bracket"]
    if low is not None and low > up:
        return [f"{said}: low is above up"]
    if name == "BalancedWinnow":
        value = exact.best_l1_margin(problem.rows).value
        wrong_low = low is not None and low > 0.0 and Fraction(low) > value + problem.slack
        wrong_up = up < math.inf and Fraction(up) < value - problem.slack
        return [f"{said}, and the best L1 margin is {float(value)!r}"] if wrong_low or wrong_up else []
    if name == "PNormPerceptron, p = 3":
        return pnorm_faults(said, low, up, problem, 3)
    best = problem.best()
    if best.at_least(low) and best.at_most(up):
        return []
    return [f"{said}, and the best margin is {float(best)!r}"]


def pnorm_faults(said: str, low: float | None, up: float, problem: Problem, p: int) -> list[str]:
    """A margin in another norm lies between that of the Euclidean separator and that of its weights."""
    best = problem.best()
    scale = max((abs(v) for row in problem.rows for v in row), default=exact.ONE) or exact.ONE
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 60, -(10**6), 10**6

        def decimal(v: Fraction) -> Decimal:
            return Decimal(v.numerator) / Decimal(v.denominator)

        def norm(v: list[Fraction], order: Decimal) -> Decimal:
            sizes = [decimal(abs(x)) for x in v if x]
            return sum((x**order for x in sizes), start=Decimal(0)) ** (1 / order) if sizes else Decimal(0)

        order = Decimal(p)
        q = order / (order - 1)
        slack = decimal(2 * problem.slack + scale / 10**50)
        total = [
            exact.inner(best.weights, [row[j] for row in problem.rows]) for j in range(len(problem.rows[0]))
        ]
        above = norm(total, order) + slack
        below = Decimal(0)
        if best.separable:
            least, _ = exact.margin_of(best.direction, problem.rows)
            below = decimal(least) / norm(best.direction, q) - slack
        if low is not None and low > 0.0 and decimal(Fraction(low)) > above:
            return [f"{said}, and the best margin is at most {above:.17g}"]
        if up < math.inf and decimal(Fraction(up)) < below:
            return [f"{said}, and the best margin is at least {below:.17g}"]
    return []


def loose_ends(model: Any, r: int, pair: Any, problem: Problem, frame: Frame, X: Any) -> list[str]:
    """Ends of a bracket that are further from their formulas than 1e-6, in float64."""
    others = (pc.BalancedWinnow, pc.PNormPerceptron, pc.MaxMargin)
    if X.dtype == np.float32 or isinstance(model, others):
        return []
    low, up = pair
    longest = max(exact.inner(row, row) for row in problem.rows)
    wrong = []
    if not isinstance(model, (pc.AveragedPerceptron, pc.VotedPerceptron)):
        w = whole_weights(model, frame)
        w = [v for row in w for v in row] if problem.joint else w[r]
        least, norm2 = exact.margin_of(w, problem.rows)
        clear = least > 0 and least * least > RELATIVE**2 * longest * norm2
        near = low is not None and low > 0.0 and (Fraction(low) / (1 - TIGHT)) ** 2 * norm2 >= least * least
        if clear and not near:
            wrong.append(f"low is {low!r}, and the margin of w is {exact.root(least**2 / norm2)!r}")
    alpha = model.run_record().learners[r].steps
    if alpha is not None and np.any(alpha):
        if problem.joint:
            pairs = zip(alpha, problem.codes)
            alpha = np.array([[a for k, a in enumerate(line) if k != own] for line, own in pairs])
        a = [Fraction(v) for v in np.ravel(alpha).tolist()]
        length2, mass2 = exact.length_of(a, problem.rows)
        if length2 > RELATIVE**2 * longest * mass2 and not (
            Fraction(up) ** 2 * mass2 < length2 * (1 + TIGHT) ** 2 if up < math.inf else False
        ):
            wrong.append(f"up is {up!r}, and the steps say {exact.root(length2 / mass2)!r}")
    return wrong


def whole_weights(model: Any, frame: Frame) -> list[exact.Row]:
    """The weights with that of the constant coordinate."""
    found = exact.rows_of(np.asarray(model.coef_))
    if frame.bias:
        for row, b in zip(found, np.ravel(model.intercept_).tolist()):
            row.append(Fraction(b) / Fraction(frame.bias))
    return found


def certificate_faults(model: Any, X: Any, y: np.ndarray, asked: list[Problem], name: str) -> list[str]:
    """What a certificate says that is not so, or a certificate that its own check refuses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            X = in_floats(X)  # integers that float64 rounds are refused
            c = proofs.certify(model, X, y)
            verified = [c.verify(X, y, exact=way) for way in (False, True)]
    except Exception as error:
        too_large = isinstance(error, ValueError) and "overflow: nothing can be certified" in str(error)
        return [] if too_large else [f"certificate: {type(error).__name__}: {error}"]
    wrong = [f"its certificate is {v}" for v in verified if not v]
    for bracket, problem in zip(c.brackets, asked):
        wrong += [f"certificate: {text}" for text in bracket_faults(name, (bracket.low, bracket.up), problem)]
    separable = all(problem.best().separable for problem in asked)
    said = c.verdict.verdict
    if said != "undecided" and (said == "separable") != separable:
        wrong.append(f"certificate: {said}")
    return wrong


# ------------------------------------------------------------------------------- verdicts and maximum margins


def best_hard(case: Case, fit_intercept: bool) -> exact.Margin | None:
    """The best hard margin of the data as they are; None: infinite."""
    if fit_intercept:
        return exact.best_free_margin(case.X, case.y)
    return exact.best_margin(exact.signed(exact.rows_of(case.X), case.y))


def hard_faults(pair: tuple[float, float], best: exact.Margin | None) -> list[str]:
    low, up = pair
    if best is None:
        return [] if up == math.inf else [f"({low!r}, {up!r}), and the best margin is infinite"]
    if math.isnan(low) or math.isnan(up) or low > up:
        return [f"({low!r}, {up!r}) is no bracket"]
    if best.at_least(low) and best.at_most(up):
        return []
    return [f"({low!r}, {up!r}), and the best margin is {float(best)!r}"]


def separability_case(case: Case, rng: np.random.Generator) -> Outcome:
    fit_intercept = bool(rng.random() < 0.5)
    how = f"fit_intercept={fit_intercept}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            proof = proofs.separability(case.X, case.y, fit_intercept=fit_intercept)
            checks = [proof.check(case.X, case.y, exact=way) for way in (False, True)]
    except Exception as error:
        return Outcome("separability", case, how, [f"{type(error).__name__}: {error}"])
    best = best_hard(case, fit_intercept)
    separable = best is None or best.separable
    wrong = [f"its own check says: {text}" for text in checks if text]
    if proof.verdict != "undecided" and (proof.verdict == "separable") != separable:
        wrong.append(f"{proof.verdict}")
    if proof.verdict != "undecided" and not proof.exact:
        wrong.append(f"{proof.verdict}, and not exact")
    wrong += hard_faults(proof.bracket, best)
    return Outcome("separability", case, how, wrong, proof.verdict)


def maximum_margin_case(case: Case, rng: np.random.Generator) -> Outcome:
    fit_intercept = bool(rng.random() < 0.5)
    C = float(rng.choice([math.inf, math.inf, 1.0]))
    solver = "auto" if not math.isinf(C) else str(rng.choice(["auto", "auto", "active", "descent"]))
    how = f"fit_intercept={fit_intercept}, C={C}, solver={solver!r}"
    best = best_hard(case, fit_intercept)
    y = case.y
    if len(set(y.tolist())) == 1 and not fit_intercept:  # one class is always the positive one there
        best = exact.best_margin(exact.rows_of(case.X))
    separable = best is None or best.separable
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = pc.MaxMargin(
                fit_intercept=fit_intercept, C=C, solver=solver, max_time=1.0, max_iter=50
            ).fit(case.X, y)
    except NotSeparableError as error:
        wrong = ["not separable"] if separable else []
        if not error.certificate.exact:
            wrong.append("not separable, and not exact")
        text = error.certificate.check(case.X, y, exact=True)
        return Outcome(
            "MaxMargin", case, how, wrong + ([f"its own check says: {text}"] if text else []), "refuted"
        )
    except Exception as error:
        told = [] if refusal(error, case.X, y) else [f"{type(error).__name__}: {error}"]
        return Outcome("MaxMargin", case, how, told, "refused")
    low, up = model.margin_bounds_
    wrong = hard_faults((low, up), best)
    if math.isinf(C) and best is not None and not best.at_least(model.margin_):
        wrong.append(f"margin_ is {model.margin_!r}, and the best is {float(best)!r}")
    return Outcome("MaxMargin", case, how, wrong, "margin" if low > 0.0 else "undecided")


def kernel_rows(X: Any, kernel: str) -> list[exact.Row]:
    """Rows of a map into the space of a kernel, all fractions."""
    bare = exact.rows_of(X)
    if kernel == "linear":
        return bare
    if kernel == "all subsets":
        return [
            [
                math.prod(some, start=exact.ONE)
                for k in range(len(row) + 1)
                for some in itertools.combinations(row, k)
            ]
            for row in bare
        ]
    squares = [[a * b for a in row for b in row] for row in bare]
    if kernel == "quadratic, homogeneous":
        return squares
    return [[exact.ONE, *row, *row, *more] for row, more in zip(bare, squares)]


KERNELS: dict[str, Any] = {
    "linear": kernels.Linear(),
    "all subsets": kernels.AllSubsets(),
    "quadratic, homogeneous": kernels.Polynomial(coef0=0.0),
    "quadratic": kernels.Polynomial(),
}


def kernel_margin_case(case: Case, rng: np.random.Generator) -> Outcome:
    """MaxMargin with a kernel whose map is rational."""
    name = list(KERNELS)[rng.integers(len(KERNELS))]
    X, y, free = case.X[:5], case.y[:5], bool(rng.random() < 0.5)
    solver = str(rng.choice(["auto", "descent"]))
    how = f"first 5 rows, kernel {name}, fit_intercept={free}, solver={solver!r}"
    rows = kernel_rows(X if X.dtype.kind == "f" else X.astype(np.float64), name)
    if len(set(y.tolist())) == 1:
        best = None if free else exact.best_margin(rows)
    elif free:
        plus, minus = ([row for row, s in zip(rows, y) if s == side] for side in (1, -1))
        best = exact.best_margin([[(a - b) / 2 for a, b in zip(p, m)] for p in plus for m in minus])
    else:
        best = exact.best_margin(exact.signed(rows, y))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = pc.MaxMargin(
                fit_intercept=free, kernel=KERNELS[name], solver=solver, max_time=1.0, max_iter=50
            ).fit(X, y)
    except NotSeparableError:
        wrong = ["not separable"] if best is None or best.separable else []
        return Outcome("MaxMargin, kernel", case, how, wrong, "refuted")
    except Exception as error:
        told = "Scale the data" in str(error) or "scale the data" in str(error) or "overflow" in str(error)
        told = told and isinstance(error, ValueError) and "\n" not in str(error)
        return Outcome(
            "MaxMargin, kernel", case, how, [] if told else [f"{type(error).__name__}: {error}"], "refused"
        )
    low, up = model.margin_bounds_
    wrong = hard_faults((low, up), best)
    if best is not None and not best.at_least(model.margin_):
        wrong.append(f"margin_ is {model.margin_!r}, and the best is {float(best)!r}")
    return Outcome("MaxMargin, kernel", case, how, wrong, "margin" if low > 0.0 else "undecided")


def advice_case(case: Case, rng: np.random.Generator) -> Outcome:
    return Outcome("advise", case, "", *advice.advice_faults(case))


def hinge_case(case: Case, rng: np.random.Generator) -> Outcome:
    X, y = case.X[:6, :3], case.y[:6]
    return Outcome("errors_and_hinge", case, "first 6 rows, 3 features", *advice.hinge_faults(X, y))


def smallest_error_case(case: Case, rng: np.random.Generator) -> Outcome:
    keep = min(6, len(case.y))
    X, y = case.X[:keep], case.y[:keep]
    how = f"first {keep} rows"
    if X.shape[1] > 3:
        X = X[:, :3]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = proofs.minimum_error_halfspace(X, y)
    except Exception as error:
        told = [] if "no float64 weights" in str(error) else [f"{type(error).__name__}: {error}"]
        return Outcome("minimum_error_halfspace", case, how, told, "refused")
    wrong = []
    rows = exact.signed(exact.augmented(X, 1.0), y)
    wb = [Fraction(v) for v in (*found.w.tolist(), found.b)]
    missed = [i for i, row in enumerate(rows) if exact.inner(wb, row) <= 0]
    if missed != found.wrong.tolist() or len(missed) != found.errors:
        wrong.append(f"rows {missed} are wrong, and {found.wrong.tolist()} was said")
    for fewer in itertools.combinations(range(keep), max(0, found.errors - 1)):
        left = [row for i, row in enumerate(rows) if i not in fewer]
        if found.errors and exact.best_margin(left).separable:
            wrong.append(f"{found.errors} errors, and {len(fewer)} are enough: rows {fewer}")
            break
    return Outcome("minimum_error_halfspace", case, how, wrong, f"{found.errors}")


SUBJECTS: dict[str, tuple[Callable[..., Outcome], float]] = {
    "learner": (learner_case, 0.6),
    "separability": (separability_case, 0.2),
    "MaxMargin": (maximum_margin_case, 0.15),
    "minimum_error_halfspace": (smallest_error_case, 0.05),
    "MaxMargin, kernel": (kernel_margin_case, 0.06),
    "errors_and_hinge": (hinge_case, 0.02),
    "advise": (advice_case, 0.01),
}


def outcomes(seed: int, subjects: tuple[str, ...] = tuple(SUBJECTS)) -> Iterator[Outcome]:
    """Cases without end; the k-th is made from (seed, k) alone."""
    share = np.array([SUBJECTS[name][1] for name in subjects])
    for k in itertools.count():
        yield one_case(seed, k, subjects, share / share.sum())


def one_case(seed: int, k: int, subjects: tuple[str, ...], share: np.ndarray) -> Outcome:
    rng = np.random.default_rng([seed, k])
    subject = subjects[rng.choice(len(subjects), p=share)]
    case = draw(rng)
    return SUBJECTS[subject][0](case, rng)


# ----------------------------------------------------------------------------------------------------- main


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="No false bracket, verdict or certificate.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--subject", choices=[*SUBJECTS], action="append", help="only these")
    parser.add_argument("--table", action="store_true", help="counts by learner and by generator")
    args = parser.parse_args(argv)
    end = time.monotonic() + args.seconds
    tried: Counter[Any] = Counter()
    failed: Counter[Any] = Counter()
    said: Counter[Any] = Counter()
    n_failed = n = 0
    for k, outcome in enumerate(outcomes(args.seed, tuple(args.subject or SUBJECTS))):
        n += 1
        for key in (("subject", outcome.subject), ("generator", outcome.case.name)):
            tried[key] += 1
            failed[key] += bool(outcome.wrong)
        said[outcome.subject, outcome.said] += 1
        if outcome.wrong:
            n_failed += 1
            if n_failed <= 20:
                print(f"case {k}: {outcome}")
        if n >= args.cases or time.monotonic() > end:
            break
    if args.table:
        for key in sorted(tried):
            print(f"{key[0]:10} {key[1]:28} {failed[key]:6} of {tried[key]:6} false")
        for key in sorted(said):
            print(f"{key[0]:28} {key[1]:14} {said[key]:6}")
    print(f"brackets: {n} cases, {n_failed} with a false statement, seed {args.seed}")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
