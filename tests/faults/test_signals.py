"""Ctrl-C at any moment: no model stays locked, and a call that learns has happened or has not."""

from __future__ import annotations

import contextlib
import copy
import os
import random
import signal
import textwrap
import time

import numpy as np
import pytest
from exhaustive import draws_many
from processes import forked

from perceptrons import Perceptron

rng = np.random.default_rng(0)
X = rng.standard_normal((12, 4))
y, y3 = (X[:, 0] > 0).astype(int), np.arange(12) % 3
#: For each kind of call: it bounds the number of attempts, and no verdict depends on it.
SECONDS = 0.8 if draws_many() else 0.3

CALLS = {
    "learn_one": ({}, lambda m, i: m.learn_one(X[i % 12], int(y[i % 12]))),
    "learn_one, log": ({"readout": "vote"}, lambda m, i: m.learn_one(X[i % 12], int(y3[i % 12]))),
    "learn_one, names": ({}, lambda m, i: m.learn_one({f"n{i}": 1.0, "b": i % 3 - 1.0}, i % 2)),
    "partial_fit": ({"readout": "average"}, lambda m, i: m.partial_fit(X, y)),
    "partial_fit, classes": (
        {"readout": "vote"},
        lambda m, i: m.partial_fit(X[:4], np.array([0, 1, i % 5, i % 7])),
    ),
    "partial_fit, rest": (
        {"multiclass": "ovr"},
        lambda m, i: m.partial_fit(X[:4], np.array([0, 1, i % 5, i % 7])),
    ),
    "partial_fit, joint": (
        {"readout": "average"},
        lambda m, i: m.partial_fit(X[:4], np.array([0, 1, i % 5, i % 7])),
    ),
    "learn_one, known names": (
        {},
        lambda m, i: [m.learn_one({"a": 1.0, "b": j % 3 - 1.0}, j % 2) for j in range(20 if i == 0 else 1)],
    ),
    "fit": ({"max_iter": 2}, lambda m, i: m.fit(X, y)),
}


def state(model):
    """All that a call that learns changes."""
    if "_space" not in vars(model):
        return None
    return (
        model.coef_.tobytes(),
        model.intercept_.tobytes(),
        model.classes_.tolist(),
        model._space.counts(),
        model.history_ and [dict(record) for record in model.history_],
        model.n_features_in_,
        [len(journal) for journal in model._journals],
        list(vars(model).get("_names") or ()),
    )


def begun(params, call):
    model = Perceptron(**params)
    call(model, 0)
    call(model, 1)
    return model


@pytest.fixture
def alarm():
    """A signal handler that raises KeyboardInterrupt, as that of Ctrl-C does."""

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def interrupted(call, model, i, after):
    """Make the call; an alarm comes ``after`` so many seconds, if the call takes that long."""
    with contextlib.suppress(KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, max(1e-6, after))
        call(model, i)
        signal.setitimer(signal.ITIMER_REAL, 0)


# Python cannot raise what comes inside a callback of the collector or of a weak reference (other packages
# keep such): it reports the interruption and the call goes on, which is one of the two outcomes allowed here.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no alarms")
@pytest.mark.draws
@pytest.mark.parametrize("name", CALLS)
def test_an_interruption_at_any_moment(alarm, name):
    params, call = CALLS[name]
    usual = 1.0
    for _ in range(5):
        model = begun(params, call)
        start = time.perf_counter()
        call(model, 2)
        usual = min(usual, time.perf_counter() - start)
    chance = random.Random(0)
    until = time.monotonic() + SECONDS
    model, i = begun(params, call), 2
    while time.monotonic() < until:
        before, whole = state(model), copy.deepcopy(model)
        call(whole, i)
        interrupted(call, model, i, 1.2 * usual * chance.random())
        if name != "fit":  # a fit that is cut off keeps the epochs so far
            assert state(model) in (before, state(whole))
        call(model, i + 1)  # nobody holds the lock
        assert model.predict_one(X[0] if "names" not in name else {"b": 1.0}) in model.classes_
        i += 2
        if i > 60:
            model, i = begun(params, call), 2


# ------------------------------------------------------------------------------------ fork


FORKS = textwrap.dedent("""
    import os, sys, threading, warnings
    import numpy as np
    from perceptrons import Perceptron, load, save

    warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of a fork beside threads
    X = np.random.default_rng(0).standard_normal((40, 5))
    y = (X[:, 0] > 0).astype(int)
    inside, go_on = threading.Event(), threading.Event()

    def wait(model):
        inside.set()
        go_on.wait(100)

    model = Perceptron(max_iter=1, callback=wait)
    thread = threading.Thread(target=model.fit, args=(X, y))
    thread.start()
    inside.wait(100)

    def refused(call):
        try:
            call()
        except RuntimeError as error:
            return "was being trained by another thread when this process was forked" in str(error)
        return False

    child = os.fork()
    if child == 0:
        model.callback = None
        told = refused(lambda: model.partial_fit(X, y)) and refused(lambda: model.learn_one(X[0], 1))
        told = told and refused(lambda: save(model, sys.argv[1]))
        model.predict(X)
        model.fit(X, y)
        model.partial_fit(X, y)
        model.learn_one(X[0], 1)
        save(model, sys.argv[1])
        load(sys.argv[1])
        os._exit(0 if told else 1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    go_on.set()
    thread.join(100)
    model.callback = None
    model.partial_fit(X, y)

    def fork(model):  # the thread that trains is the one that lives on
        global code
        child = os.fork()
        if child == 0:
            return
        code = code or os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    parent = os.getpid()
    model = Perceptron(max_iter=2, callback=fork).fit(X, y)
    model.callback = None
    model.partial_fit(X, y)
    if os.getpid() != parent:
        os._exit(0)
    sys.exit(code)
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_model_that_another_thread_trains_when_the_process_forks(tmp_path):
    """The child predicts with it and fits it anew, and is told that it cannot go on from there."""
    done = forked(FORKS, str(tmp_path / "m"))
    assert done.returncode == 0, done.stderr


def test_a_row_buffer_in_use_is_closed_by_a_fork():
    """As in a child whose parent had a thread in learn_one, and another in score_one."""
    from perceptrons.core.writing import access_to
    from perceptrons.engine.loops import linear

    for use, torn in ((linear.FREE, False), (linear.SCORING, False), (linear.LEARNING, True)):
        model = begun(*CALLS["learn_one"])
        row_buffer = model._fast_path.row_buffer
        row_buffer.view(np.int64)[linear.BUFFER_USE] = use
        access = access_to(model)
        access.lock.acquire()  # of a thread that is not there any more
        access.after_fork()
        if torn:
            with pytest.raises(RuntimeError, match="when this process was forked"):
                model.learn_one(X[0], 1)
            model.fit(X, y)
        model.learn_one(X[0], 1)
