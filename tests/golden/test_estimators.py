"""The public estimators against the golden traces: dense and CSR, whole, in pieces and row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from golden.cases import Case, close, files, load, read
from uncompiled import uncompiled

import perceptrons as pc
from perceptrons import rules, theory

NO_CLASS = {"structured_perceptron"}
"""Files whose learner has no class yet: `test_reference` runs them."""

KERNELS = {"budget_kernel", "kernel_learners", "kernels"}
"""Files that `test_kernels` runs."""

OWN_TEST = {"bounds", "hard_margin", "ipm", "preprocessing"}
"""Files that have a test of their own."""

# ----------------------------------------------------------------------- from a case to an estimator


class Uniforms:
    """A generator that answers the numbers of the file."""

    def __init__(self, values: Iterable[float]):
        self.values = iter(values)

    def random(self) -> float:
        return next(self.values)


def shared(params: dict[str, Any]) -> dict[str, Any]:
    """What most learners have: constant coordinate, row length, what a mistake is. Taken out of params."""
    ours: dict[str, Any] = {"row_norm": params.pop("normalize", None)}
    bias = params.pop("bias", None)
    ours["fit_intercept"] = bias is not None
    if bias is not None:
        ours["intercept_scaling"] = bias
    if "rule" in params:
        ours["mistake"] = params.pop("rule")
    return ours


def perceptron(params, case):
    for theirs in ("learning_rate", "rate"):
        if theirs in params:
            return pc.Perceptron(learning_rate=params.pop(theirs), **shared(params))
    return pc.Perceptron(**shared(params))


def multiclass_perceptron(params, case):
    return pc.Perceptron(scheme=params.pop("scheme"), **shared(params))


def margin_perceptron(params, case):
    return pc.MarginPerceptron(gamma=params.pop("gamma"), eps=params.pop("eps"), **shared(params))


def mira(params, case):
    return pc.MIRA(margin=params.pop("variant"), p=params.pop("p"), **shared(params))


VARIANTS = {"PA": "hard", "PA-I": "I", "PA-II": "II"}


def passive_aggressive(params, case):
    # two classes are the binary learner, whose step is w_1 - w_0 = twice the one of a prototype
    twice = 2.0 if case.n_classes == 2 else 1.0
    variant, C = VARIANTS[params.pop("variant")], params.pop("C")
    assert (C is None) == (variant == "hard")
    return pc.PassiveAggressive(variant=variant, C=1.0 if C is None else twice * C, **shared(params))


def multiclass_pa(params, case):
    solver = params.pop("solver", "top")
    if params["variant"] == "crammer_singer":
        return pc.MIRA(variant=params.pop("variant"), **shared(params))
    if params["variant"] == "MIRA":
        assert params.pop("variant") and params.pop("C", None) is None
        return pc.MIRA(p=params.pop("p"), solver=solver, **shared(params))
    assert params.pop("p", None) is None
    return passive_aggressive(params, case).set_params(solver=solver)


def romma(params, case):
    aggressive, delta = params.pop("aggressive"), params.pop("delta", None)
    assert aggressive or delta is None
    return pc.ROMMA(aggressive=aggressive, delta=0.0 if delta is None else delta, **shared(params))


def alma(params, case):
    assert params.pop("p") == 2
    return pc.ALMA(alpha=params.pop("alpha"), **shared(params))


def winnow(params, case):
    given = {"kind": params.pop("kind"), "alpha": params.pop("alpha")}
    return pc.Winnow(threshold=params.pop("theta", None), **given)


def elimination(params, case):
    return pc.Elimination(literals=params.pop("literals"))


def balanced_winnow(params, case):
    return pc.BalancedWinnow(eta=params.pop("eta"), **shared(params))


def pnorm(params, case):
    return pc.PNormPerceptron(p=params.pop("p"), **shared(params))


def second_order(params, case):
    return pc.SecondOrderPerceptron(a=params.pop("a"), **shared(params))


def arow(params, case):
    return pc.AROW(r=params.pop("r"), covariance="full", **shared(params))


def scw(params, case):
    variant = {1: "I", 2: "II"}[params.pop("kind")]
    given = {"eta": params.pop("eta"), "C": params.pop("C")}
    return pc.SCW(variant=variant, covariance="full", **given, **shared(params))


def risk(params, case):
    assert params.pop("method") == ("sgd" if "pick" in params else "gd")
    assert params.pop("w0") == "y0*x0"
    given = {"pick": params.pop("pick", None), "step": params.pop("step")}
    uniforms = Uniforms(params.pop("uniforms", []))
    return pc.RiskDescent(max_steps=params.pop("max_steps"), random_state=uniforms, **given, **shared(params))


MAKE: dict[str, Callable[[dict[str, Any], Case], Any]] = {
    "alma": alma,
    "arow": arow,
    "balanced_winnow": balanced_winnow,
    "batch_perceptron": perceptron,
    "elimination": elimination,
    "margin_perceptron": margin_perceptron,
    "mira": mira,
    "multiclass_pa": multiclass_pa,
    "multiclass_perceptron": multiclass_perceptron,
    "pa": passive_aggressive,
    "perceptron": perceptron,
    "perceptron_risk": risk,
    "pnorm": pnorm,
    "romma": romma,
    "scw": scw,
    "second_order": second_order,
    "variable_rate": perceptron,
    "voted_averaged": perceptron,
    "winnow": winnow,
}


def estimator(case: Case) -> Any:
    """The untrained estimator of a case; a parameter that this test does not know fails."""
    params = {k: v for k, v in case.params.items() if k not in ("w0", "W0", "max_epochs")}
    if case.file == "perceptron_risk":
        params["w0"] = case.params["w0"]
    model = MAKE[case.file](params, case)
    assert not params, f"{case} has parameters that this test does not know: {sorted(params)}"
    return model


def begun(case: Case) -> dict[str, Any]:
    """What `fit` has to be told about the start."""
    w0 = case.params.get("w0", case.params.get("W0"))
    if w0 is None:
        return {}
    w0, bias = np.array(w0, dtype=float), case.params.get("bias")
    if bias is None:
        return {"coef_init": w0}
    return {"coef_init": w0[..., :-1], "intercept_init": bias * w0[..., -1]}


def test_every_row_of_the_rule_table_has_a_trace():
    found = [rules.facts_of(estimator(case)) for file in MAKE for case in load(file)]
    of_rules = {row.name for row in found if row.family == "first order"}
    of_classes = {row.learner.class_name for row in found if row.family != "first order"}
    elsewhere = {"BudgetKernelPerceptron", "MaxMargin"}  # in `test_kernels` and `test_hard_margin`
    table = [row for row in rules.TABLE.values() if row.name != "UserRule"]
    assert of_rules == {row.name for row in table if row.family == "first order"}
    others = {row.learner.class_name for row in table if row.family != "first order"}
    assert of_classes == others - elsewhere


# --------------------------------------------------------------------------------- ways to train it


@dataclass
class Trained:
    """A trained model, and per epoch the rows it updated on and its prediction errors."""

    case: Case
    model: Any
    way: Callable[..., Any]
    X: Any
    updates: list[list[int]]
    errors: list[int]

    def again(self, kind: type, **params: Any) -> Any:
        """Another kind of perceptron, trained the same way."""
        own = self.model.get_params()
        params = {name: own[name] for name in kind().get_params() if name in own} | params
        return train(self.case, self.way, self.X, kind(**params)).model


def train(case: Case, way: Callable[..., Any], X: Any, model: Any) -> Trained:
    return Trained(case, model, way, X, *way(model, case, X))


def logged(model: Any, lengths: list[int]) -> tuple[list[list[int]], list[int]]:
    """Updates and errors per epoch, from what the model has kept."""
    log, history = model.update_log_, model.history_
    updates = [log["row"][log["epoch"] == e].tolist() for e in range(len(lengths))]
    assert [record["examples"] for record in history] == lengths
    assert [record["updates"] for record in history] == [len(rows) for rows in updates]
    return updates, [record["errors"] for record in history]


def placed(order: list[list[int]], updates: list[list[int]]) -> list[list[int]]:
    """Rows that were numbered by their place in an epoch."""
    return [[epoch[at] for at in rows] for epoch, rows in zip(order, updates)]


def fit(model, case, X):
    """All epochs by one call, in the order of the case."""
    if case.file == "perceptron_risk":
        model.fit(X, case.y)
        return [rows.tolist() for rows in model.steps_], []
    model.set_params(log_updates=True).fit(X, case.y, order=case.order, **begun(case))
    assert model.n_iter_ == len(case.order)
    clean = model.history_[-1]["updates"] == 0
    assert model.stop_reason_ == ("clean pass" if clean else "end of order")
    return logged(model, [len(rows) for rows in case.order])


def fit_until_clean(model, case, X):
    """No order given: the rows as they are, until a clean pass or max_iter."""
    given = case.order[0]
    model.set_params(log_updates=True, shuffle=False, max_iter=case.params["max_epochs"])
    model.fit(X[given], case.y[given], **begun(case))
    clean = model.history_[-1]["updates"] == 0
    assert model.stop_reason_ == ("clean pass" if clean else "max_iter")
    updates, errors = logged(model, [len(given)] * model.n_iter_)
    return placed([given] * model.n_iter_, updates), errors


def partial_fit(model, case, X):
    """One call per epoch."""
    model.set_params(log_updates=True)
    if begun(case):
        model.fit(X, case.y, order=[], **begun(case))
    for rows in case.order:
        model.partial_fit(X[rows], case.y[rows], classes=np.unique(case.y))
    updates, errors = logged(model, [len(rows) for rows in case.order])
    return placed(case.order, updates), errors


def learn_one(model, case, X):
    """Row by row; the classes are told first, with no row at all."""
    model.set_params(log_updates=case.file == "voted_averaged")  # the fast path keeps no log
    model.fit(X, case.y, order=[], **begun(case))
    updates, errors = [], []
    for rows in case.order:
        updates.append([])
        n_errors = model.n_errors_
        for i in rows:
            n_updates = model.n_updates_
            model.learn_one(X[i], case.y[i])
            updates[-1] += [i] * (model.n_updates_ - n_updates)
        errors.append(model.n_errors_ - n_errors)
    return updates, errors


STORAGES = {"dense": np.asarray, "csr": sp.csr_array}

# ----------------------------------------------------------- what a file may expect, and its answer


def weights(run: Trained, model: Any = None) -> np.ndarray:
    """w as the files have it: the constant coordinate last; of two classes, both prototypes."""
    model = run.model if model is None else model
    if isinstance(model, pc.Elimination):
        return model.literals_[0].astype(float)
    w = model.coef_
    if model.fit_intercept:
        w = np.column_stack([w, model.intercept_ / model.intercept_scaling])
    if run.case.n_classes == 2:
        return prototypes(run) * np.vstack([-w, w])
    return w if run.case.n_classes else w[0]


def prototypes(run: Trained) -> float:
    """Two classes: the prototypes are (-f w, f w) of the binary learner's w."""
    return rules.facts_of(run.model).step.pair


