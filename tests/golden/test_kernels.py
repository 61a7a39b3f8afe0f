"""Kernels and kernel learners against the golden traces: every block size, every storage, in pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from golden.cases import Case, close, load, read
from property.learners import updates

import perceptrons as pc
from perceptrons import kernels, rules

# ------------------------------------------------------------------------------------------ kernels


def make_kernel(spec: dict[str, Any]) -> kernels.Kernel:
    """A kernel from the description in the files; nothing in it may be left over."""
    spec = dict(spec)
    name, normalize = spec.pop("kernel"), spec.pop("normalize", False)
    made: kernels.Kernel
    if name == "sum":
        first, second = (c * make_kernel(term) for c, term in spec.pop("terms"))
        made = first + second
    elif name == "product":
        first, second = (make_kernel(term) for term in spec.pop("factors"))
        made = first * second
    elif name == "polynomial":
        made = kernels.Polynomial(spec.pop("degree"), spec.pop("coef0"), spec.pop("scale"))
    elif name == "gaussian":
        made = kernels.Gaussian(spec.pop("gamma"))
    elif name == "spectrum":
        made = kernels.Spectrum(spec.pop("p"), spec.pop("mode"))
    else:
        made = kernels.as_kernel(name)
    assert not spec, f"unknown parameters {spec}"
    return kernels.Normalized(made) if normalize else made


MATRICES = [c for c in read("kernels")["cases"] if "A" in c]
CHECKS = [c for c in read("kernels")["cases"] if c["params"].get("check") == "psd"]


def test_every_kernel_case_is_run():
    assert len(MATRICES) + len(CHECKS) == len(read("kernels")["cases"])


@pytest.mark.parametrize("case", MATRICES, ids=lambda c: c["name"])
def test_kernel_matrix(case):
    kernel = make_kernel(case["params"])
    assert close(kernel(case["A"], case["B"]), case["expected"])
    both = kernel.prepare([*case["A"], *case["B"]])
    assert close(kernel.diagonal(both), np.diag(kernel.matrix(both, both)))
    if not isinstance(case["A"][0], str):
        assert close(kernel(sp.csr_array(case["A"]), sp.csr_array(case["B"])), case["expected"])
    else:
        A, B = ([s.encode() for s in case[name]] for name in "AB")
        assert close(kernel(A, B), case["expected"])


@pytest.mark.parametrize("case", CHECKS, ids=lambda c: c["name"])
def test_psd_check(case):
    check = kernels.check_psd(case["params"]["matrix"])
    assert check.psd == case["expected"]["psd"]
    assert close(check.min_eigenvalue, case["expected"]["min_eigenvalue"])
    G, c = np.asarray(case["params"]["matrix"]), check.combination
    assert close(c @ G @ c, check.min_eigenvalue)


# ----------------------------------------------------------------------------------------- learners


def make_rule(params: dict[str, Any]) -> Any:
    learner = params.pop("learner")
    if learner == "romma" and "delta" in params:
        return rules.AggressiveROMMA(params.pop("delta"))
    fields = {"margin": ("gamma", "eps"), "mira": ("p",), "pa1": ("C",), "pa2": ("C",)}.get(learner, ())
    record = {
        "perceptron": rules.Perceptron,
        "margin": rules.Margin,
        "mira": rules.MIRA,
        "pa": rules.PA,
        "pa1": rules.PA1,
        "pa2": rules.PA2,
        "romma": rules.ROMMA,
    }[learner]
    return record(**{name: params.pop(name) for name in fields})


def learner(case: Case, **ours: Any) -> Any:
    params = dict(case.params)
    kernel = make_kernel(params.pop("kernel"))
    rule = make_rule(params)
    assert not params, f"unknown parameters {params}"
    if isinstance(rule, rules.Perceptron):
        return pc.KernelPerceptron(kernel=kernel, log_updates=True, **ours)
    return pc.KernelClassifier(rule=rule, kernel=kernel, log_updates=True, **ours)


def data(case: Case) -> tuple[Any, Any, Any]:
    if "strings" in case.raw:
        found = case.raw["strings"]
        return found["X"], np.array(found["y"]), found["X_test"]
    return case.X, case.y, case.X_test


def check(case: Case, model: Any, X_test: Any, rows: list[int] | None = None) -> None:
    """All that the file says; ``rows`` are the rows in the order in which the model was given them."""
    expected = dict(case.expected)
    support, a = model.support_, model.dual_coef_[0]
    dual = np.zeros(len(expected["dual"]))
    np.add.at(dual, support if rows is None else np.asarray(rows)[support], a)
    assert close(dual, expected.pop("dual"))
    if rows is None:
        assert updates(model, len(case.order)) == expected.pop("update_indices")
        assert [h["updates"] for h in model.history_] == expected.pop("updates_per_epoch")
        assert model.n_support_ == expected.pop("n_support")
    else:
        assert model.n_updates_ == sum(expected.pop("updates_per_epoch"))
        expected.pop("update_indices"), expected.pop("n_support")
    assert [h["errors"] for h in model.history_] == expected.pop("errors_per_epoch")
    assert close(model._space.learners[0].norm() ** 2, expected.pop("norm_squared"))  # as kept by the loop
    assert close(model.decision_function(X_test), expected.pop("test_scores"))
    assert model.predict(X_test).tolist() == expected.pop("test_predictions")
    for key in ("average_dual", "test_average", "counts", "test_vote"):  # see test_readouts
        expected.pop(key, None)
    assert not expected, f"not compared: {sorted(expected)}"


LEARNERS = load("kernel_learners")
STORAGES = {"dense": lambda X: X, "csr": sp.csr_array}


def in_storage(X: Any, storage: str) -> Any:
    return X if isinstance(X, list) else STORAGES[storage](X)


@pytest.mark.parametrize("cache_mb", [0, 1000])
@pytest.mark.parametrize("case", LEARNERS, ids=str)
def test_every_block_size_makes_the_same_updates(case, cache_mb):
    """Every case in both storages, one with a cache and one without; which of them has it takes turns."""
    X, y, X_test = data(case)
    storage = list(STORAGES)[(LEARNERS.index(case) + (cache_mb > 0)) % 2]
    for size in [*case.raw["block_sizes_to_try"], "auto"]:
        model = learner(case, block_size=size, cache_mb=cache_mb)
        check(case, model.fit(in_storage(X, storage), y, order=case.order), in_storage(X_test, storage))


@pytest.mark.parametrize("case", LEARNERS, ids=str)
def test_in_pieces_and_one_at_a_time(case):
    X, y, X_test = data(case)
    visits = [i for epoch in case.order for i in epoch]
    pieces = learner(case)
    for epoch in case.order:
        part = [X[i] for i in epoch] if isinstance(X, list) else X[epoch]
        pieces.partial_fit(part, y[epoch], classes=[-1, 1])
    check(case, pieces, X_test, visits)
    single = learner(case)
    for i in visits:
        single.learn_one(X[i], y[i])
    assert single.n_updates_ == pieces.n_updates_
    assert close(single.decision_function(X_test), case.expected["test_scores"])
    assert [single.predict_one(x) for x in X_test] == case.expected["test_predictions"]


@pytest.mark.parametrize("case", LEARNERS, ids=str)
def test_a_function_and_a_matrix_are_kernels_too(case):
    X, y, X_test = data(case)
    kernel = make_kernel(case.params["kernel"])
    k = kernel.fitted(X)

    def pair(a, b):
        return k([a], [b])[0, 0]

    order = case.order[:1]
    by_record = learner(case).fit(X, y, order=order)
    by_function = learner(case).set_params(kernel=pair).fit(list(X), y, order=order)
    prepared = k.prepare(X)
    table = k.matrix(prepared, prepared)
    by_matrix = learner(case).set_params(kernel="precomputed").fit(table, y, order=order)
    scores = by_record.decision_function(X_test)
    assert updates(by_function, 1) == updates(by_matrix, 1) == updates(by_record, 1)
    assert close(by_function.decision_function(list(X_test)), scores)
    assert close(by_matrix.decision_function(k(X_test, X)), scores)


READ_OUT = [case for case in LEARNERS if "test_vote" in case.expected]


@pytest.mark.parametrize("case", READ_OUT, ids=str)
def test_readouts(case):
    X, y, X_test = data(case)
    average = learner(case, readout="average", block_size=7).fit(X, y, order=case.order)
    dual = np.zeros(len(y))
    dual[average.support_] = average.dual_coef_[0]
    assert close(dual, case.expected["average_dual"])
    t = sum(map(len, case.order))
    assert close(average.decision_function(X_test), case.expected["test_average"])
    vote = learner(case, readout="vote", block_size=16).fit(X, y, order=case.order)
    assert close(vote.decision_function(X_test), case.expected["test_vote"])
    [journal] = vote._journals
    assert journal.counts(t, False).tolist() == case.expected["counts"]


# ------------------------------------------------------------------------------------------ budgets


class Uniforms:
    """A generator that answers the numbers of the file."""

    def __init__(self, values):
        self.values = iter(values)

    def random(self):
        return next(self.values)


def budgeted(case: Case, **ours: Any) -> Any:
    params = dict(case.params)
    policy = {"rbp": "random"}.get(params["learner"], params["learner"])
    params.pop("learner")
    made = pc.BudgetKernelPerceptron(
        kernel=make_kernel(params.pop("kernel")),
        budget=params.pop("budget", None),
        policy=policy,
        eta=params.pop("eta", 0.1),
        random_state=Uniforms(params.pop("uniforms", [])),
        log_updates=True,
        **ours,
    )
    assert not params, f"unknown parameters {params}"
    return made


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("block_size", [1, 7, "auto"])
@pytest.mark.parametrize("case", load("budget_kernel"), ids=str)
def test_budgets(case, block_size, storage):
    model = budgeted(case, block_size=block_size).fit(in_storage(case.X, storage), case.y, order=case.order)
    expected = dict(case.expected)
    assert updates(model, len(case.order)) == expected.pop("update_indices")
    assert [h["updates"] for h in model.history_] == expected.pop("updates_per_epoch")
    assert [h["errors"] for h in model.history_] == expected.pop("errors_per_epoch")
    assert model.support_.tolist() == expected.pop("support")
    assert close(model.dual_coef_[0], expected.pop("coefficients"))
    assert close(model.decision_function(in_storage(case.X_test, storage)), expected.pop("test_scores"))
    assert model.predict(case.X_test).tolist() == expected.pop("test_predictions")
    for key in ("evicted", "phi", "projected"):  # the log of the space has them: see test_budget.py
        expected.pop(key)
    assert not expected, f"not compared: {sorted(expected)}"
