"""MaxMargin: solvers, storage, kernels, several classes, limits, bad input."""

from __future__ import annotations

import builtins
from contextlib import contextmanager
from importlib.util import find_spec

import exact
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.svm import SVC

from perceptrons import MaxMargin, datasets, kernels
from perceptrons.core import maximum_margin
from perceptrons.core.maximum_margin import NotSeparableError
from perceptrons.engine.solvers import coordinate, maximum, points

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
needs_piqp = pytest.mark.skipif(find_spec("piqp") is None, reason="piqp is not installed")
SOLVERS = ["auto", "active", "descent", pytest.param("piqp", marks=needs_piqp)]


def with_margin(n=300, d=8, margin=0.2, seed=0):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=d)
    u /= np.linalg.norm(u)
    X = rng.normal(size=(n, d))
    y = np.where(X @ u + 0.3 > 0.0, 1, -1)
    return X + margin * np.outer(y, u), y


# ---------------------------------------------------------------------------------------- by hand


def test_two_points():
    model = MaxMargin().fit([[0.0, 0.0], [3.0, 4.0]], ["no", "yes"])
    assert np.allclose(model.coef_, [[0.24, 0.32]]) and np.allclose(model.intercept_, -1.0)
    assert model.margin_ == pytest.approx(2.5) and model.slab_width_ == pytest.approx(5.0)
    assert model.n_support_ == 2 and np.array_equal(model.support_vectors_, [[0.0, 0.0], [3.0, 4.0]])
    assert np.array_equal(model.predict([[0.0, 1.0], [3.0, 3.0]]), ["no", "yes"])


def test_far_rows_do_not_matter():
    X, y = with_margin()
    model = MaxMargin().fit(X, y)
    alone = MaxMargin().fit(X[model.support_], y[model.support_])
    assert np.allclose(alone.coef_, model.coef_, rtol=1e-8)
    assert model.n_support_ <= X.shape[1] + 1