def scores_on_test_rows(run: Trained) -> np.ndarray:
    scores = run.model.decision_function(run.case.X_test)
    assert close(run.model.decision_function(sp.csr_array(run.case.X_test)), scores)
    if isinstance(run.model, pc.Elimination):
        return (scores >= 0.0).astype(float)
    if isinstance(run.model, pc.Winnow):
        return scores - run.model.intercept_[0]
    if run.case.n_classes == 2:
        return prototypes(run) * np.column_stack([-scores, scores])
    return scores


def augmented(case: Case) -> np.ndarray:
    """Rows as the learner sees them: with the constant coordinate, then of length one if asked for."""
    X, bias = case.X, case.params.get("bias")
    if bias is not None:
        X = np.column_stack([X, np.full(len(X), float(bias))])
    return X / np.linalg.norm(X, axis=1, keepdims=True) if case.params.get("normalize") else X


def births(run: Trained) -> list[int]:
    """Of each update, the number of its example."""
    first = np.cumsum([0, *(len(rows) for rows in run.case.order)])
    place = [{i: at for at, i in enumerate(rows)} for rows in run.case.order]
    return [int(first[e]) + place[e][i] + 1 for e, rows in enumerate(run.updates) for i in rows]


def increments(run: Trained) -> np.ndarray:
    """What each update added to w, from the steps in the log."""
    rows = [i for epoch in run.updates for i in epoch]
    steps = run.model.update_log_["step"] * run.case.y[rows]
    return steps[:, None] * augmented(run.case)[rows]


