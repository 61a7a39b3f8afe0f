"""Orders of rows: those of numpy, by whichever loop they are made."""

from __future__ import annotations

import numpy as np
import pytest

from perceptrons import Perceptron
from perceptrons.engine import draws

LEAST = draws.LEAST_ROWS


@pytest.mark.parametrize("n", [LEAST, LEAST + 1, 2 * LEAST - 1, 2 * LEAST, 2 * LEAST + 1, 40_001])
@pytest.mark.parametrize("half", [False, True])
def test_the_order_of_numpy_and_its_next_draws(n, half):
    theirs, ours = np.random.default_rng([n, half]), np.random.default_rng([n, half])
    if half:  # half a word is left in the generator
        assert theirs.integers(9, dtype=np.uint32) == ours.integers(9, dtype=np.uint32)
    rows = np.arange(3, n + 3)
    for _ in range(3):
        assert np.array_equal(draws._shuffled(ours, rows), theirs.permutation(rows))
        assert ours.bit_generator.state == theirs.bit_generator.state
    assert ours.integers(9, dtype=np.uint32) == theirs.integers(9, dtype=np.uint32)
    assert np.array_equal(rows, np.arange(3, n + 3))


def test_too_few_draws_change_nothing(monkeypatch):
    monkeypatch.setattr(draws, "_enough", lambda n: n)  # more are needed
    rng, rows = np.random.default_rng(0), np.arange(LEAST)
    before = rng.bit_generator.state
    assert draws._shuffled(rng, rows) is None and rng.bit_generator.state == before
    assert np.array_equal(draws.permutation(rng, rows, own=True), np.random.default_rng(0).permutation(rows))


@pytest.mark.parametrize("n", [2, 3, 17, 1000, 4096, 4097, 40_000])
def test_enough_draws(n):
    """The mean number of draws, place by place, and eight times its deviation."""
    places = np.arange(1, n)
    powers = 2.0 ** np.ceil(np.log2(places + 1))
    mean = float(np.sum(powers / (places + 1)))
    assert mean + 8.0 * np.sqrt(2.0 * n) <= draws._enough(n) <= 1.1 * mean + 20.0 * np.sqrt(2.0 * n) + 200.0


def test_generators_of_others_are_left_to_numpy(monkeypatch):
    """Another thread may draw from them."""
    monkeypatch.setattr(draws, "_shuffled", lambda rng, rows: pytest.fail("it is not ours"))
    rows = np.arange(LEAST)
    for rng in (np.random.default_rng(0), np.random.RandomState(0)):
        assert np.array_equal(np.sort(draws.permutation(rng, rows)), rows)
    X = np.random.default_rng(0).standard_normal((LEAST, 2))
    Perceptron(max_iter=1, random_state=np.random.default_rng(0)).fit(X, X[:, 0] > 0)
    with pytest.raises(pytest.fail.Exception, match="not ours"):
        Perceptron(max_iter=1, random_state=0).fit(X, X[:, 0] > 0)


def test_a_numpy_that_shuffles_otherwise_is_left_to_it(monkeypatch):
    assert draws._as_numpy()
    draws._as_numpy.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(draws, "_by_loop", lambda bits, rows: rows)
        assert not draws._as_numpy()
        assert draws._shuffled(np.random.default_rng(0), np.arange(LEAST)) is None
    draws._as_numpy.cache_clear()
    assert draws._as_numpy()


def test_other_generators():
    for kind in (np.random.MT19937, np.random.SFC64, np.random.PCG64DXSM):
        theirs, ours, rows = np.random.Generator(kind(0)), np.random.Generator(kind(0)), np.arange(LEAST)
        assert np.array_equal(draws.permutation(ours, rows, own=True), theirs.permutation(rows))
