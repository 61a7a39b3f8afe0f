"""A certificate for every estimator, its lines, what it costs, and what it declines to claim."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import zoo
from scipy import sparse
from sklearn.base import BaseEstimator

import perceptrons as pc
from perceptrons import datasets, kernels, rules, theory
from perceptrons.proofs import certifying
from perceptrons.proofs._lines import KERNEL, LINES
from perceptrons.theory import digests
from perceptrons.theory.certificate import Certificate

ESTIMATORS = [
    name
    for name in pc.__all__
    if isinstance(found := getattr(pc, name), type) and issubclass(found, BaseEstimator)
]
#: Ways to set up a learner, beyond its defaults.
WAYS = [
    *[(name, {}) for name in ESTIMATORS],
    ("Perceptron", {"learning_rate": "updates"}),
    ("Perceptron", {"learning_rate": "examples"}),
    ("Perceptron", {"learning_rate": 0.3, "multiclass": "ovr"}),
    ("Perceptron", {"mistake": "prediction", "scheme": "uniform"}),
    ("Perceptron", {"row_norm": "l2", "intercept_scaling": 2.0}),
    ("Perceptron", {"scheme": "proportional", "max_iter": 3}),
    ("Perceptron", {"early_stopping": True, "validation_fraction": 0.4}),
    ("VotedPerceptron", {"multiclass": "ovr", "max_iter": 1}),
    ("MarginPerceptron", {"gamma": 0.05}),
    ("MarginPerceptron", {"gamma": 10.0, "max_iter": 50}),
    ("MIRA", {"p": 0.5}),
    ("MIRA", {"p": 0.01, "margin": "geometric"}),
    ("MIRA", {"solver": "exact"}),
    ("PassiveAggressive", {"variant": "II"}),
    ("PassiveAggressive", {"variant": "hard", "row_norm": "l2", "readout": "average"}),
    ("PassiveAggressive", {"C": 0.01, "solver": "exact"}),
    ("ROMMA", {"aggressive": True, "delta": 0.5, "max_iter": 200}),
    ("ALMA", {"alpha": 0.5, "max_iter": 200}),
    ("OnlineClassifier", {"rule": rules.PA1(C=0.5), "readout": "average"}),
    ("Winnow", {"kind": 1}),
    ("Winnow", {"alpha": 1.5, "threshold": 3.0}),
    ("BalancedWinnow", {"eta": 0.01, "max_iter": None}),
    ("Elimination", {"literals": "all"}),
    ("PNormPerceptron", {"p": 4.0, "row_norm": "l2"}),
    ("AROW", {"covariance": "full"}),
    ("SCW", {"covariance": "full"}),
    ("SCW", {"covariance": "full", "variant": "II"}),
    ("RiskDescent", {"pick": "worst"}),
    ("MaxMargin", {"fit_intercept": False, "C": 1.0}),
    ("MaxMargin", {"kernel": "polynomial"}),
    ("RiskDescent", {"loss": "hinge", "batch_size": 2}),
    ("RiskDescent", {"step": "line-search"}),
    ("KernelPerceptron", {"kernel": "gaussian", "readout": "vote"}),
    ("KernelPerceptron", {"kernel": "linear", "fit_intercept": True, "readout": "average"}),
    ("KernelClassifier", {"rule": rules.ROMMA(), "multiclass": "ovr"}),
    ("KernelClassifier", {"rule": rules.PA2(C=1.0), "kernel": kernels.AllSubsets()}),
    ("BudgetKernelPerceptron", {"policy": "forgetron", "budget": 83, "kernel": kernels.Gaussian(0.5)}),
    ("BudgetKernelPerceptron", {"policy": "projectron", "budget": None}),
    ("BudgetKernelPerceptron", {"policy": "oldest", "budget": 3}),
]


def fitted(name, params, y=zoo.y, X=zoo.X, **others):
    clf = getattr(pc, name)(**params)
    wanted = {"shuffle": False, "random_state": 0} | others
    clf.set_params(**{k: v for k, v in wanted.items() if k in clf.get_params()})
    return clf.fit(X, y)


def names(certificate):
    return [bound.name for bound in certificate.bounds]


@pytest.mark.parametrize("y", [zoo.y, zoo.y3], ids=["two", "three"])
@pytest.mark.parametrize("log", [False, True], ids=["plain", "logged"])
@pytest.mark.parametrize(("name", "params"), WAYS, ids=lambda p: str(p) if p else "default")
def test_every_estimator_has_a_certificate(name, params, log, y):
    clf = fitted(name, params, y, log_updates=log)
    before = copy.deepcopy(clf)
    certificate = pc.certify(clf, zoo.X, y)
    assert certificate.holds
    certificate.verify(zoo.X, y, exact=True).or_raise()
    again = Certificate.from_json(certificate.to_json())
    again.verify(zoo.X, y).or_raise()
    again.verify(sparse.csr_array(zoo.X), y.tolist(), exact=True).or_raise()
    assert np.array_equal(clf.predict(zoo.X), before.predict(zoo.X))
    assert str(certificate).count("\n") > 8
    for bracket in certificate.brackets:
        assert bracket.low <= bracket.up


# -------------------------------------------------------------------------- the table of the theory


TABLE = {
    "perceptron, online": ("Perceptron", {}, zoo.y, ["norm", "squares", "novikoff", "hinge_tight"]),
    "perceptron, batch": ("Perceptron", {}, zoo.y, ["passes", "compression"]),
    "risk descent": ("RiskDescent", {}, zoo.y, ["risk", "on the boundary", "risk_descent_steps"]),
    "variable rate": ("Perceptron", {"learning_rate": "updates"}, zoo.y, ["variable_rate", "harmonic_sum"]),
    "margin perceptron": (
        "MarginPerceptron",
        {"gamma": 0.05},
        zoo.y,
        ["margin_perceptron", "margin_perceptron_margin"],
    ),
    "margin refuted": ("MarginPerceptron", {"gamma": 10.0, "max_iter": 50}, zoo.y, ["refuted"]),
    "elimination": ("Elimination", {}, zoo.y, ["elimination"]),
    "winnow1": ("Winnow", {"kind": 1}, zoo.y, ["winnow1_demotions", "winnow_promotions"]),
    "winnow2": ("Winnow", {}, zoo.y, ["winnow2_demotions", "winnow_promotions"]),
    "p-norm": ("PNormPerceptron", {}, zoo.y, ["pnorm"]),
    "voted": ("VotedPerceptron", {}, zoo.y, ["online_to_batch"]),
    "averaged": ("AveragedPerceptron", {}, zoo.y, ["online_to_batch"]),
    "mira": ("MIRA", {"p": 0.5}, zoo.y, ["mira", "mira_left", "mira_margin"]),
    "mira, geometric": ("MIRA", {"p": 0.01, "margin": "geometric"}, zoo.y, ["mira_geometric"]),
    "pa": ("PassiveAggressive", {"variant": "hard"}, zoo.y, ["pa_separable"]),
    "pa, unit rows": ("PassiveAggressive", {"variant": "hard", "row_norm": "l2"}, zoo.y, ["pa_unit"]),
    "pa-1": ("PassiveAggressive", {}, zoo.y, ["pa1"]),
    "pa-2": ("PassiveAggressive", {"variant": "II"}, zoo.y, ["pa2"]),
    "romma": ("ROMMA", {}, zoo.y, ["romma", "romma_length"]),
    "romma, aggressive": (
        "ROMMA",
        {"aggressive": True, "delta": 0.5, "max_iter": 200},
        zoo.y,
        ["romma_aggressive", "romma_aggressive_errors", "romma_length", "romma_margin"],
    ),
    "multiclass": ("Perceptron", {}, zoo.y3, ["norm", "multiclass", "multiclass_hinge_tight"]),
    "multiclass mira": ("MIRA", {}, zoo.y3, ["multiclass_mira", "last step"]),
    "multiclass pa": ("PassiveAggressive", {"variant": "hard"}, zoo.y3, ["multiclass_pa", "last step"]),
    "kernel": ("KernelPerceptron", {}, zoo.y, ["support", "smallest eigenvalue", "novikoff"]),
    "hard margin": ("MaxMargin", {}, zoo.y, ["support"]),
    "alma": ("ALMA", {"max_iter": 200}, zoo.y, ["alma", "alma_margin"]),
    "second order": ("SecondOrderPerceptron", {}, zoo.y, ["second_order"]),
    "arow": ("AROW", {"covariance": "full"}, zoo.y, ["arow"]),
    "scw": ("SCW", {"covariance": "full"}, zoo.y, ["self test"]),
    "budget": (
        "BudgetKernelPerceptron",
        {"policy": "forgetron", "budget": 83, "kernel": kernels.Gaussian(0.5)},
        zoo.y,
        ["budget", "forgetting", "forgetron"],
    ),
}


def test_lines_that_need_a_wider_margin():
    toy = datasets.four_points()
    clf = pc.RiskDescent(pick="first", fit_intercept=False).fit(toy.X, toy.y)
    assert "single_point_steps" in names(pc.certify(clf, toy.X, toy.y))
    toy = datasets.spam_words()
    clf = pc.BalancedWinnow(shuffle=False, max_iter=None).fit(toy.X, toy.y)
    assert "balanced_winnow" in names(pc.certify(clf, toy.X, toy.y))


@pytest.mark.parametrize("row", TABLE)
def test_the_lines_of_the_table(row):
    name, params, y, wanted = TABLE[row]
    certificate = pc.certify(fitted(name, params, y, log_updates=True), zoo.X, y)
    assert set(wanted) <= set(names(certificate))
    for bound in certificate.bounds:
        assert bound.holds and all(map(math.isfinite, bound.allowed))
        paper = theory.bounds.AS_PUBLISHED.get(bound.name)
        assert bound.basis == ("proved here" if paper is None else f"as published: {paper}")


def test_every_line_of_the_table_is_printed_by_some_learner():
    lines = {line.name for two, joint in LINES.values() for line in (*two, *joint)}
    lines |= {line.name for line in KERNEL}
    printed = set()
    for name, params in WAYS:
        for y in (zoo.y, zoo.y3):
            printed |= set(names(pc.certify(fitted(name, params, y, log_updates=True), zoo.X, y)))
    assert lines - printed == {"single_point_steps", "balanced_winnow"}  # in the test above
    assert lines == set(theory.claims.CLAIMS)


def test_counts_are_those_of_the_model():
    clf = fitted("Perceptron", {"multiclass": "ovr"}, zoo.y3)
    run = pc.certify(clf, zoo.X, zoo.y3).run
    assert run["updates"] == clf.n_updates_ and run["mistakes"] == clf.n_mistakes_
    assert run["errors"] == clf.n_errors_ and run["epochs"] == clf.n_iter_
    assert len(run["parts"]) == 3 and sum(part["updates"] for part in run["parts"]) == clf.n_updates_


def test_the_bracket_is_that_of_the_model():
    for name in ("Perceptron", "MIRA", "PassiveAggressive", "ROMMA", "BalancedWinnow", "PNormPerceptron"):
        clf = fitted(name, {})
        low, up = clf.margin_bounds_
        bracket = pc.certify(clf, zoo.X, zoo.y).brackets[0]
        assert bracket.low == pytest.approx(low, rel=1e-9) and bracket.low <= low
        assert bracket.up == pytest.approx(up, rel=1e-9) and bracket.up >= up


# ------------------------------------------------------------------------------------- comparators


def test_solvers_give_better_comparators():
    toy = datasets.clouds_near()
    clf = pc.Perceptron(random_state=0).fit(toy.X, toy.y)
    free, all_ = (pc.certify(clf, toy.X, toy.y, comparators=c) for c in ("free", "all"))
    assert {"max margin", "svm", "separator"} <= set(all_.vectors)
    for a, b in zip(free.bounds, all_.bounds, strict=True):
        if a.vector is not None:
            assert b.allowed[0] <= a.allowed[0] * (1.0 + 1e-9)
    assert all_.brackets[0].low >= free.brackets[0].low
    assert all_.verify(toy.X, toy.y, exact=True)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_proof_is_searched_for_on_request(fit_intercept):
    toy = datasets.overlapping_clouds()
    clf = pc.Perceptron(random_state=0, fit_intercept=fit_intercept).fit(toy.X, toy.y)
    assert pc.certify(clf, toy.X, toy.y).verdict.verdict == "undecided"
    certificate = pc.certify(clf, toy.X, toy.y, comparators="all")
    assert certificate.verdict.verdict == "not separable"
    certificate.verify(toy.X, toy.y, exact=True).or_raise()
    Certificate.from_json(certificate.to_json()).verify(toy.X, toy.y, exact=True).or_raise()


def test_kernel_comparators():
    toy = datasets.rings()
    clf = pc.KernelPerceptron(random_state=0, max_iter=2).fit(toy.X, toy.y)
    certificate = pc.certify(clf, toy.X, toy.y, comparators="all")
    assert "max margin" in certificate.vectors
    certificate.verify(toy.X, toy.y).or_raise()


# ------------------------------------------------------------------------------------------ passes


class Counted(sparse.csr_array):
    """A CSR matrix that counts how often all of it is read."""

    reads: list

    def _count(self, what):
        if hasattr(self, "reads"):
            self.reads.append(what)

    def __matmul__(self, other):
        self._count("product")
        return sparse.csr_array(self) @ other

    def multiply(self, other):
        self._count("squares")
        return sparse.csr_array(self).multiply(sparse.csr_array(other))

    def __abs__(self):
        self._count("sizes")
        return abs(sparse.csr_array(self))


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("name", [name for name in zoo.NAMES if name != "SecondOrderPerceptron"])
def test_at_most_three_passes(name, log, monkeypatch):
    clf = fitted(name, {}, log_updates=log)
    X = Counted(sparse.csr_array(zoo.X))
    X.reads = []
    digest = digests.rows_digest

    def counting(rows):
        X.reads.append("digest")
        return digest(sparse.csr_array(rows))

    monkeypatch.setattr(certifying.digests, "rows_digest", counting)
    pc.certify(clf, X, zoo.y)
    assert len(X.reads) <= 3, X.reads
    assert X.reads.count("product") == 1


# ----------------------------------------------------------------------------------- other inputs


def test_float32_rows():
    X = (zoo.X * 0.3).astype(np.float32)
    for name in ("Perceptron", "PassiveAggressive", "ROMMA", "AveragedPerceptron"):
        clf = fitted(name, {}, X=X, log_updates=True)
        certificate = pc.certify(clf, X, zoo.y)
        certificate.verify(X, zoo.y, exact=True).or_raise()
        assert certificate.verify(X.astype(float), zoo.y)


def test_labels_of_any_type():
    for y in (np.where(zoo.y, "spam", "ham"), zoo.y.astype(bool), 2.0 * zoo.y):
        clf = fitted("Perceptron", {}, y)
        certificate = pc.certify(clf, zoo.X, y)
        assert certificate.classes == clf.classes_.tolist()
        assert Certificate.from_json(certificate.to_json()).verify(zoo.X, y)


def test_strings_tables_and_functions():
    words, y = ["banana", "ananas", "bandana", "sand"], [1, 1, 0, 0]
    clf = pc.KernelPerceptron(kernel="spectrum", shuffle=False).fit(words, y)
    certificate = pc.certify(clf, words, y)
    certificate.verify(words, y, exact=True).or_raise()
    K = kernels.Polynomial()(zoo.X)
    clf = pc.KernelPerceptron(kernel="precomputed", shuffle=False).fit(K, zoo.y)
    certificate = pc.certify(clf, K, zoo.y)
    certificate.verify(K, zoo.y, exact=True).or_raise()

    def product(a, b):
        return float(np.dot(a, b)) + 1.0

    rows = [tuple(row) for row in zoo.X.tolist()]
    clf = pc.KernelPerceptron(kernel=product, shuffle=False).fit(rows, zoo.y)
    certificate = pc.certify(clf, rows, zoo.y)
    certificate.verify(rows, zoo.y, kernel=product).or_raise()
    with pytest.raises(ValueError, match="give it by kernel="):
        certificate.verify(rows, zoo.y)


def test_what_is_refused():
    clf = fitted("Perceptron", {})
    with pytest.raises(ValueError, match="fitted model"):
        pc.certify(pc.Perceptron(), zoo.X, zoo.y)
    with pytest.raises(ValueError, match="5 features, as the model has; got 4"):
        pc.certify(clf, zoo.X[:, :4], zoo.y)
    with pytest.raises(ValueError, match="label 7 that the model does not know"):
        pc.certify(clf, zoo.X, np.where(zoo.y, 7, 0))
    with pytest.raises(ValueError, match="X has 8 rows, y has 7 labels"):
        pc.certify(clf, zoo.X, zoo.y[:7])
    with pytest.raises(ValueError, match="comparators must be"):
        pc.certify(clf, zoo.X, zoo.y, comparators="some")
    with pytest.raises(ValueError, match="delta must be"):
        pc.certify(clf, zoo.X, zoo.y, delta=0.0)
    kernel = fitted("KernelPerceptron", {})
    with pytest.raises(ValueError, match="the rows that the model was trained on"):
        pc.certify(kernel, zoo.X[::-1], zoo.y[::-1])


# --------------------------------------------------------------------------- what is not claimed


def test_no_bound_for_rows_with_weights_or_another_start():
    clf = pc.Perceptron(shuffle=False).fit(zoo.X, zoo.y, sample_weight=np.linspace(0.5, 2.0, 8))
    certificate = pc.certify(clf, zoo.X, zoo.y)
    assert certificate.bounds == () and "weights" in certificate.notes[0]
    assert certificate.verdict.verdict == "separable" and certificate.verify(zoo.X, zoo.y, exact=True)
    clf = pc.Perceptron(shuffle=False).fit(zoo.X, zoo.y, coef_init=np.ones((1, 5)))
    certificate = pc.certify(clf, zoo.X, zoo.y)
    assert certificate.bounds == () and "did not start from w = 0" in certificate.notes[0]
    assert certificate.brackets[0].up == math.inf and certificate.verify(zoo.X, zoo.y)
    clf = pc.Perceptron().fit(zoo.X, zoo.y, order=[[0, 0, 1], [2, 3]])
    assert pc.certify(clf, zoo.X, zoo.y).bounds == ()


def test_rows_in_pieces():
    clf = pc.Perceptron(log_updates=True)
    for part in (slice(0, 3), slice(3, 8)):
        clf.partial_fit(zoo.X[part], zoo.y[part], classes=[0, 1])
    certificate = pc.certify(clf, zoo.X, zoo.y)
    assert certificate.updates is None  # its rows are numbered piece by piece
    assert certificate.run["visits"] == 1 and "hinge_tight" in names(certificate)
    assert certificate.verify(zoo.X, zoo.y)
    clf.partial_fit(zoo.X[:3], zoo.y[:3])
    certificate = pc.certify(clf, zoo.X, zoo.y)
    assert certificate.run["visits"] is None and "hinge_tight" not in names(certificate)
    assert certificate.verify(zoo.X, zoo.y)
    once = pc.Perceptron(log_updates=True).partial_fit(zoo.X, zoo.y)
    assert pc.certify(once, zoo.X, zoo.y).updates is not None


def test_a_long_log_is_left_out():
    clf = fitted("Perceptron", {}, log_updates=True)
    assert pc.certify(clf, zoo.X, zoo.y, max_log=1).updates is None


def test_margins_chosen_by_looking_say_nothing_of_fresh_rows():
    assert "online_to_batch" not in names(pc.certify(fitted("MarginPerceptron", {}), zoo.X, zoo.y))
    assert "online_to_batch" in names(pc.certify(fitted("MarginPerceptron", {"gamma": 0.1}), zoo.X, zoo.y))
    assert "online_to_batch" not in names(
        pc.certify(fitted("KernelPerceptron", {"kernel": "gaussian"}), zoo.X, zoo.y)
    )


def test_tiny_margins_are_decided_without_rounding():
    """Rows that floats cannot tell from the hyperplane."""
    X = np.array([[1.0, 1.0 + 2**-52], [1.0, 1.0]])
    y = [1, 0]
    clf = pc.Perceptron(fit_intercept=False, max_iter=1).fit(X, y, coef_init=[[-(2.0**30), 2.0**30]])
    assert pc.certify(clf, X, y).verdict.verdict == "undecided"  # the second row is on the hyperplane


# ------------------------------------------------------------------------------------------ margins


def test_margins_of_a_linear_model():
    clf = fitted("Perceptron", {"intercept_scaling": 2.0})
    w, b = clf.coef_[0], clf.intercept_[0]
    sign = np.where(zoo.y == 1, 1.0, -1.0)
    m = sign * (zoo.X @ w + b)
    found = theory.margins(clf, zoo.X, zoo.y)
    assert np.allclose(found.values, m) and found.minimum == m.min() and found.space == "augmented"
    assert np.allclose(found.distances, m / np.linalg.norm(w))
    length = math.sqrt(w @ w + b * b / 4.0)
    geometric = theory.margins(clf, sparse.csr_array(zoo.X), zoo.y, kind="geometric")
    assert np.allclose(geometric.values, m / length) and geometric.kind == "geometric"
    assert geometric.minimum == pytest.approx(clf.margin_bounds_[0])
    normalized = theory.margins(clf, zoo.X, zoo.y, kind="normalized")
    assert np.allclose(normalized.values, m / length / np.sqrt((zoo.X**2).sum(axis=1) + 4.0))


def test_margins_of_rows_of_length_one():
    clf = fitted("Perceptron", {"row_norm": "l2"})
    assert theory.margins(clf, zoo.X, zoo.y, "geometric").minimum == pytest.approx(clf.margin_bounds_[0])


def test_margins_of_prototypes_and_of_one_against_the_rest():
    joint, rest = fitted("Perceptron", {}, zoo.y3), fitted("Perceptron", {"multiclass": "ovr"}, zoo.y3)
    found = theory.margins(joint, zoo.X, zoo.y3, kind="geometric")
    assert found.minimum == pytest.approx(joint.margin_bounds_[0])
    assert np.all((found.distances > 0.0) == (found.values > 0.0))
    found = theory.margins(rest, zoo.X, zoo.y3, kind="geometric")
    assert found.minimum == pytest.approx(min(low for low, _ in rest.margin_bounds_))


def test_margins_of_kernel_models():
    linear = fitted("Perceptron", {"fit_intercept": False})
    for kernel, X in (("linear", zoo.X), ("precomputed", zoo.X @ zoo.X.T)):
        clf = fitted("KernelPerceptron", {"kernel": kernel}, X=X)
        for kind in ("functional", "geometric", "normalized"):
            found = theory.margins(clf, X, zoo.y, kind)
            assert np.allclose(found.values, theory.margins(linear, zoo.X, zoo.y, kind).values)
            assert found.distances is None and found.space == "kernel"
    constant = fitted("KernelPerceptron", {"kernel": "linear", "fit_intercept": True})
    assert np.allclose(
        theory.margins(constant, zoo.X, zoo.y, "geometric").values,
        theory.margins(fitted("Perceptron", {}), zoo.X, zoo.y, "geometric").values,
    )


def test_the_margin_of_a_free_offset():
    clf = pc.MaxMargin().fit(zoo.X, zoo.y)
    found = theory.margins(clf, zoo.X, zoo.y, "geometric")
    assert found.space == "input" and found.minimum == pytest.approx(clf.margin_, rel=1e-5)


def test_margins_of_models_of_others():
    from sklearn.linear_model import SGDClassifier

    other = SGDClassifier(random_state=0).fit(zoo.X, zoo.y)
    found = theory.margins(other, zoo.X, zoo.y, "geometric")
    assert found.space == "input" and np.allclose(found.values, found.distances)


def test_margins_that_are_refused():
    clf = fitted("Perceptron", {})
    with pytest.raises(ValueError, match="kind must be one of"):
        theory.margins(clf, zoo.X, zoo.y, kind="hard")
    with pytest.raises(ValueError, match="fitted classifier"):
        theory.margins(pc.Perceptron(), zoo.X, zoo.y)
    with pytest.raises(ValueError, match="label 5 that the model"):
        theory.margins(clf, zoo.X, [5] * 8)
    with pytest.raises(ValueError, match="X has 8 rows, y has 2 labels"):
        theory.margins(clf, zoo.X, [0, 1])


# -------------------------------------------------------------------------------------------- debug


@pytest.mark.parametrize(("name", "params"), WAYS, ids=lambda p: str(p) if p else "default")
def test_every_learner_passes_its_own_checks(name, params):
    with theory.debug():
        for y in (zoo.y, zoo.y3):
            clf = fitted(name, params, y)
            assert len(list(theory.debugging.checks(clf))) >= (3 if name in zoo.ONLINE else 0)
    assert not theory.debug.on


def test_a_broken_learner_is_told():
    clf = fitted("Perceptron", {})
    clf._space.state[10] *= 0.1  # Q
    theory.debugging.after_epoch(clf)  # off: nothing
    with theory.debug(), pytest.raises(AssertionError, match=r"Perceptron: \|\|w\|\|\^2 <= Q is violated"):
        theory.debugging.after_epoch(clf)


def test_checks_are_run_after_each_epoch():
    class Shouting(pc.Perceptron):
        @property
        def sum_sq_norms_(self):
            return 1e9

    with theory.debug(), pytest.raises(AssertionError, match=r"Shouting: Q <= k R\^2 is violated"):
        Shouting().fit(zoo.X, zoo.y)
    Shouting().fit(zoo.X, zoo.y)


# --------------------------------------------------------------------------------------------- pac


@pytest.mark.parametrize("M", [0, 1, 25, 10_000])
@pytest.mark.parametrize("eps", [0.01, 0.1, 0.9])
def test_pac_sample_size_is_the_smallest(M, eps):
    m = theory.pac_sample_size(M, eps, 0.05)
    assert theory.online_to_batch(M, m) <= eps
    assert m == max(M, 1) or theory.online_to_batch(M, m - 1) > eps
    with pytest.raises(ValueError, match="eps must be"):
        theory.pac_sample_size(M, 1.5)
