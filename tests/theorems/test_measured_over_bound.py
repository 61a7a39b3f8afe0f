"""How close runs come to each bound: never beyond it, and not so far below that the bound would say nothing.

The other files of this folder look for a counterexample on many small data sets. Here a few larger ones are
played, in random order and against the adversary that serves the updating row nearest to the threshold, and
the largest measured/bound is kept between two numbers: 1, and a floor below what these runs reach. A bound
that somebody makes ten times too large, or a run in which nothing happens, falls through the floor.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from strategies import begin, best_margin
from theorems.games import (
    classes,
    clean,
    comparators,
    disjunction,
    in_random_order,
    l1_rows,
    mistaken,
    noise,
    perceptron,
    play,
    reached,
    rows,
    unit_rows,
)
from theorems.play import hinge, lead, length, worst_rows

import perceptrons as pc
from perceptrons import proofs, reference, theory
from perceptrons.reference.structured import TaggerRun

SEEDS, HOW = range(3), ("random", "worst")
#: statement -> (run, floor); a run answers measured/bound
STATEMENTS: dict[str, tuple[Callable[[str, int], float], float]] = {}


def statement(name: str, floor: float) -> Callable[[Callable[[str, int], float]], Any]:
    def enter(run: Callable[[str, int], float]) -> Callable[[str, int], float]:
        STATEMENTS[name] = run, floor
        return run

    return enter


# --------------------------------------------------------------------------------- sections 1 to 3


@statement("1 k ≤ R²/γ²", 0.1)
def _(how, seed):
    X, y, R, gamma = rows(seed)
    return play(perceptron(), X, y, how, seed).n_updates_ / theory.novikoff(R, gamma)


@statement("1 γ* ≤ ‖w‖/k", 0.4)
def _(how, seed):
    X, y, _, gamma = rows(seed)
    return gamma / play(perceptron(), X, y, how, seed).margin_bounds_[1]


@statement("1 start w0", 0.1)
def _(how, seed):
    X, y, R, gamma = rows(seed)
    w0 = -5.0 * (y[:, None] * X).mean(axis=0)
    model = perceptron(max_iter=None, shuffle=how == "random", random_state=seed).fit(X, y, coef_init=w0)
    return model.n_updates_ / theory.novikoff_from(R, gamma, np.linalg.norm(w0))


@statement("2 passes ≤ ⌊R²/γ²⌋ + 1", 0.04)
def _(how, seed):
    X, y, R, gamma = rows(seed)
    model = perceptron(max_iter=None, shuffle=how == "random", random_state=seed).fit(X, y)
    return model.n_iter_ / theory.passes(R, gamma)


@statement("3.2 descent steps", 0.02)
def _(how, seed):
    X, y, R, gamma = rows(seed)
    step = 1.0 if how == "random" else 0.05
    model = pc.RiskDescent(step=step, fit_intercept=False, max_steps=5000).fit(X, y)
    assert model.stop_reason_ == "no row in V"
    return model.n_updates_ / theory.risk_descent_steps(len(y), R, gamma, float(np.linalg.norm(X[0])), step)


@statement("3.3 single-point steps", 0.09)
def _(how, seed):
    X, y, R, gamma = rows(seed)
    pick = "random" if how == "random" else "first"
    model = pc.RiskDescent(pick=pick, step=0.25, fit_intercept=False, max_steps=5000, random_state=seed).fit(
        X, y
    )
    return len(model.steps_) / theory.single_point_steps(R, gamma, float(np.linalg.norm(X[0])), 0.25)


@statement("3.4 (Ση)²/Ση²", 0.1)
def _(how, seed):
    X, y, R, gamma = rows(seed)
    model = play(perceptron(learning_rate="updates"), X, y, how, seed)
    steps = 1.0 / np.arange(1, model.n_updates_ + 1)
    return theory.variable_rate_left(steps) / theory.variable_rate(R, gamma)


@statement("3.4 H_k, rate 1/k", 0.3)
def _(how, seed):
    X, y, R, gamma = rows(seed)
    k = play(perceptron(learning_rate="updates"), X, y, how, seed).n_updates_
    return theory.harmonic_left(k) / theory.harmonic_sum(R, gamma)


@statement("3.4 H_k, rate 1/t in passes", 0.02)
def _(how, seed):
    X, y, R, gamma = rows(seed)
    model = perceptron(learning_rate="examples", max_iter=500, shuffle=how == "random", random_state=seed)
    updates = [record["updates"] for record in model.fit(X, y).history_]
    assert all(updates[:-1])  # each pass had one
    return theory.harmonic_left(sum(updates)) / theory.harmonic_sum(R, gamma, m=len(y))


# -------------------------------------------------------------------------------- sections 4 and 5


def least_bound(how: str, seed: int, bound: Callable[[float, np.ndarray, np.ndarray], float]) -> float:
    """Mistakes on noise over the least bound of all comparators."""
    X, y = noise(seed)
    model, wrong = mistaken(X, y, how, seed)
    Z = y[wrong, None] * X[wrong]
    return len(wrong) / min(bound(theory.radius(Z), u, Z @ u) for u in comparators(X, y, model.coef_[0]))


def missing(u: np.ndarray, m: np.ndarray) -> np.ndarray:
    """What u/||u|| misses of the margin 1/||u||."""
    return np.maximum(0.0, 1.0 - m) / np.linalg.norm(u)


@statement("4 hinge, simple", 0.4)
def _(how, seed):
    return least_bound(
        how, seed, lambda R, u, m: theory.hinge(R, np.linalg.norm(u), np.maximum(0.0, 1.0 - m).sum())
    )


@statement("4 hinge, tight", 0.6)
def _(how, seed):
    return least_bound(
        how, seed, lambda R, u, m: theory.hinge_tight(R, np.linalg.norm(u), np.maximum(0.0, 1.0 - m).sum())
    )


@statement("4 total distance, simple", 0.4)
def _(how, seed):
    return least_bound(
        how, seed, lambda R, u, m: theory.total_distance(R, 1.0 / np.linalg.norm(u), missing(u, m).sum())
    )


@statement("4 total distance, tight", 0.6)
def _(how, seed):
    return least_bound(
        how,
        seed,
        lambda R, u, m: theory.total_distance_tight(R, 1.0 / np.linalg.norm(u), missing(u, m).sum()),
    )


@statement("4 squared", 0.6)
def _(how, seed):
    return least_bound(
        how, seed, lambda R, u, m: theory.squared(R, 1.0 / np.linalg.norm(u), np.linalg.norm(missing(u, m)))
    )


@statement("4 lower bound (forced errors)", 0.999)
def _(how, seed):
    gamma = 0.2 if how == "random" else 0.25
    return proofs.force_mistakes(perceptron(), gamma).n / theory.novikoff(1.0, gamma)


@statement("5 updates ≤ 2R²/(ε²γ²) − 2/ε", 0.03)
def _(how, seed):
    X, y, R, gamma = rows(seed)
    model = pc.MarginPerceptron(gamma=gamma, eps=0.5, fit_intercept=False)
    bar = lambda: 0.5 * gamma * length(model) if model.n_updates_ else np.inf  # noqa: E731
    play(model, X, y, how, seed, threshold=bar, strict=True, limit=600)
    return (model.n_updates_ - 1) / theory.margin_perceptron(R, gamma, 0.5)


@statement("5 the 8/γ² form", 0.04)
def _(how, seed):
    X, y, _, _ = rows(seed)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    gamma = best_margin(X, y) * (1.0 - 1e-9)
    model = clean(pc.MarginPerceptron(gamma=gamma, fit_intercept=False), seed, X, y)
    assert theory.margin_perceptron(1.0, gamma) + 4.0 == pytest.approx(8.0 / gamma**2)
    return model.n_updates_ * gamma**2 / 8.0


@statement("5 margin ≥ (1−ε)γ", 0.6)
def _(how, seed):
    X, y, _, gamma = rows(seed)
    eps = 0.5 if how == "random" else 0.25
    model = clean(pc.MarginPerceptron(gamma=gamma, eps=eps, fit_intercept=False), seed, X, y)
    return theory.margin_perceptron_margin(gamma, eps) / reached(model, X, y)


# --------------------------------------------------------------------------------------- section 6


@statement("6.0 elimination, monotone", 0.999)
def _(how, seed):
    return disjunction(pc.Elimination(), how, seed).n_mistakes_ / theory.elimination(8, 3)


@statement("6.0 elimination, all literals", 0.999)
def _(how, seed):
    return disjunction(pc.Elimination(literals="all"), how, seed).n_mistakes_ / theory.elimination(
        8, 3, "all"
    )


@statement("6.1 Winnow1, α = 2", 0.3)
def _(how, seed):
    return disjunction(pc.Winnow(kind=1), how, seed).n_mistakes_ / theory.winnow1(8, 3)


@statement("6.1 Winnow1, general form", 0.2)
def _(how, seed):
    model = disjunction(pc.Winnow(kind=1, threshold=4.0), how, seed)
    return model.n_mistakes_ / theory.winnow1_general(8, 3, 2.0, 4.0)


@statement("6.1 Winnow2, α = 2", 0.4)
def _(how, seed):
    return disjunction(pc.Winnow(kind=2), how, seed).n_mistakes_ / theory.winnow2(8, 3)


@statement("6.1 Winnow2, constants 8, 5, 14 (OR)", 0.1)
def _(how, seed):
    model = disjunction(pc.Winnow(alpha=1.5), how, seed)
    return model.n_mistakes_ / theory.winnow2_general(8, 8.0, 1.0, 3.0)


@statement("6.1 the same, k-of-r", 0.09)
def _(how, seed):
    model = disjunction(pc.Winnow(alpha=1.25), how, seed, k=2)
    return model.n_mistakes_ / theory.winnow2_general(8, 8.0, 0.5, 1.5)


@statement("6.2 2X²ln(2n)/γ²", 0.4)
def _(how, seed):
    X, y, gamma = l1_rows(seed)
    model = play(pc.BalancedWinnow(eta=gamma, fit_intercept=False), X, y, how, seed)
    return model.n_mistakes_ / theory.balanced_winnow(1.0, gamma, 20)


@statement("6.2 any η", 0.4)
def _(how, seed):
    X, y, gamma = l1_rows(seed)
    model = play(pc.BalancedWinnow(eta=0.4, fit_intercept=False), X, y, how, seed)
    return model.n_mistakes_ / theory.balanced_winnow(1.0, gamma, 20, eta=0.4)


@statement("6.2 non-separable", 0.5)
def _(how, seed):
    X, y, gamma = l1_rows(seed)
    y = np.where(np.random.default_rng(seed).random(len(y)) < 0.1, -y, y)
    model = begin(pc.BalancedWinnow(eta=0.5, fit_intercept=False), X)
    u, wrong, before = np.eye(20)[0], [], 0
    rng = np.random.default_rng(seed)
    for i in worst_rows(model, X, y, limit=60) if how == "worst" else in_random_order(model, X, y, rng):
        if model.n_mistakes_ > before:
            wrong.append(i)
        before = model.n_mistakes_
    TD = float(np.maximum(0.0, gamma - y[wrong] * (X[wrong] @ u)).sum())
    return len(wrong) / theory.balanced_winnow_total_distance(1.0, gamma, 20, 0.5, TD)


@statement("6.3 p-norm", 0.3)
def _(how, seed):
    X, y, gamma = l1_rows(seed)
    model = play(pc.PNormPerceptron(p=4.0, fit_intercept=False), X, y, how, seed)
    return model.n_mistakes_ / theory.pnorm(4.0, 20**0.25, 1.0, gamma)


# --------------------------------------------------------------------------------- sections 8 and 9


@statement("8.1 updates", 0.1)
def _(how, seed):
    X, y, R, gamma = rows(seed)
    model = play(pc.MIRA(p=0.25, fit_intercept=False), X, y, how, seed, threshold=0.25)
    return model.n_updates_ / theory.mira(R, gamma, 0.25)


@statement("8.1 margin > pγ/2", 0.3)
def _(how, seed):
    X, y, _, gamma = rows(seed)
    p = 0.5 if how == "random" else 0.9
    return theory.mira_margin(gamma, p) / reached(clean(pc.MIRA(p=p, fit_intercept=False), seed, X, y), X, y)


@statement("8.2 updates, p < γ/2", 0.03)
def _(how, seed):
    X, y, R, gamma = rows(seed)
    model = pc.MIRA(p=gamma / 4.0, margin="geometric", fit_intercept=False)
    play(model, X, y, how, seed, threshold=lambda: gamma / 4.0 * length(model))
    return model.n_updates_ / theory.mira_geometric(R, gamma, gamma / 4.0)


@statement("8.3 PA separable", 0.2)
def _(how, seed):
    X, y, R, gamma = rows(seed)
    model = play(hard(), X, y, how, seed, threshold=1.0 - 1e-9)
    return model.squared_loss_ / theory.pa_separable(R, 1.0 / gamma)


def hard() -> Any:
    return pc.PassiveAggressive(variant="hard", fit_intercept=False)


def least_loss_bound(how: str, seed: int, model: Any, bound: Callable[[float, np.ndarray], float]) -> Any:
    """The model after a game on noise, and the least bound of all comparators."""
    X, y = noise(seed)
    play(model, X, y, how, seed, limit=60, threshold=1.0 - 1e-9)
    losses = lambda u: hinge(u, X[model.served], y[model.served])  # noqa: E731
    return model, min(bound(float(np.linalg.norm(u)), losses(u)) for u in comparators(X, y, model.coef_[0]))


@statement("8.3 PA, unit norm", 0.3)
def _(how, seed):
    model, bound = least_loss_bound(
        how, seed, hard(), lambda norm, loss: theory.pa_unit(norm, (loss**2).sum())
    )
    return model.squared_loss_ / bound


@statement("8.3 PA-I", 0.1)
def _(how, seed):
    model = pc.PassiveAggressive(variant="I", C=0.5, fit_intercept=False)
    model, bound = least_loss_bound(
        how, seed, model, lambda norm, loss: theory.pa1(1.0, norm, 0.5, loss.sum())
    )
    return model.n_errors_ / bound


@statement("8.3 PA-II", 0.4)
def _(how, seed):
    model = pc.PassiveAggressive(variant="II", C=0.5, fit_intercept=False)
    model, bound = least_loss_bound(
        how, seed, model, lambda norm, loss: theory.pa2(1.0, norm, 0.5, (loss**2).sum())
    )
    return model.squared_loss_ / bound


@statement("9 updates", 0.1)
def _(how, seed):
    X, y, R, gamma = rows(seed)
    return play(pc.ROMMA(fit_intercept=False), X, y, how, seed).n_updates_ / theory.romma(R, gamma)


def aggressive(delta: float = 0.25) -> Any:
    return pc.ROMMA(aggressive=True, delta=delta, fit_intercept=False)


@statement("9 updates, aggressive", 0.1)
def _(how, seed):
    X, y, R, gamma = rows(seed)
    model = play(aggressive(), X, y, how, seed, threshold=0.75 - 1e-9)
    return model.n_updates_ / theory.romma_aggressive(R, gamma, 0.25)


@statement("9 growth of ‖w‖² per update", 0.6)
def _(how, seed):
    X, y, R, _ = rows(seed)
    model, squares = begin(pc.ROMMA(fit_intercept=False), X), [0.0]
    rng = np.random.default_rng(seed)
    for _ in worst_rows(model, X, y, limit=60) if how == "worst" else in_random_order(model, X, y, rng):
        if model.n_updates_ == len(squares):
            squares.append(length(model) ** 2)
    return theory.romma_growth(R) / np.min(np.diff(squares))


@statement("9 ‖w‖ ≤ 1/γ*", 0.5)
def _(how, seed):
    X, y, _, gamma = rows(seed)
    return length(play(aggressive(), X, y, how, seed, threshold=0.75 - 1e-9)) * gamma


@statement("9 margin ≥ (1−δ)γ*", 0.6)
def _(how, seed):
    X, y, _, gamma = rows(seed)
    delta = 0.5 if how == "random" else 0.1
    return theory.romma_margin(gamma, delta) / reached(clean(aggressive(delta), seed, X, y), X, y)


@statement("9 errors, aggressive", 0.06)
def _(how, seed):
    X, y, R, gamma = rows(seed)
    model = play(aggressive(), X, y, how, seed, threshold=0.75 - 1e-9)
    return model.n_errors_ / theory.romma_aggressive_errors(R, gamma)


@statement("12 upper bound from ROMMA's λ", 0.6)
def _(how, seed):
    X, y, _, gamma = rows(seed)
    return gamma / clean(aggressive(0.1), seed, X, y).margin_bounds_[1]


# ----------------------------------------------------------------------------- sections 10, 13, 14


def several(model: Any, how: str, seed: int, threshold: float = 0.0) -> Any:
    X, y, _, _ = classes(seed)
    score = lambda X, y: lead(model.coef_, X, y)  # noqa: E731
    return play(model, X, y, how, seed, score=score, threshold=threshold)


@statement("10 mistakes ≤ 2R²/δ²", 0.05)
def _(how, seed):
    _, _, R, delta = classes(seed)
    return several(perceptron(), how, seed).n_mistakes_ / theory.multiclass(R, delta)


@statement("10 MIRA_p", 0.04)
def _(how, seed):
    _, _, R, delta = classes(seed)
    model = several(pc.MIRA(p=0.25, fit_intercept=False), how, seed, threshold=0.25)
    return model.n_updates_ / theory.multiclass_mira(R, 1.0 / delta, 0.25)


@statement("10 PA", 0.09)
def _(how, seed):
    _, _, R, delta = classes(seed)
    model = several(hard(), how, seed, threshold=1.0 - 1e-9)
    return model.squared_loss_ / theory.multiclass_pa(R, 1.0 / delta)


@statement("13 γ_aug lower bound", 0.999)
def _(how, seed):
    data = proofs.shrinking_margin(3.0 + seed, bias=2.0 if how == "random" else 5.0)
    B = 2.0 if how == "random" else 5.0
    Z = np.hstack([data.X, np.full((len(data.X), 1), B)])
    return theory.augmented_margin(1.0, data.b, B) / theory.gamma_low(data.facts["u_aug"], Z, data.y)


@statement("13 B = √(R|b|)", 0.999)
def _(how, seed):
    data = proofs.shrinking_margin(3.0 + seed)
    R = data.facts["R"]
    B = float(np.sqrt(R * abs(data.b)))
    best = theory.novikoff_augmented(R, 1.0, data.b)
    return proofs.shrinking_margin(3.0 + seed, bias=B).facts["bound"] / best


@statement("14 ALMA updates", 0.3)
def _(how, seed):
    X, y, gamma = unit_rows(seed)
    model = pc.ALMA(alpha=0.5, fit_intercept=False)
    band = lambda: 0.5 * np.sqrt(8.0) / 0.5 / np.sqrt(model.n_updates_ + 1.0)  # noqa: E731
    play(model, X, y, how, seed, limit=1500, threshold=band)
    return model.n_updates_ / theory.alma(gamma, 0.5)


@statement("14 ALMA margin", 0.4)
def _(how, seed):
    X, y, gamma = unit_rows(seed)
    alpha = 0.5 if how == "random" else 0.3
    model = clean(pc.ALMA(alpha=alpha, fit_intercept=False), seed, X, y)
    return theory.alma_margin(gamma, alpha) / reached(model, X, y)


@statement("14 second order", 0.3)
def _(how, seed):
    X, y, _, gamma = rows(seed)
    model = pc.SecondOrderPerceptron(fit_intercept=False, log_updates=True, random_state=seed)
    model.set_params(max_iter=20, shuffle=how == "random").fit(X, y)
    wrong = model.update_log_["row"]
    u = pc.MaxMargin(fit_intercept=False).fit(X, y).coef_[0]
    terms = theory.second_order_terms(X[wrong], u / np.linalg.norm(u), 1.0)
    return len(wrong) / theory.second_order(1.0, gamma * (1.0 - 1e-5), *terms)


@statement("14 AROW", 0.6)
def _(how, seed):
    X, y = noise(seed)
    model = pc.AROW(covariance="full", fit_intercept=False, log_updates=True, random_state=seed)
    model.set_params(max_iter=5, shuffle=how == "random").fit(X, y)
    Z = X[at := model.update_log_["row"]]
    bounds = []
    for u in comparators(X, y, model.coef_[0]):
        terms, H = theory.second_order_terms(Z, u, 1.0), float(hinge(u, Z, y[at]).sum())
        right = model.n_updates_ - model.n_errors_
        bounds.append(theory.arow(1.0, float(np.linalg.norm(u)), *terms, right, H))
    return model.n_errors_ / min(bounds)


@statement("10 hinge, tight", 0.6)
def _(how, seed):
    X, y, _, _ = classes(seed)
    y = np.where(np.random.default_rng(seed).random(len(y)) < 0.2, (y + 1) % 3, y)
    model = begin(perceptron(), X, range(3))
    score = lambda X, y: lead(model.coef_, X, y)  # noqa: E731
    rng, W, differences = np.random.default_rng(seed), model.coef_.copy(), []
    before = 0
    served = (
        worst_rows(model, X, y, limit=60, score=score)
        if how == "worst"
        else in_random_order(model, X, y, rng)
    )
    for i in served:
        if model.n_mistakes_ > before:  # the class that was penalised: the best rival before
            s = W @ X[i]
            s[y[i]] = -np.inf
            unit = np.eye(3)
            differences.append(np.outer(unit[y[i]] - unit[np.argmax(s)], X[i]).ravel())
        before, W = model.n_mistakes_, model.coef_.copy()
    D, R = np.array(differences), theory.radius(X)
    tried = comparators(D, np.ones(len(D)), W.ravel())
    losses = [float(np.maximum(0.0, 1.0 - D @ u).sum()) for u in tried]
    bounds = [theory.multiclass_hinge_tight(R, float(np.linalg.norm(u)), H) for u, H in zip(tried, losses)]
    return len(D) / min(bounds)


@statement("14 Forgetron", 0.1)
def _(how, seed):
    """Half of the noise is put where it hurts: the row of the lowest margin."""
    rng, budget = np.random.default_rng(seed), 83
    y = rng.choice([-1, 1], 800)
    X = y[:, None] * np.column_stack([np.full(800, 0.9), rng.normal(scale=0.2, size=(800, 4))])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(rng.random(800) < 0.1, -y, y)
    order = np.argsort(y * X[:, 0]) if how == "worst" else np.arange(800)
    model = pc.BudgetKernelPerceptron(kernel="linear", budget=budget, policy="forgetron")
    model.fit(X, y, order=[order.tolist()])
    bounds = []
    for norm in np.linspace(0.0, 0.25 * np.sqrt((budget + 1) / np.log(budget + 1)) - 1e-9, 9):
        bounds.append(theory.forgetron(norm, float(hinge(norm * np.eye(5)[0], X, y).sum()), budget))
    return model.n_mistakes_ / min(bounds)


@statement("14 structured perceptron", 0.03)
def _(how, seed):
    """Hidden weights tag the sentences; the adversary serves one that is tagged wrongly."""
    rng = np.random.default_rng(seed)
    sentences = [rng.integers(0, 3, 4).tolist() for _ in range(12)]
    hidden = TaggerRun(w=rng.normal(size=10), n_tags=2, n_symbols=3)
    tags = hidden.tag(sentences)
    learn = lambda order: reference.structured_perceptron(sentences, tags, order, n_tags=2, n_symbols=3)  # noqa: E731
    served: list[int] = rng.integers(0, 12, 200).tolist() if how == "random" else []
    while how == "worst" and (
        wrong := [i for i, z in enumerate(learn([served]).tag(sentences)) if z != tags[i]]
    ):
        served.append(wrong[-1])
    every = [list(z) for z in product(range(2), repeat=4)]
    D = np.array(
        [
            hidden.features(x, y) - hidden.features(x, z)
            for x, y in zip(sentences, tags)
            for z in every
            if z != y
        ]
    )
    return learn([served]).k / theory.structured(theory.radius(D), best_margin(D, np.ones(len(D))))


@statement("7 vote ≤ 2E[M]/(m+1), all permutations", 0.3)
def _(how, seed):
    rng, m = np.random.default_rng(seed), 4
    X, y = rng.normal(size=(m + 1, 2)), rng.choice([-1, 1], m + 1)
    X[:, 0] += 0.5 * y if how == "random" else 0.0
    errors, mistakes = [], []
    for order in permutations(range(m + 1)):
        *seen, fresh = order
        model = pc.VotedPerceptron(fit_intercept=False, include_initial=True)
        begin(model, X).partial_fit(X[seen], y[seen])
        errors.append(model.predict(X[[fresh]])[0] != y[fresh])
        whole = begin(perceptron(), X).partial_fit(X[list(order)], y[list(order)])
        mistakes.append(whole.n_errors_)
    return np.mean(errors) / theory.voted(float(np.mean(mistakes)), m)


@pytest.mark.parametrize("name", STATEMENTS)
def test_between_the_floor_and_one(name):
    run, floor = STATEMENTS[name]
    worst = max(run(how, seed) for how in HOW for seed in SEEDS)
    assert floor <= worst <= 1.0 + 1e-9
