"""A fit that is interrupted after any round goes on from its file to the same bits."""

from __future__ import annotations

import mixed
import numpy as np
import pytest

from perceptrons import AveragedPerceptron, ParameterMixing, Perceptron, load, save
from perceptrons.models import ModelError

N_ROUNDS = 4


class Cut(Exception):
    pass


def cut_after(n):
    """A callback that ends a fit in its n-th round, after the round was counted."""

    def call(model):
        if model.n_iter_ == n:
            raise Cut

    return call


def fit(name, path=None, callback=None, classes=3, **more):
    params = {"random_state": 5, "max_iter": N_ROUNDS, **more}
    model = ParameterMixing(mixed.learner(name, **params), n_shards=3, checkpoint=path, callback=callback)
    return model, mixed.X, mixed.Y[classes]


def same(model, expected):
    assert np.array_equal(model.coef_, expected.coef_) and np.array_equal(
        model.intercept_, expected.intercept_
    )
    assert model.history_ == expected.history_ and model.stop_reason_ == expected.stop_reason_
    assert model.margin_bounds_ == expected.margin_bounds_ and model.n_iter_ == expected.n_iter_
    assert model.radius_ == expected.radius_ and model.n_updates_ == expected.n_updates_


@pytest.mark.parametrize("name", ["perceptron", "average", "pa against the rest", "arow"])
@pytest.mark.parametrize("after", [2, 4])
def test_a_fit_goes_on(tmp_path, name, after):
    path = tmp_path / "run.model"
    model, X, y = fit(name)
    expected = model.fit(X, y)
    model, X, y = fit(name, path, cut_after(after))
    with pytest.raises(Cut):
        model.fit(X, y)
    stored = load(path)
    assert stored.n_iter_ == after - 1 and type(stored) is type(model.estimator)
    assert stored.predict(X).shape == y.shape
    model, X, y = fit(name, path)
    same(model.fit(X, y), expected)
    assert not path.exists()


def test_a_seed_that_was_drawn_is_stored(tmp_path):
    path = tmp_path / "run.model"
    model, X, y = fit("average", path, cut_after(3), random_state=None)
    with pytest.raises(Cut):
        model.fit(X, y)
    seed = model.seed_
    again, X, y = fit("average", path, random_state=None)
    again.fit(X, y)
    assert again.seed_ == seed
    expected, X, y = fit("average", random_state=seed)
    same(again, expected.fit(X, y))


@pytest.mark.compiled_later
def test_tol_counts_the_rounds_before(tmp_path):
    path = tmp_path / "run.model"
    more = {"tol": 0.5, "n_iter_no_change": 3, "max_iter": 30}
    model, X, y = fit("mira", **more)
    expected = model.fit(X, y)
    assert expected.stop_reason_ == "no improvement"
    model, X, y = fit("mira", path, cut_after(3), **more)
    with pytest.raises(Cut):
        model.fit(X, y)
    model, X, y = fit("mira", path, **more)
    same(model.fit(X, y), expected)


def test_no_time_keeps_the_file(tmp_path):
    path = tmp_path / "run.model"
    model, X, y = fit("perceptron")
    expected = model.fit(X, y)
    for n in range(1, N_ROUNDS):
        model, X, y = fit("perceptron", path)
        model.max_time = 1e-9
        assert model.fit(X, y).stop_reason_ == "max_time" and model.n_iter_ == n and path.exists()
    model.max_time = None
    same(model.fit(X, y), expected)


def test_rows_in_files(tmp_path):
    path = tmp_path / "run.model"
    np.save(tmp_path / "X.npy", mixed.X)
    np.save(tmp_path / "y.npy", mixed.Y[2])
    given = tmp_path / "X.npy", tmp_path / "y.npy"
    model, X, y = fit("average", classes=2)
    expected = model.fit(X, y)
    model, *_ = fit("average", path, cut_after(3))
    with pytest.raises(Cut):
        model.fit(*given)
    model, *_ = fit("average", path)
    same(model.fit(*given), expected)


def test_the_file_of_another_fit(tmp_path):
    path = tmp_path / "run.model"
    model, X, y = fit("average", path, cut_after(2))
    with pytest.raises(Cut):
        model.fit(X, y)
    content = path.read_bytes()
    other = X.copy()
    other[3, 3] += 0.5
    learner = AveragedPerceptron(random_state=5, max_iter=N_ROUNDS)
    for model, rows, message in (
        (ParameterMixing(Perceptron(), n_shards=3), X, "with AveragedPerceptron; this one has Perceptron"),
        (ParameterMixing(learner, n_shards=4), X, "with n_shards=3; this one has n_shards=4"),
        (ParameterMixing(learner, n_shards=3, mixing="mistakes"), X, "with mixing='uniform'; this one"),
        (ParameterMixing(learner, n_shards=3), other, "on other rows"),
        (ParameterMixing(learner, n_shards=3), X[:, :-1], "with n_features=12; this one has n_features=11"),
        (
            ParameterMixing(AveragedPerceptron(random_state=6), n_shards=3),
            X,
            "with seed=5; this one has seed=6",
        ),
        (
            ParameterMixing(AveragedPerceptron(random_state=5, row_norm="l2"), n_shards=3),
            X,
            "with row_norm=None; this one has row_norm='l2'",
        ),
    ):
        model.checkpoint = path
        with pytest.raises(ModelError, match=f"run.model belongs to a fit {message}"):
            model.fit(rows, y)
    assert path.read_bytes() == content
    save(Perceptron().fit(X, y), path)
    with pytest.raises(ModelError, match="is no checkpoint of ParameterMixing"):
        fit("average", path)[0].fit(X, y)
