"""A pass in parts makes the numbers of the whole, and a signal is answered between two of them."""

from __future__ import annotations

import signal

import numpy as np
import pytest
import scipy.sparse as sp
from comparing import same_state
from uncompiled import compiled
from zoo import X, attributes, make, y, y3

from perceptrons import Perceptron
from perceptrons.engine import chunks, intake, packing, spaces

ROWS, LABELS, LABELS3 = np.tile(X, (5, 1)), np.tile(y, 5), np.tile(y3, 5)
CASES = {
    "Perceptron": ({}, LABELS),
    "AveragedPerceptron": ({}, LABELS3),
    "VotedPerceptron": ({"multiclass": "ovr"}, LABELS3),
    "ROMMA": ({}, LABELS),
    "AROW": ({}, LABELS3),
    "SecondOrderPerceptron": ({}, LABELS),
    "Winnow": ({}, LABELS),
    "Elimination": ({"literals": "all"}, LABELS),
}


@pytest.mark.compiled_later
@pytest.mark.parametrize("name", compiled(CASES, "Perceptron", "ROMMA", "AROW", "Winnow", "Elimination"))
def test_the_same_numbers(name, monkeypatch):
    params, labels = CASES[name]
    for form in (np.array, sp.csr_array):
        rows = form(ROWS)
        fits = [make(name, max_iter=3, **params).fit(rows, labels)]
        runs = [make(name, **params).partial_fit(rows, labels)]
        with monkeypatch.context() as patch:
            patch.setattr(chunks, "LIMIT", 300)
            fits.append(make(name, max_iter=3, **params).fit(rows, labels))
            runs.append(make(name, **params).partial_fit(rows, labels))
        same_state(*map(attributes, fits))
        same_state(*map(attributes, runs))


def test_one_number_is_drawn_for_a_pass(monkeypatch):
    whole = Perceptron(readout="random", random_state=np.random.default_rng(5)).fit(ROWS, LABELS)
    monkeypatch.setattr(chunks, "LIMIT", 300)
    parts = Perceptron(readout="random", random_state=np.random.default_rng(5)).fit(ROWS, LABELS)
    assert whole.random_step_ == parts.random_step_
    np.testing.assert_array_equal(whole.coef_, parts.coef_)


def test_parts_by_what_rows_cost():
    space = spaces.Linear(None, spaces.Frame(), 1 << 21)
    lengths = np.array([1 << 20, 1, 5, 1 << 20, 1 << 19, 0, 1 << 20])
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.concatenate([np.arange(n) for n in lengths])
    rows = intake.make_rows(sp.csr_array((np.ones(len(indices)), indices, pointers)), 1.0, False)
    order = np.tile(np.arange(7), 80)
    parts = chunks.cut(space, rows, order)
    np.testing.assert_array_equal(np.concatenate(parts), order)
    costs = [space.row_cost(lengths[part].astype(float)).sum() for part in parts]
    assert len(parts) > 3 and max(costs) <= chunks.LIMIT + (1 << 21)
    assert len(chunks.cut(space, rows, order[:7])) == 1
    in_one_piece = packing.packed(rows)
    assert [list(part) for part in chunks.cut(space, in_one_piece, order)] == [list(part) for part in parts]


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="there are no alarms here")
@pytest.mark.parametrize("labels", [LABELS, LABELS3], ids=["binary", "three"])
def test_an_interruption_between_two_parts(labels, monkeypatch):
    """fit ends there; partial_fit has not happened."""

    def interrupt(*_):
        raise KeyboardInterrupt

    class Slow(Perceptron):
        """An alarm comes within the fourth part."""

        def _run_pass(self, batch, order, write, heard=None):
            parts = iter(range(100))

            def watched(log):
                write(log)
                if next(parts) == 3:
                    signal.raise_signal(signal.SIGALRM)

            super()._run_pass(batch, order, watched, heard)

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        model = Slow(shuffle=False).partial_fit(sp.csr_array(ROWS), labels)
        seen = attributes(model)
        monkeypatch.setattr(chunks, "LIMIT", 100)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(sp.csr_array(ROWS[::-1]), labels[::-1])
        same_state(seen, attributes(model))
    finally:
        signal.signal(signal.SIGALRM, before)
