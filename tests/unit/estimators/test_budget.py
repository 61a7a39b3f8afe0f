"""The kernel perceptron on a budget: against the reference, in blocks of any size, compiled and plain."""

from __future__ import annotations

import copy
import pickle
from itertools import chain

import numpy as np
import pytest
from golden.cases import close, load
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import best_margin, separable

from perceptrons import kernels, reference
from perceptrons.engine import spaces
from perceptrons.engine.intake import EMPTY, frozen
from perceptrons.engine.loops import budget as loop
from perceptrons.engine.spaces.budget import Budget

BLOCKS = pytest.mark.parametrize("block_size", [1, 7, 16, "auto"])
POLICIES = {
    "random": loop.Random(),
    "oldest": loop.Oldest(),
    "forgetron": loop.Forgetron(),
    "projectron": loop.Projectron(0.6),
}
EVERY_POLICY = pytest.mark.parametrize("name", POLICIES)


@pytest.fixture(params=["compiled", "plain"])
def either(request, monkeypatch):
    """Run the loop compiled, and as NUMBA_DISABLE_JIT=1 runs it."""
    if request.param == "plain":
        monkeypatch.setattr(loop, "run", loop.run.function)


class Uniforms:
    """A generator that answers given numbers, one at a time."""

    def __init__(self, values):
        self.values = list(values)

    def random(self):
        return self.values.pop(0)


def space(kernel, name, budget=5, bias=0.0, **options):
    given = {"rng": Uniforms(UNIFORMS), **options} if name == "random" else options
    return Budget(kernel, POLICIES[name], budget, spaces.Frame(bias), 3, **given)


def learn(model, objects, y, order=None, weights=EMPTY):
    """Passes over the rows; answers their logs."""
    rows, y = model.kernel.prepare(objects), frozen(y, np.float64)
    order = [np.arange(len(y))] if order is None else order
    return [log for epoch in order for log in model.run(rows, y, weights, frozen(epoch, np.int64), True)]


def flat(logs, field):
    return list(chain.from_iterable(getattr(log, field).ravel().tolist() for log in logs))


