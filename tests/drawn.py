"""A small picture of each kind."""

from __future__ import annotations

import numpy as np

from perceptrons import MaxMargin, Perceptron, TextClassifier, datasets, plots

MAIL = ["cheap pills, buy now", "lunch at noon?", "buy cheap watches", "notes of the meeting at noon"]
LABELS = ["spam", "ham", "spam", "ham"]


def texts():
    return TextClassifier(random_state=0, keep_names=True, bits=10).fit(MAIL, LABELS)


def halfspace(**kwargs):
    X, y, *_ = datasets.three_points()
    return plots.HalfspaceDisplay.from_estimator(MaxMargin().fit(X, y), X, y, **kwargs)


def margins(**kwargs):
    X, y, *_ = datasets.three_points()
    models = [MaxMargin().fit(X, y), Perceptron(random_state=0).fit(X, y)]
    return plots.MarginDistributionDisplay.from_estimators(models, X, y, **kwargs)


def images(**kwargs):
    X = np.eye(4)
    return plots.WeightsImageDisplay.from_estimator(Perceptron(random_state=0).fit(X, [0, 1, 2, 2]), **kwargs)


def top_features(**kwargs):
    return plots.TopFeaturesDisplay.from_estimator(texts(), **kwargs)


def explanation(**kwargs):
    return plots.ExplanationDisplay.from_estimator(texts(), "buy pills at noon", **kwargs)


DISPLAYS = {
    "HalfspaceDisplay": halfspace,
    "MarginDistributionDisplay": margins,
    "WeightsImageDisplay": images,
    "TopFeaturesDisplay": top_features,
    "ExplanationDisplay": explanation,
}


def display(name, **kwargs):
    """The picture of one kind; ``ax=`` says where."""
    return DISPLAYS[name](**kwargs)
