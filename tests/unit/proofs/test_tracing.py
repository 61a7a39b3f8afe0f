"""Traces: the visits of a fit to its bits, the convergence proof beside them, and JSON."""

from __future__ import annotations

import json
import math
from unittest import mock

import numpy as np
import pytest
import zoo
from scipy import sparse
from sklearn.base import clone

import perceptrons as pc
from perceptrons import datasets, proofs, rules, trace
from perceptrons.core.bare import bare
from perceptrons.core.perceptron import PerceptronSpec
from perceptrons.engine import spaces
from perceptrons.proofs import _convergence

pytestmark = pytest.mark.uncompiled


@rules.rule
def shrinking(m, q, state):
    return (0.5, 0.25) if m <= 0.0 else rules.NO_STEP


@rules.rule
def backwards(m, q, state):
    return (1.0, -0.25) if m <= 0.0 else rules.NO_STEP


VARIANTS = [
    pc.Perceptron(learning_rate="updates"),
    pc.Perceptron(learning_rate="examples", row_norm="l2"),
    pc.Perceptron(mistake="prediction", fit_intercept=False),
    pc.Perceptron(class_weight={0: 3.0, 1: 1.0}, intercept_scaling="auto"),
    pc.Perceptron(class_weight="running"),
    pc.Perceptron(tol=1e-3, n_iter_no_change=1, max_iter=30),
    pc.Perceptron(early_stopping=True, validation_fraction=0.25, n_iter_no_change=1),
    pc.Perceptron(max_iter=None),
    pc.MarginPerceptron(gamma=0.2),
    pc.MIRA(p=0.5),
    pc.MIRA(margin="geometric", p=0.1),
    pc.PassiveAggressive(variant="II"),
    pc.PassiveAggressive(variant="hard"),
    pc.ROMMA(aggressive=True),
    pc.Winnow(kind=1),
    pc.Elimination(literals="all"),
    pc.AROW(covariance="full"),
    pc.OnlineClassifier(rule=shrinking),
    pc.OnlineClassifier(rule=backwards, max_iter=3),
]
MODELS = [getattr(pc, name)() for name in zoo.ONLINE] + VARIANTS
THREE = [
    pc.Perceptron(),
    pc.Perceptron(multiclass="ovr"),
    pc.MIRA(),
    pc.AROW(),
    pc.Winnow(),
    pc.Perceptron(scheme="uniform"),
    pc.PassiveAggressive(multiclass="ovr", variant="hard"),
    pc.AveragedPerceptron(fit_intercept=False),
]
KERNELS = [
    pc.KernelPerceptron(),
    pc.KernelPerceptron(kernel="gaussian", fit_intercept=True, readout="average"),
    pc.KernelClassifier(rule="pa1"),
    pc.BudgetKernelPerceptron(budget=2, policy="oldest"),
    pc.BudgetKernelPerceptron(budget=2, policy="forgetron"),
    pc.BudgetKernelPerceptron(budget=3, policy="random"),
    pc.BudgetKernelPerceptron(policy="projectron"),
]


def as_list(bounds):
    """Pairs of floats, one per learner; NaN for what is not known."""
    pairs = bounds if isinstance(bounds, list) else [bounds]
    return [[np.nan if end is None else end for end in pair] for pair in pairs]


def agrees(run, model):
    """The trace says what the fitted model says."""
    assert (run.n_mistakes[-1], run.n_updates[-1]) == (model.n_mistakes_, model.n_updates_)
    assert run.stop_reason == model.stop_reason_ and not run.truncated
    learners = run.margin.shape[1] if run.margin.ndim == 2 else 1
    epochs = [learners * int(np.sum(run.epoch == e)) for e in range(run.epoch[-1] + 1)]
    assert epochs == [record["examples"] for record in model.history_]
    assert run.radius == model.radius_ and run.bias == model.intercept_scaling_
    last = model.run_record(evidence=False).weights["last"]
    if run.w is not None:
        assert np.array_equal(np.atleast_2d(run.w[-1]), last)
    if model.margin_bounds_ is None:
        assert run.gamma_low is None and run.gamma_up is None
    else:
        stated = np.array(as_list(model.margin_bounds_))
        assert np.array_equal(np.atleast_1d(run.gamma_low[-1]), stated[:, 0], equal_nan=True)
        assert np.array_equal(np.atleast_1d(run.gamma_up[-1]), stated[:, 1])
        first = model.margin_bounds_
        assert run.space == (first[0] if isinstance(first, list) else first).space
    if model.free_margin_bounds_ is None:
        assert run.gamma_low_free is None and run.gamma_up_free is None
    else:
        stated = np.array(as_list(model.free_margin_bounds_))
        assert np.array_equal(np.atleast_1d(run.gamma_low_free[-1]), stated[:, 0], equal_nan=True)
        assert np.array_equal(np.atleast_1d(run.gamma_up_free[-1]), stated[:, 1])
    again = proofs.Trace.from_json(run.to_json())
    assert again.to_json() == run.to_json()