@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers_agree(solver):
    X, y = with_margin()
    model, other = MaxMargin(solver=solver).fit(X, y), MaxMargin(solver="active").fit(X, y)
    assert model.margin_ == pytest.approx(other.margin_, rel=1e-6) and model.gap_ <= 1e-6
    assert np.allclose(model.coef_, other.coef_, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("C", [np.inf, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix, sp.csc_array, np.float32])
def test_storage_does_not_matter(make, fit_intercept, C):
    X, y = with_margin(d=6)
    X = np.round(X * 64.0) / 64.0
    if not fit_intercept:
        X = np.column_stack([X, np.ones(len(X))])
    dense = MaxMargin(C=C, fit_intercept=fit_intercept).fit(X, y)
    other = MaxMargin(C=C, fit_intercept=fit_intercept).fit(make(X), y)
    assert np.allclose(dense.coef_, other.coef_, rtol=1e-3, atol=1e-3)
    assert np.allclose(dense.decision_function(X), other.decision_function(make(X)), atol=1e-2)
    assert dense.margin_ == pytest.approx(other.margin_, rel=2e-6 if np.inf == C else 1e-4)


def test_offset_and_scale_do_not_matter():
    X, y = with_margin()
    model = MaxMargin().fit(X, y)
    for offset, scale in ((1e5, 1.0), (0.0, 1e-6), (0.0, 1e6)):
        moved = MaxMargin().fit(scale * X + offset, y)
        assert moved.margin_ == pytest.approx(scale * model.margin_, rel=1e-5)
        assert moved.stop_reason_ == "gap closed"


@pytest.mark.parametrize("power", [-500, -400, 400, 500])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_rows_near_the_ends_of_the_range(make, power):
    """A power of 2 changes nothing but the units."""
    X, y = with_margin(n=40, d=3)
    model = MaxMargin().fit(make(X), y)
    moved = MaxMargin().fit(make(np.ldexp(X, power)), y)
    assert np.allclose(np.ldexp(moved.coef_, power), model.coef_, rtol=1e-12)
    assert np.allclose(moved.intercept_, model.intercept_, rtol=1e-12)
    assert moved.margin_ == pytest.approx(np.ldexp(model.margin_, power), rel=1e-12)
    assert moved.stop_reason_ == "gap closed" and np.array_equal(moved.predict(make(np.ldexp(X, power))), y)


@pytest.mark.parametrize("size", [1e-320, 1e-170, 1e170, 1e300])
def test_rows_beyond_the_range_are_refused_and_not_called_inseparable(size):
    X, y = with_margin(n=40, d=3)
    with pytest.raises(
        ValueError, match=r"rows of X are too (short|long) for MaxMargin: .* Scale the data"
    ) as caught:
        MaxMargin().fit(X * size, y)
    assert not isinstance(caught.value, NotSeparableError)


def test_neighbouring_floats_are_not_called_inseparable():
    X = np.array(
        [[-0.7300000000000002, 0.29999999999999993, -0.7300000000000002], [-0.73, 0.30000000000000004, -0.73]]
    )
    with pytest.warns(ConvergenceWarning, match="undecided"):
        model = MaxMargin(fit_intercept=False, solver="active").fit(X, [-1, 1])
    best = exact.best_margin(exact.signed(exact.rows_of(X), [-1, 1]))
    assert best.separable and best.at_least(model.margin_bounds_[0]) and best.at_most(model.margin_bounds_[1])


def test_integers_beyond_floats_are_taken_as_they_are():
    """Both rows are the same float64; as integers they are 1 apart."""
    X, y = np.array([[2**60], [2**60 + 1]]), [0, 1]
    with pytest.warns(ConvergenceWarning, match="undecided"):
        model = MaxMargin().fit(X, y)
    low, up = model.margin_bounds_
    assert low <= 0.0 and up == 0.5
    with pytest.raises(NotSeparableError) as caught:
        MaxMargin().fit([[2**60], [2**60 + 1], [2**60 + 2]], [0, 1, 0])
    assert caught.value.certificate.numerators == (1, 2, 1)


def test_the_bracket_is_rounded_outwards():
    rng = np.random.default_rng(0)
    for _ in range(200):
        X = rng.normal(size=(6, 2)) + np.array([3.0, 0.0])
        y = np.where(rng.random(6) < 0.5, 1, -1)
        y[:2] = 1, -1
        model = MaxMargin(fit_intercept=False).fit(X * y[:, None], y)
        best = exact.best_margin(exact.rows_of(X))
        low, up = model.margin_bounds_
        assert best.at_least(low) and best.at_most(up) and up - low <= 1e-6 * up


def test_many_rows_come_in_by_and_by():
    X, y = with_margin(n=5000, d=20)
    model = MaxMargin(solver="active").fit(X, y)
    assert model.n_iter_ > 1 and model.gap_ <= 1e-6
    assert model.margin_ >= 0.2


def test_many_active_rows_go_to_the_descent(monkeypatch):
    monkeypatch.setattr(maximum, "MANY", 5)
    monkeypatch.setattr(maximum.hard, "__defaults__", (5,))
    X, y = with_margin()
    model, other = MaxMargin().fit(X, y), MaxMargin(solver="active").fit(X, y)
    assert model.margin_ == pytest.approx(other.margin_, rel=2e-6) and model.gap_ <= 1e-6


def test_sparse_rows_with_many_features():
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 2000), density=0.02, rng=rng, format="csr")
    y = np.where(rng.random(300) < 0.4, 1, -1)
    model, dense = MaxMargin().fit(X, y), MaxMargin(solver="active").fit(X.toarray(), y)
    assert model.margin_ == pytest.approx(dense.margin_, rel=2e-6) and model.gap_ <= 1e-6
    assert np.all(y * model.decision_function(X) > 0.0)


# ---------------------------------------------------------------------------------------- classes


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_one_class(fit_intercept):
    model = MaxMargin(fit_intercept=fit_intercept).fit([[1.0, 1.0], [2.0, 0.0]], ["a", "a"])
    assert model.one_class_ and np.array_equal(model.predict([[5.0, 5.0], [-1.0, 0.0]]), ["a", "a"])
    assert model.margin_ == (np.inf if fit_intercept else pytest.approx(np.sqrt(2.0)))
    assert model.n_support_ == (0 if fit_intercept else 1)


