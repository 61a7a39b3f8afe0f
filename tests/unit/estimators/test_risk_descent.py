"""RiskDescent: starts of one's own, the path of w, and descents that end at w = 0."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import RiskDescent, certify, datasets, load, save, theory
from perceptrons.models.saving import pieces

XOR = datasets.xor()
FOUR = datasets.four_points()
THREE = datasets.three_classes()


def test_a_start_and_its_path_by_hand():
    """From (0, 1) only the last row, (-1, 1) of class -1, is in V."""
    model = RiskDescent(fit_intercept=False, keep_path=True).fit(FOUR.X, FOUR.y, coef_init=[0, 1])
    assert model.path_.tolist() == [[0, 1, 0], [1, 0, 0]]
    assert (model.n_iter_, model.risk_curve_, model.stop_reason_) == (1, [1.0, 0.0], "no row in V")


def test_no_step_is_counted_where_none_was_made():
    toy = datasets.three_points()
    model = RiskDescent(fit_intercept=False, keep_path=True).fit(toy.X, toy.y)
    assert model.n_iter_ == 0 and model.risk_curve_ == [0.0] and model.path_.tolist() == [[1, 1, 0]]
    assert certify(model, toy.X, toy.y).verify(toy.X, toy.y)


def test_the_path_includes_the_weight_of_the_constant_coordinate():
    model = RiskDescent(keep_path=True, intercept_scaling=2.0, max_steps=7)
    model.fit(XOR.X, XOR.y, coef_init=[[1, 2]], intercept_init=[3])
    assert model.path_[0].tolist() == [1.0, 2.0, 1.5]
    assert model.path_.shape == (model.n_iter_ + 1, 3)
    assert np.array_equal(model.path_[-1], [*model.coef_[0], model.intercept_[0] / 2.0])


def test_several_classes_have_a_path_each():
    start = np.array([[0.0, 1.0], [-1.0, 0.0], [1.0, 0.0]])
    for rows in (THREE.X, sp.csr_array(THREE.X)):
        model = RiskDescent(keep_path=True, max_steps=30).fit(rows, THREE.y, start, [0.5, 0.0, -0.5])
        assert [path[0].tolist() for path in model.path_] == [[0, 1, 0.5], [-1, 0, 0], [1, 0, -0.5]]
        assert [len(path) for path in model.path_] == [len(steps) + 1 for steps in model.steps_]
        assert model.n_iter_ == max(len(path) - 1 for path in model.path_)
        assert all(up == np.inf for _, up in model.margin_bounds_)


def test_a_path_is_kept_on_request_only():
    model = RiskDescent(fit_intercept=False)
    with pytest.raises(AttributeError, match="before it is fitted"):
        model.path_  # noqa: B018
    with pytest.raises(AttributeError, match="keep_path=True"):
        model.fit(FOUR.X, FOUR.y).path_  # noqa: B018
    model.set_params(keep_path=True).fit(FOUR.X, FOUR.y)
    assert len(model.path_) == 2
    assert not hasattr(model.set_params(keep_path=False).fit(FOUR.X, FOUR.y), "path_")


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("params", [{}, {"step": 0.5}, {"pick": "first", "fit_intercept": False}])
def test_xor_ends_at_zero_and_nothing_is_claimed_to_be_separated(params, fit_intercept):
    model = RiskDescent(**{"fit_intercept": fit_intercept, **params}).fit(XOR.X, XOR.y)
    assert model.stop_reason_ == "w = 0"
    assert not model.coef_.any() and model.on_boundary_ == 4 and model.risk_curve_[-1] == 0.0
    low, up = model.margin_bounds_
    assert low == -np.inf and 0.0 <= up < 1e-12
    assert certify(model, XOR.X, XOR.y).verdict.verdict != "separable"


def test_a_first_row_of_zeros_is_a_start_at_zero():
    model = RiskDescent(fit_intercept=False).fit([[0.0, 0.0], [1.0, 0.0]], [0, 1])
    assert (model.stop_reason_, model.n_iter_, model.margin_bounds_[0]) == ("w = 0", 0, -np.inf)


@pytest.mark.parametrize("loss", ["perceptron", "hinge"])
@pytest.mark.parametrize("seed", range(3))
def test_no_bound_is_claimed_from_a_start_of_ones_own(loss, seed):
    """A start far on the wrong side takes more steps than the bound for y_0 x_0 would allow."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    y = np.where(X @ [1.0, 0.5] > 0.0, 1, -1)
    model = RiskDescent(loss=loss, fit_intercept=False, max_steps=5000)
    with theory.debug():
        model.fit(X, y, coef_init=[-1e3, -5e2])
    certificate = certify(model, X, y, comparators="all")
    assert certificate.verify(X, y) and not certificate.bounds
    assert any("did not start from w = 0" in note for note in certificate.notes)
    best = theory.gamma_up_from_weights(np.ones(30), X, y)
    assert model.margin_bounds_[0] <= best and model.margin_bounds_[1] == np.inf
    default = RiskDescent(loss=loss, fit_intercept=False, max_steps=5000).fit(X, y)
    again = model.fit(X, y)  # a later fit without a start has its bracket again
    assert again.margin_bounds_ == default.margin_bounds_ and again.run_record().from_zero


