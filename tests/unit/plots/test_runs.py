"""Runs, visit by visit: mistakes and their bounds, the convergence proof, brackets, errors of learners."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn import four_points_traced, traced
from sklearn.linear_model import SGDClassifier

from perceptrons import (
    AROW,
    MIRA,
    MarginPerceptron,
    MaxMargin,
    Perceptron,
    RiskDescent,
    datasets,
    trace,
)
from perceptrons.io import FitReport
from perceptrons.plots import (
    ConvergenceProofDisplay,
    MarginBracketDisplay,
    MistakeCurveDisplay,
    ProgressiveErrorDisplay,
)
from perceptrons.proofs import run_online
from perceptrons.theory import mira as mira_bound

pytestmark = pytest.mark.uncompiled


def texts(legend):
    return [text.get_text() for text in legend.get_texts()]


# -------------------------------------------------------------------------------------------- mistakes


def test_mistakes_are_counted_under_their_bound(ax):
    made = MistakeCurveDisplay.from_trace(four_points_traced(), ax=ax)
    visits, counts = made.line_.get_data()
    assert visits.tolist() == list(range(9)) and counts.tolist() == [0, 1, 1, 1, 2, 2, 2, 2, 2]
    assert made.bounds_["Novikoff's theorem"].get_ydata().tolist() == [5.0, 5.0]  # (√5/1)², and u = (1, 0)
    assert made.title == "Perceptron: 2 mistakes; at most 5 by Novikoff's theorem"
    assert made.epoch_ends == [4] and ax.get_yscale() == "linear"
    assert texts(made.legend_) == ["mistakes", "allowed by Novikoff's theorem", "end of an epoch"]


def test_bounds_of_any_kind(ax):
    made = MistakeCurveDisplay(
        mistakes=[1, 1, 2], bounds={"a": [4.0, 5.0, 6.5], "b": np.inf, "c": 80.0}
    ).plot(ax)
    assert list(made.bounds_) == ["a", "c"] and made.bounds_["a"].get_ydata().tolist() == [4.0, 5.0, 6.5]
    assert made.title == "2 mistakes; at most 6 by a" and made.epochs_ is None
    assert MistakeCurveDisplay(mistakes=[1]).plot(ax).title == "1 mistake in 1 visit"
    far = MistakeCurveDisplay(mistakes=[1, 2], bounds={"far": 1000.0})
    assert far.plot(plt.figure().subplots()).ax_.get_yscale() == "log"
    assert far.plot(plt.figure().subplots(), yscale="linear").ax_.get_ylim()[0] == 0.0
    with pytest.raises(ValueError, match="'x' must be a number, or one per visit"):
        MistakeCurveDisplay(mistakes=[1, 2], bounds={"x": [1.0]})
    with pytest.raises(ValueError, match="one count per visit"):
        MistakeCurveDisplay(mistakes=[])


def test_mistakes_in_the_online_protocol(ax):
    X, y, *_ = datasets.four_points()
    run = run_online(Perceptron(fit_intercept=False), zip(X, y, strict=True), classes=[-1, 1])
    made = MistakeCurveDisplay.from_run(run, u=[1.0, 0.0], gamma=1.0, ax=ax)
    assert made.mistakes.tolist() == run.curve.tolist()
    expected = run.bounds(u=[1.0, 0.0], gamma=1.0)
    assert made.bounds["Novikoff's theorem"].tolist() == expected.novikoff.tolist()
    assert len(made.bounds) == 3 and made.name == "Perceptron"


def test_the_theorem_of_each_learner(ax):
    X, y, *_ = datasets.four_points()
    made = MistakeCurveDisplay.from_estimator(Perceptron(shuffle=False, fit_intercept=False), X, y, ax=ax)
    assert made.title == "Perceptron: 2 mistakes; at most 5 by Novikoff's theorem"
    R2, gamma = 5.0, 1.0  # the best w is (1, 0)
    mira = MistakeCurveDisplay.from_estimator(MIRA(p=0.5, fit_intercept=False, random_state=0), X, y, ax=ax)
    assert mira.bounds["the bound of MIRA"][0] == pytest.approx(mira_bound(np.sqrt(R2), gamma, 0.5), rel=1e-6)
    X, y, *_ = datasets.three_classes(9)
    several = MistakeCurveDisplay.from_estimator(Perceptron(random_state=0), X, y, ax=ax)
    (bound,) = several.bounds.values()
    assert several.mistakes[-1] <= bound[0] < np.inf and "Crammer and Singer's theorem" in several.bounds
    assert MistakeCurveDisplay.from_estimator(AROW(max_iter=1), X, y, ax=ax).bounds == {}
    rest = Perceptron(random_state=0, multiclass="ovr")
    assert MistakeCurveDisplay.from_estimator(rest, X, y, ax=ax).bounds == {}
    with pytest.raises(TypeError, match="RiskDescent"):
        MistakeCurveDisplay.from_estimator(RiskDescent(), X, y, ax=ax)


# ----------------------------------------------------------------------------------------------- proof


def test_the_two_sides_of_the_proof(ax):
    found = four_points_traced()
    made = ConvergenceProofDisplay.from_trace(found, ax=ax)
    assert made.k.tolist() == [0, 1, 2]  # one entry per update
    w = found.w[[0, 1, 4]]
    assert made.dot.tolist() == w[:, 0].tolist() and np.allclose(made.norm, np.linalg.norm(w, axis=1))
    assert np.all(made.dot_bound <= made.dot) and np.all(made.norm <= made.norm_bound + 1e-12)
    assert made.lines_["dot"].get_ydata().tolist() == made.dot.tolist()
    assert np.ravel(made.crossing_.get_data()) == pytest.approx([5.0, 5.0])  # k = R²/γ², where kγ = √k·R
    assert made.title == "Perceptron: kγ passes √k·R at k = 6: at most 5 updates; 2 were made"
    assert ax.get_xscale() == ax.get_yscale() == "linear"
    assert len({(line.get_color(), line.get_linestyle()) for line in made.lines_.values()}) == 4


def test_the_margin_perceptron_has_another_bound(ax):
    X, y, *_ = datasets.clouds_near(10)
    found = trace(MarginPerceptron(random_state=0), X, y, u="max-margin")
    made = ConvergenceProofDisplay.from_trace(found, ax=ax)
    assert made.crossing_ is None and "passes the bound on ‖w‖ at k = " in made.title
    assert made.crossing == found.proof.crossing
    assert "bound on $\\|w_k\\|$" in texts(made.legend_) and "$\\sqrt{k}\\,R$" not in texts(made.legend_)
    assert all(tick == int(tick) for tick in ax.get_xticks())


def test_a_run_that_goes_on(ax):
    X, y, *_ = datasets.four_points()
    cut = trace(Perceptron(shuffle=False, fit_intercept=False), X, y, u=[1.0, 0.0], max_steps=3)
    assert ConvergenceProofDisplay.from_trace(cut, ax=ax).title.endswith(
        "at most 5 updates; 1 was made so far"
    )
    made = MistakeCurveDisplay.from_trace(cut, ax=ax)
    assert made.title == "Perceptron: 1 mistake so far; at most 5 by Novikoff's theorem"


def test_a_far_crossing_is_seen_on_logarithmic_axes(ax):
    X, y, *_ = datasets.clouds_far(10)
    u = MaxMargin(fit_intercept=False).fit(np.column_stack([X, np.ones(len(X))]), y).coef_[0]
    made = ConvergenceProofDisplay.from_trace(traced(X, y, bias=1.0, u=u), ax=ax)
    assert made.crossing > 15 * made.k[-1] and ax.get_xscale() == "log"
    at, _ = np.ravel(made.crossing_.get_data())
    assert made.crossing - 1 <= at < made.crossing + 1e-6


def test_bounds_of_another_form_are_not_drawn_on(ax):
    made = ConvergenceProofDisplay(
        k=[0, 1, 2], dot=[0, 1, 2], dot_bound=[0, 1, 2], norm=[0, 1, 2], norm_bound=[0, 5, 6], crossing=9
    ).plot(ax)
    assert made.crossing_ is None
    none = ConvergenceProofDisplay(k=[0], dot=[0], dot_bound=[0], norm=[0], norm_bound=[0]).plot(ax)
    assert none.title == "⟨u, w⟩ and ‖w‖ stay between their bounds in 0 updates"


def test_no_proof_no_picture(ax):
    X, y, *_ = datasets.four_points()
    for found, told in [
        (trace(Perceptron(shuffle=False), X, y, u=[0.0, 1.0]), "no positive margin on these rows"),
        (trace(AROW(max_iter=1), X, y, u=[1.0, 0.0]), "proof of AROW is about other vectors"),
        (trace(Perceptron(), X, y), "give trace"),
    ]:
        with pytest.raises(ValueError, match=told):
            ConvergenceProofDisplay.from_trace(found, ax=ax)
        assert MistakeCurveDisplay.from_trace(found, ax=ax).bounds == {}
    with pytest.raises(ValueError, match="one entry per number of updates"):
        ConvergenceProofDisplay(k=[0, 1], dot=[0], dot_bound=[0], norm=[0], norm_bound=[0])


# --------------------------------------------------------------------------------------------- bracket


def test_a_bracket_keeps_its_best_ends(ax):
    made = MarginBracketDisplay(low=[-np.inf, 0.2, np.nan, 0.1], up=[np.inf, 1.0, 0.7, 0.8]).plot(ax)
    assert np.array_equal(made.best_low, [np.nan, 0.2, 0.2, 0.2], equal_nan=True)
    assert np.array_equal(made.best_up, [np.nan, 1.0, 0.7, 0.7], equal_nan=True)
    assert np.array_equal(made.lines_["up"].get_ydata(), made.best_up, equal_nan=True)
    assert made.fill_ is not None and ax.get_ylim()[0] == 0.0
    assert made.title == "After 4 visits the best margin is between 0.2 and 0.7"


def test_the_bracket_of_a_run(ax):
    made = MarginBracketDisplay.from_trace(four_points_traced(), ax=ax)
    assert made.best_low[-1] == pytest.approx(1 / np.sqrt(5)) and made.best_up[-1] == pytest.approx(
        np.sqrt(5) / 2
    )
    assert made.title == "Perceptron: after 8 visits the best margin is between 0.447 and 1.12 (given rows)"
    assert len(texts(made.legend_)) == 3


def test_the_bracket_of_several_classes_says_so(ax):
    X, y, *_ = datasets.three_classes(6)
    together = MarginBracketDisplay.from_trace(trace(Perceptron(random_state=0), X, y), ax=ax)
    assert together.space == "augmented rows, joint"


def test_a_bracket_with_one_end_or_none(ax):
    up = MarginBracketDisplay(low=None, up=[1.0, 0.5]).plot(ax)
    assert up.title == "After 2 visits the best margin is at most 0.5" and list(up.lines_) == ["up"]
    low = MarginBracketDisplay(low=[0.5], up=None).plot(ax)
    assert low.title == "After 1 visit the best margin is at least 0.5" and low.fill_ is None
    assert MarginBracketDisplay(low=[-np.inf], up=[np.inf]).plot(ax).title.endswith("is not known")
    with pytest.raises(ValueError, match="a lower or an upper end"):
        MarginBracketDisplay(low=None, up=None)
    with pytest.raises(ValueError, match="one number per visit"):
        MarginBracketDisplay(low=[1.0], up=[1.0, 2.0])
    X, y, *_ = datasets.three_classes(6)
    with pytest.raises(ValueError, match="AROW proves nothing about the best margin"):
        MarginBracketDisplay.from_trace(trace(AROW(max_iter=1), X, y > 0), ax=ax)
    with pytest.raises(ValueError, match="one class against the rest"):
        MarginBracketDisplay.from_trace(trace(Perceptron(multiclass="ovr", max_iter=2), X, y), ax=ax)


# -------------------------------------------------------------------------------------- several learners


def test_rows_are_predicted_before_they_are_learned(ax):
    X, y, *_ = datasets.overlapping_clouds(40)
    models = {"mine": Perceptron(), "other": SGDClassifier(random_state=0)}
    made = ProgressiveErrorDisplay.from_estimators(models, X, y, points=6, ax=ax)
    ends = made.curves["mine"].examples
    assert ends[0] == 1 and ends[-1] == 40 and not hasattr(models["mine"], "classes_")
    expected = [Perceptron().partial_fit(X[:n], y[:n], classes=[-1, 1]).progressive_errors_ for n in ends]
    assert made.curves["mine"].errors.tolist() == expected
    assert np.all(np.diff(made.curves["other"].errors) <= np.diff(ends))
    for name, line in zip(models, made.lines_, strict=True):
        curve = made.curves[name]
        assert np.allclose(line.get_data()[1], 100.0 * curve.errors / curve.examples)
        assert np.all(np.diff(curve.seconds) > 0.0)
    assert texts(made.legend_) == ["mine", "other"] and ax.get_xscale() == "log"
    again = made.plot(plt.figure().subplots(), against="seconds")
    assert np.array_equal(again.lines_[0].get_xdata(), made.curves["mine"].seconds)
    assert again.ax_.get_xlabel() == "seconds so far"


def test_errors_of_streams(ax):
    records = [
        {"rows": 5, "validated": 0, "errors": 0, "mistakes": 3},
        {"rows": 20, "validated": 10, "errors": 5, "mistakes": 8},
    ]
    report = FitReport(curve=records)
    made = ProgressiveErrorDisplay.from_reports({"AROW": report}, ax=ax)
    assert made.curves["AROW"].examples.tolist() == [10] and made.curves["AROW"].seconds is None
    assert made.title == "Each row predicted before it is learned: 50 % of 10 wrong" and made.legend_ is None
    with pytest.raises(ValueError, match="Seconds were not measured"):
        made.plot(ax, against="seconds")
    with pytest.raises(ValueError, match="no curve"):
        ProgressiveErrorDisplay.from_reports({"AROW": FitReport()}, ax=ax)


def test_what_is_refused(ax):
    X, y, *_ = datasets.four_points()
    with pytest.raises(ValueError, match="MaxMargin has no partial_fit"):
        ProgressiveErrorDisplay.from_estimators([MaxMargin()], X, y, ax=ax)
    with pytest.raises(ValueError, match="points must be at least 2"):
        ProgressiveErrorDisplay.from_estimators([AROW()], X, y, points=1, ax=ax)
    with pytest.raises(ValueError, match="one learner at least"):
        ProgressiveErrorDisplay(curves={})
    with pytest.raises(ValueError, match="arrays of one length"):
        ProgressiveErrorDisplay(curves={"a": ([1, 2], [1])})
    with pytest.raises(ValueError, match="'examples' or 'seconds'"):
        ProgressiveErrorDisplay(curves={"a": ([1, 2], [1, 1])}).plot(ax, against="rows")