@pytest.mark.parametrize("make", [list, np.int8, bool, float, "U2", object])
def test_labels_of_every_type(make):
    X, y = with_margin()
    plain = MaxMargin().fit(X, y)
    labels = (y > 0).tolist() if make is list else np.where(y > 0, 2, 0).astype(make)
    model = MaxMargin().fit(X, labels)
    assert np.array_equal(model.coef_, plain.coef_) and np.array_equal(model.classes_, np.unique(labels))
    assert np.array_equal(model.predict(X), labels)
    with pytest.raises(ValueError, match="X has 300 rows, y has 299 labels"):
        MaxMargin().fit(X, labels[:-1])


def test_several_classes_are_one_against_the_rest():
    toy = datasets.three_classes()
    X, y = toy.X, toy.y
    model = MaxMargin(C=10.0).fit(X, y)
    assert model.coef_.shape == (len(model.classes_), X.shape[1])
    assert model.decision_function(X).shape == (len(X), len(model.classes_))
    assert len(model.margin_) == len(model.margin_bounds_) == len(model.stop_reason_) == len(model.classes_)
    for r, label in enumerate(model.classes_):
        alone = MaxMargin(C=10.0).fit(X, y == label)
        assert np.allclose(alone.coef_[0], model.coef_[r]) and np.allclose(
            alone.intercept_, model.intercept_[r]
        )
        assert np.allclose(model.dual_coef_[r] @ X[model.support_], model.coef_[r])


def test_the_class_that_cannot_be_separated_is_named():
    X = [[0.0], [1.0], [2.0]]
    with pytest.raises(NotSeparableError, match="Class 'b' is not separable from the rest") as caught:
        MaxMargin().fit(X, ["a", "b", "c"])
    assert caught.value.certificate.check(np.array(X), [-1, 1, -1]) is None


def test_the_error_has_the_common_point():
    with pytest.raises(NotSeparableError, match="The classes 0 and 1 are not separable by a hyp") as caught:
        MaxMargin().fit(*XOR)
    assert np.allclose(caught.value.certificate.point, [0.5, 0.5])
    assert np.allclose(caught.value.certificate.weights, 0.25)
    with pytest.raises(NotSeparableError, match="through the origin: 1 rows"):
        MaxMargin(fit_intercept=False).fit([[0.0, 0.0], [3.0, 4.0]], [-1, 1])


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = MaxMargin().fit([[0.0, 0.0], [3.0, 4.0]], [0, 1])
    with pytest.raises(NotSeparableError):
        model.fit(*XOR)
    assert model.margin_ == pytest.approx(2.5)


# ---------------------------------------------------------------------------------------- kernels


@pytest.mark.parametrize("C", [np.inf, 0.5])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_linear_kernel_is_the_linear_learner(fit_intercept, C):
    X, y = with_margin()
    if not fit_intercept:
        X = np.column_stack([X, np.ones(len(X))])
    linear = MaxMargin(C=C, fit_intercept=fit_intercept).fit(X, y)
    by_kernel = MaxMargin(C=C, fit_intercept=fit_intercept, kernel="linear").fit(X, y)
    assert by_kernel.margin_ == pytest.approx(linear.margin_, rel=1e-4)
    assert np.allclose(by_kernel.decision_function(X), linear.decision_function(X), atol=1e-2)
    w = by_kernel.dual_coef_[0] @ by_kernel.support_vectors_
    assert np.allclose(w, linear.coef_[0], rtol=1e-2, atol=1e-2)
    with pytest.raises(AttributeError, match="dual_coef_"):
        by_kernel.coef_  # noqa: B018