def test_the_hinge_risk_may_start_at_zero():
    """The steps then sum to w, so the bracket has its upper end."""
    model = RiskDescent(loss="hinge", fit_intercept=False).fit(FOUR.X, FOUR.y, coef_init=[0, 0])
    low, up = model.margin_bounds_
    assert 0.0 < low <= 1.0 <= up < np.inf and model.run_record().from_zero
    assert model.run_record().learners[0].steps.tolist() == [1, 1, 1, 1]
    assert model.coef_.tolist() == [[5, 3]] and model.n_iter_ == 1


@pytest.mark.parametrize(
    "start, message",
    [
        ({"coef_init": [1, 2, 3]}, r"coef_init must have shape \(1, 2\)"),
        ({"coef_init": [[1, 2], [3, 4]]}, r"coef_init must have shape \(1, 2\)"),
        ({"coef_init": [1, np.nan]}, "coef_init must hold finite numbers"),
        ({"coef_init": ["a", "b"]}, "coef_init must hold numbers"),
        ({"coef_init": [0, 0]}, "must not both be 0 for loss='perceptron'"),
        ({"coef_init": [1e200, 0]}, "too large"),
        ({"coef_init": [1, 0], "intercept_init": [1]}, "intercept_init needs fit_intercept=True"),
    ],
)
def test_starts_that_are_refused(start, message):
    model = RiskDescent(fit_intercept=False).fit(FOUR.X, FOUR.y)
    with pytest.raises(ValueError, match=message):
        model.fit(FOUR.X, FOUR.y, **start)
    assert model.coef_.tolist() == [[2, 1]]


def test_line_search_from_a_start_keeps_half_of_its_length():
    X, y = np.vstack([XOR.X, [[1.0, 0.5]]]), np.append(XOR.y, 1)
    model = RiskDescent(step="line-search", fit_intercept=False, keep_path=True, max_steps=40)
    model.fit(X, y, coef_init=[0.0, -2.0])
    assert np.linalg.norm(model.path_, axis=1).min() >= 1.0
    assert (np.diff(model.risk_curve_) < 0.0).all()


def test_a_risk_that_is_rounding_alone_is_not_certified():
    """Another product of the same rows gives another risk, so that the certificate was refused."""
    X = np.array([[0, 3], [0, -4], [-1, 3], [4, -4]]) * 2.0**50
    y = [-1, 1, 1, -1]
    model = RiskDescent(loss="hinge", step="line-search", fit_intercept=False).fit(X, y)
    for comparators in ("free", "all"):
        certificate = certify(model, X, y, comparators=comparators)
        assert certificate.verify(X, y) and certificate.verify(X, y, exact=True)
        assert "risk" not in certificate.run["parts"][0]
    usual = RiskDescent(loss="hinge", step="line-search", fit_intercept=False).fit(X * 2.0**-50, y)
    assert "risk" in certify(usual, X * 2.0**-50, y).run["parts"][0]


# ------------------------------------------------------------------------------------------ files


def test_paths_and_starts_are_stored(tmp_path):
    start = np.array([[0.0, 1.0], [-1.0, 0.0], [1.0, 0.0]])
    for X, y, w in ((XOR.X, XOR.y, [1.0, 2.0]), (THREE.X, THREE.y, start)):
        model = RiskDescent(keep_path=True, max_steps=9).fit(X, y, coef_init=w)
        save(model, tmp_path / "model")
        back = load(tmp_path / "model")
        assert back.keep_path and not back.run_record().from_zero
        kept, stored = (p if isinstance(p, list) else [p] for p in (model.path_, back.path_))
        assert all(np.array_equal(a, b) for a, b in zip(kept, stored, strict=True))
        assert back.margin_bounds_ == model.margin_bounds_
        assert b"".join(map(bytes, pieces(back))) == b"".join(map(bytes, pieces(model)))


def test_a_file_without_a_path_says_nothing_of_paths():
    """Versions of the library without this parameter read it."""
    plain = RiskDescent(max_steps=9).fit(XOR.X, XOR.y)
    text = b"".join(map(bytes, pieces(plain)))
    assert b"keep_path" not in text and b"_paths" not in text and b"_from_zero" not in text
    assert b"keep_path" in b"".join(map(bytes, pieces(RiskDescent(keep_path=True).fit(XOR.X, XOR.y))))