def vectors(run: Trained) -> np.ndarray:
    added = increments(run)
    return np.vstack([np.zeros(added.shape[1]), np.cumsum(added, axis=0)])


def counts(run: Trained) -> list[int]:
    n_examples = sum(len(rows) for rows in run.case.order)
    return [after - born for born, after in pairwise([1, *births(run), n_examples + 1])]


def lazy_sum(run: Trained) -> np.ndarray:
    return (np.array(births(run)) - 1) @ increments(run)


def vote(run: Trained, **params: Any) -> np.ndarray:
    return run.again(pc.VotedPerceptron, **params).decision_function(run.case.X_test)


def vote_predictions(run: Trained) -> list[int]:
    return run.again(pc.VotedPerceptron).predict(run.case.X_test).tolist()


def average(run: Trained) -> np.ndarray:
    return weights(run, run.again(pc.AveragedPerceptron))


def average_scores(run: Trained) -> np.ndarray:
    return run.again(pc.AveragedPerceptron).decision_function(run.case.X_test)


def average_predictions(run: Trained) -> list[int]:
    return run.again(pc.AveragedPerceptron).predict(run.case.X_test).tolist()


def random_scores(run: Trained) -> list[np.ndarray]:
    model, scores = run.again(pc.Perceptron, readout="random"), []
    for model.random_step_ in run.case.expected["random_steps"]:
        scores.append(model.decision_function(run.case.X_test))
    return scores