@pytest.mark.parametrize("solver", SOLVERS)
def test_xor_by_a_kernel(solver):
    X, y = XOR
    model = MaxMargin(kernel="polynomial", solver=solver).fit(X, y)
    assert np.array_equal(model.predict(X), y) and model.gap_ <= 1e-6
    assert np.allclose((2 * y - 1) * model.decision_function(X), 1.0, atol=1e-5)  # all four on the margin


def test_against_svc_with_a_gaussian_kernel():
    X, y = load_digits(return_X_y=True)
    X, y = X[:400] / 16.0, y[:400] % 2
    for C, params in ((np.inf, {}), (1.0, {})):
        ours = MaxMargin(C=C, kernel=kernels.Gaussian(gamma=0.05), **params).fit(X, y)
        theirs = SVC(C=min(C, 1e9), kernel="rbf", gamma=0.05, tol=1e-7).fit(X, y)
        assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
        assert ours.gap_ <= 1e-6


@pytest.mark.parametrize("C", [np.inf, 1.0])
def test_strings_tables_and_functions(C):
    words, labels = ["free prize now", "see you soon", "a free prize", "you are there"], [1, 0, 1, 0]
    model = MaxMargin(C=C, kernel="spectrum").fit(words, labels)
    assert np.array_equal(model.predict(words), labels)
    assert set(model.support_vectors_) <= set(words)
    G = kernels.Spectrum()(words)
    table = MaxMargin(C=C, kernel="precomputed").fit(G, labels)
    assert np.allclose(table.decision_function(G), model.decision_function(words), atol=1e-4)

    def common(a, b):
        return float(kernels.Spectrum()([a], [b])[0, 0])

    function = MaxMargin(C=C, kernel=common).fit(words, labels)
    assert np.allclose(function.decision_function(words), model.decision_function(words), atol=1e-4)
    assert function.margin_bounds_ == (None, np.inf)  # its values may be anything
    assert table.margin_bounds_[0] is not None and function.margin_ == pytest.approx(model.margin_, rel=1e-4)


@pytest.mark.parametrize(
    ("kernel", "rank"),
    [(kernels.Linear(), 8), (kernels.Polynomial(degree=2), 45), (kernels.Gaussian(gamma=0.5), 300)],
)
def test_the_factor_of_a_kernel_has_its_rank(kernel, rank):
    X, _ = with_margin()
    K = kernel(X)
    points = maximum.KernelPoints(kernel, kernel.prepare(X), np.diagonal(K).copy())
    L = maximum.factored(points).X
    assert L.shape == (300, rank) and points.used == 0  # no values were kept
    assert np.abs(L @ L.T - K).max() <= 1e-9 * np.abs(K).max()


@pytest.mark.parametrize("C", [np.inf, 1.0])
def test_kernel_values_that_do_not_fit(monkeypatch, C):
    X, y = with_margin()
    monkeypatch.setattr(points, "ROOM", 8 * 300 * 63)
    with pytest.raises(MemoryError, match=r"300 objects would take more than .* GB\. Take fewer objects"):
        MaxMargin(C=C, kernel=kernels.Gaussian(gamma=5.0)).fit(X, y)
    assert MaxMargin(C=1.0, kernel="linear").fit(X, y).gap_ <= 1e-6  # of rank 8


@needs_piqp
def test_a_matrix_of_piqp_that_does_not_fit(monkeypatch):
    X, y = with_margin()
    monkeypatch.setattr(points, "ROOM", 1000)
    with pytest.raises(MemoryError, match="The matrix of piqp for 300 objects"):
        MaxMargin(C=1.0, solver="piqp").fit(X, y)


def test_kernels_that_do_not_help():
    with pytest.raises(NotSeparableError) as caught:
        MaxMargin(kernel="linear").fit(*XOR)
    assert caught.value.certificate.weights.sum() == pytest.approx(1.0)
    assert caught.value.certificate.point is None


# ----------------------------------------------------------------------------------------- limits


@contextmanager
def told_if(undecided):
    """A warning that nothing separates so far, or none."""
    if undecided:
        with pytest.warns(ConvergenceWarning, match=r"undecided\. The largest margin is at most .* finite C"):
            yield
    else:
        yield