def traced(model, X, y, **options):
    """(trace, model fitted on the same rows)."""
    model = clone(model).set_params(random_state=5)
    order = options.get("order")
    return trace(model, X, y, **options), model.fit(X, y, order=order)


# ------------------------------------------------------------------------------------ the visits of fit


SPARSE = ("Perceptron()", "ROMMA()", "Winnow()", "AROW()", "Elimination()", "Perceptron(multiclass='ovr')")


def rows_of(models):
    """Every model on an array, and some on a CSR matrix."""
    cases = [(model, np.asarray) for model in models]
    return cases + [(model, sparse.csr_array) for model in models if str(model) in SPARSE]


def named(case):
    return "csr" if case is sparse.csr_array else "dense" if case is np.asarray else str(case)


@pytest.mark.parametrize(("model", "rows"), rows_of(MODELS), ids=named)
def test_a_trace_is_fit_to_the_bit(model, rows):
    run, fitted = traced(model, rows(zoo.X), zoo.y)
    agrees(run, fitted)
    assert np.array_equal(run.label, zoo.y[run.row])
    assert np.array_equal(run.margin, (2 * run.label - 1) * run.score)
    mistakes, updates = (np.diff(a, prepend=0) == 1 for a in (run.n_mistakes, run.n_updates))
    assert np.array_equal(run.kind, np.where(mistakes, "mistake", np.where(updates, "margin", "none")))
    assert np.array_equal(run.step != 0.0, updates)


@pytest.mark.compiled
def test_compiled_loops_make_the_bits_of_fit_too():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 7)), rng.integers(2, size=60)
    agrees(*traced(pc.Perceptron(max_iter=4), X, y))


@pytest.mark.parametrize(("model", "rows"), rows_of(THREE), ids=named)
def test_several_classes(model, rows):
    run, fitted = traced(clone(model).set_params(max_iter=4), rows(zoo.X), zoo.y3)
    agrees(run, fitted)
    assert run.w.shape == (len(run) + 1, 3, 6) and run.score.shape == (len(run), 3)
    if run.margin.ndim == 1:  # prototypes learned together
        true = run.score[np.arange(len(run)), run.label]
        rivals = np.where(np.arange(3) == run.label[:, None], -np.inf, run.score)
        assert np.array_equal(run.margin, true - rivals.max(axis=1))
    else:
        assert np.array_equal(run.margin, np.where(np.arange(3) == run.label[:, None], 1, -1) * run.score)


@pytest.mark.parametrize("model", KERNELS, ids=str)
@pytest.mark.parametrize("y", [zoo.y, zoo.y3], ids=["two", "three"])
def test_kernel_learners_make_the_updates_of_fit(model, y):
    run, fitted = traced(clone(model).set_params(max_iter=4), zoo.X, y)
    agrees(run, fitted)
    assert run.w is None
    dual = np.zeros((fitted.dual_coef_.shape[0], len(y)))
    np.add.at(dual.T, fitted.support_, fitted.run_record().weights["last"].T)
    if isinstance(model, pc.BudgetKernelPerceptron):
        assert np.allclose(np.atleast_2d(run.dual[-1]), dual, rtol=1e-12, atol=0.0)
    else:
        assert np.array_equal(np.atleast_2d(run.dual[-1]), dual)


