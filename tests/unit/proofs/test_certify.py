"""A certificate for every estimator, its lines, what it costs, and what it declines to claim."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import zoo
from scipy import sparse
from ways import ESTIMATORS, WAYS, fitted, given, names, seen

import perceptrons as pc
from perceptrons import datasets, kernels, rules, theory
from perceptrons.certificates.certificate import Certificate, CertificateError
from perceptrons.certificates.claims import CLAIMS, MIXED
from perceptrons.io import Batch, fit_stream
from perceptrons.proofs.certifying.lines import KERNEL, lines


@pytest.mark.parametrize(
    ("log", "y"),
    [
        pytest.param(False, zoo.y, id="plain-two"),
        pytest.param(True, zoo.y3, id="logged-three"),
        pytest.param(True, zoo.y, id="logged-two", marks=pytest.mark.exhaustive),
        pytest.param(False, zoo.y3, id="plain-three", marks=pytest.mark.exhaustive),
    ],
)
@pytest.mark.parametrize(("name", "params"), WAYS, ids=lambda p: str(p) if p else "default")
def test_every_estimator_has_a_certificate(name, params, log, y):
    clf = fitted(name, params, y, log_updates=log)
    before = copy.deepcopy(clf)
    X = given(name)
    certificate = pc.certify(clf, X, y)
    assert certificate.holds
    rows = seen(clf)
    certificate.verify(rows, y, exact=True).or_raise()
    again = Certificate.from_json(certificate.to_json())
    again.verify(rows, y).or_raise()
    again.verify(sparse.csr_array(rows), y.tolist(), exact=True).or_raise()
    assert np.array_equal(clf.predict(X), before.predict(X))
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


def norm_minimising(**params):
    W0 = np.random.default_rng(0).normal(size=(3, 5))
    clf = pc.MIRA(variant="crammer_singer", shuffle=False, max_iter=1000, log_updates=True, **params)
    return pc.certify(clf.fit(zoo.X, zoo.y3, coef_init=W0), zoo.X, zoo.y3, comparators="all")


@pytest.mark.parametrize("params", [{}, {"row_norm": "l2"}, {"fit_intercept": False}])
def test_the_norm_minimising_mira_starts_somewhere(params):
    """Its bound is on the steps, from where it began: that is w without its updates."""
    certificate = norm_minimising(**params)
    assert {"norm_minimised", "crammer_singer"} <= set(names(certificate))
    W0 = np.random.default_rng(0).normal(size=(3, 5))
    assert np.allclose(certificate.vectors["start"].weights[:, :5], W0)
    certificate.verify(zoo.X, zoo.y3, exact=True).or_raise()
    bound = next(bound for bound in certificate.bounds if bound.name == "crammer_singer")
    assert 0.0 < bound.measured[0] <= bound.allowed[0]


@pytest.mark.parametrize(
    ("name", "params", "y", "said"),
    [
        ("PassiveAggressive", {}, zoo.y3, "none for PassiveAggressive with the rule PA1, prototypes"),
        (
            "PassiveAggressive",
            {"variant": "II"},
            zoo.y3,
            "none for PassiveAggressive with the rule PA2, proto",
        ),
        (
            "MIRA",
            {"margin": "geometric", "p": 0.01},
            zoo.y3,
            "none for MIRA with the rule GeometricMIRA, proto",
        ),
        (
            "Perceptron",
            {"learning_rate": "updates"},
            zoo.y3,
            "none for Perceptron with the rule RateByUpdates",
        ),
        ("SCW", {}, zoo.y, "none for SCW"),
        ("AROW", {}, zoo.y, "AROW has one under conditions not met"),
        ("MIRA", {"max_iter": 1}, zoo.y, "Bounds that need a separator are left out"),
    ],
)
def test_what_has_no_bound_says_so(name, params, y, said):
    certificate = pc.certify(fitted(name, params, y), zoo.X, y)
    assert any(said in note for note in certificate.notes), certificate.notes
    assert said in str(certificate)


def test_every_line_of_the_table_is_printed_by_some_learner():
    table = [line for row in rules.TABLE.values() for joint in (False, True) for line in lines(row, joint)]
    known = {line.name for line in (*table, *KERNEL)}
    printed = set(names(norm_minimising()))
    for name, params in WAYS:
        for y in (zoo.y, zoo.y3):
            printed |= set(names(pc.certify(fitted(name, params, y, log_updates=True), given(name), y)))
    assert known - printed == {"single_point_steps", "balanced_winnow"}  # in the test above
    assert known == set(CLAIMS) - set(MIXED)  # which unit/mixing prints
    mixed = [line for joint in (False, True) for line in lines(rules.TABLE["Perceptron"], joint, mixed=True)]
    assert {line.name for line in mixed} == set(MIXED)


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
        # the two are computed apart; each lies outside the exact value, by at most 1e-8 of it
        assert bracket.low == pytest.approx(low, rel=2e-8)
        assert bracket.up == pytest.approx(up, rel=2e-8)


def test_a_log_with_a_zero_row_is_replayed():
    X, y = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, -1.0], [-1.0, 1.0]]), np.array([1, 1, 0, 0])
    clf = pc.VotedPerceptron(row_norm="l2", fit_intercept=False, max_iter=3, random_state=0).fit(X, y)
    assert pc.certify(clf, X, y).verify(X, y, exact=True)


@pytest.mark.parametrize("seed", [0, 1, 157])
def test_a_linear_kernel_with_a_constant_passes_its_own_check(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-4, 5, size=(7, 2)).astype(float), rng.integers(0, 2, 7)
    y[:2] = 0, 1
    clf = pc.KernelPerceptron(kernel="linear", fit_intercept=True, random_state=0).fit(X, y)
    assert pc.certify(clf, X, y).verify(X, y, exact=True)


# ------------------------------------------------------------------------------------- comparators


def test_solvers_give_better_comparators():
    toy = datasets.clouds_near()
    clf = pc.Perceptron(random_state=0).fit(toy.X, toy.y)
    free, all_ = (pc.certify(clf, toy.X, toy.y, comparators=c) for c in ("free", "all"))
    assert {"max margin", "svm"} <= set(all_.vectors)
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


def objective(u, R, X, y):
    """R^2 ||u||^2 + 2 H(u), the hinge bound, in the augmented space."""
    sign = np.where(y == y.max(), 1.0, -1.0)
    rows = np.hstack([X, np.ones((len(X), 1))])
    return R**2 * (u @ u) + 2.0 * np.maximum(0.0, 1.0 - sign * (rows @ u)).sum()


@pytest.mark.parametrize("toy", ["clouds_near", "overlapping_clouds"])
def test_the_soft_margin_is_the_least_hinge_bound(toy):
    """Twice the soft-margin objective at C = 1, for rows of radius 1 met once; no other u is below it."""
    toy = getattr(datasets, toy)()
    clf = pc.Perceptron(max_iter=1, shuffle=False).fit(toy.X, toy.y)
    certificate = pc.certify(clf, toy.X, toy.y, comparators="all")
    u, R = certificate.vectors["svm"].weights[0], certificate.radius
    least = objective(u, R, toy.X, toy.y)
    rows = np.hstack([toy.X, np.ones((len(toy.X), 1))]) / R
    svm = pc.MaxMargin(C=1.0, fit_intercept=False).fit(rows, toy.y)
    sign = np.where(toy.y == toy.y.max(), 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - sign * svm.decision_function(rows)).sum()
    assert least == pytest.approx(2.0 * (0.5 * svm.coef_[0] @ svm.coef_[0] + slack), rel=1e-5)
    rng = np.random.default_rng(0)
    for _ in range(50):
        assert least <= objective(u + 0.1 * rng.normal(size=len(u)), R, toy.X, toy.y) * (1.0 + 1e-6)


@pytest.mark.parametrize(
    ("name", "params"), [("Winnow", {}), ("MaxMargin", {}), ("Perceptron", {"row_norm": "l2"})]
)
def test_the_maximum_margin_is_the_best_there_is(name, params):
    clf = fitted(name, params)
    certificate = pc.certify(clf, zoo.X, zoo.y, comparators="all")
    best = pc.MaxMargin().fit(zoo.X, zoo.y).margin_
    if name != "Perceptron":  # in the space of the inputs, with a free offset
        assert certificate.brackets[0].low == pytest.approx(best, rel=1e-5)
    assert certificate.brackets[0].vector in ("max margin", "w")
    certificate.verify(zoo.X, zoo.y, exact=True).or_raise()


def test_prototypes_learned_together_have_comparators_of_their_own():
    clf = fitted("AveragedPerceptron", {"max_iter": 2}, zoo.y3)
    free, all_ = (pc.certify(clf, zoo.X, zoo.y3, comparators=c) for c in ("free", "all"))
    assert set(free.vectors) == {"w", "average"} and {"max margin", "svm"} <= set(all_.vectors)
    assert any("no form for prototypes learned together" in note for note in all_.notes)
    assert all_.brackets[0].low >= free.brackets[0].low and all_.verify(zoo.X, zoo.y3, exact=True)


def test_solvers_keep_to_their_time():
    toy = datasets.overlapping_clouds()
    clf = pc.Perceptron(max_iter=1).fit(toy.X, toy.y)
    certificate = pc.certify(clf, toy.X, toy.y, comparators="all", max_time=1e-9)
    assert certificate.verify(toy.X, toy.y)
    with pytest.raises(ValueError, match="max_time must be a positive number of seconds"):
        pc.certify(clf, toy.X, toy.y, max_time=0.0)


def test_kernel_comparators():
    toy = datasets.rings()
    clf = pc.KernelPerceptron(random_state=0, max_iter=2).fit(toy.X, toy.y)
    certificate = pc.certify(clf, toy.X, toy.y, comparators="all")
    assert "max margin" in certificate.vectors
    certificate.verify(toy.X, toy.y).or_raise()


# ------------------------------------------------------------------------------------------ passes


class Counted(sparse.csr_array):
    """A CSR matrix that counts how many of its rows are read."""

    reads: list

    def _count(self, what, rows):
        if hasattr(self, "reads"):
            self.reads.append((what, rows))

    def __matmul__(self, other):
        self._count("product", self.shape[0])
        return sparse.csr_array(self) @ other

    def multiply(self, other):
        self._count("squares", self.shape[0])
        return sparse.csr_array(self).multiply(sparse.csr_array(other))

    def __abs__(self):
        self._count("sizes", self.shape[0])
        return abs(sparse.csr_array(self))

    def __getitem__(self, rows):
        found = sparse.csr_array(self)[rows]
        self._count("rows", found.shape[0])
        return found


PASSES = [
    *[(name, {}) for name in ESTIMATORS if name != "TextClassifier"],
    ("PNormPerceptron", {"p": 4.0, "row_norm": "l2"}),
    ("BalancedWinnow", {"row_norm": "l2"}),
    ("AROW", {"covariance": "full"}),
    ("KernelPerceptron", {"kernel": kernels.Gaussian(0.5) + kernels.Polynomial()}),
]


@pytest.mark.parametrize("y", [zoo.y, zoo.y3], ids=["two", "three"])
@pytest.mark.parametrize(("name", "params"), PASSES, ids=lambda p: str(p) if p else "default")
def test_at_most_three_passes(name, params, y):
    """Over rows of which few are updated on; the reading of those few counts, too."""
    rows, labels = np.tile(zoo.X, (300, 1)), np.tile(y, 300)
    clf = fitted(name, params, labels, X=rows)
    X = Counted(sparse.csr_array(rows))
    X.reads = []
    pc.certify(clf, X, labels)
    assert [n for what, n in X.reads if what == "product"] == [len(rows)]
    # the rows that prove the upper end are read again, twice where rounding shows: few, but for a descent
    proof = sum(int(np.any(np.atleast_2d(alpha.T), axis=0).sum()) for alpha in _kept_steps(clf))
    assert sum(n for _, n in X.reads) <= 3 * len(rows) + 2 * proof, X.reads


def _kept_steps(clf):
    return [learner.steps for learner in clf.run_record().learners if learner.steps is not None]


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
    assert certificate.brackets[0].low == -math.inf and certificate.brackets[0].up == math.inf
    with pytest.raises(CertificateError, match="give it by kernel="):
        certificate.verify(rows, zoo.y).or_raise()


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
    with pytest.raises(ValueError, match="every label that the model knows; it has no 0"):
        pc.certify(clf, zoo.X, np.ones(8, int))
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


def in_batches(X, y, size=5):
    return [Batch(X[k : k + size], y[k : k + size], None, k) for k in range(0, len(y), size)]


def test_the_passes_of_a_stream_are_counted():
    X, y = zoo.X, zoo.y
    model = pc.Perceptron()
    fit_stream(model, in_batches(X, y), passes=2)
    fit_stream(model, in_batches(X, y, 7))  # a further stream: a third pass
    certificate = pc.certify(model, X, y)
    whole = pc.Perceptron(shuffle=False, max_iter=3).fit(X, y, order=[np.arange(len(y))] * 3)
    assert certificate.run["epochs"] == certificate.run["visits"] == 3
    assert "in 3 epochs" in str(certificate) and certificate.verify(X, y)
    assert certificate.run["history"] == pc.certify(whole, X, y).run["history"]
    line = next(bound for bound in certificate.bounds if bound.name == "online_to_batch")
    assert line.symbols[0]["m"] == len(y) and line.symbols[0]["M"] == whole.history_[0]["errors"]


def test_nothing_is_said_of_passes_that_nobody_counted():
    X, y = zoo.X, zoo.y
    model = pc.Perceptron()
    for batch in in_batches(X, y):
        model.partial_fit(batch.X, batch.y)
    certificate = pc.certify(model, X, y)
    assert certificate.run["epochs"] is None and certificate.run["history"] == []
    assert "epoch" not in str(certificate) and certificate.verify(X, y)
    assert "online_to_batch" not in [bound.name for bound in certificate.bounds]
    assert pc.certify(pc.Perceptron().partial_fit(X, y), X, y).run["epochs"] == 1


# ------------------------------------------------------------------------- bounds that say nothing


def test_a_bound_above_what_it_bounds_says_nothing_and_keeps_its_number():
    """R^2/gamma^2 is 25 on the four points, and two passes have 8 examples; an error rate is at most 1."""
    toy = datasets.four_points()
    clf = pc.Perceptron(shuffle=False, fit_intercept=False, log_updates=True).fit(toy.X, toy.y)
    certificate = pc.certify(clf, toy.X, toy.y)
    allowed = {bound.name: bound.allowed[0] for bound in certificate.bounds}
    assert allowed["novikoff"] == pytest.approx(25.0) and allowed["compression"] > 1.0
    for text in (str(certificate), certificate._repr_html_()):
        assert "updates ≤ R²/γ²: not below the 8 examples" in text
        assert "with probability 1 − δ: not below 1" in text
    lines = str(certificate).splitlines()
    for bound in certificate.bounds:
        nothing = bound.name in ("novikoff", "compression", "online_to_batch")
        shown = [
            line for line in lines if line[14:].startswith(bound.statement) or f"  {bound.statement}" in line
        ]
        assert [line[:14].strip() for line in shown] == ["says nothing" if nothing else "holds"], bound.name
    again = theory.Certificate.from_json(certificate.to_json())
    assert again.bounds == certificate.bounds and again.verify(toy.X, toy.y, exact=True)


def test_one_against_the_rest_compares_each_learner_with_its_own_examples():
    toy = datasets.three_classes()
    clf = pc.Perceptron(multiclass="ovr", max_iter=3, random_state=0).fit(toy.X, toy.y)
    certificate = pc.certify(clf, toy.X, toy.y)
    each = certificate.run["examples"] // 3
    assert each == 60 * clf.n_iter_
    for bound in certificate.bounds:
        if bound.name in ("novikoff", "hinge_tight"):
            shown = [line for line in str(certificate).splitlines() if bound.statement in line]
            expected = ["says nothing" if value >= each else "holds" for value in bound.allowed]
            assert [line[:14].strip() for line in shown[:3]] == expected