@pytest.mark.parametrize("C", [np.inf, 1.0])
@pytest.mark.parametrize("solver", ["auto", pytest.param("piqp", marks=needs_piqp)])
def test_out_of_time_the_best_is_returned_with_its_gap(solver, C):
    X, y = with_margin(n=400, d=40)
    with told_if(np.isinf(C)):
        model = MaxMargin(C=C, max_time=1e-9, solver=solver).fit(X, y)
    assert model.stop_reason_ == "max_time" and model.n_iter_ == 1
    assert model.gap_ > 1e-6 and np.all(np.isfinite(model.coef_))
    low, up = model.margin_bounds_
    best = MaxMargin().fit(X, y).margin_
    assert low <= best * (1 + 1e-6) and best <= up * (1 + 1e-6)


@pytest.mark.parametrize("solver", ["active", "descent", pytest.param("piqp", marks=needs_piqp)])
def test_out_of_passes(solver):
    X, y = with_margin(n=2000, d=40)
    with told_if(solver != "descent"):
        model = MaxMargin(max_iter=1, solver=solver).fit(X, y)
    assert model.stop_reason_ == "max_iter" and model.n_iter_ == 1 and model.gap_ > 1e-6
    assert (model.margin_ > 0.0) == (solver == "descent")


@needs_piqp
def test_time_enough_for_piqp():
    X, y = with_margin()
    for C in (np.inf, 1.0):
        model = MaxMargin(C=C, max_time=60.0, solver="piqp").fit(X, y)
        assert model.stop_reason_ == "gap closed" and model.n_iter_ > 1


def without_separator(n=1500, d=900, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.02, rng=rng, format="csr")
    return X, np.where(rng.random(n) < 0.5, 1, -1)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_rows_that_nothing_separates_have_a_proof(fit_intercept, monkeypatch):
    monkeypatch.setattr(coordinate, "MANY", 50)  # by descent, as with thousands of features
    X, y = without_separator(n=400, d=80)
    X.data = np.ceil(8.0 * X.data)
    with pytest.raises(NotSeparableError, match="rows, weighted, prove it exactly") as caught:
        MaxMargin(fit_intercept=fit_intercept).fit(X, y)
    assert caught.value.certificate.check(X, y, exact=True) is None and caught.value.certificate.exact


def test_without_whole_numbers_the_question_is_undecided(monkeypatch):
    X, y = without_separator(n=400, d=80)
    monkeypatch.setattr(maximum_margin, "EXACT_SECONDS", 0.0)
    with pytest.warns(
        ConvergenceWarning, match=r"undecided\. The largest margin is at most .*e-1\d;"
    ) as caught:
        model = MaxMargin().fit(X, y)
    assert len(caught) == 1
    low, up = model.margin_bounds_
    assert low <= 0.0 < up < 1e-12 and model.margin_ == low


def test_undecided_is_told_with_the_class_and_the_bracket():
    X, y = without_separator(n=2600)
    y[:50] = 2
    with pytest.warns(ConvergenceWarning) as caught:
        model = MaxMargin(max_time=1e-9).fit(X, y)
    assert "(max_time) without a separator of class -1 against the rest" in str(caught[0].message)
    assert str(caught[0].filename) == __file__
    for (low, up), margin in zip(model.margin_bounds_, model.margin_, strict=True):
        assert margin == low <= up


def test_what_does_not_refute_is_no_proof():
    X, y = with_margin()
    signs = y.astype(float)
    points = maximum.LinearPoints(X, np.einsum("ij,ij->i", X, X), True)
    assert coordinate.refuted(points, signs, True, np.ones(len(y))) is None
    assert coordinate.refuted(points, signs, True, np.zeros(len(y))) is None
    assert coordinate.refuted(points, signs, True, (y > 0).astype(float)) is None
    X, y = np.array([[0.0], [1.0], [2.0], [9.0]]), np.array([1.0, -1.0, 1.0, -1.0])
    points = maximum.LinearPoints(X, np.einsum("ij,ij->i", X, X), True)
    near = np.array([1.0, 1.9, 1.1, 0.0])  # 1, 2, 1, 0 is a proof
    found = coordinate.refuted(points, y, True, near)
    assert np.allclose(found.weights, [0.25, 0.5, 0.25, 0.0]) and found.residual <= 1e-12
    assert coordinate.refuted(points, y, True, near, search=False) is None


