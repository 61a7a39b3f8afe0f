"""Half-spaces of w, the cone they have in common, the risk over them, and paths of w."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from drawn import four_points_traced, traced
from matplotlib.figure import Figure

from perceptrons import RiskDescent, Winnow, datasets, proofs, theory, trace
from perceptrons.plots import RiskSurfaceDisplay, WeightSpaceDisplay

pytestmark = pytest.mark.uncompiled

#: the lecture's toy set: with an intercept the maximum margin is at w = (1, 4)/17
X17, Y17 = np.array([[2.0, 4.0], [0.0, -4.0], [4.0, -5.0]]), np.array([1, -1, -1])


def texts(legend):
    return [text.get_text() for text in legend.get_texts()]


# --------------------------------------------------------------------------------------------- w-space


def test_every_row_is_a_line_and_the_path_ends_in_the_cone(ax):
    trace = four_points_traced()
    made = WeightSpaceDisplay.from_trace(trace, ax=ax)
    for a, line in zip(trace.X * trace.y[:, None], made.lines_, strict=True):
        assert np.allclose(a @ np.vstack(line.get_data()), 0.0)
    assert np.column_stack(made.path_.get_data()).tolist() == [[0.0, 0.0], [1.0, 2.0], [2.0, 1.0]]
    assert made.facets.tolist() == [0, 3]
    assert [line.get_linewidth() == 2.0 for line in made.lines_] == [True, False, False, True]
    assert [line.get_linestyle() for line in made.lines_] == ["-", "-", "--", "--"]
    inside = made.cone.mean(axis=0)
    assert np.all(made.normals @ inside > 0.0) and np.array_equal(made.cone_.get_xy()[:-1], made.cone)
    assert [text.get_text() for text in made.texts_] == ["$w_{0}$", "$w_{2}$"]
    assert made.title == "2 updates take w into the cone where all 4 rows are right"
    assert ax.get_aspect() == 1.0 and (ax.get_xlabel(), ax.get_ylabel()) == ("$w_{1}$", "$w_{2}$")
    assert texts(made.legend_) == [
        "row of class +1",
        "row of class −1",
        "right on all rows",
        "path of w",
        "maximum margin",
    ]


def test_arrows_point_into_the_half_spaces(ax):
    made = WeightSpaceDisplay.from_trace(four_points_traced(), ax=ax)
    directions = np.column_stack([made.arrows_.U, made.arrows_.V])
    assert np.all(np.sum(directions * made.normals, axis=1) > 0.0)
    assert np.allclose(np.sum(made.arrows_.XY * made.normals, axis=1), 0.0)  # they start on the lines


def test_the_optimum_of_the_lecture(ax):
    made = WeightSpaceDisplay.from_data(X17, Y17, fit_intercept=True, margin=1.0, ax=ax)
    assert np.allclose(made.optimum, [1 / 17, 4 / 17])
    assert made.title == "The w with a margin of at least 1 on all 3 rows (slice at b = −0.0588)"
    assert any(np.allclose(corner, [1 / 17, 4 / 17]) for corner in made.cone)
    assert np.allclose(np.ravel(made.optimum_.get_data()), [1 / 17, 4 / 17])
    assert "the margin on all rows" in texts(made.legend_)
    elsewhere = WeightSpaceDisplay.from_data(X17, Y17, fit_intercept=True, margin=1.0, third=0.0, ax=ax)
    assert elsewhere.optimum is None and elsewhere.offsets.tolist() == [1.0, 1.0, 1.0]
    away = WeightSpaceDisplay.from_data(X17, Y17, margin=1.0, box=(-1, -0.5, -1, -0.5), ax=ax)
    assert away.title == "No w in this picture has the margin 1 on all 3 rows"


def test_a_slice_goes_through_the_last_w(ax):
    X, y, *_ = datasets.clouds_near(10)
    trace = traced(X, y, bias=2.0)
    made = WeightSpaceDisplay.from_trace(trace, ax=ax)
    b = 2.0 * trace.w[-1, -1]
    assert np.allclose(made.offsets, -y * b) and made.where == f"slice at b = {b:.3g}".replace("-", "−")
    assert np.all(made.normals @ made.path[-1] > made.offsets)
    assert len(made.path) == len(trace.w) >= len(made.moves)
    unseen = WeightSpaceDisplay.from_data(
        X, y, fit_intercept=True, path=[[0, 0, 0], [0, 0, 1], [1, 1, 1]], third=0.0, ax=ax
    )
    assert len(unseen.moves) == 2 and unseen.title.startswith("2 updates take w into the cone")
    assert [text.get_text() for text in unseen.texts_] == ["$w_{0}$", "$w_{2}$"]


def test_an_empty_cone_and_a_run_that_is_not_done(ax):
    X, y, *_ = datasets.xor()
    made = WeightSpaceDisplay.from_data(X, y, ax=ax)
    assert made.cone_ is None and len(made.facets) == 0 and made.optimum is None and made.empty
    assert made.title == "No w is right on all 4 rows"
    X, y, *_ = datasets.four_points()
    short = WeightSpaceDisplay.from_data(X, y, path=[[0, 0], [1, 2]], optimum=False, ax=ax)
    assert short.title == "After 1 update, w is outside the cone: 1 of 4 rows not right"
    assert short.optimum_ is None
    bare = WeightSpaceDisplay.from_data(X, y, ax=ax)
    assert bare.title == "4 rows, as many half-spaces: a w in the cone is right on all of them"
    assert np.linalg.norm(bare.optimum) == pytest.approx(1.0)
    far = WeightSpaceDisplay.from_data(X, y, margin=1.0, path=[[0, 0], [2, 1]], ax=ax)
    assert far.title == "1 update takes w into the region where all 4 rows have the margin"
    at = [WeightSpaceDisplay.from_data(X, y, path=[w], ax=ax).title for w in ([2, 1], [1, 1], [0, 0])]
    assert at[0] == "A w in the cone where all 4 rows are right"
    assert at[1] == "This w is outside the cone: 1 of 4 rows not right"  # it is on the border
    assert at[2] == "This w is outside the cone: 4 of 4 rows not right"


def test_a_threshold_moves_the_half_spaces(ax):
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([1, -1, 1])
    found = trace(Winnow(shuffle=False), X, y)
    made = WeightSpaceDisplay.from_trace(found, ax=ax)
    theta = found.threshold[-1]
    assert made.offsets.tolist() == (y * theta).tolist() and made.optimum is None and made.empty is None
    assert np.all(made.normals @ made.path[-1] >= made.offsets)
    assert made.title == "1 update takes w into the cone where all 3 rows are right"


def test_many_rows_have_arrows_where_they_bound_the_cone(ax):
    X, y, *_ = datasets.clouds_near(30)
    made = WeightSpaceDisplay.from_data(X, y, box=(-1, 1, -1, 1), ax=ax)
    assert len(made.facets) == 2 == len(made.arrows_.U)
    assert made.box == (-1.0, 1.0, -1.0, 1.0) and len(made.lines_) == 30


def test_lines_through_the_tip_of_the_cone_do_not_bound_it(ax):
    X, y, *_ = proofs.separable(200, 2, margin=0.05, random_state=6)
    display = WeightSpaceDisplay.from_data(X, y, box=(-1.0, 1.0, -1.5, 0.5), ax=ax)
    assert display.facets.tolist() == proofs.weight_space(X, y).facets.tolist()


def test_what_w_space_refuses(ax):
    X, y, *_ = datasets.four_points()
    draw = WeightSpaceDisplay.from_data
    for given, told in [
        ({"X": np.ones((4, 4))}, "w has 4 coordinates; two can be shown, or three in a slice"),
        ({"X": np.ones((4, 3)), "fit_intercept": True}, "4 coordinates, the intercept among them"),
        ({"y": [0, 1, 2, 2]}, "a pair of classes; y has 3"),
        ({"y": [0, 1]}, "a row for each of 2 labels"),
        ({"margin": -1.0}, "margin must be positive or None"),
        ({"path": [[0.0, 0.0, 0.0]]}, "path must have 2 columns"),
        ({"third": 1.0}, "no third one to fix"),
    ]:
        with pytest.raises(ValueError, match=told):
            draw(**{"X": X, "y": y, "ax": ax, **given})
    with pytest.raises(ValueError, match="needs one w: two classes, and no kernel"):
        WeightSpaceDisplay.from_trace(SimpleNamespace(w=None), ax=ax)
    with pytest.raises(ValueError, match="with m offsets"):
        WeightSpaceDisplay(normals=np.ones((2, 2)), offsets=[0.0])


# ------------------------------------------------------------------------------------------------ risk


@pytest.mark.parametrize("loss", ["perceptron", "hinge"])
def test_the_risk_is_that_of_the_theory(loss, ax):
    X, y, *_ = datasets.four_points()
    path = [[-1.0, 2.0, 0.5], [2.0, 1.0, 0.25]]
    draw = RiskSurfaceDisplay.from_data
    made = draw(X, y, loss=loss, fit_intercept=True, path=path, grid_resolution=7, ax=ax)
    for w0, w1, risk in zip(made.ww0.flat, made.ww1.flat, made.risk.flat, strict=True):
        assert risk == pytest.approx(theory.risk([w0, w1], X, y, 0.25, loss=loss))
    expected = [theory.risk(w[:2], X, y, w[2], loss=loss) for w in path]
    assert made.path_risk.tolist() == pytest.approx(expected)
    assert made.where == "slice at b = 0.25"
    for crease in made.creases_:
        margins = (np.column_stack(crease.get_data()) @ X.T + 0.25) * y
        assert np.isclose(margins, float(loss == "hinge")).all(axis=0).any()


def test_contours_with_a_region_without_risk(ax):
    X, y, *_ = datasets.four_points()
    made = RiskSurfaceDisplay.from_data(X, y, path=[[-1, 2], [2, 1]], grid_resolution=20, ax=ax)
    assert np.all(y * (made.zero_.get_xy() @ X.T) >= -1e-12)
    assert len(made.creases_) == 4 and made.colorbar_ is not None
    assert np.column_stack(made.path_.get_data()).tolist() == [[-1.0, 2.0], [2.0, 1.0]]
    assert made.title == "Perceptron risk: 1 step from R = 3 to 0"
    assert texts(made.legend_) == ["crease", "R = 0", "path of w"]
    bare = RiskSurfaceDisplay.from_data(X, y, grid_resolution=20, ax=ax, colorbar=False)
    assert bare.box == (-1.0, 1.0, -1.0, 1.0) and bare.colorbar_ is None and bare.path_ is None
    assert bare.title == "Perceptron risk: flat pieces that meet in creases, 0 in the hatched region"


def test_a_surface_in_space():
    X, y, *_ = datasets.four_points()
    space = Figure().add_subplot(projection="3d")
    path = [[-1.0, 2.0], [1.0, 2.0], [2.0, 1.0]]
    made = RiskSurfaceDisplay.from_data(X, y, path=path, grid_resolution=10, kind="surface", ax=space)
    assert np.array_equal(made.path_.get_data_3d()[2], made.path_risk)
    assert len(made.creases_) == 4 and space.get_zlabel() == "risk $R(w)$"
    flat = Figure().subplots()
    with pytest.raises(ValueError, match="projection='3d'"):
        made.plot(flat, kind="surface")
    with pytest.raises(ValueError, match="projection='3d'"):
        made.plot(space)


def test_the_path_of_a_descent(ax):
    X, y, *_ = datasets.four_points()
    start = [[-1.0, 2.0]]
    clf = RiskDescent(fit_intercept=False, keep_path=True).fit(X, y, coef_init=start)
    made = RiskSurfaceDisplay.from_estimator(clf, X, y, ax=ax, grid_resolution=10)
    assert np.array_equal(made.path, clf.path_[:, :2]) and made.path_risk.tolist() == clf.risk_curve_
    clf = RiskDescent(loss="hinge").fit(X, y)
    made = RiskSurfaceDisplay.from_estimator(clf, X, y, ax=ax, grid_resolution=10)
    assert np.array_equal(made.path, clf.coef_) and made.loss == "hinge" and made.where
    assert made.path_risk.tolist() == pytest.approx(clf.risk_curve_[-1:])
    assert made.title.startswith("Hinge risk: R = ")


def test_hinge_without_a_path_shows_where_the_risk_is_small(ax):
    X, y, *_ = datasets.overlapping_clouds(20)
    made = RiskSurfaceDisplay.from_data(X, y, loss="hinge", grid_resolution=41, ax=ax)
    i, j = np.unravel_index(made.risk.argmin(), made.risk.shape)
    assert 0 < i < 40 and 0 < j < 40 and " at least" in made.title


def test_what_the_risk_refuses(ax):
    X, y, *_ = datasets.four_points()
    for given, told in [
        ({"loss": "square"}, "'perceptron' or 'hinge'"),
        ({"kind": "map"}, "kind must be 'contour' or 'surface'"),
        ({"grid_resolution": 1}, "grid_resolution must be at least 2"),
    ]:
        with pytest.raises(ValueError, match=told):
            RiskSurfaceDisplay.from_data(X, y, ax=ax, **given)
    with pytest.raises(ValueError, match="must be a fitted RiskDescent"):
        RiskSurfaceDisplay.from_estimator(RiskDescent(), X, y, ax=ax)
    clf = RiskDescent(max_steps=5).fit(X, [0, 1, 2, 2])
    with pytest.raises(ValueError, match="the model has 3"):
        RiskSurfaceDisplay.from_estimator(clf, X, [0, 1, 2, 2], ax=ax)
