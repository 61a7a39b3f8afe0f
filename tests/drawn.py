"""A small picture of each kind."""

from __future__ import annotations

import numpy as np

from perceptrons import AROW, MaxMargin, Perceptron, TextClassifier, datasets, plots, trace

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


def traced(X, y, bias=0.0, u=None):
    """A perceptron that visits the rows in their order; ``bias`` is the constant coordinate."""
    learner = Perceptron(shuffle=False, fit_intercept=bool(bias), intercept_scaling=bias or 1.0)
    return trace(learner, X, y, u=u)


def four_points_traced():
    X, y, *_ = datasets.four_points()
    return traced(X, y, u=[1.0, 0.0])


def weight_space(**kwargs):
    return plots.WeightSpaceDisplay.from_trace(four_points_traced(), **kwargs)


def risk_surface(**kwargs):
    X, y, *_ = datasets.four_points()
    path = [[-1.0, 2.0], [1.0, 2.0], [2.0, 1.0]]
    return plots.RiskSurfaceDisplay.from_data(X, y, path=path, grid_resolution=30, **kwargs)


def mistakes(**kwargs):
    return plots.MistakeCurveDisplay.from_trace(four_points_traced(), **kwargs)


def proof(**kwargs):
    return plots.ConvergenceProofDisplay.from_trace(four_points_traced(), **kwargs)


def bracket(**kwargs):
    return plots.MarginBracketDisplay.from_trace(four_points_traced(), **kwargs)


def progressive(**kwargs):
    X, y, *_ = datasets.overlapping_clouds(20)
    return plots.ProgressiveErrorDisplay.from_estimators([Perceptron(), AROW()], X, y, points=4, **kwargs)


DISPLAYS = {
    "HalfspaceDisplay": halfspace,
    "WeightSpaceDisplay": weight_space,
    "RiskSurfaceDisplay": risk_surface,
    "MistakeCurveDisplay": mistakes,
    "ConvergenceProofDisplay": proof,
    "MarginBracketDisplay": bracket,
    "ProgressiveErrorDisplay": progressive,
    "MarginDistributionDisplay": margins,
    "WeightsImageDisplay": images,
    "TopFeaturesDisplay": top_features,
    "ExplanationDisplay": explanation,
}


def display(name, **kwargs):
    """The picture of one kind; ``ax=`` says where."""
    return DISPLAYS[name](**kwargs)