def sample(seed=0, m=60, n=3):
    """Rows with noisy labels, some of them twice, and three epochs."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-64, 65, size=(m, n)) / 32
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=m) > 0, 1, -1)
    X[m // 2] = X[0]
    return X, y, [rng.integers(m, size=m).tolist() for _ in range(3)]


UNIFORMS = np.random.default_rng(5).random(500).tolist()


def on_the_blackboard(name, X, y, order, kernel, budget=5, rule="margin"):
    given = {"kernel": kernel, "budget": budget, "rule": rule}
    if name == "random":
        return reference.random_budget_perceptron(X, y, order, uniforms=UNIFORMS, **given)
    if name == "projectron":
        return reference.projectron(X, y, order, eta=0.6, **given)
    learner = {"oldest": reference.oldest_budget_perceptron, "forgetron": reference.forgetron}[name]
    return learner(X, y, order, **given)


def follows(model, logs, run, X):
    """Same updates, same list, same coefficients, same scores."""
    assert [log.row.tolist() for log in logs] == run.updates
    assert model.counts().updates == run.k
    assert model.counts().examples == run.t
    assert model.counts().errors == sum(run.errors)
    assert model.counts().mistakes == sum(run.mistakes)
    assert model.ids.tolist() == run.support
    assert close(model.coefficients, run.coefficients)
    assert [row for row in flat(logs, "victim") if row >= 0] == run.evicted
    assert sum(flat(logs, "projected")) == run.projected
    if run.phi:
        shrunk = [
            keep for keep, row in zip(flat(logs, "keep"), flat(logs, "victim"), strict=True) if row >= 0
        ]
        assert close(shrunk, run.phi)
    assert close(model.forgetting_cost, run.Q)
    assert close(model.scores(model.kernel.prepare(X, model.rows))[:, 0], run.scores(X))
    assert close(model.norm(), run.length(run.w), 1e-7)


# ----------------------------------------------------------------------- the same as on the blackboard


@EVERY_POLICY
@BLOCKS
@pytest.mark.parametrize("rule", ["margin", "prediction"])
def test_blocks_of_any_size_are_the_reference(name, block_size, rule):
    X, y, order = sample()
    kernel = reference.gaussian_kernel(0.5)
    run = on_the_blackboard(name, X, y, order, kernel, rule=rule)
    assert run.evicted or run.projected > 10
    model = space(kernels.Gaussian(0.5), name, block_size=block_size, prediction=rule == "prediction")
    follows(model, learn(model, X, y, order), run, X)


@EVERY_POLICY
def test_plain_python_is_compiled_code(name, either):
    X, y, order = sample(1)
    run = on_the_blackboard(name, X, y, order, reference.gaussian_kernel(0.5), budget=8)
    model = space(kernels.Gaussian(0.5), name, 8, block_size=16)
    follows(model, learn(model, X, y, order), run, X)


@EVERY_POLICY
@pytest.mark.parametrize("seed", range(4))
def test_a_constant_coordinate_adds_its_square(name, seed):
    X, y, order = sample(seed)
    kernel = reference.sum_kernel(reference.polynomial_kernel(2, 0.5, 0.25), reference.constant_kernel(0.25))
    run = on_the_blackboard(name, X, y, order, kernel)
    model = space(kernels.Polynomial(2, 0.5, 0.25), name, bias=0.5, block_size=11)
    follows(model, learn(model, X, y, order), run, X)


@EVERY_POLICY
def test_strings(name):
    rng = np.random.default_rng(2)
    X = ["".join(rng.choice(list("acgt"), size=12)) for _ in range(50)]
    y = np.array([1 if s.count("a") > 2 else -1 for s in X])
    order = [rng.permutation(50).tolist() for _ in range(3)]
    run = on_the_blackboard(name, X, y, order, reference.spectrum_kernel(2))
    model = space(kernels.Spectrum(p=2), name, block_size=16)
    follows(model, learn(model, X, y, order), run, X)


CASES = load("budget_kernel")


@pytest.mark.parametrize("case", CASES, ids=str)
@BLOCKS
def test_golden(case, block_size):
    params = dict(case.params)
    kernel = dict(params.pop("kernel"))
    assert kernel.pop("kernel") == "gaussian"
    learner = params.pop("learner")
    policy = {"rbp": loop.Random, "oldest": loop.Oldest, "forgetron": loop.Forgetron}.get(learner)
    policy = loop.Projectron(params.pop("eta")) if learner == "projectron" else policy()
    model = Budget(
        kernels.Gaussian(kernel.pop("gamma")),
        policy,
        params.pop("budget", None),
        spaces.Frame(0.0),
        case.X.shape[1],
        rng=Uniforms(params.pop("uniforms", [])),
        block_size=block_size,
    )
    assert not params
    assert not kernel
    errors, logs = [], []
    for epoch in case.order:
        before = model.counts()
        logs += learn(model, case.X, case.y, [epoch])
        errors.append(model.counts().since(before).errors)
    expected = dict(case.expected)
    assert [log.row.tolist() for log in logs] == expected.pop("update_indices")
    assert [len(log.row) for log in logs] == expected.pop("updates_per_epoch")
    assert errors == expected.pop("errors_per_epoch")
    assert model.ids.tolist() == expected.pop("support")
    assert close(model.coefficients, expected.pop("coefficients"))
    assert [row for row in flat(logs, "victim") if row >= 0] == expected.pop("evicted")
    phi = expected.pop("phi")
    if phi:
        left = np.array(flat(logs, "victim")) >= 0
        assert close(np.array(flat(logs, "keep"))[left], phi)
    assert sum(flat(logs, "projected")) == expected.pop("projected")
    scores = model.scores(model.kernel.prepare(case.X_test))[:, 0]
    assert close(scores, expected.pop("test_scores"))
    assert np.where(scores > 0.0, 1, -1).tolist() == expected.pop("test_predictions")
    assert not expected


# ------------------------------------------------------------------------------- what always holds


@EVERY_POLICY
def test_after_each_row(name):
    X, y, order = sample(3)
    model = space(kernels.Gaussian(0.5), name, 6)
    for i in chain.from_iterable(order):
        learn(model, X, y, [[i]])
        n = len(model)
        assert n == len(model.rows) == len(model.ids) == len(model.label) == len(model.coefficients) <= 6
        assert close(model.gram, model.kernel.matrix(model.rows, model.rows))
        assert np.array_equal(model.label, y[model.ids])
        assert np.all(np.diff(model.born) > 0)
        assert np.array_equal(np.array(order).ravel()[model.born - 1], model.ids)
        assert model.forgetting_cost <= 15.0 / 32.0 * model.counts().mistakes + 1e-12
        if name == "projectron":
            L = model._factor[:n, :n]
            assert close(L @ L.T, model.gram)
        else:
            assert np.all(model.label * model.coefficients > 0.0)


@pytest.mark.parametrize("seed", range(5))
def test_a_projectron_that_projects_only_what_is_in_the_span_is_the_perceptron(seed):
    """With a linear kernel in three dimensions three entries are enough."""
    X, y, order = sample(seed)
    run = reference.kernel_perceptron(X, y, order, kernel=reference.linear_kernel)
    assert run.n_support > 3
    model = Budget(kernels.Linear(), loop.Projectron(0.0), None, spaces.Frame(0.0), 3)
    logs = learn(model, X, y, order)
    assert [log.row.tolist() for log in logs] == run.updates
    assert len(model) <= np.linalg.matrix_rank(X) == 3
    assert close(model.scores(model.kernel.prepare(X))[:, 0], run.scores(X), 1e-8)


def test_single_precision_finds_rows_in_the_span_too():
    X, y, order = sample(9)
    X = (X / 3.0).astype(np.float32)
    frame = spaces.Frame(0.5, dtype=np.dtype(np.float32))
    for kernel, most in ((kernels.Linear(), 4), (kernels.Gaussian(0.5), len(np.unique(X, axis=0)))):
        model = Budget(kernel, loop.Projectron(0.0), None, frame, 3)
        learn(model, X, y, order)
        assert len(model) <= most
        assert np.linalg.eigvalsh(model.gram).min() > 0.0


def test_a_row_twice_is_projected_and_so_is_a_zero_row():
    model = Budget(kernels.Linear(), loop.Projectron(0.0), None, spaces.Frame(0.0), 2)
    logs = learn(model, [[0, 0], [1, 2], [1, 2], [0, 0]], [1, 1, -1, -1])
    assert flat(logs, "projected") == [True, False, True, True]
    assert model.ids.tolist() == [1]
    assert close(model.coefficients, [0.0])


def test_a_projectron_without_a_budget_grows():
    X, y, order = sample(4, m=200)
    model = Budget(kernels.Gaussian(4.0), loop.Projectron(0.1), None, spaces.Frame(0.0), 3, block_size=7)
    run = reference.projectron(X, y, order, kernel=reference.gaussian_kernel(4.0), eta=0.1)
    follows(model, learn(model, X, y, order), run, X)
    assert len(model) > 40


@EVERY_POLICY
def test_rows_without_weight_are_absent(name):
    X, y, order = sample(5)
    weights = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    model, other = (space(kernels.Gaussian(0.5), name, block_size=9) for _ in range(2))
    learn(model, X, y, order, frozen(weights))
    learn(other, X, y, [[i for i in epoch if weights[i]] for epoch in order])
    assert model.counts()[:5] == other.counts()[:5]
    assert np.array_equal(model.ids, other.ids)
    assert np.array_equal(model.born, other.born)
    assert close(model.coefficients, other.coefficients)


@EVERY_POLICY
@pytest.mark.parametrize("through", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_pieces_and_copies_go_on_where_they_were(name, through):
    X, y, order = sample(6)
    whole = space(kernels.Gaussian(0.5), name, rng=np.random.default_rng(1))
    learn(whole, X, y, order)
    pieces = space(kernels.Gaussian(0.5), name, rng=np.random.default_rng(1), block_size=13)
    for epoch in order:
        learn(pieces, X, y, [epoch[:17]])
        pieces = through(pieces)
        learn(pieces, X, y, [epoch[17:]])
    assert whole.counts()[:5] == pieces.counts()[:5]
    assert np.array_equal(whole.ids, pieces.ids)
    assert np.array_equal(whole.born, pieces.born)
    assert close(whole.coefficients, pieces.coefficients)


@EVERY_POLICY
def test_exchanged_classes(name):
    X, y, order = sample(7)
    model, mirror = (space(kernels.Gaussian(0.5), name, block_size=9) for _ in range(2))
    learn(model, X, y, order[:1])
    learn(mirror, X, -y, order[:1])
    mirror.negate()
    learn(model, X, y, order[1:])
    learn(mirror, X, y, order[1:])
    assert np.array_equal(model.ids, mirror.ids)
    assert close(model.coefficients, mirror.coefficients)
    assert np.array_equal(model.label, mirror.label)


@EVERY_POLICY
def test_one_against_the_rest(name):
    X, y, order = sample(8)
    codes = np.random.default_rng(0).integers(3, size=len(y))
    rest = spaces.OneVsRest([space(kernels.Gaussian(0.5), name) for _ in range(3)])
    rows = kernels.Gaussian(0.5).prepare(X)
    logs = rest.run(rows, rest.targets(codes), EMPTY, frozen(order[0], np.int64), True)
    alone = [space(kernels.Gaussian(0.5), name) for _ in range(3)]
    for r, model in enumerate(alone):
        (log,) = learn(model, X, np.where(codes == r, 1, -1), order[:1])
        assert np.array_equal(logs[r].row, log.row)
    assert rest.counts().updates == sum(model.counts().updates for model in alone)
    assert close(rest.scores(rows, "last"), np.hstack([model.scores(rows) for model in alone]))
    assert rest.bracket() == rest.bounds(rows, rest.targets(codes), EMPTY, False) == [(None, np.inf)] * 3
    assert len(rest.lowest()) == 3
    assert rest.longest() == 1.0


# ----------------------------------------------------------------------------------------- margins


@given(separable(), st.sampled_from(sorted(POLICIES)), st.integers(1, 4))
@settings(max_examples=50)
def test_the_bracket_holds_the_best_margin(data, name, budget):
    X, y, _, _ = data
    model = space(kernels.Linear(), name, budget)
    for _ in range(3):
        learn(model, X, y)
        a, signs = model.coefficients, model.label[: len(model)]
        w = a @ X[model.ids]
        best = best_margin(X, y)
        if w.any():
            assert np.min(y * (X @ w)) / np.linalg.norm(w) <= best * (1.0 + 1e-9)
        if (signs * a >= 0.0).all() and a.any():
            assert best <= np.linalg.norm(w) / np.abs(a).sum() * (1.0 + 1e-9)
        assert model.bracket() == [(None, np.inf)]  # kernel values are rounded: nothing is claimed


def test_a_projection_may_turn_a_coefficient():
    model = Budget(kernels.Linear(), loop.Projectron(1.0), None, spaces.Frame(0.0), 2)
    learn(model, [[2, 0]], [1])
    learn(model, [[4, 1]], [-1])  # distance 1: a = 1 - 2
    assert close(model.coefficients, [-1.0])


def test_before_the_first_row():
    model = space(kernels.Linear(), "oldest")
    assert len(model) == 0
    assert model.rows is None
    assert model.bracket() == [(None, np.inf)]
    assert model.scores(kernels.Linear().prepare(np.ones((2, 3)))).tolist() == [[0.0], [0.0]]
    learn(model, np.ones((0, 3)), [])
    assert model.counts().examples == 0


# ------------------------------------------------------------------------------------------ errors


def test_refused():
    frame = spaces.Frame(0.0)
    with pytest.raises(ValueError, match="Oldest needs a budget, an integer of at least 1; got None"):
        Budget(kernels.Linear(), loop.Oldest(), None, frame, 2)
    with pytest.raises(ValueError, match="budget must be an integer of at least 1; got budget=0"):
        Budget(kernels.Linear(), loop.Projectron(0.1), 0, frame, 2)
    with pytest.raises(ValueError, match="Random needs rng"):
        Budget(kernels.Linear(), loop.Random(), 3, frame, 2)


@EVERY_POLICY
@BLOCKS
def test_a_score_that_is_not_finite_ends_the_pass(name, block_size):
    X = np.array([[1.0, 0, 0], [-1.0, 1, 0], [0, 0, 1.0], [1e200, 0, 0], [1.0, 1, 1]])
    model = space(kernels.Linear(), name, block_size=block_size)
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(spaces.NumericalError, match="row 3: the score is") as caught,
    ):
        learn(model, X, [1, 1, 1, -1, 1])
    assert caught.value.log[0].row.tolist() == model.ids.tolist() == [0, 1, 2]
    assert model.counts().examples == 3
    assert np.isfinite(model.gram).all()
    learn(model, X[4:], [-1])  # it goes on
