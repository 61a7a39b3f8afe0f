"""Several threads and one model: no call that returned is lost, no reader meets half an update."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading
from functools import partial

import numpy as np
import pytest
from plain_texts import PLAIN
from sklearn.base import clone
from zoo import X, y

from perceptrons import MaxMargin, Perceptron, RiskDescent, TextClassifier
from perceptrons.core.writing import Use, at_rest, held_still, one_writer
from perceptrons.engine.loops import linear

ROUNDS = 4000


@pytest.fixture
def eager():
    """Threads change places as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(*jobs):
    """Run the jobs side by side; raises what one of them has raised."""
    begin, errors = threading.Barrier(len(jobs)), []

    def run(job):
        begin.wait(60)
        try:
            job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


def counted(model, x, label, rounds=ROUNDS):
    """(a job that learns one row again and again, how many calls returned, how many were refused)"""
    done = [0, 0]

    def job():
        for _ in range(rounds):
            try:
                model.learn_one(x, label)
                done[0] += 1
            except RuntimeError as error:
                assert "is being trained by another thread" in str(error)
                done[1] += 1

    return job, done


WIDE = np.random.default_rng(0).standard_normal((2, 4000))
WORDS = [" ".join(f"{name}{i}" for i in range(200)) for name in "ab"]


@pytest.mark.parametrize(
    "model, rows, rounds",
    [
        (Perceptron(), WIDE, ROUNDS),
        (Perceptron(readout="average"), [{"a": 1.0, "b": -1.0}, {"b": 2.0}], 200),
        (TextClassifier(), WORDS, ROUNDS),
    ],
    ids=["dense", "dict", "text"],
)
def test_no_call_of_learn_one_is_lost(eager, model, rows, rounds):
    model = clone(model)
    for x, label in zip(rows, (0, 1)):
        model.learn_one(x, label)
        model.learn_one(x, label)
    before = model._space.counts().examples
    jobs = [counted(model, x, label, rounds) for x, label in zip(rows, (0, 1))]
    in_threads(*(job for job, _ in jobs))
    returned = sum(done[0] for _, done in jobs)
    assert model._space.counts().examples == before + returned


def test_one_row_buffer_is_taken_once():
    row_buffer = np.zeros(linear.BUFFER_SIZE)
    taken = []
    in_threads(*[lambda: taken.append(linear.close_buffer(row_buffer))] * 8)
    assert sorted(taken) == [linear.FREE, *[linear.CLOSED] * 7]


@pytest.mark.parametrize("writes", ["partial_fit", "learn_one"])
def test_a_pass_and_single_rows_do_not_mix(eager, writes):
    """A thread that has looked up the fast way may enter it after another has begun a pass."""
    model = Perceptron()
    for x, label in zip(WIDE, (0, 1)):
        model.learn_one(x, label)
    before = model._space.counts().examples
    job, done = counted(model, WIDE[0], 0)
    passes = [0]

    def fits():
        for _ in range(300):
            try:
                if writes == "partial_fit":
                    model.partial_fit(WIDE, [0, 1])
                else:
                    model.learn_one(list(WIDE[0]), 0)
                passes[0] += 2 if writes == "partial_fit" else 1
            except RuntimeError as error:
                assert "is being trained by another thread" in str(error)

    in_threads(job, fits)
    assert model._space.counts().examples == before + done[0] + passes[0]


def test_a_call_goes_on_whatever_its_stack_looks_like(eager):
    """A generator that pauses while its thread's stack is looked at knows its caller no more."""
    uses, end = [], threading.Event()

    def generators():
        use = Use(sys._getframe())
        uses.append(use)
        while not end.is_set():
            sum(i for i in range(20))

    thread = threading.Thread(target=generators)
    thread.start()
    try:
        while not uses:
            pass
        assert all(uses[0].goes_on() for _ in range(5000))
    finally:
        end.set()
        thread.join(60)
    assert not uses[0].goes_on()


def test_texts_are_scored_right_by_several_threads(eager):
    """Scoring and learning a text share their scratch memory."""
    model = TextClassifier(**PLAIN, readout="last").fit(WORDS, [0, 1])
    for x, label in zip(WORDS, (0, 1)):
        model.learn_one(x, label)
    expected = [model.score_one(x) for x in WORDS]
    wrong = []

    def look(i):
        for _ in range(2000):
            if model.score_one(WORDS[i]) != expected[i]:
                wrong.append(i)

    in_threads(lambda: look(0), lambda: look(1))
    assert not wrong


