"""ParameterMixing: one shard is a plain fit, backends make the same bits, the mean is that of the passes."""

from __future__ import annotations

import _thread
import pickle
import signal
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from comparing import near, same_weights
from mixed import LEARNERS, TEXTS, X, Y, learner, tree_sum
from plain_texts import PLAIN
from sklearn.base import clone
from uncompiled import compiled

import perceptrons as pc
from perceptrons import ParameterMixing
from perceptrons.engine.spaces import NumericalError
from perceptrons.mixing import fitting

pytestmark = pytest.mark.uncompiled


def counts(model):
    names = ("examples", "mistakes", "updates", "errors")
    return [[record[name] for name in names] for record in model.history_]


# ------------------------------------------------------------------------------------ the same bits


@pytest.mark.parametrize(
    ("storage", "shuffle"), [(np.asarray, True), (sp.csr_array, True), (np.asarray, False)]
)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", compiled(LEARNERS, "perceptron", "arow"))
def test_one_shard_is_a_plain_fit(name, classes, storage, shuffle):
    one = learner(name, shuffle=shuffle, random_state=5, max_iter=4)
    plain = clone(one).fit(storage(X), Y[classes])
    mixed = ParameterMixing(one, n_shards=1).fit(storage(X), Y[classes])
    same_weights(plain, mixed)
    assert counts(plain) == counts(mixed)
    assert plain.stop_reason_ == mixed.stop_reason_
    assert plain.margin_bounds_ == mixed.margin_bounds_
    assert plain.free_margin_bounds_ == mixed.free_margin_bounds_
    for own, other in zip(plain._space.learners, mixed.estimator_._space.learners, strict=True):
        np.testing.assert_array_equal(own.state, other.state)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", compiled(LEARNERS, "perceptron", "average"))
def test_weights_that_a_callback_keeps_stay_as_they_were(name, classes):
    """In threads, too, where memory of earlier rounds is used again."""
    kept = {"serial": [], "threads": []}
    for backend, seen in kept.items():

        def keep(model, seen=seen):
            seen.append((model.coef_, model.coef_.copy(), model.estimator_._space.learners[0].v[1:]))

        one = learner(name, random_state=3, max_iter=5)
        ParameterMixing(one, n_shards=3, backend=backend, callback=keep).fit(X, Y[classes])
    assert len(kept["serial"]) > 2
    for (weights, copied, view), (expected, _, other) in zip(*kept.values(), strict=True):
        np.testing.assert_array_equal(weights, copied)
        np.testing.assert_array_equal(weights, expected)
        np.testing.assert_array_equal(view, other)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("name", compiled(LEARNERS, "perceptron", "arow"))
def test_threads_make_the_bits_of_the_serial_backend(name, storage):
    one = learner(name, random_state=3, max_iter=3)
    make = {"n_shards": 5, "mixing": "uniform" if name in ("arow", "scw") else "mistakes"}
    serial = ParameterMixing(one, backend="serial", **make).fit(storage(X), Y[3])
    threads = ParameterMixing(one, backend="threads", n_jobs=3, **make).fit(storage(X), Y[3])
    same_weights(serial, threads)
    assert serial.history_ == threads.history_
    assert serial.margin_bounds_ == threads.margin_bounds_


@pytest.mark.parametrize("name", ["perceptron", "average"])
def test_the_state_of_a_round_is_not_written_to_by_later_ones(name):
    """Threads keep the arrays of their shards, not those of the result."""
    seen = []

    def keep(mixed):
        own = mixed.estimator_._space.learned().arrays
        seen.append((own, {name: a.copy() for name, a in own.items()}))

    one = learner(name, random_state=3, max_iter=4)
    ParameterMixing(one, n_shards=3, backend="threads", n_jobs=2, callback=keep).fit(X, Y[2])
    assert len(seen) == 4
    for own, copied in seen:
        for array in own:
            np.testing.assert_array_equal(own[array], copied[array])


def test_lists_of_rows_are_the_same_as_blocks():
    one = pc.AveragedPerceptron(random_state=3, max_iter=3)
    blocks = np.array_split(np.arange(len(X)), 4)
    listed = [np.append(block[:-1], block[-1]).tolist() for block in blocks]
    for storage in (np.asarray, sp.csr_array):
        given = ParameterMixing(one, shards=listed).fit(storage(X), Y[2])
        same_weights(given, ParameterMixing(one, n_shards=4).fit(storage(X), Y[2]))
    scattered = [np.arange(90)[i::3] for i in range(3)]
    found = [ParameterMixing(one, shards=scattered).fit(rows, Y[2]) for rows in (X, sp.csr_array(X))]
    np.testing.assert_allclose(found[0].coef_, found[1].coef_, rtol=1e-12)


