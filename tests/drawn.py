"""A small picture of each kind."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from perceptrons import AROW, MaxMargin, Perceptron, TextClassifier, datasets, plots

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


def traced(X, y, bias=0.0, u=None, epochs=20):
    """What ``trace`` records of a perceptron with rate 1, as far as the displays read it."""
    Z = np.column_stack([X, np.full(len(X), bias)])
    w, path, record = np.zeros(Z.shape[1]), [np.zeros(Z.shape[1])], []
    for epoch in range(epochs):
        for i, (z, label) in enumerate(zip(Z, y, strict=True)):
            mistake = label * (w @ z) <= 0.0
            w = w + label * z * mistake
            path.append(w)
            record.append((epoch, i, mistake))
        if not any(mistake for e, _, mistake in record if e == epoch):
            break
    epoch, row, mistake = map(np.array, zip(*record, strict=True))
    path, k = np.array(path), np.cumsum(mistake)
    norms = np.linalg.norm(path, axis=1)
    low = np.array([(y * (Z @ v)).min() for v in path[1:]]) / norms[1:]
    ends = np.append(np.diff(epoch) > 0, True)
    R = np.linalg.norm(Z, axis=1).max()
    found = SimpleNamespace(
        epoch=epoch, row=row, n_mistakes=k, n_updates=k, w=path, dual=None, X=X, y=y, bias=bias, unit=False,
        radius=R, classes=np.unique(y), learner="Perceptron(shuffle=False)", proof=None, norm2=norms[1:] ** 2,
        gamma_low=np.where(ends, np.where(low > 0.0, low, -np.inf), np.nan), gamma_up=norms[1:] / k,
    )  # fmt: skip
    if u is not None:
        u = np.append(u, np.zeros(Z.shape[1] - len(u))) / np.linalg.norm(u)
        gamma, counts = (y * (Z @ u)).min(), np.append(0, k)
        found.proof = SimpleNamespace(
            u=u, gamma=gamma, radius=R, crossing=int((R / gamma) ** 2) + 1, dot=path @ u, norm=norms,
            dot_bound=gamma * counts, norm_bound=R * np.sqrt(counts),
        )  # fmt: skip
    return found


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
