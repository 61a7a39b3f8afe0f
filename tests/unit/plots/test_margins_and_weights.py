"""Margins as curves, weights as images, words as bars."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from drawn import LABELS, MAIL, texts

from perceptrons import KernelPerceptron, Perceptron, TextClassifier, datasets, theory
from perceptrons.plots import (
    ExplanationDisplay,
    MarginDistributionDisplay,
    TopFeaturesDisplay,
    WeightsImageDisplay,
)
from perceptrons.text.explaining import Contribution, Explanation

pytestmark = pytest.mark.uncompiled


# --------------------------------------------------------------------------------------------- margins


def test_curves_are_cumulative_shares(ax):
    made = MarginDistributionDisplay(margins={"a": [3.0, -1.0, 1.0, 1.0], "b": [2.0, np.inf]}).plot(ax)
    x, share = made.lines_[0].get_data()
    assert x.tolist() == [-1.0, -1.0, 1.0, 1.0, 3.0] and share.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert made.lines_[1].get_data()[1].tolist() == [0.0, 0.5]  # the other margin is infinite
    assert made.wrong == {"a": 0.25, "b": 0.0}
    assert made.title == "Rows on the wrong side: a 25 %, b none"
    assert len({line.get_linestyle() for line in made.lines_}) == 2
    assert [text.get_text() for text in made.legend_.get_texts()] == ["a", "b"]


def test_margins_are_those_of_the_theory(ax):
    X, y, *_ = datasets.four_points()
    one = Perceptron(shuffle=False, fit_intercept=False).fit(X, y)
    kernel = KernelPerceptron(kernel="polynomial", random_state=0).fit(X, y)
    made = MarginDistributionDisplay.from_estimators({"w": one, "k": kernel}, X, y, kind="functional", ax=ax)
    assert made.margins["w"].tolist() == [4.0, 5.0, 3.0, 1.0]
    assert np.array_equal(made.margins["k"], theory.margins(kernel, X, y).values)
    single = MarginDistributionDisplay.from_estimator(one, X, y, ax=ax)
    assert list(single.margins) == ["Perceptron"] and single.legend_ is None
    twice = MarginDistributionDisplay.from_estimators([one, one], X, y, ax=ax)
    assert list(twice.margins) == ["Perceptron 1", "Perceptron 2"]
    with pytest.raises(ValueError, match="one model at least"):
        MarginDistributionDisplay.from_estimators([], X, y, ax=ax)
    with pytest.raises(ValueError, match="kind must be one of"):
        MarginDistributionDisplay.from_estimator(one, X, y, kind="wide", ax=ax)


def test_distances_are_those_of_the_picture_of_x_space(ax):
    """Not divided by the length of w and the bias together, as margins in augmented space are."""
    X, y, *_ = datasets.clouds_near()
    model = Perceptron(random_state=0).fit(X, y)
    made = MarginDistributionDisplay.from_estimator(model, X, y, ax=ax)
    np.testing.assert_allclose(
        made.margins["Perceptron"], y * model.decision_function(X) / np.linalg.norm(model.coef_)
    )
    assert "distance" in ax.get_xlabel()
    kernel = KernelPerceptron(kernel="polynomial", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="has a kernel, and no distances"):
        MarginDistributionDisplay.from_estimator(kernel, X, y, ax=ax)
    own = MarginDistributionDisplay.from_estimator(kernel, X, y, kind="geometric", ax=ax)
    assert np.array_equal(
        own.margins["KernelPerceptron"], theory.margins(kernel, X, y, kind="geometric").values
    )


# ---------------------------------------------------------------------------------------------- images


def test_images_are_the_weights_and_signs_show_in_grey(ax):
    X, y = np.eye(6), [0, 1, 2, 2, 1, 0]
    clf = Perceptron(random_state=0, multiclass="ovr").fit(X, y)
    made = WeightsImageDisplay.from_estimator(clf, shape=(2, 3), ax=ax)
    assert np.array_equal(made.images, clf.coef_.reshape(3, 2, 3))
    assert made.limit == np.abs(clf.coef_).max()
    for image, shown in zip(made.images_, made.images, strict=True):
        assert np.array_equal(image.get_array(), shown) and image.get_clim() == (-made.limit, made.limit)
    grey = [
        made.images_[0].cmap(x)[:3] @ np.array([0.299, 0.587, 0.114]) for x in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    assert all(b - a > 0.1 for a, b in itertools.pairwise(grey))  # the larger, the lighter
    assert [text.get_text() for text in made.texts_] == ["0", "1", "2"]
    boxes = [image.get_extent() for image in made.images_]
    assert all(a[1] < b[0] for a, b in itertools.pairwise(boxes))  # side by side
    assert made.colorbar_ is not None


def test_one_image_for_two_classes(ax):
    clf = Perceptron(random_state=0).fit(np.eye(4), ["a", "b", "a", "b"])
    made = WeightsImageDisplay.from_estimator(clf, ax=ax, colorbar=False)
    assert made.images.shape == (1, 2, 2) and made.labels == ["b against a"] and made.colorbar_ is None
    assert made.title == "Perceptron: positive pixels speak for b, negative ones for a"
    assert WeightsImageDisplay.from_estimator(clf, ax=ax, labels=["w"]).labels == ["w"]


def test_images_that_are_refused(ax):
    clf = Perceptron(random_state=0).fit(np.eye(3), [0, 1, 0])
    with pytest.raises(ValueError, match=r"3 weights make no square; give shape=\(height, width\)"):
        WeightsImageDisplay.from_estimator(clf, ax=ax)
    with pytest.raises(ValueError, match="shape must have 3 pixels"):
        WeightsImageDisplay.from_estimator(clf, shape=(2, 2), ax=ax)
    with pytest.raises(ValueError, match="with coef_"):
        WeightsImageDisplay.from_estimator(Perceptron(), ax=ax)
    with pytest.raises(ValueError, match="with k labels"):
        WeightsImageDisplay(images=np.ones((2, 3, 3)), labels=["a"])


# ----------------------------------------------------------------------------------------------- words


def test_the_strongest_words_of_two_labels(ax):
    clf = texts()
    made = TopFeaturesDisplay.from_estimator(clf, n=2, ax=ax)
    assert made.features == clf.strongest(2) and made.signed
    spam, ham = made.bars_
    assert (spam.get_label(), ham.get_label()) == ("for spam", "for ham")
    assert [bar.get_width() for bar in spam] == [weight for _, weight in made.features["spam"]]
    assert [bar.get_width() for bar in ham] == [-weight for _, weight in reversed(made.features["ham"])]
    words = [tick.get_text() for tick in ax.get_yticklabels()]
    expected = [word for word, _ in made.features["spam"]]
    assert words == expected + [word for word, _ in reversed(made.features["ham"])]
    assert spam[0].get_hatch() != ham[0].get_hatch()


def test_the_strongest_features_of_weights(ax):
    X, y = np.eye(4), ["a", "b", "c", "c"]
    clf = Perceptron(random_state=0).fit(X, y)
    made = TopFeaturesDisplay.from_estimator(clf, n=1, feature_names=["p", "q", "r", "s"], ax=ax)
    assert not made.signed and made.title == "What speaks most for a, b, c"
    for label, w in zip("abc", clf.coef_, strict=True):
        ((name, weight),) = made.features[label]
        assert weight == w.max() and "pqrs"[int(w.argmax())] == name
    chosen = TopFeaturesDisplay.from_estimator(clf, labels=["c", "a"], ax=ax)
    assert list(chosen.features) == ["c", "a"] and chosen.features["a"][0][0].startswith("x")


def test_the_bars_of_an_explanation_add_up(ax):
    clf = texts()
    made = ExplanationDisplay.from_estimator(clf, "buy pills at noon", n=2, ax=ax)
    found = clf.explain("buy pills at noon")
    kept, left = found.contributions[:2], len(found.contributions) - 2
    assert made.words == [*(c.feature for c in kept), f"{left} more", "(intercept)"]
    assert sum(bar.get_width() for bar in made.bars_) == pytest.approx(found.score)
    assert all(bool(bar.get_hatch()) == (bar.get_width() < 0.0) for bar in made.bars_)


def test_words_that_would_be_formulas_or_too_long(ax):
    words = ["$x^2$", "a" * 60, "tab\there"]
    found = Explanation("b", "b", -1.0, 0.0, [Contribution(word, 1.0, -1 / 3, -1 / 3) for word in words])
    made = ExplanationDisplay(explanation=found).plot(ax)
    shown = [tick.get_text() for tick in ax.get_yticklabels()]
    assert shown == [r"\$x^2\$", "a" * 27 + "…", r"tab\there"]
    assert made.title == "Predicted b: the score is −1, and a positive one means b"
    made.figure_.canvas.draw()


def test_words_that_are_refused(ax):
    nameless = TextClassifier(random_state=0, bits=8).fit(MAIL, LABELS)
    with pytest.raises(AttributeError, match="keep_names=True"):
        TopFeaturesDisplay.from_estimator(nameless, ax=ax)
    with pytest.raises(ValueError, match="no label 'eggs'; its labels are ham, spam"):
        TopFeaturesDisplay.from_estimator(texts(), labels=["eggs"], ax=ax)
    with pytest.raises(ValueError, match="n must be at least 1"):
        TopFeaturesDisplay.from_estimator(texts(), n=0, ax=ax)
    with pytest.raises(ValueError, match="n must be at least 1"):
        ExplanationDisplay.from_estimator(texts(), "a", n=0, ax=ax)
    with pytest.raises(ValueError, match="must be a TextClassifier"):
        ExplanationDisplay.from_estimator(Perceptron(), "a", ax=ax)
    with pytest.raises(ValueError, match="neither"):
        TopFeaturesDisplay.from_estimator(Perceptron(), ax=ax)
    with pytest.raises(ValueError, match="name 4 columns; got 1"):
        clf = Perceptron(random_state=0).fit(np.eye(4), [0, 1, 0, 1])
        TopFeaturesDisplay.from_estimator(clf, feature_names=["a"], ax=ax)
    with pytest.raises(ValueError, match="one feature at least"):
        TopFeaturesDisplay(features={"a": []})
