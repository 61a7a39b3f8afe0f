"""A fit with renumbered columns is the fit without, to the last bit: files, histories, what callbacks see."""

from __future__ import annotations

import contextlib
import pickle
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from uncompiled import compiled
from zoo import ONLINE

import perceptrons as pc
from perceptrons.engine import chunks, packing, renumbering, spaces
from perceptrons.engine.loops import scalars

pytestmark = pytest.mark.uncompiled

CLASSES = [2, 4]
#: learners that never learn by slot: a step may change the weights of all columns
UNCHANGED = {
    "ROMMA",
    "ALMA",
    "Winnow",
    "Elimination",
    "BalancedWinnow",
    "PNormPerceptron",
    "SecondOrderPerceptron",
}


def some_rows(n_classes, dtype=np.float64, seed=0):
    """Sparse rows of small numbers, one of them empty, some columns in no row, and labels."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((50, 60), density=0.12, rng=rng, format="csr", dtype=np.float64)
    X.data[:] = rng.integers(1, 5, X.nnz) / 4
    X = X.tolil()
    X[7], X[:, 31] = 0.0, 0.0
    X = sp.csr_array(X.tocsr(), dtype=dtype)
    return X, rng.integers(0, n_classes, 50)


@contextlib.contextmanager
def renumbering_set(wanted):
    """Renumber the columns of every fit, or of none; yields a list with an entry for each pass by slot."""
    found = []
    changing = renumbering.SlottedWeights.changing

    def spy(self):
        found.append(self)
        return changing(self)

    with (
        mock.patch.object(renumbering, "pays", lambda *_: wanted),
        mock.patch.object(packing, "helps", lambda: True),  # shuffled rows are in one piece, too
        mock.patch.object(renumbering.SlottedWeights, "changing", spy),
    ):
        yield found


def as_file(model, path):
    pc.save(model, path)
    return path.read_bytes()


def both_ways(make, X, y, tmp_path, used=True, **fit):
    """The models of a fit without and with renumbered columns; their files are equal."""
    models = []
    for wanted in (False, True):
        with renumbering_set(wanted) as passes:
            models.append(make().fit(X, y, **fit))
        assert bool(passes) == (wanted and used)
    plain, renumbered = models
    assert as_file(plain, tmp_path / "a") == as_file(renumbered, tmp_path / "b")
    assert plain.history_ == renumbered.history_
    assert "in_slots" not in vars(renumbered._space.learners[0])
    return models


@pytest.mark.parametrize("n_classes", CLASSES)
@pytest.mark.parametrize("name", compiled(ONLINE, "Perceptron"), ids=str)
def test_every_learner(name, n_classes, tmp_path):
    X, y = some_rows(n_classes)
    make = getattr(pc, name)
    shares = name in ("Winnow", "Elimination")
    params = {"random_state": 0, "max_iter": 4, "log_updates": True}
    rows = X.sign() if shares else X
    both_ways(lambda: make(**params), rows, y, tmp_path, used=name not in UNCHANGED)


@pytest.mark.parametrize("n_classes", CLASSES)
@pytest.mark.parametrize(
    "options",
    [
        {"readout": "average"},
        {"readout": "average", "normalized_votes": True},
        {"readout": "vote"},
        {"readout": "random", "random_state": 3},
        {"fit_intercept": False, "row_norm": "l2"},
        {"multiclass": "ovr", "n_jobs": 2},
        {"scheme": "uniform", "learning_rate": "updates"},
        {"class_weight": "running"},
        {"mistake": "prediction", "shuffle": False},
        {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 2},
        {"tol": 1e-3, "n_iter_no_change": 2},
    ],
    ids=str,
)
def test_every_option(options, n_classes, tmp_path):
    X, y = some_rows(n_classes)
    both_ways(lambda: pc.Perceptron(**({"random_state": 0, "max_iter": 6} | options)), X, y, tmp_path)


@pytest.mark.compiled
@pytest.mark.parametrize("n_classes", CLASSES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_the_norm_does_not_depend_on_the_order_of_the_columns(dtype, n_classes, tmp_path):
    """More updates than two refreshes of ||w||^2, on columns that first occur in another order."""
    X, y = some_rows(n_classes, dtype)
    X = sp.csr_array((X.data * np.float32(0.1), X.indices, X.indptr), X.shape)
    X, y = sp.vstack([X, X], format="csr"), np.append(y, (y + 1) % n_classes)  # never a clean pass
    model, _ = both_ways(lambda: pc.Perceptron(max_iter=200, random_state=0), X, y, tmp_path)
    assert model.n_updates_ > 2 * scalars.REFRESH


@pytest.mark.parametrize("n_classes", CLASSES)
def test_starts_weights_orders_and_further_calls(n_classes, tmp_path):
    X, y = some_rows(n_classes)
    rng = np.random.default_rng(1)
    n = 1 if n_classes == 2 else n_classes
    fit = {
        "coef_init": rng.normal(size=(n, 60)),
        "intercept_init": rng.normal(size=n),
        "sample_weight": rng.integers(0, 3, 50) / 2,
        "order": [rng.permutation(50)[:40] for _ in range(4)],
    }
    models = both_ways(pc.Perceptron, X, y, tmp_path, **fit)
    for wanted, model in enumerate(models):
        model.set_params(warm_start=True, max_iter=3, random_state=0)
        with renumbering_set(bool(wanted)):
            model.fit(X, y).partial_fit(X, y)
        model.learn_one(X[[3]].toarray()[0], y[3])
    assert as_file(models[0], tmp_path / "c") == as_file(models[1], tmp_path / "d")


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("n_classes", CLASSES)
def test_what_a_callback_sees(n_classes, multiclass):
    """Weights by column and scores of other rows after each epoch; a pickle has no copy."""
    X, y = some_rows(n_classes)
    seen = []

    def callback(model):
        stored = pickle.dumps(model._space)
        assert b"in_slots" not in stored and b"Slotted" not in stored
        seen.append((model.coef_.tobytes(), model.decision_function(X[:5]).tobytes(), model.n_updates_))

    for wanted in (False, True):
        with renumbering_set(wanted):
            pc.AveragedPerceptron(callback=callback, multiclass=multiclass, max_iter=4, random_state=0).fit(
                X, y
            )
    assert len(seen) == 8 and len(set(seen[:4])) == 4
    assert seen[:4] == seen[4:]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_interruption_leaves_weights_by_column(error, tmp_path):
    """Ctrl-C between two parts of a pass."""
    X, y = some_rows(2)
    run, files = spaces.Linear.run, []

    for wanted in (False, True):
        calls = []

        def stops(self, *args, calls=calls):
            calls.append(1)
            if len(calls) == 8:
                raise error
            return run(self, *args)

        model = pc.Perceptron(max_iter=6, random_state=0)
        with (
            renumbering_set(wanted),
            mock.patch.object(chunks, "LIMIT", 400),
            mock.patch.object(spaces.Linear, "run", stops),
            pytest.raises(error),
        ):
            model.fit(X, y)
        assert model.stop_reason_ == "failed" and model.n_updates_ > 0
        files.append(as_file(model, tmp_path / "a"))
        model.partial_fit(X, y)
        files.append(as_file(model, tmp_path / "a"))
    assert files[:2] == files[2:]


def test_an_error_leaves_weights_by_column(tmp_path):
    X, y = some_rows(2)
    found = []
    for wanted in (False, True):
        model = pc.Perceptron(max_iter=5, random_state=0)
        with renumbering_set(wanted) as passes, pytest.raises(ValueError, match="overflow") as caught:
            model.fit(X * 1e149, y)
        assert bool(passes) == wanted and model.n_updates_ > 3
        found.append((str(caught.value), as_file(model, tmp_path / "a")))
    assert found[0] == found[1]