def random_steps(run: Trained) -> list[int]:
    """The steps given, those of them that the model can draw."""
    n_examples = sum(len(rows) for rows in run.case.order)
    extremes = (Uniforms(repeat(0.0)), Uniforms(repeat(1.0 - 2**-53)))
    models = [run.again(pc.Perceptron, readout="random", random_state=state) for state in extremes]
    lowest, highest = (model.random_step_ for model in models)
    assert (lowest, highest) == (1, n_examples)
    return [r for r in run.case.expected["random_steps"] if lowest <= r <= highest]


def margin_lower(run: Trained) -> float:
    low = run.model.margin_bounds_[0]
    if run.way in (fit, fit_until_clean):
        return low
    assert low is None  # the rows were not read again
    return theory.gamma_low(weights(run), augmented(run.case), run.case.y)


def update_bound(run: Trained) -> float:
    return theory.margin_perceptron(run.model.radius_, run.model.gamma_, run.model.eps)


def converged(run: Trained) -> bool:
    if run.way in (fit, fit_until_clean):
        return run.model.stop_reason_ == "clean pass"
    return not run.updates[-1]


def precision_matrix(run: Trained) -> np.ndarray:
    return np.linalg.inv(covariance(run))


def covariance(run: Trained) -> np.ndarray:
    return run.model.covariance_[0]


def hidden_disjunction(run: Trained) -> list[int]:
    """The inputs given, if they are inputs and the labels are mostly their disjunction; else none."""
    relevant = run.case.expected["relevant"]
    agree = run.case.X[:, relevant].any(axis=1) == (run.case.y > 0)
    return relevant if agree.mean() > 0.75 else []


EXACT: dict[str, Callable[[Trained], Any]] = {
    "update_indices": lambda run: run.updates,
    "updates_per_epoch": lambda run: [len(rows) for rows in run.updates],
    "errors_per_epoch": lambda run: run.errors,
    "epochs_run": lambda run: len(run.updates),
    "converged": converged,
    "test_predictions": lambda run: run.model.predict(run.case.X_test).tolist(),
    "test_vote_predictions": vote_predictions,
    "test_average_predictions": average_predictions,
    "random_steps": random_steps,
    "counts": counts,
    "stalled": lambda run: run.model.n_stalled_,
    "infeasible_seen": lambda run: run.model.infeasible_,
    "promotions": lambda run: run.model.n_promotions_,
    "demotions": lambda run: run.model.n_demotions_,
    "halted": lambda run: run.model.stop_reason_ == "no row in V",
    "steps": lambda run: len(run.model.steps_),
    "misclassified_per_step": lambda run: run.updates,
    "relevant": hidden_disjunction,
}

