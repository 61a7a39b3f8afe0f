"""Words with large weights, and where the score of a text comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from . import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._types import Label
    from ..text.explaining import Explanation

_LONGEST = 28  # letters of a feature that are shown


class TopFeaturesDisplay:
    """The features with the largest weights for each label.

    Two classes share one weight vector: features of the first label have negative weights there, and their
    bars go to the left.

    Parameters
    ----------
    features : dict of label to list of (str, float)
        For each label its features and their weights, the largest first.
    signed : bool, default=False
        Whether the weights of the first label are drawn as negative ones.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    bars_ : list of BarContainer
        The bars, label by label.
    legend_ : Legend or None
        Which bars are of which label.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from perceptrons import TextClassifier
    >>> from perceptrons.plots import TopFeaturesDisplay
    >>> mail = ["cheap pills, buy now", "lunch at noon?", "buy cheap watches", "notes of the meeting at noon"]
    >>> clf = TextClassifier(random_state=0, keep_names=True).fit(mail, ["spam", "ham", "spam", "ham"])
    >>> display = TopFeaturesDisplay.from_estimator(clf, n=2)
    >>> display.title
    'What speaks most for ham and for spam'
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, *, features: Mapping[Label, Sequence[tuple[str, float]]], signed: bool = False
    ) -> None:
        self.features = {label: list(found) for label, found in features.items()}
        self.signed = signed
        if not any(self.features.values()):
            raise ValueError("features must name one feature at least; all weights may be 0.")

    @property
    def title(self) -> str:
        """What the picture shows, in a sentence."""
        labels = [str(label) for label, found in self.features.items() if found]
        shown = labels[:4] + ["…"] * (len(labels) > 4)
        return f"What speaks most for {_listed(shown)}"

    @property
    def figure_size(self) -> tuple[float, float]:
        """Width and height in inches that suit the number of bars."""
        bars = sum(len(found) + 1 for found in self.features.values())
        return 6.4, max(3.0, 0.21 * bars + 1.4)

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        legend : bool, default=True
            Whether the labels are named.

        Returns
        -------
        self : TopFeaturesDisplay
        """
        ax = drawing.axes(ax, "TopFeaturesDisplay", self.figure_size)
        self.ax_, self.figure_ = ax, ax.figure
        self.bars_ = []
        places: list[int] = []
        words: list[str] = []
        # the label with the positive weights of two classes is above
        order = list(enumerate(self.features.items()))
        for i, (label, found) in reversed(order) if self.signed else order:
            if not found:
                continue
            own = (places[-1] + 2 if places else 0) + np.arange(len(found))
            sign = -1.0 if self.signed and i == 0 else 1.0
            found = found[::-1] if sign < 0.0 else found  # weights fall from the top to the bottom
            self.bars_.append(
                ax.barh(
                    own,
                    [sign * weight for _, weight in found],
                    color=drawing.cycled(drawing.CLASS_COLOURS, i),
                    hatch=drawing.cycled(drawing.CLASS_HATCHES, i),
                    edgecolor=drawing.BLACK,
                    linewidth=0.5,
                    label=f"for {label}",
                )
            )
            places += own.tolist()
            words += [_short(word) for word, _ in found]
        ax.set_yticks(places, words, fontsize="small")
        ax.set_ylim(places[-1] + 0.8, -0.8)
        ax.axvline(0.0, color=drawing.BLACK, linewidth=0.8)
        ax.grid(axis="x", alpha=0.3)
        ax.set_axisbelow(True)
        drawing.label_axes(ax, "weight", "")
        drawing.set_title(ax, self.title)
        self.legend_ = drawing.add_legend(ax, self.bars_, columns=5) if legend else None
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        n: int = 10,
        feature_names: Sequence[str] | None = None,
        labels: Sequence[Label] | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """The strongest features of a fitted model.

        Parameters
        ----------
        estimator : TextClassifier with ``keep_names=True``, or any fitted linear classifier
            It has ``strongest``, or ``coef_`` with one column per feature.
        n : int, default=10
            How many for each label.
        feature_names : sequence of str, default=None
            Names of the columns of ``coef_``; None: ``feature_names_in_``, or x1, x2 and so on.
        labels : sequence, default=None
            The labels that are shown; None: all.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`plot`.

        Returns
        -------
        display : TopFeaturesDisplay
        """
        drawing.needs_matplotlib("TopFeaturesDisplay")
        if n < 1:
            raise ValueError(f"n must be at least 1; got {n}.")
        if hasattr(estimator, "strongest"):
            found = estimator.strongest(n)
        else:
            found = _strongest(estimator, n, feature_names)
        signed = len(found) == 2
        if labels is not None:
            unknown = [label for label in labels if label not in found]
            if unknown:
                raise ValueError(
                    f"The model has no label {unknown[0]!r}; its labels are {', '.join(map(str, found))}."
                )
            signed = signed and len(labels) == 2
            found = {label: found[label] for label in (found if signed else labels)}
        return cls(features=found, signed=signed).plot(ax, **kwargs)


class ExplanationDisplay:
    """The score of one text as a sum: what each of its features adds.

    The bars add up to the score. Bars to the right speak for the label that a positive score means.

    Parameters
    ----------
    explanation : Explanation
        What :meth:`perceptrons.TextClassifier.explain` returns.
    n : int, default=15
        How many contributions have a bar of their own; the others are added up.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    bars_ : BarContainer
        The bars: the largest contributions, all others together, and the intercept.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from perceptrons import TextClassifier
    >>> from perceptrons.plots import ExplanationDisplay
    >>> mail = ["cheap pills, buy now", "lunch at noon?", "buy cheap watches", "notes of the meeting at noon"]
    >>> clf = TextClassifier(random_state=0).fit(mail, ["spam", "ham", "spam", "ham"])
    >>> display = ExplanationDisplay.from_estimator(clf, "buy pills at noon")
    >>> display.words[0]
    'at'
    >>> plt.close(display.figure_)
    """

    def __init__(self, *, explanation: Explanation, n: int = 15) -> None:
        if n < 1:
            raise ValueError(f"n must be at least 1; got {n}.")
        self.explanation, self.n = explanation, n
        kept, rest = explanation.contributions[:n], explanation.contributions[n:]
        self.words = [c.feature for c in kept]
        self.values = [float(c.contribution) for c in kept]
        if rest:
            self.words.append(f"{len(rest)} more")
            self.values.append(float(sum(c.contribution for c in rest)))
        if explanation.intercept:
            self.words.append("(intercept)")
            self.values.append(float(explanation.intercept))

    @property
    def title(self) -> str:
        """What the picture shows, in a sentence."""
        found = self.explanation
        score = f"{found.score:+.3g}".replace("-", "−")
        return f"Predicted {found.label}: the score is {score}, and a positive one means {found.towards}"

    @property
    def figure_size(self) -> tuple[float, float]:
        """Width and height in inches that suit the number of bars."""
        return 6.4, max(2.4, 0.24 * len(self.words) + 1.4)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.

        Returns
        -------
        self : ExplanationDisplay
        """
        ax = drawing.axes(ax, "ExplanationDisplay", self.figure_size)
        self.ax_, self.figure_ = ax, ax.figure
        places = np.arange(len(self.words))
        positive = [value >= 0.0 for value in self.values]
        self.bars_ = ax.barh(
            places,
            self.values,
            color=[drawing.CLASS_COLOURS[int(one)] for one in positive],
            hatch=[drawing.CLASS_HATCHES[int(one)] for one in positive],
            edgecolor=drawing.BLACK,
            linewidth=0.5,
        )
        ax.bar_label(self.bars_, fmt="%+.3g", padding=3, fontsize="small")
        ax.set_yticks(places, [_short(word) for word in self.words], fontsize="small")
        ax.set_ylim(len(self.words) - 0.2, -0.8)
        ax.margins(x=0.15)
        ax.axvline(0.0, color=drawing.BLACK, linewidth=0.8)
        drawing.label_axes(ax, f"contribution to the score of {self.explanation.towards}", "")
        drawing.set_title(ax, self.title)
        return self

    @classmethod
    def from_estimator(
        cls, estimator: Any, text: str | bytes, *, n: int = 15, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """The score of a text by a fitted model.

        Parameters
        ----------
        estimator : TextClassifier
            Or any other model with a method ``explain``.
        text : str or bytes
            The text.
        n : int, default=15
            How many contributions have a bar of their own.
        ax : matplotlib Axes, default=None
            Where to draw; None: in a new figure.
        **kwargs : dict
            For :meth:`plot`.

        Returns
        -------
        display : ExplanationDisplay
        """
        drawing.needs_matplotlib("ExplanationDisplay")
        if not hasattr(estimator, "explain"):
            raise ValueError(
                f"estimator must be a TextClassifier, which explains texts; got {type(estimator).__name__}."
            )
        return cls(explanation=estimator.explain(text), n=n).plot(ax, **kwargs)


def _strongest(estimator: Any, n: int, names: Sequence[str] | None) -> dict[Label, list[tuple[str, float]]]:
    """What ``TextClassifier.strongest`` returns, for any linear model."""
    coef = getattr(estimator, "coef_", None)
    if coef is None:
        raise ValueError(f"estimator must have strongest() or coef_; {type(estimator).__name__} has neither.")
    weights = np.atleast_2d(np.asarray(coef, dtype=float))
    d = weights.shape[1]
    if names is None:
        names = getattr(estimator, "feature_names_in_", None)
    words = [f"x{j + 1}" for j in range(d)] if names is None else [str(name) for name in names]
    if len(words) != d:
        raise ValueError(f"feature_names must name {d} columns; got {len(words)}.")
    if len(weights) == 1:
        weights = np.concatenate([-weights, weights])
    found = {}
    for label, w in zip(np.asarray(estimator.classes_).tolist(), weights, strict=True):
        best = np.argsort(-w, kind="stable")[:n]
        found[label] = [(words[j], float(w[j])) for j in best if w[j] > 0.0]
    return found


def _short(word: str) -> str:
    word = word if word.isprintable() else repr(word)[1:-1]
    word = word if len(word) <= _LONGEST else word[: _LONGEST - 1] + "…"
    return word.replace("$", r"\$")  # a dollar sign would begin a formula


def _listed(words: list[str]) -> str:
    return " and for ".join(words) if len(words) < 3 else ", ".join(words)
