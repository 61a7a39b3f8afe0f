r"""`advise`: measure what each treatment of the rows does to R, γ and R²/γ² on the data given.

The perceptron makes at most :math:`R^2/\gamma^2` updates, so whatever shrinks the rows or widens the margin
makes learning shorter. Which treatment does is a question of the data: centring usually helps and can
hurt. So each is applied, its margin is bracketed, and a perceptron is run.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

import numpy as np
import numpy.typing as npt

from .._sparse import as_floats, is_sparse
from .._types import Matrix, MatrixLike
from ..theory._outward import float64_rounds
from ..theory.triviality import SAYS_NOTHING, says_nothing
from . import _measuring as measuring
from . import _treatments as treating
from ._measuring import Feature, MeasuredLearner, TreatedRows, Treatment
from ._tables import down, html_table, text_table, up

__all__ = ["Advice", "Treatment", "advise"]

#: a B of ``intercept_scaling="auto"`` below this belongs to rows that are short beside B = 1
SHORT = 0.5


@dataclass(frozen=True, repr=False)
class Advice:
    """What :func:`advise` found; print it, or look at it in a notebook."""

    treatments: list[Treatment]  #: the first is the data as given, with the constant coordinate 1
    learners: list[MeasuredLearner]  #: perceptron and balanced Winnow, on the data as given
    features: list[Feature]  #: the features that make the rows longest, on the data as given
    verdict: str  #: of the data as given: "separable", "not separable" or "undecided"
    sentences: list[str]  #: what follows from the numbers
    notes: list[str]  #: what was left out, and why
    n_rows: int
    n_features: int

    @property
    def best(self) -> Treatment:
        """The treatment with the shortest run."""
        return min(self.treatments, key=_work)

    def __getitem__(self, name: str) -> Treatment:
        for treatment in self.treatments:
            if treatment.name == name:
                return treatment
        known = ", ".join(repr(t.name) for t in self.treatments)
        raise KeyError(f"no treatment is called {name!r}; there are {known}.")

    def __repr__(self) -> str:
        return f"<Advice on {self.n_rows} x {self.n_features}, {self.verdict}: {self.best.name} is best>"

    def __str__(self) -> str:
        parts = [f"{self.n_rows} rows, {self.n_features} features: {self.verdict}"]
        parts += [text_table(head, rows) for head, rows in self._tables()]
        parts.append("\n".join(f"* {sentence}" for sentence in self.sentences))
        if self.notes:
            parts.append("\n".join(f"  {note}" for note in self.notes))
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        title = f"<p>{self.n_rows} rows, {self.n_features} features: <b>{escape(self.verdict)}</b></p>"
        tables = "".join(html_table(head, rows) for head, rows in self._tables())
        items = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.sentences)
        notes = "".join(f"<p><small>{escape(note)}</small></p>" for note in self.notes)
        return f"{title}{tables}<ul>{items}</ul>{notes}"

    def _tables(self) -> Iterator[tuple[list[str], list[list[str]]]]:
        hinge = any(t.hinge is not None for t in self.treatments)
        head = ["treatment", "R", "γ low", "γ up", "R²/γ² ≥", "R²/γ² ≤"]
        head += ["hinge, pass 1"] * hinge + ["mistakes, pass 1", "updates"]
        rows = []
        for t in self.treatments:
            low, above = (t.gamma_low if t.separable else None), (0.0 if t.refuted else t.gamma_up)
            cells = [t.name, up(t.R), down(low), up(above)]
            cells += ["-", "-"] if t.refuted else [down(t.ratio_low), up(t.ratio_up)]
            cells += [up(t.hinge)] * hinge + [str(t.first_pass), _count(t.updates, t.clean)]
            rows.append(cells)
        yield head, rows
        if self.learners:
            head = ["learner", "norms", "radius", "γ low", "γ up", "bound ≥", "bound ≤", "updates"]
            yield (
                head,
                [
                    [
                        *(p.name, p.norms, up(p.radius), down(p.gamma_low), up(p.gamma_up)),
                        *(down(p.bound_low), up(p.bound_up), _count(p.updates, p.clean)),
                    ]
                    for p in self.learners
                ],
            )
        if self.features:
            yield (
                ["feature", "of squared length", "of the margin"],
                [
                    [str(f.column), f"{100 * f.length_share:.1f} %", f"{100 * f.margin_share:.1f} %"]
                    for f in self.features
                ],
            )


def _count(n: int, clean: bool) -> str:
    return str(n) if clean else f">{n}"


def _work(t: Treatment) -> tuple[bool, int, float]:
    """Clean runs first, by updates; then the others, by mistakes of the first pass."""
    return (False, t.updates, t.ratio_up) if t.clean else (True, t.first_pass, math.inf)


# -------------------------------------------------------------------------------------- in words


def _compare(a: Treatment, b: Treatment) -> int:
    """-1: a takes clearly less work than b, 1: clearly more, 0: another order might reverse it.

    Counts of a and b differ by chance by about the root of a + b; twice that is clear.
    """
    if a.clean != b.clean:
        return -1 if a.clean else 1
    x, y = (a.updates, b.updates) if a.clean else (a.first_pass, b.first_pass)
    return 0 if abs(x - y) <= 2.0 * math.sqrt(x + y) else (-1 if x < y else 1)


def _move(before: Treatment, after: Treatment) -> str:
    """What became of R²/γ²."""
    if not before.separable and not after.separable:
        return f"mistakes of the first pass go from {before.first_pass} to {after.first_pass}"
    if not before.separable:
        return f"R²/γ² is {up(after.ratio_up)} where no separator was found before"
    if not after.separable:
        return "no separator is found any more"
    return f"R²/γ² goes from {up(before.ratio_up)} to {up(after.ratio_up)}"


def _sentences(
    treatments: list[Treatment],
    learners: list[MeasuredLearner],
    features: list[Feature],
    verdict: str,
    n_rows: int,
) -> list[str]:
    base = treatments[0]
    named = {t.name: t for t in treatments}
    out = [_diagnosis(base, verdict, n_rows), *_prescription(base, treatments[1:])]
    for name in ("centred at the mean", "centred between the classes"):
        if name in named:
            out.append(f"{name.capitalize()}: {_move(base, named[name])}.")
    if "unit variance" in named:
        out.append(f"Unit variance: {_move(base, named['unit variance'])}.{_why(base, named, features)}")
    if learners:
        out.append(_favour(*learners))
    elif not base.separable:
        out.append(
            "Perceptron or Winnow: the margins that would decide need a separator, and none was found."
        )
    return out


def _diagnosis(base: Treatment, verdict: str, n_rows: int) -> str:
    """What the data are as given."""
    if verdict == "separable":
        return (
            f"As given, a separator of margin {down(base.gamma_low)} was found and none has more than "
            f"{up(base.gamma_up)}: the perceptron needs at most {up(base.ratio_up)} updates, and "
            f"{'made' if base.clean else 'had made'} {base.updates}{'' if base.clean else ' when stopped'}."
        )
    known = (
        "no plane separates the rows (proved in whole numbers), so R²/γ² bounds nothing"
        if verdict == "not separable"
        else f"no separator was found, and none has a margin above {up(base.gamma_up)}: the rows may "
        "or may not be separable"
    )
    allows = f"allows {up(base.hinge)} mistakes in the first pass; there were {base.first_pass}"
    if base.hinge is not None and says_nothing(base.hinge, n_rows):
        allows = f"{SAYS_NOTHING} about the {base.first_pass} mistakes in the first pass"
    return f"As given, {known}. The hinge bound {allows}."


def _prescription(base: Treatment, others: list[Treatment]) -> Iterator[str]:
    """What would shrink the work: the best first, then the rest, then what makes no difference or harm."""
    better = sorted((t for t in others if _compare(t, base) < 0), key=_work)
    same = [t for t in others if _compare(t, base) == 0]
    worse = sorted((t for t in others if _compare(t, base) > 0), key=_work)
    if better:
        best, *rest = better
        before = _effort(base).capitalize()
        yield f"Best: {best.name}, {best.how}. {before} as given, {_effort(best)} with it."
        if rest:
            listed = "; ".join(f"{t.name} ({_effort(t)}, {t.how})" for t in rest)
            yield f"Also less work, best first: {listed}."
    else:
        yield f"{_effort(base).capitalize()} as given. Nothing that was tried does clearly better."
    if same:
        listed = "; ".join(t.name for t in same)
        yield f"No clear difference, another order of the rows might turn it round: {listed}."
    if worse:
        yield "More work: " + "; ".join(t.name for t in worse) + "."


def _why(base: Treatment, named: dict[str, Treatment], features: list[Feature]) -> str:
    """Why unit variance moves the ratio: where the rows' length comes from, and where the margin does."""
    after = named["unit variance"]
    if not features or not after.separable:
        return ""
    f = features[0]
    shares = (
        f" Feature {f.column} makes up {100 * f.length_share:.1f} % of the squared length of the rows and "
        f"{100 * f.margin_share:.1f} % of the margin"
    )
    if after.ratio_up >= base.ratio_up:
        return shares + "; scaled alike, the features that matter less are as long as it is."
    if f.margin_share < f.length_share:
        return shares + ": it adds more to R than to γ, and equal variances take that away."
    return shares + "."