REAL: dict[str, Callable[[Trained], Any]] = {
    "w": weights,
    "W": weights,
    "z": lambda run: run.model.z_[0],
    "theta": lambda run: run.model.theta_[0],
    "v": lambda run: precision_matrix(run) @ weights(run),
    "A": precision_matrix,
    "sigma": covariance,
    "norm": lambda run: np.linalg.norm(weights(run)),
    "sum_squared_loss": lambda run: run.model.squared_loss_,
    "test_scores": scores_on_test_rows,
    "radius": lambda run: run.model.radius_,
    "margin_lower": margin_lower,
    "margin_upper": lambda run: run.model.margin_bounds_[1],
    "update_bound": update_bound,
    "vectors": vectors,
    "average": average,
    "lazy_u": lazy_sum,
    "test_vote": vote,
    "test_vote_with_initial": lambda run: vote(run, include_initial=True),
    "test_average": average_scores,
    "test_random": random_scores,
    "risk_per_step": lambda run: run.model.risk_curve_,
    "final_risk": lambda run: run.model.risk_curve_[-1],
}


def answer(run: Trained, key: str) -> Any:
    if run.case.file == "perceptron_risk" and key == "update_indices":  # no epochs, hence one list
        return [i for (i,) in run.updates]
    return (EXACT | REAL)[key](run)


def check(run: Trained, keys: Any = None) -> None:
    """Everything that the case expects, or the keys named."""
    unknown = run.case.expected.keys() - EXACT.keys() - REAL.keys()
    assert not unknown, f"{run.case} expects {sorted(unknown)}, which this test does not check"
    for key in run.case.expected if keys is None else keys:
        got, expected = answer(run, key), run.case.expected[key]
        assert got == expected if key in EXACT else close(got, expected), (
            f"{run.case}, {key}: {got} is not {expected}"
        )


# -------------------------------------------------------------------------------------------- tests

CASES = [case for file in files() if file in MAKE for case in load(file)]
ONLINE = [case for case in CASES if case.order is not None]
FIXED = [
    case for case in ONLINE if "max_epochs" in case.params and all(e == case.order[0] for e in case.order)
]

SAMPLE = list(
    {(case.file, case.raw.get("dataset"), case.params.get("rule")): case for case in ONLINE}.values()
)
"""One case of each file, data set and kind of mistake: single rows take their time."""

storages = pytest.mark.parametrize("storage", STORAGES)

SPARSE = {"perceptron", "multiclass_perceptron", "romma", "arow", "balanced_winnow", "winnow", "elimination"}
PIECES = {"perceptron", "arow", "balanced_winnow"}


def plain(case: Case, storage: str) -> bool:
    """Whether a case runs as plain Python: compiled are parts of the loops, not all their combinations.

    On dense rows: every rule of two classes, every kind of covariance, every scheme and both solvers. On
    sparse rows: one of each family of loops, and a rule that rescales w. In pieces and row by row
    (``PIECES``): one of each family.
    """
    if storage == "csr":
        return case.file not in SPARSE or case.params.get("scheme", "top") != "top"
    many = case.file == "multiclass_pa" and case.n_classes > 2
    return many and case.params["variant"] not in ("PA-I", "crammer_singer")


@storages
@pytest.mark.parametrize("case", CASES, ids=str)
def test_fit_reproduces(case, storage):
    with uncompiled(plain(case, storage)):
        check(train(case, fit, STORAGES[storage](case.X), estimator(case)))


@storages
@pytest.mark.parametrize("case", FIXED, ids=str)
def test_fit_stops_at_a_clean_pass(case, storage):
    with uncompiled(plain(case, storage)):
        check(train(case, fit_until_clean, STORAGES[storage](case.X), estimator(case)))


@pytest.mark.parametrize(
    ("case", "storage"), [(case, list(STORAGES)[i % 2]) for i, case in enumerate(ONLINE)], ids=str
)
def test_partial_fit_reproduces(case, storage):
    """Every case in one of the storages, which take turns; by ``fit`` every case in both."""
    with uncompiled(case.file not in PIECES):
        check(train(case, partial_fit, STORAGES[storage](case.X), estimator(case)))


