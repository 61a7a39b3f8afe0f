"""Kernel learners: what they keep, what they count, what they leave alone, and norms that do not drift."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from unittest import mock

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import perceptrons as pc
from perceptrons import kernels, rules
from perceptrons.engine.blocks import Blocks
from perceptrons.engine.loops import scalars

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 3))
y = np.where(X[:, 0] * X[:, 1] > 0, 1, 0)
y3 = y + (X[:, 2] > 0.5)


# ---------------------------------------------------------------------------- what is computed


class Counting:
    """<a, b>, and which pairs were asked for."""

    def __init__(self):
        self.pairs: list[tuple[int, int]] = []

    def __call__(self, a, b):
        self.pairs.append((a[0], b[0]))
        return a[1] @ b[1]


def numbered(rows):
    return list(enumerate(rows))


def test_a_cache_computes_no_value_with_the_support_twice():
    """Three epochs over a cache that holds all: beside pairs within a block, each pair is asked for once."""
    for cache_mb, seldom in ((1000.0, True), (0.0, False)):
        k = Counting()
        model = pc.KernelPerceptron(kernel=k, block_size=5, shuffle=False, max_iter=3, cache_mb=cache_mb)
        model.fit(numbered(X), y)
        n, epochs, S = len(X), 3, len(model._space.support)
        within = epochs * n * 5
        with_support = len(k.pairs) - within - n  # the diagonal was asked for first
        assert (with_support <= n * S) == seldom
        assert with_support > 0


def test_the_cache_keeps_as_much_as_was_allowed():
    one_sheet, seen = 8 * 60 * 4, []

    def look(model):
        blocks = model._space._open[1]
        kept = [*blocks.panel.sheets, *blocks.grams.values()]
        seen.append((sum(values.nbytes for values in kept), len(model._space.support)))

    for shuffle in (True, False):
        for n_sheets in (0.0, 1.5, 2.5, 6.5):
            options = {"kernel": "linear", "max_iter": 3, "shuffle": shuffle, "block_size": 8}
            with mock.patch.object(Blocks, "sheet", 4):
                model = pc.KernelPerceptron(**options, cache_mb=n_sheets * one_sheet / 1e6, callback=look)
                model.fit(X, y)
            held, n_support = seen[-1]
            assert held <= n_sheets * one_sheet
            assert (held > 0) == (n_sheets > 0.0)
            assert n_support > 4 * n_sheets or n_sheets > 6


@dataclass(frozen=True)
class Watched(kernels.Linear):
    """<x, z>, and the sizes of the blocks: a block is asked for its values with itself."""

    sizes: list = field(default_factory=list, compare=False)
    pairs: bool = False

    @property
    def by_pairs(self):
        return self.pairs

    def matrix(self, A, B):
        if A is B:
            self.sizes.append(len(A))
        return super().matrix(A, B)


def test_blocks_are_as_large_as_was_said():
    def sizes(pairs=False, **options):
        kernel = Watched(pairs=pairs)
        pc.KernelPerceptron(kernel=kernel, max_iter=1, shuffle=False, **options).fit(X, y)
        return kernel.sizes

    assert sizes(block_size=7) == [7] * 8 + [4]
    assert sizes(block_size=1) == [1] * 60
    assert sizes(block_size=1000) == [60]
    assert sum(sizes()) == 60
    assert sizes(pairs=True) == [32, 28]  # values within a block are mostly not needed, and dear


# ------------------------------------------------------------------------------ what is left alone


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("make", [lambda: pc.KernelClassifier(rule=rules.PA()), pc.BudgetKernelPerceptron])
def test_rows_that_change_afterwards_change_no_model(kind, make):
    """Support rows are copies: also where all rows of a block join, and their numbers follow each other."""
    for size in (1, 4, "auto"):
        rows = X[:8].copy()
        given = kind(rows)
        model = make().set_params(block_size=size, shuffle=False, max_iter=1).fit(given, y[:8])
        scores, vectors = model.decision_function(X), model.support_vectors_
        first = vectors.toarray().copy() if sp.issparse(vectors) else vectors.copy()
        (given.data if sp.issparse(given) else given)[:] = 7.0
        np.testing.assert_array_equal(model.decision_function(X), scores)
        now = model.support_vectors_
        np.testing.assert_array_equal(now.toarray() if sp.issparse(now) else now, first)


def test_a_fitted_model_holds_its_support_and_not_all_rows():
    wide = RNG.normal(size=(2000, 50))
    model = pc.KernelPerceptron(max_iter=1).fit(wide, wide[:, 0] > 0)
    assert model.n_support_ < 1000
    assert len(pickle.dumps(model)) < 3 * model.n_support_ * 50 * 8
    assert model._known.X.base is None or model._known.X.base.size == 0
    assert not np.shares_memory(model._space.support.rows.X, wide)
    assert model._space._open is None


def test_parameters_are_not_touched():
    kernel = kernels.Gaussian()
    model = pc.KernelPerceptron(kernel=kernel).fit(X, y)
    assert model.kernel is kernel and model.kernel_ == kernel.fitted(X) != kernel
    twin = clone(model)
    assert twin.kernel == kernel and not hasattr(twin, "kernel_")
    assert pc.KernelPerceptron(kernel="rbf").fit(X, y).kernel == "rbf"


# ------------------------------------------------------------------------------- what is there


def test_there_are_no_weights_of_features():
    for model in (pc.KernelPerceptron().fit(X, y), pc.BudgetKernelPerceptron().fit(X, y)):
        with pytest.raises(AttributeError, match="see dual_coef_ and support_vectors_"):
            model.coef_  # noqa: B018
        with pytest.raises(AttributeError, match="part of the kernel"):
            model.intercept_  # noqa: B018
        assert "row_norm" not in model.get_params()
    with pytest.raises(AttributeError, match="before it is fitted"):
        pc.KernelPerceptron().support_  # noqa: B018
    with pytest.raises(AttributeError, match="before it is fitted"):
        pc.BudgetKernelPerceptron().dual_coef_  # noqa: B018


@pytest.mark.parametrize(
    "readout", ["last", pytest.param("average", marks=pytest.mark.compiled_later), "vote", "random"]
)
@pytest.mark.parametrize("labels", [y, y3], ids=["two", "three"])
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_scores_are_what_the_dual_coefficients_say(readout, labels, multiclass):
    options = {"readout": readout, "multiclass": multiclass, "random_state": 2, "max_iter": 3}
    for B in (0.0, 0.5):
        model = pc.KernelPerceptron(**options, fit_intercept=B > 0, intercept_scaling=B or 1.0)
        model.fit(X, labels)
        n_classes = 1 if labels is y else 3
        assert model.dual_coef_.shape == (n_classes, model.n_support_)
        assert np.array_equal(model.support_vectors_, X[model.support_])
        scores = (model.kernel_(X, model.support_vectors_) + B * B) @ model.dual_coef_.T
        if readout != "vote":
            np.testing.assert_allclose(
                model.decision_function(X), scores[:, 0] if n_classes == 1 else scores, rtol=1e-9, atol=1e-9
            )
        assert np.isclose(model.radius_**2, model.kernel_.diagonal(model.kernel_.prepare(X)).max() + B * B)


def test_support_of_the_readout_in_force():
    """A row of coefficient 0 is no support; a vote needs every row that was ever updated on."""
    rows, labels = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array([1, 0, 0])
    order = [[0, 1, 2, 0, 2]]
    last = pc.KernelPerceptron(kernel="linear").fit(rows, labels, order=order)
    assert last.support_.tolist() == [0, 1, 2] and last.dual_coef_.tolist() == [[2.0, -1.0, -2.0]]
    first = pc.KernelPerceptron(kernel="linear").fit(rows, [1, 0, 0], order=[[0, 1]])
    assert first.support_.tolist() == [0, 1] and first.n_support_ == 2
    gone = pc.KernelPerceptron(kernel="linear", readout="last", log_updates=True)
    gone.fit([[1.0], [2.0]], [0, 1], order=[[0]])
    gone.partial_fit([[1.0]], [1])
    assert gone.support_.tolist() == [0, 2] and gone.decision_function([[1.0]]) == [0.0]
    romma = pc.KernelClassifier(rule=rules.ROMMA(), kernel="linear")
    assert romma.fit([[1.0], [-1.0]], [1, 0], order=[[0]]).n_support_ == 1


def test_objects_come_back_as_they_were():
    words = ["free prize", "see you", "free now", "you and me"]

    def common(a, b):
        return len(set(a) & set(b))

    model = pc.KernelPerceptron(kernel=common, shuffle=False).fit(words, [1, 0, 1, 0])
    assert model.support_vectors_ == [words[i] for i in model.support_]
    frame = pd.DataFrame({"name": words, "n": [1.0, 2.0, 3.0, 4.0]})
    by_row = pc.KernelPerceptron(kernel=lambda a, b: common(a["name"], b["name"]) + a["n"] * b["n"])
    by_row.fit(frame, [1, 0, 1, 0])
    assert by_row.predict(frame).shape == (4,)
    by_row.learn_one(frame.iloc[0], 1)
    assert by_row.score_one(frame.iloc[0]) == by_row.decision_function(frame.iloc[:1])[0]
    assert all(isinstance(row, pd.Series) for row in by_row.support_vectors_)


def test_named_columns_are_checked_and_single_rows_need_no_names():
    frame = pd.DataFrame(X, columns=list("abc"))
    model = pc.KernelPerceptron(max_iter=1).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    model.learn_one(X[0], 1)
    model.learn_one(frame.iloc[1], 0)
    assert model.score_one(X[2]) == model.decision_function(frame.iloc[2:3])[0]
    assert model.score_one(sp.csr_array(X[2:3])) == pytest.approx(model.score_one(X[2]), rel=1e-12)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["b", "a", "c"]])


def test_a_mixed_kernel_takes_rows_in_any_precision():
    def pair(a, b):
        return float(a @ b)

    model = pc.KernelPerceptron(kernel=kernels.Gaussian(0.5) + kernels.as_kernel(pair), device="cpu")
    model.fit(X.astype(np.float32), y)
    assert model._space.frame.dtype == np.float32
    assert np.isfinite(model.decision_function(X)).all()
    model.partial_fit(X, y).learn_one(X[0], 0)


def test_a_fitted_width_goes_on_in_pieces():
    model = pc.KernelPerceptron(kernel="rbf", max_iter=1).fit(X[:30], y[:30])
    gamma = model.kernel_.gamma
    model.partial_fit(X[30:], y[30:]).learn_one(X[0], y[0])
    assert model.kernel_.gamma == gamma == kernels.Gaussian().fitted(X[:30]).gamma
    assert model.warm_start is False and model.fit(X, y).kernel_.gamma != gamma


def test_a_tag_for_what_a_kernel_takes():
    def tags(kernel):
        found = pc.KernelPerceptron(kernel=kernel).__sklearn_tags__().input_tags
        return found.sparse, found.string, found.pairwise

    assert tags("linear") == (True, False, False)
    assert tags(kernels.Spectrum(2) + kernels.Spectrum(3)) == (False, True, False)
    assert tags("precomputed") == (False, False, True)
    assert tags(max) == (False, False, False)
    assert tags("no such kernel") == (True, False, False)  # fit will say so


def test_precision_is_what_was_asked_for():
    for given in (np.float32, np.float64):
        for precision, expected in ((None, given), ("float32", np.float32), ("float64", np.float64)):
            model = pc.KernelPerceptron(precision=precision, device="cpu").fit(X.astype(given), y)
            assert model._space.frame.dtype == expected
            assert model._space.support.rows.dtype == expected
            assert model.decision_function(X).dtype == np.float64
    assert model.smallest_margin_ == np.inf


# --------------------------------------------------------------------------------- norms


def drift(model) -> float:
    """How far the kept ||w||^2 is from a'Ka, relative to it; the worst of all learners."""
    space = model._space
    blocks = space.coefficients("last")
    G = kernels.Kernel.__call__(space.kernel, space.support.rows).astype(np.float64) + space.constant
    true = np.einsum("ir,ij,jr->r", blocks, G, blocks)
    kept = np.array([learner.state[scalars.N] for learner in space.learners])
    true = true if len(kept) == len(true) else np.array([true.sum()])
    return float(np.max(np.abs(kept - true) / np.maximum(true, 1e-300)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("labels", [y, y3], ids=["two", "three"])
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_the_norm_of_a_long_run_is_that_of_w(dtype, labels, multiclass):
    """Aggressive ROMMA scales w at every update, by factors above 1, which magnify what was rounded."""
    noisy = np.where(RNG.random(60) < 0.2, RNG.permutation(labels), labels)
    tol = rules.LOSS_TOL_32 if dtype == np.float32 else rules.LOSS_TOL
    for size in (1, 16, "auto"):
        model = pc.KernelClassifier(
            rule=rules.AggressiveROMMA(delta=0.05),
            kernel=kernels.Gaussian(2.0),
            multiclass=multiclass,
            max_iter=60,
            random_state=0,
            block_size=size,
            device="cpu",
        ).fit(X.astype(dtype), noisy)
        assert model.n_updates_ > 500
        slack = scalars.DRIFT_LIMIT * tol + 60 * np.finfo(dtype).eps  # and what the sum for the norm rounds
        assert drift(model) <= slack


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_norm_is_computed_anew_where_it_has_drifted(fit_intercept):
    model = pc.KernelClassifier(rule=rules.ROMMA(), kernel="linear", fit_intercept=fit_intercept)
    model.partial_fit(X[:20], y[:20], classes=[0, 1])
    assert drift(model) < 1e-9
    state = model._space.inner.state
    before = state[scalars.N]
    state[scalars.N] *= 1.5  # as rounding might have done
    state[scalars.DRIFT] = before
    model.partial_fit(X[:1], y[:1], sample_weight=[0.0])
    assert state[scalars.DRIFT] == 0.0
    assert drift(model) < 1e-12


# --------------------------------------------------------------------------------- budgets


def test_lists_of_several_classes_show_each_entry_once():
    model = pc.BudgetKernelPerceptron(budget=6, policy="oldest", shuffle=False, max_iter=2).fit(X, y3)
    assert model.dual_coef_.shape == (3, model.n_support_)
    assert (np.count_nonzero(model.dual_coef_, axis=1) <= 6).all()
    assert np.array_equal(model.support_vectors_, X[model.support_])
    scores = model.kernel_(X, model.support_vectors_) @ model.dual_coef_.T
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-9, atol=1e-9)


def test_a_budget_that_is_never_reached_is_the_kernel_perceptron():
    plain = pc.KernelPerceptron(shuffle=False, max_iter=1, log_updates=True).fit(X, y)
    for policy in ("random", "oldest", "forgetron", "projectron"):
        model = pc.BudgetKernelPerceptron(
            budget=1000, policy=policy, eta=0.0, shuffle=False, max_iter=1, log_updates=True
        ).fit(X, y)
        np.testing.assert_array_equal(model.update_log_["row"], plain.update_log_["row"])
        np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), rtol=1e-7)


def test_strings_and_objects_under_a_budget():
    words = ["banana", "bandana", "nab", "dad", "add", "abba"] * 3
    labels = [1, 1, 0, 0, 0, 1] * 3
    for kernel in (kernels.Spectrum(1), lambda a, b: len(set(a) & set(b))):
        model = pc.BudgetKernelPerceptron(kernel=kernel, budget=3, policy="oldest").fit(words, labels)
        assert model.n_support_ <= 3
        model.learn_one("xylophone", 1)
        model.partial_fit(["zebra"], [0])
        assert model.predict(["banana"])[0] in (0, 1)
