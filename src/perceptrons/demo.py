r"""``make demo``: learners on data that need no download, with the theorems beside the counts.

Three groups of data: the toy sets of the lectures, breast cancer (two classes, standardised), digits (ten
classes). For each learner the table has its counts, and the smallest number of mistakes that a theorem
allows it. Every such bound needs a comparator: a vector u and its margins on the training rows. Any u gives a
valid bound, so all learners of a group use the best separator that one of them found; where none separates,
:math:`u = c\,w` for the learner's own w and the best c. The losses of u are summed over all visits to all
rows: summed over the mistakes alone, the bound would be least at u = 0, where it repeats the count.
"""

from __future__ import annotations

import math
import textwrap
import time
from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from . import datasets, kernels, rules, theory
from .estimators.aggressive import ALMA, MIRA, ROMMA, PassiveAggressive
from .estimators.budget import BudgetKernelPerceptron
from .estimators.confidence import AROW, SCW, SecondOrderPerceptron
from .estimators.kernel import KernelClassifier, KernelPerceptron
from .estimators.multiplicative import BalancedWinnow, Elimination, PNormPerceptron, Winnow
from .estimators.perceptron import AveragedPerceptron, MarginPerceptron, Perceptron, VotedPerceptron
from .estimators.risk import RiskDescent
from .theorems import theorem
from .theory.triviality import SAYS_NOTHING, says_nothing

if TYPE_CHECKING:
    from rich.console import JustifyMethod

    from .core.learner import Learner
    from .engine.spaces.base import Bracket
    from .estimators.shell import Shell


class Task(NamedTuple):
    """Data, and the learners to try on them."""

    title: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray | None
    y_test: np.ndarray | None
    learners: dict[str, Shell]


class Row(NamedTuple):
    """One line of the table."""

    rule: str
    epochs: int
    updates: int
    mistakes: int | None  #: None: the learner has no such count
    bound: int | None  #: what a theorem allows; None: none applies
    examples: int  #: rows met, in all epochs
    theorem: str  #: its letter in `THEOREMS`
    bracket: Bracket | None  #: around the best margin
    error: float | None  #: share of the test rows
    seconds: float


# ------------------------------------------------------------------------------------------------- the data


def tasks() -> Iterator[Task]:
    """Every data set with its learners."""
    yield from toys()
    yield breast_cancer()
    yield digits()


def toys() -> Iterator[Task]:
    by_hand: dict[str, Any] = {"shuffle": False, "fit_intercept": False}
    yield toy_task(
        "four points, by hand (no intercept, in order)",
        datasets.four_points(),
        {
            "Perceptron": Perceptron(**by_hand),
            "MarginPerceptron(gamma=1)": MarginPerceptron(gamma=1.0, **by_hand),
            "ROMMA": ROMMA(**by_hand),
            "RiskDescent": RiskDescent(fit_intercept=False),
        },
    )
    yield toy_task(
        "spam: three mails, five words; ham is what says “learning”",
        datasets.spam_words(),
        {
            "Elimination": Elimination(shuffle=False),
            "Winnow": Winnow(shuffle=False),
            "BalancedWinnow(eta=0.1)": BalancedWinnow(eta=0.1, shuffle=False, max_iter=None),
            "PNormPerceptron(p=4)": PNormPerceptron(p=4, shuffle=False),
        },
    )
    for title, cloud in (("near the origin", datasets.clouds_near), ("far from it", datasets.clouds_far)):
        yield toy_task(
            f"two clouds {title}",
            cloud(),
            {
                "Perceptron": Perceptron(max_iter=None, random_state=0),
                "MIRA(p=0.9)": MIRA(p=0.9, max_iter=None, random_state=0),
            },
            cloud(random_state=1),
        )
    yield toy_task(
        "clouds that overlap: no line separates them",
        datasets.overlapping_clouds(),
        {
            "Perceptron": Perceptron(random_state=0),
            "AveragedPerceptron": AveragedPerceptron(random_state=0),
        },
        datasets.overlapping_clouds(random_state=1),
    )
    square: dict[str, Any] = {"kernel": kernels.Polynomial(degree=2), "random_state": 0}
    yield toy_task(
        "rings: no line separates them, but (1 + ⟨x,z⟩)² does",
        datasets.rings(),
        {
            "KernelPerceptron": KernelPerceptron(max_iter=None, **square),
            "KernelClassifier(ROMMA)": KernelClassifier(rule=rules.ROMMA(), max_iter=None, **square),
            "Budget, projectron": BudgetKernelPerceptron(budget=None, policy="projectron", **square),
        },
        datasets.rings(random_state=1),
    )


