"""Learners of one against the rest that read each row together make the numbers of a pass of their own."""

from __future__ import annotations

import copy
import pickle
from contextlib import contextmanager
from math import nan

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import ROMMA, OnlineClassifier, rules
from perceptrons.engine import intake, margins, renumbering, spaces
from perceptrons.engine.loops import scalars
from perceptrons.engine.predictions import Predictions
from perceptrons.engine.spaces import together
from perceptrons.rules import NO_STEP

RNG = np.random.default_rng(5)
N, D, K = 300, 23, 11  # rows of many lengths; classes for two blocks, not full
X = RNG.normal(size=(N, D)) * (RNG.random((N, D)) < RNG.random((N, 1)))
CODES = np.argmax(X[:, :K] + 0.3 * RNG.normal(size=(N, K)), axis=1)
WEIGHTS = RNG.choice([0.0, 0.5, 1.0, 2.0], size=N)


@rules.rule(weighted=True)
def shrinking(m, q, state):
    """Steps that also shrink w: a little, out of the range of the scale, to 0; some do not exist."""
    if m > 0.5 or q == 0.0:
        return NO_STEP
    if state.k % 9 == 8:
        return 0.0, 0.0 if m > 0.0 else 1.0
    return (1.0, 0.9, 0.02, 3.0)[state.k % 4], state.c * (0.5 - m) / q


@rules.rule
def failing(m, q, state):
    """It fails at the 40th update of a learner, for each at another row."""
    if m > 0.0:
        return NO_STEP
    return (nan, 1.0) if state.k == 40 else (1.0, 1.0)


@rules.rule
def plain(m, q, state):
    return NO_STEP if m > 0.0 else (1.0, 1.0)


@contextmanager
def read(monkeypatch, how):
    """Whatever the size of the rows: "together" or "apart"."""
    with monkeypatch.context() as patch:
        patch.setattr(together, "LEAST_PRODUCTS", 0 if how == "together" else np.inf)
        patch.setattr(together, "LEAST_ENTRIES", 0.0)
        yield


def space(rule, dtype=np.float64, track="last", n_threads=1):
    frame = spaces.Frame(1.0, False, np.dtype(dtype))
    return spaces.OneVsRest([spaces.Linear(rule, frame, D, track) for _ in range(K)], n_threads)


def passes(made, rows, weights, predictions=None, n=3, keep_log=True):
    """The logs of several passes, and the error that ends them."""
    made.keep_steps(N)
    order, targets = np.arange(N), made.targets(CODES)
    logs, error = [], None
    for _ in range(n):
        order = intake.frozen(np.roll(order[::-1], 7))
        try:
            logs.append(made.run(rows, targets, weights, order, keep_log, predictions))
        except (rules.RuleError, spaces.NumericalError) as found:
            logs.append(found.log)
            error = str(found)
    return logs, error


def assert_same(mine, other):
    for a, b in zip(mine.learners, other.learners, strict=True):
        assert a.state.tobytes() == b.state.tobytes()
        assert a.v.tobytes() == b.v.tobytes()
        assert (a.A is None) == (b.A is None)
        if a.A is not None:
            assert a.A.tobytes() == b.A.tobytes()
        np.testing.assert_array_equal(a.steps, b.steps)


def assert_same_logs(mine, other):
    for a, b in zip(mine, other, strict=True):
        assert len(a) == K
        for one, two in zip(a, b, strict=True):
            for x, y in zip(one, two, strict=True):
                np.testing.assert_array_equal(x, y)


CASES = [
    pytest.param(sp.csr_array, np.float64, "average", shrinking, id="sparse"),
    pytest.param(np.asarray, np.float64, "last", shrinking, id="dense", marks=pytest.mark.compiled_later),
    pytest.param(sp.csr_array, np.float64, "average", failing, id="a rule that fails"),
    pytest.param(sp.csr_array, np.float32, "last", shrinking, id="float32", marks=pytest.mark.exhaustive),
    pytest.param(np.asarray, np.float32, "unit", shrinking, id="unit", marks=pytest.mark.exhaustive),
]


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("kind, dtype, track, rule", CASES)
def test_every_number_is_that_of_a_pass_of_its_own(monkeypatch, kind, dtype, track, rule, opened):
    rows = intake.make_rows(kind(X.astype(dtype)), 1.0, False)
    weights = intake.frozen(WEIGHTS if rule is shrinking else np.empty(0))
    found = {}
    for how in ("apart", "together"):
        made = space(rule, dtype, track, 2 if opened else 1)
        predictions = Predictions(N, np.zeros(K, np.int64))
        with read(monkeypatch, how):
            if opened:
                made.open(rows, True)
            logs, error = passes(made, rows, weights, predictions)
            made.close()
        found[how] = made, logs, error, predictions.codes, made.counts()
    (mine, logs, error, codes, counts), other = found["together"], found["apart"]
    assert_same(mine, other[0])
    assert_same_logs(logs, other[1])
    assert error == other[2] and (error is not None) == (rule is failing)
    np.testing.assert_array_equal(codes, other[3])
    assert counts == other[4] and counts.updates > 100 and (counts.refused > 0) == (rule is shrinking)


