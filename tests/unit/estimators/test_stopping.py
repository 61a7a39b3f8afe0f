"""Early stopping keeps the best epoch as a whole; tol stops by the mean loss."""

from __future__ import annotations

import numpy as np
import pytest
from comparing import steps_of
from sklearn.model_selection import train_test_split

import perceptrons as pc
from perceptrons.core import held_out_rows
from perceptrons.engine import spaces
from perceptrons.models import registry

rng = np.random.default_rng(3)
X = rng.normal(size=(120, 5))
y = (X @ [1.0, -1.0, 0.5, 0.0, 0.0] + 0.8 * rng.normal(size=120) > 0).astype(int)
y3 = np.digitize(X[:, 0] + 0.5 * rng.normal(size=120), [-0.5, 0.5])
STOPPING = {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 6, "random_state": 0}

MODELS = [
    pc.Perceptron(),
    pc.Perceptron(multiclass="ovr", log_updates=True),
    pc.AveragedPerceptron(),
    pc.VotedPerceptron(),
    pc.Perceptron(readout="random", class_weight="running"),
    pc.PassiveAggressive(C=0.1),
    pc.AROW(),
    pc.KernelPerceptron(readout="vote"),
    pc.BudgetKernelPerceptron(kernel="linear", budget=20, policy="oldest"),
]


@pytest.mark.parametrize("labels", [y, y3], ids=["two", "three"])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_best_epoch_is_kept_as_if_the_run_had_ended_there(model, labels):
    kept = model.set_params(**STOPPING, max_iter=30).fit(X, labels)
    assert kept.validation_scores_[kept.best_iter_ - 1] == max(kept.validation_scores_)
    assert kept.validation_scores_.index(max(kept.validation_scores_)) == kept.best_iter_ - 1
    assert len(kept.validation_scores_) == kept.n_iter_ > kept.best_iter_ == len(kept.history_)
    names = ("n_updates_", "n_mistakes_", "n_errors_", "radius_", "margin_bounds_", "history_", "best_iter_")
    found = {name: getattr(kept, name) for name in names}
    scores = kept.decision_function(X)
    log = kept.update_log_ if kept._journals else None
    steps = steps_of(kept)
    ended = model.set_params(max_iter=kept.best_iter_).fit(X, labels)
    assert ended.n_iter_ == ended.best_iter_
    np.testing.assert_array_equal(ended.decision_function(X), scores)
    assert {name: getattr(ended, name) for name in names} == found
    if log is not None:
        np.testing.assert_array_equal(ended.update_log_, log)
    for one, other in zip(steps, steps_of(ended), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_kept_epoch_learns_on_and_is_stored(tmp_path):
    model = pc.Perceptron(**STOPPING, max_iter=30).fit(X, y)
    certificate = pc.certify(model, X, y)
    assert certificate.run["epochs"] == model.best_iter_
    assert certificate.verify(X, y)
    pc.save(model, tmp_path / "model")
    again = pc.load(tmp_path / "model")
    assert (again.best_iter_, again.validation_scores_) == (model.best_iter_, model.validation_scores_)
    for one in (model, again):
        one.set_params(early_stopping=False).partial_fit(X, y)
        assert not hasattr(one, "best_iter_")
    np.testing.assert_array_equal(model.coef_, again.coef_)


def test_copies_are_made_when_the_score_improves_and_at_no_other_time(monkeypatch):
    copies = []
    real = spaces.Linear.copy
    monkeypatch.setattr(spaces.Linear, "copy", lambda space: copies.append(1) or real(space))
    pc.Perceptron(max_iter=5, tol=0.0).fit(X, y)
    assert not copies
    model = pc.Perceptron(**STOPPING, max_iter=30).fit(X, y)
    scores = model.validation_scores_
    assert len(copies) == sum(score > max(scores[:i], default=-1.0) for i, score in enumerate(scores))


def test_an_order_runs_to_its_end():
    model = pc.Perceptron(**STOPPING).fit(X, y, order=[range(120)] * 9)
    assert (model.n_iter_, model.best_iter_, len(model.history_)) == (9, 9, 9)


def test_tol_is_about_the_mean_loss_of_an_epoch():
    free = pc.PassiveAggressive(C=0.01, random_state=0, max_iter=60).fit(X, y)
    assert free.n_iter_ == 60
    model = pc.PassiveAggressive(C=0.01, random_state=0, max_iter=60, tol=1e-3, n_iter_no_change=3).fit(X, y)
    assert model.stop_reason_ == "no improvement"
    losses = [record["loss"] for record in model.history_]
    assert np.isclose(
        losses[0] * 120, pc.PassiveAggressive(C=0.01, random_state=0, max_iter=1).fit(X, y).squared_loss_
    )
    idle, least = 0, np.inf
    for at, loss in enumerate(losses, 1):
        idle = 0 if loss <= least - 1e-3 else idle + 1
        least = min(least, loss)
        assert (idle >= 3) == (at == model.n_iter_)


@pytest.mark.parametrize("name", ["Winnow", "Elimination", "BalancedWinnow", "PNormPerceptron"])
def test_tol_needs_a_loss(name):
    with pytest.raises(ValueError, match=f"{name} counts none: got tol=0.1"):
        getattr(pc, name)(tol=0.1).fit((X > 0).astype(float), y)


@pytest.mark.parametrize("counts", [(10, 10), (2, 30), (7, 5, 9, 2), (3,) * 8])
def test_rows_are_held_out_as_scikit_learn_does(counts):
    rng = np.random.default_rng(0)
    for seed in range(20):
        codes = rng.permutation(np.repeat(np.arange(len(counts)), counts))
        rows, part = np.arange(len(codes)), rng.uniform(len(counts) / len(codes), 0.5)
        expected = train_test_split(rows, test_size=part, stratify=codes, random_state=seed)
        for found, wanted in zip(held_out_rows.split(codes, part, seed), expected, strict=True):
            assert found.dtype == wanted.dtype and np.array_equal(found, wanted)


@pytest.mark.parametrize(
    ("codes", "part", "said"),
    [
        ([0, 0, 1], 0.3, "one row only"),
        ([0, 0, 1, 1], 0.2, "rows to score: 1"),
        ([0, 0, 1, 1], 0.7, "rows to learn: 1"),
    ],
)
def test_rows_that_cannot_be_held_out(codes, part, said):
    with pytest.raises(ValueError, match=said):
        held_out_rows.split(np.array(codes), part, 0)
    with pytest.raises(ValueError):
        train_test_split(codes, test_size=part, stratify=codes)


def test_a_learner_of_the_core_stops_early():
    """The same model as the estimator's, without scikit-learn."""
    bare = registry.learner("Perceptron")(**STOPPING).fit(X, y3)
    full = pc.Perceptron(**STOPPING).fit(X, y3)
    assert bare.validation_scores_ == full.validation_scores_ and bare.best_iter_ == full.best_iter_
    assert np.array_equal(bare.coef_, full.coef_)