def test_blocks_of_kernel_values_are_those_of_fit():
    """Rows on a grid have scores that are 0 but for rounding: products of single rows decide otherwise."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(-1, 2, size=(90, 3)).astype(float), rng.integers(3, size=90)
    for model in (pc.KernelPerceptron(kernel="gaussian"), pc.KernelClassifier(rule="pa1")):
        model.set_params(max_iter=3, block_size=32, random_state=0)
        run, fitted = trace(model, X, y), clone(model).fit(X, y)
        dual = np.zeros((fitted.dual_coef_.shape[0], len(y)))
        dual[:, fitted.support_] = fitted.dual_coef_
        assert np.array_equal(np.atleast_2d(run.dual[-1]), dual)
        before = np.zeros_like(dual) + run.dual[0]
        for visit, after in zip(run, run.dual[1:], strict=True):  # a visit changes the coefficient of its row
            assert np.flatnonzero(np.any(np.atleast_2d(after) != before, axis=0)).tolist() in (
                [],
                [visit.row],
            )
            before = np.atleast_2d(after)


def test_budget_learners_of_several_classes_share_a_generator():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), rng.integers(3, size=60)
    model = pc.BudgetKernelPerceptron(budget=2, policy="random", random_state=0, max_iter=12)
    with mock.patch("perceptrons.engine.spaces.budget._DRAWS", 8):
        run, fitted = trace(model, X, y, gamma_low=None), clone(model).fit(X, y)
    assert run.n_updates[-1] == fitted.n_updates_ > 300


@pytest.mark.parametrize("order", [[[0, 3, 3], [], [7]], [np.arange(8)[::-1]] * 2], ids=["odd", "reverse"])
def test_the_order_can_be_given(order):
    for model in (pc.Perceptron(), pc.PassiveAggressive(), pc.KernelPerceptron()):
        run, fitted = traced(model, zoo.X, zoo.y, order=order)
        agrees(run, fitted)
        assert np.array_equal(run.row, np.concatenate(order))


def test_an_order_is_read_more_than_once_and_needs_a_row():
    run = trace(pc.Perceptron(), zoo.X, zoo.y, order=(np.arange(8) for _ in range(2)), u="max-margin")
    assert len(run) == 16 and run.proof.checked
    for order in ([], [[]], iter([[], []])):
        with pytest.raises(ValueError, match="no row to visit"):
            trace(pc.Perceptron(), zoo.X, zoo.y, order=order)
    with pytest.raises(ValueError, match="epoch 0 has 99"):
        trace(pc.Perceptron(), zoo.X, zoo.y, order=[[99]])


@pytest.mark.parametrize("scale", [1e-140, 1e-30, 1.0, 1e120])
@pytest.mark.parametrize("model", [pc.Perceptron(), pc.ROMMA(), pc.PassiveAggressive(), pc.ALMA()], ids=str)
def test_rows_of_any_size(model, scale):
    model = clone(model).set_params(intercept_scaling=scale)
    run, fitted = traced(model, scale * zoo.X, zoo.y, u="max-margin")
    agrees(run, fitted)
    assert run.proof.gamma > 0.0 and run.proof.checked["progress"] == fitted.n_updates_


@pytest.mark.parametrize(
    "model", [pc.Perceptron(), pc.ROMMA(), pc.PassiveAggressive(variant="hard")], ids=str
)
def test_single_precision(model):
    run, fitted = traced(model, zoo.X.astype(np.float32) / np.float32(3.0), zoo.y, u="max-margin")
    agrees(run, fitted)
    assert run.proof.checked["progress"] == fitted.n_updates_


@pytest.mark.parametrize("y", [zoo.y, zoo.y3], ids=["two", "three"])
def test_an_average_is_that_of_fit(y):
    options = {"readout": "average", "random_state": 1, "max_iter": 3}
    for more in ({}, {"include_initial": True}, {"normalized_votes": True}):
        model = pc.Perceptron(**options, **more)
        run, fitted = trace(model, zoo.X, y), clone(model).fit(zoo.X, y)
        last = np.atleast_2d(run.average[-1])
        assert np.array_equal(last[:, :-1], fitted.coef_) and np.array_equal(last[:, -1], fitted.intercept_)
        assert np.array_equal(proofs.Trace.from_json(run.to_json()).average, run.average)
    assert trace(pc.VotedPerceptron(), zoo.X, y).average is None
    model = pc.KernelPerceptron(**options)
    run, fitted = trace(model, zoo.X, y), clone(model).fit(zoo.X, y)
    dual = np.zeros((fitted.dual_coef_.shape[0], 8))
    dual[:, fitted.support_] = fitted.dual_coef_
    assert np.allclose(np.atleast_2d(run.average[-1]), dual, rtol=1e-12, atol=0.0)


def test_a_callback_threads_and_a_learner_without_scikit_learn():
    agrees(*traced(pc.Perceptron(callback=lambda model: model.n_iter_ == 2), zoo.X, zoo.y))
    agrees(*traced(pc.Perceptron(multiclass="ovr", n_jobs=2, max_iter=2), zoo.X, zoo.y3))
    model = bare(PerceptronSpec)(random_state=5)
    run = trace(model, zoo.X, zoo.y)
    agrees(run, model.fit(zoo.X, zoo.y))


def test_a_start_again_leaves_the_visits_of_the_last_start():
    model = pc.MarginPerceptron(gamma="auto", eps=0.1, shuffle=False)
    X, y = np.array([[1.0, 0.2], [1.0, -0.1], [-0.05, 1.0], [0.3, -1.0]]), [1, 0, 1, 0]
    run, fitted = traced(model, X, y)
    agrees(run, fitted)
    assert not run.w[0].any()


def test_a_model_is_not_changed_and_a_seed_is_drawn():
    model = pc.Perceptron().fit(zoo.X, zoo.y)
    before, run = model.coef_.copy(), trace(model, zoo.X, zoo.y)
    assert np.array_equal(model.coef_, before) and model.random_state is None
    again = trace(pc.Perceptron(random_state=run.seed), zoo.X, zoo.y)
    assert np.array_equal(run.w, again.w) and again.seed == run.seed
    generator = np.random.default_rng(3)
    run = trace(pc.Perceptron(random_state=generator), zoo.X, zoo.y)
    assert run.seed is None and generator.random() == np.random.default_rng(3).random()


def test_the_lower_end_is_computed_when_it_is_asked_for():
    model = pc.Perceptron(shuffle=False, fit_intercept=False)
    toy = datasets.four_points()
    runs = {when: trace(model, toy.X, toy.y, gamma_low=when) for when in ("epochs", "visits", None)}
    assert runs[None].gamma_low is None
    assert np.flatnonzero(~np.isnan(runs["epochs"].gamma_low)).tolist() == [3, 7]
    low = runs["visits"].gamma_low
    assert low[:3].tolist() == [-math.inf] * 3 and np.allclose(low[3:], 1.0 / math.sqrt(5.0), rtol=1e-12)
    assert np.all(low[3:] <= runs["visits"].gamma_up[3:])
    one = clone(model)
    one.partial_fit(toy.X[:1], toy.y[:1], classes=[-1, 1])
    assert runs[None].gamma_up[0] == one.margin_bounds_[1]


@pytest.mark.parametrize("toy", [datasets.four_points(), datasets.slab_points()], ids=["four", "slab"])
@pytest.mark.parametrize("model", [pc.Perceptron(), pc.MIRA(), pc.MarginPerceptron(), pc.PassiveAggressive()])
def test_both_brackets_hold_at_every_visit(model, toy):
    model = clone(model).set_params(random_state=1, intercept_scaling=2.0, max_iter=200)
    run = trace(model, toy.X, toy.y, gamma_low="visits")
    best = pc.MaxMargin(tol=1e-9).fit(toy.X, toy.y).margin_
    low, up = run.gamma_low_free, run.gamma_up_free
    assert up[0] == math.inf and np.isfinite(up[-1])  # one step proves nothing about the other class
    assert np.all(up >= best * (1 - 1e-9)) and np.all(low[np.isfinite(low)] <= best * (1 + 1e-9))
    assert np.array_equal(np.isfinite(low), np.isfinite(run.gamma_low)) and np.isfinite(low[-1])
    none = trace(model, toy.X, toy.y, gamma_low=None)
    assert none.gamma_low_free is None and np.array_equal(none.gamma_up_free, up)


def test_max_steps_cuts_a_trace():
    toy = datasets.four_points()
    run = trace(pc.Perceptron(shuffle=False, fit_intercept=False), toy.X, toy.y, max_steps=5, u=[2, 1])
    assert len(run) == 5 and run.truncated and run.stop_reason == "max_steps" and run.w.shape == (6, 3)
    assert "truncated: the run goes on; give max_steps above 5" in str(run)
    assert proofs.Trace.from_json(run.to_json()).truncated
    whole = trace(pc.Perceptron(shuffle=False, fit_intercept=False), toy.X, toy.y, max_steps=8)
    assert len(whole) == 8 and not whole.truncated


def test_too_many_numbers_are_refused(monkeypatch):
    monkeypatch.setattr("perceptrons.proofs.tracing.MOST_NUMBERS", 100)
    with pytest.raises(ValueError, match=r"160 visits with 6 weights each .* max_steps of at most 15"):
        trace(pc.Perceptron(), zoo.X, zoo.y)
    assert len(trace(pc.Perceptron(shuffle=False), zoo.X, zoo.y, max_steps=15)) == 15


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (pc.RiskDescent(), r"RiskDescent\(keep_path=True\) keeps its w after each step as path_"),
        (pc.MaxMargin(), "solves one problem over all of them"),
        (pc.TextHasher(), "needs an online learner"),
        (3, "got 3"),
    ],
    ids=str,
)
def test_what_visits_no_rows_is_refused(model, said):
    with pytest.raises(TypeError, match=said):
        trace(model, zoo.X, zoo.y)


def test_wrong_arguments():
    model = pc.Perceptron()
    with pytest.raises(ValueError, match="gamma_low must be one of"):
        trace(model, zoo.X, zoo.y, gamma_low="always")
    with pytest.raises(ValueError, match="max_steps must be an integer"):
        trace(model, zoo.X, zoo.y, max_steps=0)
    with pytest.raises(TypeError):
        trace(model, zoo.X, zoo.y, sample_weight=np.ones(8))
    with pytest.raises(ValueError, match="must have 5 entries, or 6 with the weight of the constant"):
        trace(model, zoo.X, zoo.y, u=[1.0])
    with pytest.raises(ValueError, match="has no intercept; give 5 entries"):
        trace(pc.Perceptron(fit_intercept=False), zoo.X, zoo.y, u=np.ones(6))
    with pytest.raises(ValueError, match="not only zeros"):
        trace(model, zoo.X, zoo.y, u=np.zeros(5))
    with pytest.raises(ValueError, match="u must be one of 'max-margin'"):
        trace(model, zoo.X, zoo.y, u="best")
    with pytest.raises(ValueError, match="comparator for two classes"):
        trace(model, zoo.X, zoo.y3, u=np.ones(5))
    with pytest.raises(ValueError, match="kernel learner has none"):
        trace(pc.KernelPerceptron(), zoo.X, zoo.y, u=np.ones(5))


# ------------------------------------------------------------------------------------ the proof


def test_the_proof_on_paper():
    """Rows (1, 2), (2, 1), ... of the four points; u = (2, 1)/√5 has margin 1/√5, and R = √5."""
    toy = datasets.four_points()
    run = trace(pc.Perceptron(shuffle=False, fit_intercept=False), toy.X, toy.y, u=[2, 1])
    proof, root = run.proof, math.sqrt(5.0)
    assert np.allclose(proof.u, [2 / root, 1 / root, 0.0]) and proof.radius >= root
    assert math.isclose(proof.gamma, 1.0 / root, rel_tol=1e-15) and (proof.crossing, proof.bound) == (26, 25)
    updates = np.append(0, run.n_updates)
    assert np.allclose(proof.dot, run.w @ proof.u, rtol=1e-15)
    assert np.allclose(proof.dot_bound, updates / root, rtol=1e-15)
    assert np.allclose(proof.norm_bound, np.sqrt(updates) * root, rtol=1e-15)
    assert np.all(proof.dot >= proof.dot_bound) and np.all(proof.norm <= proof.norm_bound)
    assert proof.checked == dict.fromkeys(
        ("progress", "move", "length", "sum of progress", "sum of lengths"), 2
    )


OWN = {
    "perceptron": (pc.Perceptron(), {"progress", "move", "length", "sum of progress", "sum of lengths"}),
    "margin": (pc.MarginPerceptron(gamma=0.3), {"progress", "margin step", "sum of lengths"}),
    "mira": (pc.MIRA(), {"progress", "length", "margin 1", "distance", "sum of lengths"}),
    "pa": (pc.PassiveAggressive(variant="hard"), {"progress", "margin 1", "distance"}),
    "pa1": (pc.PassiveAggressive(C=0.1), {"progress", "distance"}),
    "romma": (pc.ROMMA(aggressive=True), {"progress", "move", "sum of progress"}),
    "own": (pc.OnlineClassifier(rule=shrinking), {"progress", "length", "sum of progress"}),
}


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("row_norm", [None, "l2"])
def test_each_learner_has_the_claims_of_its_proof(name, row_norm):
    model, claims = OWN[name]
    run, fitted = traced(clone(model).set_params(row_norm=row_norm), zoo.X, zoo.y, u="max-margin")
    proof = run.proof
    assert claims <= set(proof.checked) and proof.checked["progress"] == fitted.n_updates_
    assert np.all(proof.dot >= proof.dot_bound * (1 - 1e-9))
    assert (proof.norm_bound is not None) == ("sum of lengths" in claims)
    assert (proof.distance is not None) == ("distance" in claims)
    if proof.distance is not None:
        assert np.all(np.diff(proof.distance) <= 1e-12 * proof.distance[:-1])
    if proof.bound is not None:
        assert fitted.n_updates_ <= proof.bound


def test_a_step_backwards_has_no_claim():
    run = trace(pc.OnlineClassifier(rule=backwards, max_iter=2), zoo.X, zoo.y, u="max-margin")
    assert run.n_updates[-1] > 0 and run.proof.checked == {} and run.proof.dot_bound is None


@pytest.mark.parametrize("model", [pc.BalancedWinnow(), pc.AROW(), pc.Winnow()], ids=str)
def test_proofs_about_other_vectors(model):
    run = trace(model, zoo.X, zoo.y, u=np.array([1.0, -0.1, -0.1, 1.0, -0.1]))
    assert run.proof.checked == {} and run.proof.dot_bound is None and run.proof.crossing is None
    assert np.allclose(run.proof.dot, run.w @ run.proof.u)


@pytest.mark.parametrize("u", [[1.0, 0.0], "max-margin"], ids=str)
def test_without_a_margin_nothing_is_claimed(u):
    xor = datasets.xor()
    run = trace(pc.Perceptron(max_iter=3), xor.X, xor.y, u=u)
    proof = run.proof
    assert proof.gamma is None and proof.crossing is None and proof.checked == {}
    assert proof.dot_bound is None and proof.norm_bound is None and len(proof.dot) == len(run) + 1
    assert "nothing is claimed" in str(run)
    assert proofs.Trace.from_json(run.to_json()).proof.gamma is None


@pytest.mark.parametrize("fault", [1e-9, -1e-9, 0.5])
@pytest.mark.parametrize("model", [pc.Perceptron(), pc.MIRA(), pc.MarginPerceptron(gamma=0.1)], ids=str)
def test_a_wrong_update_is_found(monkeypatch, model, fault):
    """A loop that moves w a little too far, or not far enough, violates a claim of the proof."""
    right = spaces.Linear.run

    def wrong(self, rows, y, c, order, keep_log, predictions=None):
        before = self.v.copy()
        logs = right(self, rows, y, c, order, keep_log, predictions)
        self.v += fault * (self.v - before)
        return logs

    monkeypatch.setattr(spaces.Linear, "run", wrong)
    with pytest.raises(proofs.ProofError, match=r"violated at visit 0 \(row 0\) by .*rounding can explain"):
        trace(clone(model).set_params(shuffle=False), zoo.X, zoo.y, u="max-margin")


@pytest.mark.parametrize("name", ["perceptron", "margin", "mira", "pa1"])
def test_every_claim_finds_some_wrong_update(name):
    """Each claim of its own is violated by one of these changes to w', and by none where w' is right."""
    model, _ = OWN[name]
    seen, plain = [], _convergence._Follower

    class Follower(plain):
        def _claims(self, update):
            w, u, x = self.path.w[update.t + 1], self.u, self.rows.vector(int(self.path.row[update.t]))[0]
            size = 1e-3 * np.linalg.norm(w)
            for change in (0.0, -size * u, size * u, -size * x, 3.0 * w, size * np.roll(x, 1)):
                seen.append((np.any(change), self._violated(update, w + change)))
            return super()._claims(update)

        def _violated(self, update, w):
            path = self.path.w.copy()
            path[update.t + 1] = w
            other = plain(
                self.path._replace(w=path),
                self.rows,
                self.u,
                self.gamma,
                self.radius,
                path @ self.u,
                np.array([_convergence._length(v) for v in path]),
            )
            claims = other._claims(other._update(update.t))
            return {claim for claim, left, right, room in claims if not left >= right - 1.1 * room}

    with mock.patch.object(_convergence, "_Follower", Follower):
        run = trace(clone(model).set_params(shuffle=False, max_iter=2), zoo.X, zoo.y, u="max-margin")
    assert not any(found for changed, found in seen if not changed)
    found = set().union(*(found for changed, found in seen if changed))
    assert found == {claim for claim in run.proof.checked if not claim.startswith("sum")}


def test_a_wrong_step_is_found(monkeypatch):
    """Updates on rows with a large margin break the claim about the steps of the margin perceptron."""
    monkeypatch.setattr(spaces.Linear, "run", _on_wrong_rows(spaces.Linear.run))
    with pytest.raises(proofs.ProofError, match="margin step is violated at visit"):
        trace(pc.MarginPerceptron(gamma=1e-3, shuffle=False), zoo.X, zoo.y, u="max-margin")


def _on_wrong_rows(right):
    def run(self, rows, y, c, order, keep_log, predictions=None):
        rule, self.rule = self.rule, rules.Margin(gamma=100.0)
        try:
            return right(self, rows, y, c, order, keep_log, predictions)
        finally:
            self.rule = rule

    return run


def test_a_margin_that_u_does_not_have_is_found(monkeypatch):
    monkeypatch.setattr("perceptrons.proofs._convergence.AugmentedRows.margin", lambda self, u, chosen: 3.0)
    with pytest.raises(proofs.ProofError, match=r"^progress is violated at visit 0"):
        trace(pc.Perceptron(shuffle=False), zoo.X, zoo.y, u=np.ones(5))
    assert issubclass(proofs.ProofError, AssertionError)


# ------------------------------------------------------------------------------------ forms


def test_visits_and_forms():
    run = trace(pc.Perceptron(shuffle=False, max_iter=2), zoo.X, zoo.y, u="max-margin")
    first = run[0]
    assert (first.epoch, first.row, first.label, first.kind, first.step) == (0, 0, 1, "mistake", 1.0)
    assert np.array_equal(first.w, [1, 0, 1, 0, 0, 1]) and [v.row for v in run] == run.row.tolist()
    assert run[-1].n_updates == run.n_updates[-1]
    with pytest.raises(IndexError):
        run[len(run)]
    with pytest.raises(TypeError):
        run[1:3]
    arrays = run.to_arrays()
    assert arrays["w"] is run.w and arrays["proof"]["dot"] is run.proof.dot
    frame = run.to_frame()
    assert len(frame) == len(run) and frame["margin"].tolist() == run.margin.tolist()
    assert frame["dot"].tolist() == run.proof.dot[1:].tolist()
    three = trace(pc.Perceptron(multiclass="ovr", max_iter=2), zoo.X, zoo.y3).to_frame()
    assert {"score_0", "score_1", "score_2", "step_2", "kind"} <= set(three)
    assert repr(run).startswith("<Trace of Perceptron(max_iter=2, shuffle=False): 16 visits")


@pytest.mark.parametrize("labels", [["no", "yes"], np.array(["b", "c"], object), [False, True], [0.0, 1.0]])
def test_json_keeps_labels_rows_and_numbers(labels):
    X = sparse.csr_array(zoo.X / 3.0)
    run = trace(pc.PassiveAggressive(), X, np.asarray(labels)[zoo.y], u="max-margin", gamma_low="visits")
    text = run.to_json()
    again = proofs.Trace.from_json(text.encode())
    assert again.to_json() == text and json.loads(text)["schema"] == 2
    assert np.array_equal(again.w, run.w) and np.array_equal(again.label, run.label)
    assert again.label.dtype == run.label.dtype and (again.X != run.X).nnz == 0
    assert np.array_equal(again.gamma_low, run.gamma_low) and np.isneginf(run.gamma_low).any()
    assert np.array_equal(again.proof.u, run.proof.u) and again.proof.checked == run.proof.checked


def test_json_of_the_first_schema_is_read():
    run = trace(pc.Perceptron(max_iter=2), zoo.X, zoo.y)
    fields = json.loads(run.to_json()) | {"schema": 1}
    assert fields.pop("gamma_low_free") and fields.pop("gamma_up_free")
    again = proofs.Trace.from_json(json.dumps(fields))
    assert again.gamma_up_free is None and np.array_equal(again.gamma_up, run.gamma_up)


def test_json_of_texts():
    run = trace(pc.KernelPerceptron(kernel="spectrum", max_iter=2), ["ab", "ba", "aa"], [0, 1, 0])
    assert proofs.Trace.from_json(run.to_json()).X == ["ab", "ba", "aa"]


def _broken(change):
    fields = json.loads(_broken.text)
    change(fields)
    return json.dumps(fields)


_CHANGES = {
    "format": lambda f: f.update(format="x"),
    "schema": lambda f: f.update(schema=3),
    "schema 1 with a field of schema 2": lambda f: f.update(schema=1),
    "a schema that is no number": lambda f: f.update(schema=True),
    "a field too many": lambda f: f.update(more=1),
    "a field too few": lambda f: f.pop("w"),
    "a short array": lambda f: f["margin"].pop(),
    "a short w": lambda f: f["w"].pop(),
    "a narrow w": lambda f: [row.pop() for row in f["w"]],
    "a ragged w": lambda f: f["w"][1].pop(),
    "a null margin": lambda f: f["margin"].__setitem__(0, None),
    "a text": lambda f: f["norm2"].__setitem__(0, "1.0"),
    "an infinite step": lambda f: f["step"].__setitem__(0, "inf"),
    "a truth value": lambda f: f["step"].__setitem__(0, True),
    "another kind": lambda f: f["kind"].__setitem__(0, "error"),
    "a row that is not there": lambda f: f["row"].__setitem__(0, 8),
    "a negative row": lambda f: f["row"].__setitem__(0, -1),
    "a label of another row": lambda f: f["label"].__setitem__(0, 0),
    "fewer mistakes": lambda f: f["n_mistakes"].__setitem__(-1, 0),
    "a label type": lambda f: f.update(label_type="complex"),
    "unit": lambda f: f.update(unit=1),
    "seed": lambda f: f.update(seed=1.5),
    "rows of another width": lambda f: f["X"].update(shape=[8, 7]),
    "no object": lambda f: f.update(X=[1]),
    "proof": lambda f: f["proof"].pop("u"),
    "a short dot": lambda f: f["proof"]["dot"].pop(),
    "crossing": lambda f: f["proof"].update(crossing=2.5),
}


@pytest.mark.parametrize("what", _CHANGES)
def test_a_wrong_text_is_refused(what):
    if not hasattr(_broken, "text"):
        run = trace(pc.Perceptron(max_iter=2, shuffle=False), zoo.X, zoo.y, u="max-margin")
        _broken.text = run.to_json()
    with pytest.raises(ValueError):
        proofs.Trace.from_json(_broken(_CHANGES[what]))


@pytest.mark.parametrize("text", ["", "[]", "nan", '{"a": NaN}', '{"a": 1, "a": 2}', "[" * 100_000, b"\xff"])
def test_what_is_no_trace_is_refused(text):
    with pytest.raises(ValueError):
        proofs.Trace.from_json(text)
    with pytest.raises(ValueError, match="more than max_bytes=1"):
        proofs.Trace.from_json("[[]]", max_bytes=1)
    with pytest.raises(TypeError):
        proofs.Trace.from_json(3)