def _effort(t: Treatment) -> str:
    if t.clean:
        return f"{t.updates} update{'s' * (t.updates != 1)}"
    return f"no clean pass, {t.first_pass} mistakes in the first"


def _favour(perceptron: MeasuredLearner, winnow: MeasuredLearner) -> str:
    sides = (
        f"{down(perceptron.bound_low)} to {up(perceptron.bound_up)} against "
        f"{down(winnow.bound_low)} to {up(winnow.bound_up)}"
    )
    if perceptron.bound_up < winnow.bound_low:
        favoured = f"The bounds favour the perceptron: {sides}."
    elif winnow.bound_up < perceptron.bound_low:
        favoured = f"The bounds favour balanced Winnow: {sides}."
    else:
        favoured = f"The bounds of perceptron and balanced Winnow cannot be told apart: {sides}."
    return (
        f"{favoured} Measured: {_count(perceptron.updates, perceptron.clean)} against "
        f"{_count(winnow.updates, winnow.clean)} updates."
    )


# ------------------------------------------------------------------------------------------- advise


def advise(
    X: MatrixLike,
    y: npt.ArrayLike,
    *,
    max_time: float = 30.0,
    max_rows: int = 20_000,
    random_state: int | None = 0,
) -> Advice:
    r"""Measure what would shrink the number of updates of a perceptron on these data.

    Each treatment of the rows is applied in turn: other constant coordinates B (``intercept_scaling``), among
    them :math:`\sqrt{R|b|}`, for which :math:`R_{aug}^2/\gamma_{aug}^2 \le (R + |b|)^2/\gamma^2`; centring at
    the mean, and half way between the means of the classes; unit variance; rows of length 1; buckets; the
    kernel :math:`(1 + \langle x, z\rangle)^2`. For each the table has R, a bracket
    :math:`[\gamma_{low}, \gamma_{up}]` around the best margin, :math:`R^2/\gamma^2` at its ends, and the
    updates that a perceptron really made. Then the margins of the perceptron (L2 rows, L2 weights) and of
    balanced Winnow (L∞ rows, L1 weights) are compared through their bounds :math:`R^2/\gamma_2^2` and
    :math:`2X_\infty^2\ln(2n)/\gamma_1^2`.

    A note says when rows are so short that ``intercept_scaling="auto"`` is worth a try.

    Where no separator is found, the hinge bound of the first pass takes the place of :math:`R^2/\gamma^2`.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        CSR rows are never made dense: centring and bucketing are then left out.
    y : array-like of shape (n_samples,)
        Two labels.
    max_time : float, default=30.0
        Seconds, about; small data take less. A run that is stopped shows as ``>updates``.
    max_rows : int, default=20_000
        Of more rows a random part is taken, both classes in proportion. Their best margin is at least that of
        all rows.
    random_state : int or None, default=0
        Order of the rows in each epoch.

    Returns
    -------
    Advice
        ``print`` it; ``treatments``, ``learners``, ``features``, ``verdict``, ``sentences``, ``best``.

    Examples
    --------
    Two clouds, 25 away from the origin. Centring brings them back:

    >>> from perceptrons import advise, datasets
    >>> far = datasets.clouds_far()
    >>> advice = advise(far.X, far.y)
    >>> advice.verdict, round(advice.treatments[0].ratio_up)
    ('separable', 5834)
    >>> round(advice["centred at the mean"].ratio_up)
    10
    """
    X, y, notes = _intake(X, y, max_rows, random_state)
    if not 0.0 < max_time < math.inf:
        raise ValueError(f"max_time must be a positive number of seconds; got max_time={max_time!r}.")
    measuring.warm_up(X)
    end = time.monotonic() + max_time
    left = 13  # measurements to come

    def share() -> float:
        nonlocal left
        left = max(left - 1, 1)
        return max((end - time.monotonic()) / (left + 1), 0.05)

    if (auto := treating.auto_scaling(X)) < SHORT:
        notes.append(
            "Rows are short beside the constant coordinate B = 1, so that much of each step goes to the "
            f'intercept: try intercept_scaling="auto", which is {auto:.3g} here.'
        )
    measured = [measuring.measure("as given, B = 1", "", TreatedRows(X, y), share(), random_state)]

    def add(name: str, how: str, frame: TreatedRows) -> None:
        try:
            measured.append(measuring.measure(name, how, frame, share(), random_state))
        except ValueError as error:  # rows that no learner takes: squares out of range
            notes.append(f"{name} was left out: {error}")

    for work in (treating.scalings(measured[0], X, y), treating.treatments(X, y, notes)):
        for name, how, frame in work:
            add(name, how, frame)
    d = X.shape[1]
    products = d + d * (d + 1) // 2
    by_kernel = products > measuring.QUADRATIC or X.shape[0] * products > 20 * measuring.SMALL
    if not by_kernel:
        frame = treating.quadratic(X.toarray() if is_sparse(X) else X, y)
        add("degree 2", "KernelPerceptron(kernel=Polynomial(degree=2))", frame)
    measured = measuring.share_separators(measured)
    treatments = [m.treatment for m in measured]
    if by_kernel and X.shape[0] <= measuring.KERNEL_ROWS:
        try:
            treatments.append(measuring.by_kernel(X, y, share(), random_state))
        except ValueError as error:
            notes.append(f"degree 2 was left out: {error}")
    elif by_kernel:
        notes.append(f"The kernel of degree 2 was left out: more than {measuring.KERNEL_ROWS} rows.")
    base = measured[0]
    learners: list[MeasuredLearner] = []
    features: list[Feature] = []
    verdict = "not separable" if base.treatment.refuted else "undecided"
    if base.treatment.separable:
        verdict = "separable"
        rest = max(end - time.monotonic(), 0.1)  # nothing comes after it
        learners = measuring.learners(base.frame, base.treatment, rest, random_state)
        features = measuring.features(X, y, base)
    sentences = _sentences(treatments, learners, features, verdict, X.shape[0])
    return Advice(treatments, learners, features, verdict, sentences, notes, X.shape[0], d)