def test_who_scores_does_not_keep_others_from_learning(eager):
    model = TextClassifier(**PLAIN, readout="last").fit(WORDS, [0, 1])
    for x, label in zip(WORDS, (0, 1)):
        model.learn_one(x, label)
    learn, done = counted(model, WORDS[0], 0)
    in_threads(learn, lambda: [model.score_one(WORDS[1]) for _ in range(ROUNDS)])
    assert done == [ROUNDS, 0]


# ----------------------------------------------------------------------------------- texts with probabilities


def mail(n, seed=0):
    """Texts of eight words, one of which may tell the label."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=n)
    return [" ".join([f"own{k}", *(f"w{i}" for i in rng.integers(40, size=7))]) for k in labels], labels


SURE = {"probability": True, "bits": 12, "random_state": 0}


def test_probabilities_are_asked_for_by_several_threads(eager):
    """The first of them fits the curves, or several do."""
    texts, labels = mail(150)
    model = TextClassifier(**SURE).fit(texts, labels)
    expected = [model.predict_proba(texts), model.predict(texts), model.decision_function(texts)]
    stored = pickle.dumps(model)

    def ask(other):
        for _ in range(3):
            found = [other.predict_proba(texts), other.predict(texts), other.decision_function(texts)]
            assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
            assert other.score_one(texts[0]) == pytest.approx(expected[2][0])

    for _ in range(5):
        other = pickle.loads(stored)  # without curves
        in_threads(*[partial(ask, other)] * 4)


def test_two_writers_and_a_reader_of_probabilities(eager):
    texts, labels = mail(60)
    model = TextClassifier(**SURE).partial_fit(texts, labels)
    counts, examples = model.document_counts_, model._space.counts().examples
    jobs = [counted(model, text, label, 150) for text, label in (("own0 w1 w2", 0), ("own1 w1 w3", 1))]
    seen = []

    def read():
        for _ in range(60):
            seen.append(model.predict_proba(texts))

    in_threads(*(job for job, _ in jobs), read)
    P = np.concatenate(seen)
    assert ((P > 0.0) & (P < 1.0)).all() and np.allclose(P.sum(axis=1), 1.0)
    returned = np.array([done[0] for _, done in jobs])
    assert model._space.counts().examples == model.n_texts_ == examples + returned.sum()
    assert model._calibration.n == len(texts) + returned.sum()
    more = model.document_counts_ - counts
    each = [model.hash([text]).toarray()[0] != 0 for text in ("own0 w1 w2", "own1 w1 w3")]
    np.testing.assert_array_equal(more, returned[0] * each[0] + returned[1] * each[1])


def test_readers_change_nothing_that_a_writer_of_probabilities_learns(eager):
    texts, labels = mail(120)
    alone, watched = TextClassifier(**SURE), TextClassifier(**SURE)
    for model in (alone, watched):
        model.partial_fit(texts[:40], labels[:40])

    def learn(model):
        for i in range(40, 100):
            model.learn_one(texts[i], labels[i])
        model.partial_fit(texts[100:], labels[100:])

    def read():
        for _ in range(40):
            P = watched.predict_proba(texts)
            assert ((P > 0.0) & (P < 1.0)).all()
            assert watched.predict_one(texts[0]) in (0, 1)

    learn(alone)
    in_threads(lambda: learn(watched), read, read)
    np.testing.assert_array_equal(alone.predict_proba(texts), watched.predict_proba(texts))
    np.testing.assert_array_equal(alone.coef_, watched.coef_)
    np.testing.assert_array_equal(alone.document_counts_, watched.document_counts_)


# ------------------------------------------------------------------------------------ holding a model still


def test_what_is_read_of_a_held_model_belongs_together(eager):
    """w, its squared length and the count of examples change together, or not at all."""
    model = Perceptron(fit_intercept=False)
    x = np.full(20_000, 1.0)
    model.learn_one(x, 0)
    model.learn_one(-x, 1)
    stop, torn = threading.Event(), []

    def learn():
        i = 0
        while not stop.is_set():
            if i % 50:
                model.learn_one(x, i % 2)  # each of them is a mistake, and turns w
            else:
                model.partial_fit(np.array([x, x]), [0, 1])
            i += 1

    def look():
        for _ in range(200):
            with held_still(model):
                first, state = model._space.v.copy(), model._space.state.copy()
                second = model._space.v.copy()
            if (first != second).any() or len(set(first[:-1])) != 1:
                torn.append("w")
            if not np.isclose(np.sum(np.square(first)) * state[linear.SCALE] ** 2, state[linear.N]):
                torn.append("norm")
        stop.set()

    in_threads(learn, look)
    assert not torn


@pytest.mark.parametrize("collects", [True, False])
def test_no_garbage_is_collected_while_stacks_are_read(collects, monkeypatch):
    """A collection within that call can make CPython 3.11 wait for itself."""
    seen = []
    real = sys._current_frames
    monkeypatch.setattr(sys, "_current_frames", lambda: seen.append(gc.isenabled()) or real())
    before = gc.isenabled()
    (gc.enable if collects else gc.disable)()
    try:
        assert Use(sys._getframe()).goes_on()
        assert seen == [False] and gc.isenabled() is collects
    finally:
        (gc.enable if before else gc.disable)()


def test_holding_waits_for_the_end_of_an_epoch_only():
    """A callback can hold the model, and so can a thread that it starts and waits for."""
    held = []

    def hold(model):
        with held_still(model):
            held.append(model.n_iter_)

    def look(model):
        hold(model)
        thread = threading.Thread(target=hold, args=(model,))
        thread.start()
        thread.join(60)
        assert not thread.is_alive()

    Perceptron(max_iter=3, shuffle=False, callback=look, fit_intercept=False).fit(X, y)
    assert held == sorted([*range(1, len(held) // 2 + 1)] * 2) and held


def test_learning_waits_for_those_who_hold_the_model():
    model = Perceptron().fit(X, y)
    held, go_on, order = threading.Event(), threading.Event(), []

    def hold():
        with held_still(model):
            held.set()
            go_on.wait(60)
            order.append("held")

    def learn():
        held.wait(60)
        threading.Timer(0.05, go_on.set).start()
        model.learn_one(X[0], 1)
        order.append("learned")

    in_threads(hold, learn)
    assert order == ["held", "learned"]


def test_who_holds_a_model_cannot_train_it():
    model = Perceptron().fit(X, y)
    with held_still(model), held_still(model), pytest.raises(RuntimeError, match="is being saved"):
        model.partial_fit(X, y)
    model.partial_fit(X, y)


# ------------------------------------------------------------------------------------ the lock itself


@pytest.mark.parametrize("made", [Perceptron(), TextClassifier(), RiskDescent(), MaxMargin(C=1.0)])
def test_the_lock_is_not_part_of_the_model(made):
    rows = WORDS * 4 if isinstance(made, TextClassifier) else X
    model = clone(made).fit(rows, y)
    if hasattr(model, "learn_one"):
        model.learn_one(rows[0], 1)
        model.learn_one(rows[0], 1)
    for twin in (copy.deepcopy(model), copy.copy(model), pickle.loads(pickle.dumps(model)), clone(model)):
        assert "_writer" not in vars(twin) and "_fast_path" not in vars(twin)
    with one_writer(model):
        copy.deepcopy(model).fit(rows, y)
        clone(model).fit(rows, y)


def test_a_call_within_a_call_is_refused():
    tried = []

    def again(model):
        with pytest.raises(RuntimeError, match="is being trained by the call that called this one"):
            model.partial_fit(X, y)
        tried.append(model.n_iter_)

    model = Perceptron(max_iter=2, callback=again).fit(X, y)
    assert tried
    model.callback = None
    model.partial_fit(X, y)


def test_a_call_that_left_no_trace_is_forgotten():
    """As if an interruption had come after the model was taken and before anybody was sure to return it."""
    model = Perceptron().fit(X, y)

    def cut():
        one_writer(model).__enter__()

    def cut_while_reading():
        held_still(model).__enter__()

    for begin in (cut, cut_while_reading):
        begin()
        model.partial_fit(X, y)
        begin()
        with held_still(model):
            pass
        thread = threading.Thread(target=begin)
        thread.start()
        thread.join()
        model.learn_one(X[0], 1)
    with at_rest(model):  # nobody trains it
        pass