SECOND_ORDER = [
    pytest.param(sp.csr_array, np.float64, rules.AROW(0.5), id="sparse"),
    pytest.param(np.asarray, np.float64, rules.AROW(0.5), id="dense", marks=pytest.mark.exhaustive),
    pytest.param(sp.csr_array, np.float32, rules.SCW1(0.8), id="scw", marks=pytest.mark.exhaustive),
]


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("kind, dtype, rule", SECOND_ORDER)
def test_learners_with_a_covariance(monkeypatch, kind, dtype, rule, opened):
    rows = intake.make_rows(kind(X.astype(dtype)), 1.0, True)
    frame, found = spaces.Frame(1.0, True, np.dtype(dtype)), {}
    for how in ("apart", "together"):
        made = spaces.OneVsRest([spaces.Confident(rule, frame, D, False) for _ in range(K)])
        predictions = Predictions(N, np.zeros(K, np.int64))
        with read(monkeypatch, how):
            if opened:
                made.open(rows, True)
            logs, error = passes(made, rows, intake.frozen(1.0 * (WEIGHTS > 0.0)), predictions)
            assert (how == "together" and opened) == bool(made.kept)
            made.close()
        assert error is None
        found[how] = made, logs, predictions.codes
    (mine, logs, codes), (other, their_logs, their_codes) = found["together"], found["apart"]
    for a, b in zip(mine.learners, other.learners, strict=True):
        for name in ("state", "v", "sigma"):
            assert getattr(a, name).tobytes() == getattr(b, name).tobytes()
    assert_same_logs(logs, their_logs)
    np.testing.assert_array_equal(codes, their_codes)
    assert mine.counts().updates > 100


def test_a_full_covariance_is_learned_apart():
    frame = spaces.Frame()
    assert together.alike([spaces.Confident(rules.AROW(1.0), frame, 3, False) for _ in range(3)])
    assert not together.alike([spaces.Confident(rules.AROW(1.0), frame, 3, True) for _ in range(3)])


def test_overflow_ends_the_passes_of_those_learners_alone(monkeypatch):
    large = X.copy()
    large[150, :] *= 1e151
    rows = intake.make_rows(sp.csr_array(large), 1.0, False)
    found = {}
    for how in ("apart", "together"):
        with read(monkeypatch, how):
            made = space(plain, track="average")
            found[how] = made, *passes(made, rows, intake.EMPTY, n=1)
    (mine, logs, error), (other, their_logs, their_error) = found["together"], found["apart"]
    assert error == their_error and "row 150" in error
    assert_same(mine, other)
    assert_same_logs(logs, their_logs)
    assert len({learner.counts().examples for learner in mine.learners}) == 2