def _intake(
    X: MatrixLike, y: npt.ArrayLike, max_rows: int, seed: int | None
) -> tuple[Matrix, np.ndarray, list[str]]:
    given = X
    X = as_floats(X)
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"X must be a matrix of one row per example; got shape {X.shape}.")
    if not np.isfinite(X.data if is_sparse(X) else X).all():
        raise ValueError("X must hold finite numbers; it contains NaN or infinity.")
    y = np.asarray(y).ravel()
    if len(y) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, y has {len(y)} labels.")
    classes = np.unique(y)
    if len(classes) != 2:
        raise ValueError(
            f"advise looks at two classes; y holds {len(classes)}. Take one against the rest: "
            "advise(X, y == label)."
        )
    signs = np.where(y == classes[1], 1, -1)
    notes = []
    if float64_rounds(given):
        notes.append("Integers beyond 2**53 were rounded to float64: all of this is about the rounded rows.")
    if X.shape[0] > max_rows:
        rng = np.random.default_rng(seed)
        kept = [
            rng.permutation(np.flatnonzero(signs == s))[: max(1, round(max_rows * np.mean(signs == s)))]
            for s in (-1, 1)
        ]
        rows = np.sort(np.concatenate(kept))
        notes.append(
            f"{len(rows)} of {X.shape[0]} rows were drawn; the best margin of all rows is at most theirs."
        )
        X, signs = X[rows], signs[rows]
    return X, signs, notes