def test_the_seed_is_drawn_once_and_stored():
    mixed = ParameterMixing(pc.Perceptron(), n_shards=3).fit(X, Y[2])
    again = ParameterMixing(pc.Perceptron(random_state=mixed.seed_), n_shards=3).fit(X, Y[2])
    same_weights(mixed, again)


@pytest.mark.compiled
@pytest.mark.parametrize("rule", ["perceptron", "arow"])
def test_texts_are_mixed_as_rows(rule, tmp_path):
    one = pc.TextClassifier(**PLAIN | {"rule": rule}, bits=8, random_state=2, keep_names=True)
    plain, mixed = clone(one).fit(TEXTS, Y[2]), ParameterMixing(one, n_shards=1).fit(TEXTS, Y[2])
    same_weights(plain, mixed)
    assert mixed.estimator_.names_ == plain.names_
    threads = ParameterMixing(one, n_shards=3).fit(TEXTS, Y[2])
    same_weights(threads, ParameterMixing(one, n_shards=3, backend="serial").fit(TEXTS, Y[2]))
    assert threads.predict(TEXTS[:2]).shape == (2,) and threads.estimator_.explain(TEXTS[0]).contributions
    certificate = pc.certify(threads, TEXTS, Y[2])
    assert certificate.verify(threads.estimator_.hash(TEXTS), Y[2])
    pc.save(threads, tmp_path / "a.model")
    same_weights(threads, pc.load(tmp_path / "a.model"))


# ------------------------------------------------------------------------------------ what is mixed


def rounds_by_hand(one, S, n_rounds, classes):
    """The rounds with plain fits of the shards, each from the common weights; in order."""
    blocks = np.array_split(np.arange(len(X)), S)
    w, b = None, None
    for _ in range(n_rounds):
        parts = []
        for rows in blocks:
            start = {} if w is None else {"coef_init": w, "intercept_init": b}
            part = clone(one).set_params(max_iter=1).fit(X, Y[classes], order=[rows], **start)
            parts.append((part.coef_, part.intercept_))
        w, b = (tree_sum([value / S for value in values]) for values in zip(*parts, strict=True))
    return w, b