@pytest.mark.parametrize("case", SAMPLE, ids=str)
def test_learn_one_reproduces(case):
    with uncompiled(case.file not in PIECES):
        check(train(case, learn_one, case.X, estimator(case)))


RATES = {"updates": rules.RateByUpdates(), "examples": rules.RateByExamples()}
PA_RULES = {"hard": lambda C: rules.PA(), "I": rules.PA1, "II": rules.PA2}
RULES: dict[str, Callable[[Any], Any]] = {
    "alma": lambda model: rules.ALMA(model.alpha),
    "margin_perceptron": lambda model: rules.Margin(model.gamma, model.eps),
    "mira": lambda model: (
        rules.MIRA(model.p) if model.margin == "functional" else rules.GeometricMIRA(model.p)
    ),
    "multiclass_perceptron": lambda model: rules.Perceptron(),
    "pa": lambda model: PA_RULES[model.variant](model.C),
    "perceptron": lambda model: rules.Perceptron(model.learning_rate),
    "romma": lambda model: rules.AggressiveROMMA(model.delta) if model.aggressive else rules.ROMMA(),
    "variable_rate": lambda model: RATES[model.learning_rate],
}
"""The records that `OnlineClassifier` is given."""

OF_EVERY_RULE = ("update_indices", "errors_per_epoch", "test_scores", "test_predictions")


@pytest.mark.parametrize(
    "case", [c for c in ONLINE if c.file in RULES and c.params.get("scheme", "top") == "top"], ids=str
)
def test_online_classifier_with_the_rule_reproduces(case):
    special = estimator(case)
    own = special.get_params()
    names = ("fit_intercept", "intercept_scaling", "row_norm", "mistake")
    params = {name: own[name] for name in names if name in own}
    model = pc.OnlineClassifier(rule=RULES[case.file](special), **params)
    with uncompiled(case.file not in PIECES):
        check(train(case, fit, case.X, model), OF_EVERY_RULE)


def by_name(x: np.ndarray) -> dict[str, float]:
    """A row as its named features, without zeros."""
    return {f"x{j}": float(x[j]) for j in np.flatnonzero(x)}


SYMMETRIC = [
    case
    for case in SAMPLE
    if case.n_classes is None
    and case.file not in ("elimination", "winnow", "voted_averaged")  # asymmetric; the same as perceptron
    and case.params.get("rule", "margin") == "margin"
    and "w0" not in case.params
]


@pytest.mark.parametrize("case", SYMMETRIC, ids=str)
def test_named_features_and_classes_may_appear_on_the_way(case):
    with uncompiled(case.file not in PIECES):
        appear_on_the_way(case)


def appear_on_the_way(case):
    model, updates = estimator(case), []
    for rows in case.order:
        updates.append([])
        for i in rows:
            before = model.n_updates_ if hasattr(model, "classes_") else 0
            model.learn_one(by_name(case.X[i]), int(case.y[i]))
            updates[-1] += [i] * (model.n_updates_ - before)
    assert updates == case.expected["update_indices"]
    known = [int(name[1:]) for name in model.feature_names_in_]
    w = np.zeros(case.X.shape[1] + model.fit_intercept)
    w[known] = model.coef_[0]
    if model.fit_intercept:
        w[-1] = model.intercept_[0] / model.intercept_scaling
    if case.file != "balanced_winnow":  # its weights sum to less the more inputs are known
        assert close(w, case.expected["w"])
    answers = [model.predict_one(by_name(x)) for x in case.X_test]
    assert answers == case.expected["test_predictions"]


# ---------------------------------------------------------------------------- nothing is overlooked


@pytest.mark.parametrize("file", files())
def test_every_file_is_known(file):
    known = MAKE.keys() | NO_CLASS | KERNELS | OWN_TEST
    assert file in known, f"{file}.json is not run through an estimator"


@pytest.mark.parametrize("file", [file for file in files() if file in MAKE])
def test_every_case_is_run(file):
    assert len(read(file)["cases"]) == sum(case.file == file for case in CASES)