def toy_task(
    title: str, train: datasets.Toy, learners: dict[str, Shell], test: datasets.Toy | None = None
) -> Task:
    X_test, y_test = (None, None) if test is None else (test.X, test.y)
    return Task(title, train.X, train.y, X_test, y_test, learners)


def breast_cancer() -> Task:
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    scaler = StandardScaler().fit(X)
    seed: dict[str, Any] = {"random_state": 0}
    patient = {"max_iter": 1000, **seed}
    return Task(
        f"breast cancer: {len(X)} + {len(X_test)} rows, 30 features, standardised",
        scaler.transform(X),
        y,
        scaler.transform(X_test),
        y_test,
        {
            "Perceptron": Perceptron(**patient),
            "AveragedPerceptron": AveragedPerceptron(**seed),
            "VotedPerceptron": VotedPerceptron(**seed),
            "MarginPerceptron(gamma=.02)": MarginPerceptron(gamma=0.02, **patient),
            "MIRA": MIRA(**patient),
            "MIRA(p=0.5)": MIRA(p=0.5, **patient),
            "PassiveAggressive": PassiveAggressive(**patient),
            "ROMMA": ROMMA(**patient),
            "ALMA(alpha=0.9)": ALMA(**patient),
            "SecondOrderPerceptron": SecondOrderPerceptron(log_updates=True, **seed),
            'AROW(covariance="full")': AROW(covariance="full", log_updates=True, **seed),
            "SCW": SCW(**seed),
        },
    )


def digits() -> Task:
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16.0, y, stratify=y, random_state=0)
    seed: dict[str, Any] = {"random_state": 0}
    patient = {"max_iter": 200, **seed}
    return Task(
        f"digits: {len(X)} + {len(X_test)} rows, 64 features, 10 classes, learned jointly or one-vs-rest",
        X,
        y,
        X_test,
        y_test,
        {
            "Perceptron": Perceptron(**patient),
            "AveragedPerceptron": AveragedPerceptron(**seed),
            "MIRA(p=0.5)": MIRA(p=0.5, **patient),
            'MIRA(solver="exact")': MIRA(solver="exact", **patient),
            "PassiveAggressive": PassiveAggressive(**patient),
            "KernelPerceptron(gaussian)": KernelPerceptron(kernel=kernels.Gaussian(gamma=0.1), **patient),
            "Perceptron, one-vs-rest": Perceptron(multiclass="ovr", **seed),
            "AROW, one-vs-rest": AROW(**seed),
        },
    )


# ------------------------------------------------------------------------------------------------- the runs


def run(task: Task) -> list[Row]:
    """Train each learner twice and time the second fit; then compare the counts with the theorems."""
    times = {name: time_fit(model, task) for name, model in task.learners.items()}
    sample = Sample.of(task)
    rows = []
    for name, model in task.learners.items():
        bound, letter = allowed(model, sample)
        rows.append(
            Row(
                name,
                model.n_iter_,
                model.n_updates_,
                getattr(model, "n_mistakes_", None),
                bound,
                len(task.X) * model.n_iter_,
                letter,
                one_bracket(getattr(model, "margin_bounds_", None)),
                None if task.X_test is None else 1.0 - model.score(task.X_test, task.y_test),
                times[name],
            )
        )
    return rows


def time_fit(model: Shell, task: Task) -> float:
    """Seconds of the second fit; the first one compiles."""
    model.fit(task.X, task.y)
    start = time.perf_counter()
    model.fit(task.X, task.y)
    return time.perf_counter() - start


def one_bracket(bracket: Bracket | list[Bracket] | None) -> Bracket | None:
    """(gamma_low, gamma_up) of a learner; None where there is one pair per class."""
    return None if isinstance(bracket, list) else bracket


# --------------------------------------------------------------------------------------------- the theorems


class Sample(NamedTuple):
    """The training rows as the learners read them, and the best comparator that is known."""

    rows: np.ndarray  #: augmented by the constant coordinate, where the learners have an intercept
    codes: np.ndarray  #: class codes
    R: float
    gamma: float  #: the best margin of any learner here; not positive: none separates
    u: np.ndarray  #: the unit vector (or unit matrix, a row per class) that has it

    @classmethod
    def of(cls, task: Task) -> Sample:
        models = list(task.learners.values())
        augment = any(model.fit_intercept for model in models)
        rows = np.hstack([task.X, np.ones((len(task.X), 1))]) if augment else task.X
        codes = np.searchsorted(np.unique(task.y), task.y)
        candidates = [unit_weights(model, augment) for model in models if hasattr(model, "coef_")]
        if not candidates:  # kernels: each learner has its own margin
            return cls(rows, codes, theory.radius(rows), -math.inf, np.zeros((1, rows.shape[1])))
        u = max(candidates, key=lambda w: float(margins(w, rows, codes).min()))
        gamma = float(margins(u, rows, codes).min())
        return cls(rows, codes, theory.radius(rows), gamma, u)

    @property
    def several(self) -> bool:
        """Whether there are more than two classes."""
        return len(self.u) > 1


