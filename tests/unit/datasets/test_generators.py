"""Each generator keeps its promise, checked again from the rows alone, in fractions where they are few."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from comparing import augmented
from scipy import sparse
from strategies import best_l1_margin, best_margin

import perceptrons as pc
from perceptrons import proofs, theory


def exact_margins(X, y, u, b):
    """y(<u, x> + b), as fractions."""
    u, b = [F(float(v)) for v in u], F(float(b))
    return [int(t) * (sum((v * F(a) for v, a in zip(u, x)), b)) for x, t in zip(X.tolist(), y)]


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


# --------------------------------------------------------------------------------------- separable


@pytest.mark.parametrize("density", [None, 0.3])
@pytest.mark.parametrize("offset", [0.0, 3.0, -50.0])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_the_margin_truly_holds(d, offset, density):
    data = proofs.separable(30, d, 0.125, offset=offset, density=density, random_state=d)
    m = exact_margins(dense(data.X), data.y, data.u, data.b)
    square = sum(F(float(v)) ** 2 for v in data.u)
    assert all(v > 0 and v * v >= F(data.value) ** 2 * square for v in m)  # no rounding anywhere
    assert float(min(m)) == pytest.approx(0.125, rel=1e-7)  # and not wider than asked for
    assert set(data.y) == {-1, 1}
    assert sparse.issparse(data.X) == (density is not None)
    if density is None:
        centre = -data.b * data.u
        assert np.linalg.norm(data.X - centre, axis=1).max() <= 1.0 + 1e-9


def test_the_perceptron_keeps_to_its_bound_on_it():
    data = proofs.separable(200, 10, 0.1)
    model = pc.Perceptron(fit_intercept=False, max_iter=None).fit(data.X, data.y)
    assert model.n_mistakes_ <= theory.novikoff(data.facts["R"], data.value)


def test_separable_refuses():
    with pytest.raises(ValueError, match=r"margin must be smaller than radius=1; got margin=2\.0"):
        proofs.separable(10, 2, 2.0)
    with pytest.raises(ValueError, match="n must be an integer of at least 2"):
        proofs.separable(1, 2, 0.1)
    with pytest.raises(TypeError, match="d must be an integer"):
        proofs.separable(10, 2.5, 0.1)
    with pytest.raises(ValueError, match="density must be a number above 0"):
        proofs.separable(10, 2, 0.1, density=0.0)


@pytest.mark.parametrize("offset", [0.0, 0.5, -3.0, 40.0])
@pytest.mark.parametrize("bias", [1.0, 8.0])
def test_the_margin_shrinks_as_the_formula_says(offset, bias):
    data = proofs.shrinking_margin(offset, bias=bias)
    m = exact_margins(data.X, data.y, data.u, data.b)
    assert min(m) == max(m) == 1  # wherever the plane is
    Z = augmented(data.X, bias)
    best = best_margin(Z, data.y)
    assert data.value == pytest.approx(best, rel=1e-6)
    assert np.min(data.y * (Z @ data.facts["u_aug"])) == pytest.approx(best, rel=1e-6)
    assert data.facts["R_aug"] == pytest.approx(theory.radius(Z))
    model = pc.Perceptron(intercept_scaling=bias, max_iter=None).fit(data.X, data.y)
    assert model.n_mistakes_ <= data.facts["bound"]


def test_shrinking_margin_refuses():
    with pytest.raises(ValueError, match="n must be even"):
        proofs.shrinking_margin(1.0, n=5)
    with pytest.raises(ValueError, match=r"gamma must be at most 2\*bias=2"):
        proofs.shrinking_margin(1.0, gamma=3.0)


# --------------------------------------------------------------------------------------- 0/1 inputs


@pytest.mark.parametrize(("r", "k"), [(1, 1), (3, 1), (5, 3), (4, 4)])
def test_k_of_r(r, k):
    data = proofs.k_of_r(60, 30, r, k)
    facts = data.facts
    assert len(facts["relevant"]) == r
    count = data.X[:, facts["relevant"]].sum(axis=1)
    assert np.array_equal(count >= k, data.y > 0) and set(data.y) == {-1, 1}
    m = exact_margins(data.X, data.y, data.u * np.sqrt(r), data.b * np.sqrt(r))
    assert float(min(m)) >= 0.5 - 1e-12
    mu = count / k
    assert np.all(mu[data.y > 0] >= 1) and np.all(mu[data.y < 0] <= 1 - facts["delta"] + 1e-12)
    assert facts["mu_sum"] == r / k
    assert best_l1_margin(augmented(data.X), data.y) >= facts["gamma_l1"] - 1e-9
    if k == 1:
        winnow = pc.Winnow(max_iter=None).fit(data.X, data.y)
        assert winnow.n_mistakes_ <= theory.winnow2(30, r)


def test_k_of_r_refuses():
    with pytest.raises(ValueError, match="k must be an integer from 1 to 2; got k=3"):
        proofs.k_of_r(10, 5, 2, 3)
    with pytest.raises(ValueError, match="r must be an integer from 1 to 5"):
        proofs.k_of_r(10, 5, 6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("all_rows", [True, False])
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_the_margin_of_a_decision_list(n, intercept, all_rows):
    data = proofs.decision_list(n, intercept, all_rows)
    weights = data.facts["weights"]
    rows = [[int(v) for v in x] + [1] * intercept for x in data.X]
    m = [int(t) * sum(w * v for w, v in zip(weights, x)) for x, t in zip(rows, data.y)]
    assert min(m) == 1  # whole numbers: the witness is exact
    assert data.value**2 == pytest.approx(1 / sum(w * w for w in weights))
    Z = np.array(rows, dtype=float)
    assert best_margin(Z, data.y) == pytest.approx(data.value, rel=1e-6)  # and no plane does better
    assert len(Z) == (2**n - (not intercept) if all_rows else n + intercept)
    for x, label in zip(data.X, data.y):  # it is a decision list
        fired = int(np.argmax(x)) if x.any() else n
        assert label == (1 if fired % 2 == 0 else -1)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_margin_is_exponentially_small(intercept):
    margins = [proofs.decision_list(n, intercept).value for n in (10, 20, 40)]
    golden = (1 + 5**0.5) / 2
    assert margins[1] / margins[0] == pytest.approx(golden**-10, rel=1e-3)
    assert margins[2] / margins[1] == pytest.approx(golden**-20, rel=1e-3)
    data = proofs.decision_list(14, intercept)
    Z = augmented(data.X) if intercept else data.X
    # by linear programming: weights of absolute sum 1 are shorter than 1, and the smallest ones are the same
    sums = sum(abs(w) for w in data.facts["weights"])
    assert best_l1_margin(Z, data.y) == pytest.approx(1 / sums, rel=1e-4)
    assert 1 / sums <= data.value <= np.sqrt(Z.shape[1]) / sums


# ------------------------------------------------------------------------------------ not separable


@pytest.mark.parametrize("n", [4, 7, 40])
def test_xor_has_its_proof(n):
    data = proofs.xor(n)
    lam = [F(float(v)) for v in data.facts["weights"]]
    assert sum(lam) == 1 and min(lam) >= 0
    for column in augmented(data.X).T:
        assert sum(v * int(t) * F(float(a)) for v, t, a in zip(lam, data.y, column)) == 0
    assert best_margin(augmented(data.X), data.y) == 0.0
    product = -data.y * data.X[:, 0] * data.X[:, 1]
    assert product.min() >= data.facts["product_margin"]


@pytest.mark.parametrize("hinge", [0.0, 0.5, 30.0, 1000.0])
@pytest.mark.parametrize("margin", [0.05, 0.5])
def test_noise_adds_up_to_the_hinge_loss(hinge, margin):
    data = proofs.noisy(100, 4, hinge, margin=margin)
    m = exact_margins(data.X, data.y, data.u, 0.0)
    missed = sum(max(F(0), 1 - v) for v in m)
    assert abs(float(missed) - hinge) <= data.facts["tolerance"]
    assert np.linalg.norm(data.u) == pytest.approx(1 / margin)
    wrong = {i for i, v in enumerate(m) if v < 0}
    assert wrong == set(data.facts["wrong"].tolist())
    assert {i for i, v in enumerate(m) if v < 1} <= set(data.facts["noisy"].tolist())
    run = proofs.run_online(pc.Perceptron(fit_intercept=False), data)
    assert len(run.counted) <= data.facts["bound"]


def test_noisy_refuses():
    with pytest.raises(ValueError, match="hinge must be a number of at least 0"):
        proofs.noisy(10, 2, -1.0)
    with pytest.raises(ValueError, match="n_noisy must be an integer from 1 to 10"):
        proofs.noisy(10, 2, 1.0, n_noisy=11)
    with pytest.raises(ValueError, match="margin must be below 1"):
        proofs.noisy(10, 2, 1.0, margin=1.5)


GENERATORS = {
    "separable": lambda s: proofs.separable(20, 3, 0.1, random_state=s),
    "sparse": lambda s: proofs.separable(20, 30, 0.1, density=0.2, random_state=s),
    "k_of_r": lambda s: proofs.k_of_r(20, 10, 3, 2, random_state=s),
    "xor": lambda s: proofs.xor(20, random_state=s),
    "noisy": lambda s: proofs.noisy(20, 3, 5.0, random_state=s),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_the_seed_decides(name):
    one, same, other = (GENERATORS[name](s) for s in (1, 1, 2))
    assert np.array_equal(dense(one.X), dense(same.X)) and np.array_equal(one.y, same.y)
    assert not np.array_equal(dense(one.X), dense(other.X))
    assert repr(one).startswith("<Generated 20 x ")