@pytest.mark.parametrize("S", [2, 5])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["perceptron", "margin", "mira", "pa against the rest"])
def test_the_mixed_weights_are_the_mean_of_the_passes(name, classes, S):
    one = learner(name, shuffle=False, max_iter=3)
    mixed = ParameterMixing(one, n_shards=S).fit(X, Y[classes])
    w, b = rounds_by_hand(one, S, 3, classes)
    np.testing.assert_allclose(mixed.coef_, w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(mixed.intercept_, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("unit", [False, True])
def test_every_visited_example_has_the_same_weight_in_the_average(unit):
    one = pc.AveragedPerceptron(shuffle=False, fit_intercept=False, normalized_votes=unit, max_iter=4)
    mixed = ParameterMixing(one, n_shards=3, mixing="mistakes").fit(X, Y[2])
    signs, w, visited = 2 * Y[2] - 1, np.zeros(12), []
    for _ in range(4):
        ends, k = [], []
        for rows in np.array_split(np.arange(90), 3):
            own, n = w.copy(), 0
            for i in rows:
                if signs[i] * (own @ X[i]) <= 0:
                    own, n = own + signs[i] * X[i], n + 1
                length = np.linalg.norm(own)
                visited.append(own / length if unit and length > 0 else own)
            ends.append(own)
            k.append(n)
        w = sum(share * own for share, own in zip(np.array(k) / sum(k), ends, strict=True))
    np.testing.assert_allclose(mixed.coef_[0], np.mean(visited, axis=0), rtol=1e-9, atol=1e-12)
    assert mixed.estimator_._examples() == len(visited) == 360


def test_confidence_is_mixed_by_what_each_shard_has_gained():
    mixed = ParameterMixing(pc.AROW(shuffle=False, max_iter=2), n_shards=3).fit(X, Y[2])
    Z, signs = np.hstack([X, np.ones((90, 1))]), 2 * Y[2] - 1
    w, precision = np.zeros(13), np.ones(13)
    for _ in range(2):
        ends = []
        for rows in np.array_split(np.arange(90), 3):
            own, sigma = w.copy(), 1 / precision
            for i in rows:
                x, loss = Z[i], 1 - signs[i] * (own @ Z[i])
                if loss > 1e-12:
                    beta = 1 / (x @ (sigma * x) + 1.0)
                    own = own + loss * beta * signs[i] * sigma * x
                    sigma = sigma - beta * (sigma * x) ** 2
            ends.append((own, 1 / sigma - precision))
        gained = sum(gain for _, gain in ends)
        w = np.where(gained > 0, sum(gain * own for own, gain in ends) / np.where(gained > 0, gained, 1), w)
        precision = precision + gained
    np.testing.assert_allclose(mixed.coef_[0], w[:-1], rtol=1e-9)
    np.testing.assert_allclose(mixed.estimator_.covariance_[0], 1 / precision, rtol=1e-9)


def test_weights_that_no_shard_changed_stay_as_they_are():
    # with three shards the weights 1/3 do not add up to 1 in floats: 0.7 would become another number
    rows = np.vstack([[[0.7, 0.0]] * 3, [[0.0, 1.0], [0.0, -1.0], [0.0, 1.0]]])
    labels = [1, 1, 1, 1, 0, 0]
    shards = [[0, 3], [1, 4], [2, 5]]
    one = pc.Perceptron(shuffle=False, fit_intercept=False, max_iter=6)
    mixed = ParameterMixing(one, shards=shards).fit(rows, labels)
    third = 1.0 / 3.0
    assert mixed.coef_[0, 0] == (third * 0.7 + third * 0.7) + third * 0.7  # after the first round, and kept


# ------------------------------------------------------------------------------------ the course of a fit


def test_mistakes_weigh_each_class_by_its_own_updates():
    one = pc.Perceptron(multiclass="ovr", random_state=0, max_iter=3)
    mixed = ParameterMixing(one, n_shards=3, mixing="mistakes").fit(X, Y[3])
    total = np.zeros(3)
    for record in mixed.history_:
        k = np.array(record["shard_updates"])
        assert k.shape == (3, 3) and k.sum() == record["updates"]
        total += (k**2).sum(axis=1) / k.sum(axis=1)
    assert mixed.weighted_updates_ == near(total.tolist())


def test_a_clean_pass_ends_the_rounds():
    w = np.array([1.0, -1.0, *[0.0] * 10])
    rows = X[np.abs(X @ w) > 0.3]
    labels = rows @ w > 0
    mixed = ParameterMixing(pc.Perceptron(random_state=0, max_iter=None), n_shards=4).fit(rows, labels)
    assert mixed.stop_reason_ == "clean pass" and mixed.history_[-1]["updates"] == 0
    assert mixed.score(rows, labels) == 1.0
    low, up = mixed.margin_bounds_
    assert 0 < low <= up


def test_a_callback_sees_every_round_and_may_stop():
    seen = []

    def watch(model):
        seen.append((model.n_iter_, model.coef_.copy()))
        return model.n_iter_ == 3

    mixed = ParameterMixing(pc.Perceptron(random_state=0), callback=watch).fit(X, Y[2])
    assert mixed.stop_reason_ == "callback" and [n for n, _ in seen] == [1, 2, 3]
    np.testing.assert_array_equal(seen[-1][1], mixed.coef_)


@pytest.mark.parametrize("backend", ["serial", "threads"])
def test_an_interruption_leaves_the_last_complete_round(backend):
    def interrupt(model):
        if model.n_iter_ == 2:
            raise KeyboardInterrupt

    mixed = ParameterMixing(pc.AveragedPerceptron(random_state=0), backend=backend, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        mixed.fit(X, Y[3])
    short = ParameterMixing(pc.AveragedPerceptron(random_state=0, max_iter=2)).fit(X, Y[3])
    same_weights(mixed, short)
    assert mixed.stop_reason_ == "failed" and mixed.n_iter_ == 2
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("perceptrons")]


@pytest.mark.parametrize("name", ["_add_steps", "_space_of", "_reason"])
def test_an_interruption_while_a_round_is_kept(name, monkeypatch):
    """Before it is kept the model has the round before, and after it this one: never a part of both."""
    original, calls = getattr(fitting.Fit, name), []

    def interrupted(self, found):
        calls.append(name)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(self, found)

    monkeypatch.setattr(fitting.Fit, name, interrupted)
    mixed = ParameterMixing(pc.AveragedPerceptron(random_state=0), n_shards=3)
    with pytest.raises(KeyboardInterrupt):
        mixed.fit(X, Y[3])
    monkeypatch.undo()
    assert mixed.n_iter_ == len(mixed.history_) == (3 if name == "_reason" else 2)
    short = pc.AveragedPerceptron(random_state=0, max_iter=mixed.n_iter_)
    same_weights(mixed, ParameterMixing(short, n_shards=3).fit(X, Y[3]))


@pytest.fixture
def ctrl_c():
    """Ctrl-C raises KeyboardInterrupt; a shell that starts tests in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.compiled
@pytest.mark.parametrize("backend", ["serial", "threads"])
def test_ctrl_c_within_a_round_leaves_the_one_before(backend, ctrl_c):
    rows, labels = np.tile(X, (400, 1)), np.tile(Y[2], 400)
    labels[:90] = 1 - labels[:90]  # never a clean pass
    one = pc.Perceptron(random_state=0, max_iter=None)
    timer = threading.Timer(0.05, _thread.interrupt_main)
    mixed = ParameterMixing(one, n_shards=3, backend=backend)
    mixed.callback = lambda model: timer.start() if model.n_iter_ == 2 else None
    with pytest.raises(KeyboardInterrupt):
        mixed.fit(rows, labels)
    timer.join()
    assert mixed.stop_reason_ == "failed" and len(mixed.history_) == mixed.n_iter_ >= 2
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("perceptrons")]
    again = ParameterMixing(clone(one).set_params(max_iter=mixed.n_iter_), n_shards=3).fit(rows, labels)
    same_weights(mixed, again)


def test_a_model_goes_through_pickle_and_clone():
    mixed = ParameterMixing(pc.AROW(random_state=0), n_shards=3).fit(X, Y[3])
    same_weights(mixed, pickle.loads(pickle.dumps(mixed)))
    assert clone(mixed).get_params()["estimator__r"] == 1.0
    assert not hasattr(clone(mixed), "coef_")


def test_an_overflow_names_shard_and_row():
    rows = X.copy()
    rows[50] = 1e149
    rows[51] = -rows[50]
    with pytest.raises((NumericalError, ValueError), match=r"Shard 2, row 5[01]"):
        ParameterMixing(pc.Perceptron(max_iter=50, shuffle=False), n_shards=4).fit(rows * 100, Y[2])


# ------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (pc.Perceptron(readout="vote"), "every weight vector"),
        (pc.Perceptron(readout="random"), "every weight vector"),
        (pc.Perceptron(learning_rate="updates"), "a rate that falls"),
        (pc.Perceptron(early_stopping=True), "hold out"),
        (pc.Perceptron(log_updates=True), "no single log"),
        (pc.Perceptron(warm_start=True), "from w = 0"),
        (pc.Perceptron(callback=print), "give ParameterMixing a callback"),
        (pc.Perceptron(class_weight="running"), "order of all rows"),
        (pc.MarginPerceptron(), "the guess is refuted"),
        (pc.MIRA(variant="crammer_singer"), "other than 0"),
        (pc.AROW(covariance="full"), "diagonal"),
        (pc.SCW(covariance="full"), "diagonal"),
        (pc.TextClassifier(rule="romma"), "it scales w"),
        (pc.TextClassifier(rule=pc.rules.RateByUpdates()), "it is not known"),
        *((getattr(pc, name)(), f"{name} cannot be mixed: ") for name in (
            "VotedPerceptron", "ROMMA", "ALMA", "OnlineClassifier", "SecondOrderPerceptron", "Winnow",
            "BalancedWinnow", "Elimination", "PNormPerceptron", "KernelPerceptron", "KernelClassifier",
            "BudgetKernelPerceptron", "RiskDescent", "MaxMargin", "TextHasher",
        )),
    ],
)  # fmt: skip
def test_what_cannot_be_mixed_is_refused_with_the_reason(one, why):
    with pytest.raises(ValueError, match=why):
        ParameterMixing(one).fit(X, Y[2])


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"n_shards": 0}, "n_shards"),
        ({"n_shards": 91}, "at most the number of rows, 90"),
        ({"mixing": "best"}, "mixing must be one of"),
        ({"backend": "cloud"}, "backend must be one of"),
        ({"max_time": 0}, "max_time"),
        ({"shards": "two"}, "must be a list"),
        ({"shards": []}, "at least one shard"),
        ({"shards": [[0.5, 1.0]]}, "list of row numbers"),
        ({"shards": [range(90), []]}, "list of row numbers; shard 1"),
        ({"shards": [range(90), [90]]}, "from 0 to 89; shard 1 has 90"),
        ({"shards": [range(90), [-1]]}, "from 0 to 89; shard 1 has -1"),
        ({"shards": [range(10), range(11, 90)]}, "row 10 is in none"),
    ],
)
def test_settings_that_cannot_work_are_refused(how, why):
    model = ParameterMixing(pc.Perceptron(), **how)
    with pytest.raises(ValueError, match=why):
        model.fit(X, Y[2])
    assert not hasattr(model, "estimator_")


def test_confidence_has_no_weights_of_shards():
    with pytest.raises(ValueError, match="about each feature"):
        ParameterMixing(pc.AROW(), mixing="mistakes").fit(X, Y[2])


@pytest.mark.uncompiled
def test_losses_whose_squares_overflow_are_infinite():
    """Not NaN, and without a warning: rows of 1e149 make losses of 1e298."""
    rows = np.array([[-6e149], [2e7], [-3e15], [7e149]])
    learner = pc.Perceptron(max_iter=3, fit_intercept=False, shuffle=False)
    model = ParameterMixing(learner, n_shards=2).fit(rows, [0, 1, 1, 0])
    assert model.estimator_._space.counts().squared_loss == np.inf