def test_an_interruption_waits_for_the_other_blocks(monkeypatch):
    rows = intake.make_rows(sp.csr_array(X), 1.0, False)
    whole, made = space(shrinking, track="average"), space(shrinking, track="average")
    run, calls = together.Together.run, []

    def interrupted(block, *args):
        calls.append(block.first)
        if len(calls) == 1:
            raise KeyboardInterrupt  # before the block has read a row
        found = run(block, *args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return found

    with read(monkeypatch, "together"):
        passes(whole, rows, intake.EMPTY, n=1)
        monkeypatch.setattr(together.Together, "run", interrupted)
        made.open(rows, True)
        with pytest.raises(KeyboardInterrupt):
            passes(made, rows, intake.EMPTY, n=1)
        assert calls == [0, 0]  # a second one counts at once
        calls[:] = [None]
        again = space(shrinking, track="average")
        with pytest.raises(KeyboardInterrupt):
            passes(again, rows, intake.EMPTY, n=1)
    assert calls == [None, 0, 5]
    assert_same(again, whole)


def test_copies_of_weights_belong_to_a_fit(monkeypatch):
    """They follow the weights, are dropped where others are learned, and are no part of the model."""
    rows = intake.make_rows(sp.csr_array(X), 1.0, False)
    made, other = space(shrinking, track="average"), space(shrinking, track="average")
    with read(monkeypatch, "together"):
        made.open(rows, True)
        passes(made, rows, intake.EMPTY, n=1)
        kept = dict(made.kept)
        assert sorted(kept) == [0, 5]
        for first, block in kept.items():
            for r, part in enumerate(block.parts):
                learner = made.learners[first + r]
                assert learner.in_slots is part
                own = vars(learner)["v"]
                assert not np.array_equal(block.shared.V[:, r], own)  # nobody has read it
                assert learner.v is own
                np.testing.assert_array_equal(block.shared.V[:, r], own)
        for twin in (made.copy(), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
            assert twin.kept is None
        assert "kept" not in made.stored()
        made.learners[3].v = made.learners[3].v + 1.0  # another array
        other.learners = [learner.copy() for learner in made.learners]
        passes(made, rows, intake.EMPTY, n=1)
        assert made.kept[0] is not kept[0] and made.kept[5] is kept[5]
    with read(monkeypatch, "apart"):
        passes(other, rows, intake.EMPTY, n=1)
        assert_same(made, other)
        passes(other, rows, intake.EMPTY, n=1)
        rows_of_one = intake.frozen(np.arange(1))
        with monkeypatch.context() as patch:
            patch.setattr(together, "pays", lambda *args: False)
            made.run(rows, made.targets(CODES), intake.EMPTY, rows_of_one, False)
        assert made.kept == {}
        made.close()
        assert made.kept is None


def test_the_copies_by_slot_of_single_learners_are_dropped(monkeypatch):
    """They would not follow a common pass."""
    rows = intake.make_rows(sp.csr_array(X), 1.0, False)
    slotted = renumbering.by_first_appearance(rows, D)
    made = space(rules.Perceptron(0.0))
    made.open(rows, True)
    with read(monkeypatch, "together"):
        monkeypatch.setattr(together, "LEAST_WHEN_KEPT", 0.0)
        made.renumber(slotted)
    assert not any(learner.in_slots for learner in made.learners)
    with read(monkeypatch, "apart"):
        made.renumber(slotted)
    assert all(learner.in_slots for learner in made.learners)
    with read(monkeypatch, "together"):
        passes(made, rows, intake.EMPTY, n=1)
    assert all(isinstance(learner.in_slots, renumbering.InBlock) for learner in made.learners)
    made.close()
    assert not any(learner.in_slots for learner in made.learners)
    alone = space(rules.Perceptron(0.0))
    with read(monkeypatch, "apart"):
        passes(alone, rows, intake.EMPTY, n=1)
    assert_same(made, alone)


@pytest.mark.parametrize("kind", [spaces.Linear, spaces.Confident])
def test_weights_come_home_when_they_are_read_and_when_an_interruption_ends_a_pass(monkeypatch, kind):
    """The weights of a block are the learners' from the moment on in which a pass may change them."""
    rows = intake.make_rows(sp.csr_array(X), 1.0, False)
    frame = spaces.Frame(1.0, False, np.dtype(np.float64))

    def fresh():
        if kind is spaces.Linear:
            return space(rules.PA1(1.0))
        return spaces.OneVsRest([spaces.Confident(rules.AROW(1.0), frame, D, False) for _ in range(K)])

    interrupted = fresh()
    module = together.rest if kind is spaces.Linear else together.rest_confidence
    run, calls = module.run, []

    def interrupt_after(*args):
        run(*args)
        calls.append(None)
        if len(calls) == 1:
            raise KeyboardInterrupt

    with read(monkeypatch, "together"):
        interrupted.open(rows, True)
        monkeypatch.setattr(module, "run", interrupt_after)
        with pytest.raises(KeyboardInterrupt):
            passes(interrupted, rows, intake.EMPTY, n=1)
        monkeypatch.setattr(module, "run", run)
        examples = [learner.state[scalars.EXAMPLES] for learner in interrupted.learners]
        once = fresh()
        passes(once, rows, intake.EMPTY, n=1)
    for learner, other, seen in zip(interrupted.learners, once.learners, examples, strict=True):
        assert seen in (0.0, N)  # a pass of a block is made, or not begun
        if seen:
            assert learner.v.tobytes() == other.v.tobytes()
        else:
            assert not learner.v.any()


@pytest.mark.compiled
def test_lengths_that_are_computed_anew_are_summed_alike(monkeypatch):
    """A rule that multiplies w has its length computed anew now and then."""
    found = []
    for how in ("apart", "together"):
        with read(monkeypatch, how):
            monkeypatch.setattr(together, "LEAST_WHEN_KEPT", 0.0)
            model = ROMMA(multiclass="ovr", max_iter=6, random_state=0).fit(sp.csr_array(X), CODES)
        found.append((model.coef_.tobytes(), str(model.history_), str(model.margin_bounds_)))
    assert found[0] == found[1]


def test_small_passes_are_not_worth_a_copy(monkeypatch):
    rows = intake.make_rows(sp.csr_array(X), 1.0, False)
    learners = space(rules.Perceptron(0.0)).learners
    entries = rows.indptr[-1] / N
    assert not together.pays(learners, rows, N, None)
    many = int(together.LEAST_PRODUCTS / (entries * K)) + 1
    assert together.pays(learners, rows, many, None) and together.pays(learners, rows, many, {})
    assert not together.pays(learners[:2], rows, 100 * many, None)
    both = 2 * 8 * learners[0].v.nbytes  # blocks of eight, full or not
    for limit, enough in ((both, True), (both - 1, False)):
        with monkeypatch.context() as patch:
            patch.setattr(together, "MOST_BYTES", limit)
            assert together.pays(learners, rows, many, {}) == enough
    assert together.pays(learners, rows, 1, {0: None})  # copies that exist are kept up to date
    mixed = [*learners[1:], spaces.Linear(rules.Perceptron(1.0), learners[0].frame, D)]
    assert not together.pays(mixed, rows, many, None)

    def cuts(*args):
        return [(b.start, b.stop) for b in together.blocks(*args)]

    assert cuts(11) == cuts(11, 2) == [(0, 5), (5, 11)]
    assert cuts(4, 3, 1e9) == [(0, 1), (1, 2), (2, 4)]
    assert cuts(4, 3, 1e3) == [(0, 4)]  # too little for threads


def test_fits_are_the_same(monkeypatch):
    """Epochs, early stopping, brackets and the log, by the learner that a user has."""
    found = []
    for how in ("apart", "together"):
        with read(monkeypatch, how):
            monkeypatch.setattr(together, "LEAST_WHEN_KEPT", 0.0)
            model = OnlineClassifier(
                rule=shrinking,
                readout="average",
                multiclass="ovr",
                max_iter=6,
                log_updates=True,
                early_stopping=True,
                random_state=1,
            )
            model.fit(sp.csr_array(X), CODES)
            model.set_params(early_stopping=False).partial_fit(sp.csr_array(X[:50]), CODES[:50])
            found.append(model)
    mine, other = found
    assert mine.coef_.tobytes() == other.coef_.tobytes()
    assert mine.history_ == other.history_ and mine.margin_bounds_ == other.margin_bounds_
    np.testing.assert_array_equal(mine.update_log_, other.update_log_)
    assert mine.progressive_errors_ == other.progressive_errors_


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("scale", [1.0, 1e-170, 1e170])
@pytest.mark.parametrize("least", [1, 3, 12])
def test_a_first_look_at_all_rows_is_that_of_each_learner(monkeypatch, scale, least, n_threads):
    """Some learners separate the rows, some do not; rows of weight 0 do not count; scales may be negative."""
    rng = np.random.default_rng(3)
    rows = intake.make_rows(sp.csr_array(X), 1.0, False)
    made = space(rules.Perceptron(), n_threads=n_threads)
    targets, weights = made.targets(CODES), WEIGHTS.copy()
    for r, learner in enumerate(made.learners):
        w = rng.normal(size=D + 1)
        own = np.where(r == CODES, 1.0, -1.0)
        if r % 3:  # it separates what it has to, by rows that are solved for
            w = np.linalg.lstsq(np.c_[X[:20], np.ones(20)], own[:20], rcond=None)[0]
        learner.v[:] = w * (-scale if r == 4 else scale)
        learner.state[scalars.SCALE] = -1.0 if r == 4 else 1.0
    weights[20:] = 0.0
    looks = []
    loop = margins.first_looks
    monkeypatch.setattr(together, "LEAST_LOOKS", least)
    monkeypatch.setattr(margins, "first_looks", lambda *given: looks.append(given) or loop(*given))
    found = {}
    for how in ("together", "apart"):
        with read(monkeypatch, how):
            found[how] = made.bounds(rows, targets, weights, False)
        assert len(looks) == 2
    assert found["together"] == found["apart"]
    lows = [low for low, _ in found["apart"]]
    assert 0 < sum(low > 0.0 for low in lows) < K and -np.inf in lows


def test_who_looks_at_the_rows_together(monkeypatch):
    rows = intake.make_rows(sp.csr_array(X), 1.0, False)
    learners = space(plain).learners
    with read(monkeypatch, "together"):
        assert together.pays_to_look(learners, rows)
        assert not together.pays_to_look(learners, intake.make_rows(X, 1.0, False))
        single = intake.make_rows(sp.csr_array(X.astype(np.float32)), 1.0, False)
        assert not together.pays_to_look(space(plain, np.float32).learners, single)
        monkeypatch.setattr(together, "MOST_BYTES", 8 * N * K - 1)
        assert not together.pays_to_look(learners, rows)
    assert not together.pays_to_look(learners, rows)