def test_progress_is_told(capsys):
    MaxMargin(verbose=1).fit(*with_margin())
    assert "MaxMargin: pass 1  gap " in capsys.readouterr().err


def test_soft_bias_minimises_the_hinge_sum():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = rng.integers(2, 12)
        s, y = rng.normal(size=n), np.where(rng.random(n) < 0.5, -1.0, 1.0)
        y[:2] = [-1.0, 1.0]
        b = coordinate.soft_bias(s, y)
        sums = [np.maximum(0.0, 1.0 - y * (s + c)).sum() for c in (b, *(y - s))]
        assert sums[0] <= min(sums) + 1e-12


# -------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0.0}, "C must be a positive number; got C=0.0"),
        ({"C": -np.inf}, "C must be"),
        ({"C": np.nan}, "C must be"),
        ({"C": "hard"}, "C must be"),
        ({"tol": 0.0}, "tol must be a positive number below 1"),
        ({"solver": "smo"}, "solver must be one of 'auto', 'active', 'descent', 'piqp'; got solver='smo'"),
        ({"solver": "active", "C": 1.0}, "solver='active' is for hard margins"),
        ({"max_time": -1.0}, "max_time must be a positive number"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
        ({"fit_intercept": "yes"}, "fit_intercept must be True or False"),
        ({"kernel": "cosine"}, "kernel must be a kernel"),
        ({"verbose": -1}, "verbose must be"),
    ],
)
def test_wrong_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        MaxMargin(**params).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("kernel", [None, "linear"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_numbers(value, kernel):
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        MaxMargin(kernel=kernel).fit([[0.0], [value]], [0, 1])


def test_before_fit_and_other_widths():
    with pytest.raises(NotFittedError):
        MaxMargin().predict([[0.0]])
    with pytest.raises(AttributeError, match="before it is fitted"):
        MaxMargin().margin_  # noqa: B018
    model = MaxMargin().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="features"):
        model.predict([[0.0, 1.0]])
    with pytest.raises(TypeError, match="sample_weight"):
        model.fit([[0.0], [1.0]], [0, 1], sample_weight=[1.0, 1.0])


def test_piqp_that_is_missing_is_asked_for_by_name(monkeypatch):
    found = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "piqp":
            raise ImportError(name)
        return found(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'perceptrons\[qp\]'"):
        MaxMargin(solver="piqp").fit([[0.0], [1.0]], [0, 1])
    assert clone(MaxMargin()).fit([[0.0], [1.0]], [0, 1]).margin_ == pytest.approx(0.5)


@needs_piqp
@pytest.mark.parametrize("C", [np.inf, 1.0], ids=["hard", "soft"])
@pytest.mark.parametrize("free", [False, True], ids=["through the origin", "free"])
def test_the_support_of_piqp_is_on_the_margin(free, C):
    for seed in (0, 3, 4, 16, 18, 27):  # some left multipliers of 1e-9 to 1e-5 on rows off the margin
        rng = np.random.default_rng(seed)
        u = rng.normal(size=6)
        u /= np.linalg.norm(u)
        X = rng.normal(size=(40, 6))
        y = np.where(X @ u > 0, 1, -1)
        X = X + 0.3 * y[:, None] * u  # separable
        model = MaxMargin(solver="piqp", fit_intercept=free, C=C).fit(X, y)
        margins = y[model.support_] * model.decision_function(X[model.support_])
        assert (margins <= 1.0 + 1e-5).all()
        np.testing.assert_array_equal(
            np.sort(model.support_), np.sort(MaxMargin(fit_intercept=free, C=C).fit(X, y).support_)
        )
