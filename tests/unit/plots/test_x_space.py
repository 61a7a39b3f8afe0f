"""Halfspaces: lines and regions where the weights put them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from perceptrons import KernelPerceptron, MaxMargin, Perceptron, VotedPerceptron, datasets
from perceptrons.plots import HalfspaceDisplay

pytestmark = pytest.mark.uncompiled
draw = HalfspaceDisplay.from_estimator


def on(line, w, b):
    """The scores ⟨w, x⟩ + b at the ends of a line."""
    return np.column_stack(line.get_data()) @ w + b


def test_hyperplane_and_slab_of_a_maximum_margin(ax):
    X, y, *_ = datasets.three_points()
    clf = MaxMargin().fit(X, y)
    made = draw(clf, X, y, ax=ax)
    w, b = clf.coef_[0], clf.intercept_[0]
    assert np.allclose(on(made.hyperplane_, w, b), 0.0)
    _, below, above = made.slab_
    assert np.allclose(on(below, w, b), -1.0) and np.allclose(on(above, w, b), 1.0)
    ends = np.column_stack(made.hyperplane_.get_data())
    a, c, d, e = made.box
    assert all(x in (a, c) or z in (d, e) for x, z in ends)  # from border to border
    assert np.array_equal(made.support_.get_offsets(), X[clf.support_])
    assert made.wrong_ is None
    assert made.title == "MaxMargin: a slab of width 2.12, held by 3 support vectors"
    assert ax.get_aspect() == 1.0 and ax.get_xlabel() == "$x_{1}$"
    assert [text.get_text() for text in made.legend_.get_texts()] == [
        "class −1",
        "class +1",
        "hyperplane",
        "score ±1 (slab)",
        "support vector",
    ]


def test_rows_have_a_colour_and_a_shape_per_class(ax):
    X, y, *_ = datasets.three_classes(12)
    made = draw(Perceptron(random_state=0).fit(X, y), X, y, ax=ax)
    for label, rows in enumerate(made.rows_):
        assert np.array_equal(rows.get_offsets(), X[y == label])
    assert len({rows.get_paths()[0].vertices.tobytes() for rows in made.rows_}) == 3
    assert len({rows.get_facecolor().tobytes() for rows in made.rows_}) == 3
    assert made.response.shape == (200, 200, 3) and len(made.boundaries_) == len(made.hyperplane_) == 3
    leads = np.stack(made.leads())
    assert np.all((leads > 0.0).sum(axis=0) <= 1)
    assert made.title == "Perceptron: all 12 rows on the right side"


def test_many_classes_are_told_apart(ax):
    y = np.arange(12)
    X = np.column_stack([np.cos(y), np.sin(y)])
    made = draw(Perceptron(random_state=0, max_iter=1).fit(X, y), X, y, ax=ax, grid_resolution=10)
    looks = {(rows.get_paths()[0].vertices.tobytes(), rows.get_facecolor().tobytes()) for rows in made.rows_}
    assert len(looks) == 12


def test_the_slab_of_a_perceptron_touches_the_nearest_row(ax):
    X, y, *_ = datasets.four_points()
    clf = Perceptron(shuffle=False, fit_intercept=False).fit(X, y)  # w = (2, 1), margins 4, 5, 3, 1
    made = draw(clf, X, y, ax=ax)
    assert made.weights == (2.0, 1.0, 0.0) and made.slab == 1.0
    assert made.title == "Perceptron: all 4 rows on the right side, the nearest 0.447 away"
    assert draw(clf, X, y, slab=None, ax=ax).slab_ == []
    assert draw(clf, X, y, slab=2.5, ax=ax).slab == 2.5


def test_rows_on_the_wrong_side_are_crossed(ax):
    X, y, *_ = datasets.four_points()
    clf = Perceptron(shuffle=False, fit_intercept=False).fit(X, y)
    made = draw(clf, X, -y, ax=ax)
    assert np.array_equal(made.wrong_.get_offsets(), X)
    assert made.title == "Perceptron: 4 of 4 rows on the wrong side"
    assert made.slab is None


def test_a_kernel_has_curves(ax):
    X, y, *_ = datasets.rings(20)
    made = draw(KernelPerceptron(kernel="gaussian", random_state=0).fit(X, y), X, y, ax=ax)
    assert made.weights is None and made.slab is None
    (curve,) = made.hyperplane_.get_paths()
    length = np.hypot(*curve.vertices.T)
    assert length.min() > 0.5 and length.max() < 2.5  # a ring between the rings
    solved = draw(MaxMargin(kernel="gaussian").fit(X, y), X, y, ax=ax, grid_resolution=60)
    assert solved.slab == 1.0 and solved.response.shape == (60, 60)
    assert list(solved.slab_[1].levels) == [-1.0, 1.0]


def test_two_of_several_features(ax):
    X = np.array([[0.0, 5.0, 1.0], [2.0, 7.0, -1.0], [1.0, 3.0, 2.0], [-1.0, 1.0, -2.0]])
    y = np.array(["a", "b", "a", "b"])
    clf = Perceptron(random_state=0).fit(X, y)
    w, b = clf.coef_[0], clf.intercept_[0]
    made = draw(clf, X, y, features=(2, 0), ax=ax, grid_resolution=5)
    assert made.weights == (w[2], w[0], b + w[1] * 4.0)
    assert np.array_equal(made.X, X[:, [2, 0]]) and made.feature_names == ("$x_{3}$", "$x_{1}$")
    assert made.title.endswith("The other 1 feature: fixed")
    at = draw(clf, X, y, features=(2, 0), fill=10.0, ax=ax, feature_names=["p", "q", "r"])
    assert at.weights == (w[2], w[0], b + w[1] * 10.0) and at.feature_names == ("r", "p")
    grid = [[at.xx1[0, 0], 10.0, at.xx0[0, 0]]]
    assert at.response[0, 0] == clf.decision_function(grid)[0]


def test_a_grid_is_scored_in_pieces(ax, monkeypatch):
    X, y, *_ = datasets.three_classes(9)
    clf = Perceptron(random_state=0).fit(X, y)
    whole = draw(clf, X, y, ax=ax, grid_resolution=20)
    monkeypatch.setattr("perceptrons.plots.x_space._PIECE", 100)
    assert np.array_equal(draw(clf, X, y, ax=ax, grid_resolution=20).response, whole.response)


def test_frames_sparse_rows_and_other_libraries(ax):
    pandas = pytest.importorskip("pandas")
    X, y, *_ = datasets.four_points()
    frame = pandas.DataFrame(X, columns=["length", "width"])
    made = draw(Perceptron(random_state=0).fit(frame, y), frame, y, ax=ax)
    assert made.feature_names == ("length", "width")
    csr = sparse.csr_array(X)
    clf = Perceptron(random_state=0).fit(csr, y)
    assert np.array_equal(draw(clf, csr, y, ax=ax).response, draw(clf, X, y, ax=ax).response)
    tree = draw(DecisionTreeClassifier(random_state=0).fit(X, y), X, y, ax=ax)
    assert tree.weights is None and set(np.unique(tree.response)) == {-1.0, 1.0}


def test_a_vote_has_no_straight_line(ax):
    X, y, *_ = datasets.overlapping_clouds(30)
    made = draw(VotedPerceptron(random_state=0, max_iter=3).fit(X, y), X, y, ax=ax, grid_resolution=12)
    assert made.weights is None and hasattr(made.hyperplane_, "levels")


def test_very_long_rectangles_have_two_units(ax):
    X, y = np.array([[0.0, 1.0], [100.0, -1.0]]), [0, 1]
    clf = Perceptron(random_state=0).fit(X, y)
    assert draw(clf, X, y, ax=ax).ax_.get_aspect() == "auto"
    assert draw(clf, X, y, ax=ax, aspect="equal").ax_.get_aspect() == 1.0


def test_what_is_refused(ax):
    X, y, *_ = datasets.four_points()
    clf = Perceptron(random_state=0).fit(X, y)
    three = np.ones((4, 3))
    for given, told in [
        ({"estimator": Perceptron()}, "fitted on two classes or more"),
        ({"X": three}, r"X has 3 features; say which two to show by features=\(i, j\)"),
        ({"features": (0, 0)}, r"two different columns from 0 to 1; got \(0, 0\)"),
        ({"features": (0, 2)}, "two different columns"),
        ({"y": y[:3]}, "a row for each label"),
        ({"X": X[0]}, "must be a matrix"),
        ({"slab": -1.0}, "slab must be a positive score"),
        ({"slab": "wide"}, "slab must be a positive score"),
        ({"fill": [1.0]}, "one for each of 2 columns"),
        ({"grid_resolution": 1}, "grid_resolution must be at least 2"),
        ({"X": sparse.csr_array((4, 20_000))}, "20,000 features; a grid can have 10,000 at most"),
    ]:
        with pytest.raises(ValueError, match=told):
            draw(**{"estimator": clf, "X": X, "y": y, "ax": ax, **given})