def unit_weights(model: Shell, augment: bool) -> np.ndarray:
    """(1 or n_classes, features): what the model predicts with, scaled to length 1."""
    w = np.hstack([model.coef_, model.intercept_[:, None]]) if augment else model.coef_
    length = float(np.linalg.norm(w))
    return w / length if length > 0.0 else w


def margins(u: np.ndarray, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """y<u, x> of each row; for several classes how far the true class is ahead of its best rival."""
    scores: np.ndarray = rows @ u.T
    if len(u) == 1:
        signed: np.ndarray = np.where(codes == 1, 1.0, -1.0) * scores[:, 0]
        return signed
    every = np.arange(len(rows))
    true = scores[every, codes].copy()
    scores[every, codes] = -np.inf
    ahead: np.ndarray = true - scores.max(axis=1)
    return ahead


def allowed(model: Shell, sample: Sample) -> tuple[int | None, str]:
    """The largest number of mistakes that the sharpest theorem allows, and the theorem's letter."""
    if sample.several and getattr(model, "multiclass", "ovr") == "ovr":
        return None, ""  # its counts are sums over the classes
    row = rules.facts_of(model)
    names = () if row is None else row.theory.several if sample.several else row.theory.two
    known = [CLAIMS[name] for name in names if name in CLAIMS]
    if hasattr(model, "kernel_"):  # the rows of the sample are not those of its space
        known = [(letter, claim) for letter, claim in known if claim is by_margin]
    claims = [(claim(model, sample), letter) for letter, claim in known]
    finite = [(math.floor(value * (1.0 + 1e-12)), letter) for value, letter in claims if value < math.inf]
    return min(finite, key=lambda claim: claim[0], default=(None, ""))  # the first of equals


def least(bound_at: Callable[[float], float], sample: Sample) -> float:
    """The smallest bound over comparators c u, c > 0; every c gives a valid one."""

    def at(log_c: float) -> float:
        return bound_at(math.exp(log_c) / sample.R)

    found = float(minimize_scalar(at, bounds=(-5.0, 15.0)).fun)
    return min(found, bound_at(1.0 / sample.gamma)) if sample.gamma > 0.0 else found


def missed(m: np.ndarray, c: float) -> np.ndarray:
    """The hinge losses of c u, where u has the margins m."""
    return np.maximum(0.0, 1.0 - c * m)


def by_margin(model: Learner, s: Sample) -> float:
    """The theorem of the rule, by the best margin that is known; of a kernel learner by its own."""
    run = model.run_record(evidence=False)
    R, gamma = s.R, s.gamma
    if run.kernel is not None:
        low, _ = model.margin_bounds_
        R, gamma = model.radius_, -math.inf if low is None else low
    found = theorem(type(run.rule), s.several)
    return math.inf if found is None or gamma <= 0.0 else found.allowed(R, gamma, run.rule)


def hinge(model: Perceptron, s: Sample) -> float:
    """On any data: the hinge losses of the comparator are added, at every visit."""
    augment = s.rows.shape[1] > model.n_features_in_
    u = s.u if s.gamma > 0.0 else unit_weights(model, augment)
    m = margins(u, s.rows, s.codes)
    bound = theory.multiclass_hinge_tight if s.several else theory.hinge_tight
    return least(lambda c: bound(s.R, c, model.n_iter_ * float(missed(m, c).sum())), s)


def passive_aggressive(model: PassiveAggressive, s: Sample) -> float:
    """A mistake has a loss of at least 1, so a bound on squared losses bounds mistakes."""
    m = margins(s.u, s.rows, s.codes)
    if model.variant == "I":
        return least(lambda c: theory.pa1(s.R, c, model.C, model.n_iter_ * float(missed(m, c).sum())), s)
    return least(lambda c: theory.pa2(s.R, c, model.C, model.n_iter_ * float((missed(m, c) ** 2).sum())), s)


def alma(model: ALMA, s: Sample) -> float:
    normalised = margins(s.u, s.rows, s.codes) / np.linalg.norm(s.rows, axis=1)
    return theory.alma(float(normalised.min()), model.alpha) if s.gamma > 0.0 else math.inf


def second_order(model: SecondOrderPerceptron, s: Sample) -> float:
    if s.gamma <= 0.0:
        return math.inf
    hit = s.rows[model.update_log_["row"]]
    uSu, logdet = theory.second_order_terms(hit, s.u[0], model.a)
    return theory.second_order(model.a, s.gamma, uSu, logdet)


def arow(model: AROW, s: Sample) -> float:
    if model.covariance != "full":
        return math.inf
    m = margins(s.u, s.rows, s.codes)
    uXu, logdet = theory.second_order_terms(s.rows[model.update_log_["row"]], s.u[0], model.r)
    right = model.n_updates_ - model.n_mistakes_

    def at(c: float) -> float:
        H = model.n_iter_ * float(missed(m, c).sum())
        return theory.arow(model.r, c, c * c * uXu, logdet, right, H)

    return least(at, s)


def risk_descent(model: RiskDescent, s: Sample) -> float:
    if s.gamma <= 0.0 or isinstance(model.step, str):
        return math.inf
    first = float(np.linalg.norm(s.rows[0]))
    return theory.risk_descent_steps(len(s.rows), s.R, s.gamma, first, model.step)


def balanced_winnow(model: BalancedWinnow, s: Sample) -> float:
    low, _ = model.margin_bounds_  # of a u with ||u||_1 = 1
    largest = float(np.abs(s.rows).max())
    return theory.balanced_winnow(largest, max(0.0, low), s.rows.shape[1], model.eta)


def p_norm(model: PNormPerceptron, s: Sample) -> float:
    low, _ = model.margin_bounds_  # of a u with ||u||_q = 1
    largest = float(np.linalg.norm(s.rows, ord=model.p, axis=1).max())
    return theory.pnorm(model.p, largest, 1.0, max(0.0, low))


def relevant(model: Winnow | Elimination, s: Sample) -> int | None:
    """1, if one input alone separates the classes; None: not known."""
    inputs = s.rows[:, : model.n_features_in_]
    return 1 if (inputs == (s.codes == 1)[:, None]).all(axis=0).any() else None


def winnow(model: Winnow, s: Sample) -> float:
    r = relevant(model, s)
    return math.inf if r is None else theory.winnow2(model.n_features_in_, r)


def elimination(model: Elimination, s: Sample) -> float:
    r = relevant(model, s)
    return math.inf if r is None else theory.elimination(model.n_features_in_, r)


THEOREMS = {
    "N": "Novikoff 1962; several classes: Crammer and Singer 2003",
    "H": "hinge bound: Gentile and Warmuth 1998; Shalev-Shwartz and Singer 2005",
    "B": "Balcan and Blum 2006",
    "M": "Crammer and Singer 2003",
    "P": "Crammer et al. 2006, as published",
    "R": "Li and Long 2002",
    "A": "Gentile 2001, as published",
    "G": "Grove et al. 2001, as published",
    "K": "Kivinen and Warmuth 1997",
    "L": "Littlestone 1988",
    "S": "Cesa-Bianchi et al. 2005, as published",
    "W": "Crammer, Kulesza and Dredze 2009, as published",
}
#: The letter of a theorem that the rule table names, and what it allows.
CLAIMS: dict[str, tuple[str, Callable[[Any, Sample], float]]] = {
    "novikoff": ("N", by_margin),
    "multiclass": ("N", by_margin),
    "hinge_tight": ("H", hinge),
    "multiclass_hinge_tight": ("H", hinge),
    "margin_perceptron": ("B", by_margin),
    "mira": ("M", by_margin),
    "multiclass_mira": ("M", by_margin),
    "mira_geometric": ("M", by_margin),
    "pa_separable": ("P", by_margin),
    "multiclass_pa": ("P", by_margin),
    "pa1": ("P", passive_aggressive),
    "pa2": ("P", passive_aggressive),
    "romma": ("R", by_margin),
    "romma_aggressive_errors": ("R", by_margin),
    "alma": ("A", alma),
    "pnorm": ("G", p_norm),
    "balanced_winnow": ("K", balanced_winnow),
    "winnow_promotions": ("L", winnow),
    "elimination": ("L", elimination),
    "second_order": ("S", second_order),
    "arow": ("W", arow),
    "risk_descent_steps": ("N", risk_descent),
}


# ------------------------------------------------------------------------------------------------ the table


COLUMNS: dict[str, tuple[int, JustifyMethod]] = {
    "rule": (27, "left"),
    "epochs": (6, "right"),
    "updates": (7, "right"),
    "mistakes": (8, "right"),
    "≤ bound": (12, "right"),
    " ": (1, "left"),
    "best margin": (16, "right"),
    "error": (5, "right"),
    "time": (8, "right"),
}
WIDTH = sum(width + 2 for width, _ in COLUMNS.values()) - 2


def table(rows: list[Row], header: bool = False) -> Table:
    """One group; all groups have the same columns, so that they read as one table."""
    out = Table(box=None, padding=(0, 1), pad_edge=False, show_header=header)
    for name, (width, side) in COLUMNS.items():
        out.add_column(name, width=width, justify=side, no_wrap=True)
    for row in rows:
        out.add_row(*cells(row))
    return out


def cells(row: Row) -> tuple[str, ...]:
    return (
        row.rule,
        f"{row.epochs:,}",
        f"{row.updates:,}",
        "" if row.mistakes is None else f"{row.mistakes:,}",
        "" if row.bound is None else bound_in_words(row.bound, row.examples),
        row.theorem,
        between(row.bracket),
        "" if row.error is None else f"{row.error:.1%}",
        f"{1e3 * row.seconds:,.1f} ms" if row.seconds < 1.0 else f"{1e3 * row.seconds:,.0f} ms",
    )


def bound_in_words(bound: int, examples: int) -> str:
    """A bound on mistakes, or that it says nothing: there are no more examples."""
    return SAYS_NOTHING if says_nothing(bound, examples) else f"{bound:,}"


def between(bracket: Bracket | None) -> str:
    """gamma_low to gamma_up, rounded outwards; without the first where nothing was separated."""
    if bracket is None:
        return ""
    low, up = bracket
    if up == math.inf:
        return "" if low is None or low <= 0.0 else f"from {two_digits(low, ROUND_FLOOR)}"
    shown = two_digits(up, ROUND_CEILING)
    return f"{two_digits(low, ROUND_FLOOR)} to {shown}" if low is not None and low > 0.0 else f"up to {shown}"


def two_digits(value: float, rounding: str) -> str:
    """Two significant digits."""
    return f"{Context(prec=2, rounding=rounding).create_decimal(value):f}"


NOTES = """\
[bold]mistakes[/]     rows on the wrong side or on the hyperplane when they were met; aggressive rules also
             update on rows that are right by too little
[bold]≤ bound[/]      what a theorem allows; it says nothing where there were no more examples in all epochs;
             empty where no theorem applies; the letter says which:
{theorems}
[bold]best margin[/]  the largest margin of any separator lies between these two, in the space named above;
             a first number above 0 proves that the rows are separable
[bold]error[/]        on test rows;  [bold]time[/]  of one fit, compiled before
"""

NEXT = """\
[bold]Next:[/] README.md has five examples, docs/guide/which_learner.md says which learner to take;
help(perceptrons.Perceptron) gives the mathematics of a class; make test runs all tests; make bench measures
the speed."""


def margin_spaces(rows: list[Row]) -> str:
    """The spaces of the margins of a group: the most frequent, then others with their rules; or ""."""
    rules: dict[str, list[str]] = {}
    for row in rows:
        if between(row.bracket):
            rules.setdefault(getattr(row.bracket, "space", ""), []).append(row.rule)
    if not rules:
        return ""
    usual, *others = sorted(rules, key=lambda space: -len(rules[space]))
    named = [usual, *(f"{space} for {', '.join(rules[space])}" for space in others)]
    return textwrap.fill(f"margins: {'; '.join(named)}", WIDTH)


def legend(groups: list[tuple[str, list[Row]]]) -> str:
    """The theorems that occur."""
    used = {row.theorem for _, rows in groups for row in rows}
    return "\n".join(f"{'':13}{letter}  {name}" for letter, name in THEOREMS.items() if letter in used)


def main() -> None:
    """Train, and print the table."""
    console = Console(highlight=False)
    if not console.is_terminal or console.width < WIDTH:
        console = Console(highlight=False, width=WIDTH)
    start = time.perf_counter()
    groups = []
    with console.status("compiling and training; compiled code is kept for the next time"):
        for task in tasks():
            groups.append((task.title, run(task)))
    console.print(table([], header=True), "─" * WIDTH, sep="")
    for title, rows in groups:
        console.print(f"[bold]{title}[/]")
        if spaces := margin_spaces(rows):
            console.print(spaces, style="dim")
        console.print(table(rows))
        console.print()
    console.print(NOTES.format(theorems=legend(groups)))
    console.print(NEXT, end="\n\n")
    n_learners = sum(len(rows) for _, rows in groups)
    console.print(f"{n_learners} learners, each fitted twice, in {time.perf_counter() - start:.1f} s.")


if __name__ == "__main__":
    main()
