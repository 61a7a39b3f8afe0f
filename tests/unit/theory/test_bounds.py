"""theory: values checked by hand, the relations between the theorems, and what is refused."""

import inspect
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from comparing import near
from golden.cases import close, load
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from strategies import Separable, adversarial_stream, disjunctions, samples, separable

from perceptrons import theory
from perceptrons.theory import bounds
from perceptrons.theory.brackets import KINDS

R = st.floats(0.1, 10.0)
gamma = st.floats(0.01, 10.0)
loss = st.floats(0.0, 100.0)
norm = st.floats(0.0, 10.0)
fraction = st.floats(0.01, 0.99)


# ------------------------------------------------------------------------------------- by hand


@pytest.mark.parametrize(
    ("value", "by_hand"),
    [
        (theory.novikoff(R=3, gamma=0.5), 36),
        (theory.novikoff(R=np.float32(3), gamma=Fraction(1, 2)), 36),
        (theory.novikoff_from(R=3, gamma=0.5, w0_norm=2, eta=4), 36 + 2),
        (theory.novikoff_augmented(R=3, gamma=0.5, b=-4, B=2), 13 * 5 * 4),
        (theory.novikoff_augmented(R=3, gamma=0.5, b=-4), 49 * 4),  # B = sqrt(12): 21 * 7/3
        (theory.novikoff_augmented(R=3, gamma=0.5, b=0), 36),
        (theory.augmented_margin(gamma=2, b=-4, B=3), 1.2),
        (theory.passes(R=3, gamma=0.5), 37),
        (theory.passes(R=0.3, gamma=0.1), 10),  # 0.3/0.1 < 3 in floating point
        (theory.passes(R=1, gamma=0.4), 7),  # 6.25
        (theory.forced_mistakes(0.34), 8),  # 8.65
        (theory.forced_mistakes(1 / math.sqrt(5)), 5),
        (theory.hinge(R=2, u_norm=3, H=0.5), 37),
        (theory.hinge_tight(R=2, u_norm=1.5, H=10), 25),  # (3 + 7)/2 = 5
        (theory.hinge_tight(R=2, u_norm=0, H=7), 7),
        (theory.total_distance(R=2, gamma=0.5, TD=3), 16 + 12),
        (theory.total_distance_tight(R=3, gamma=0.5, TD=20), 100),  # (3 + 7)/1
        (theory.squared(R=1, gamma=0.5, D=1), 16),
        (theory.risk_descent_steps(m=10, R=2, gamma=1, w0_norm=3, step=0.5), 46),
        (theory.single_point_steps(R=2, gamma=1, w0_norm=3, step=0.5), 10),
        (theory.variable_rate_left([1, 1 / 2, 1 / 3]), (11 / 6) ** 2 / (49 / 36)),
        (theory.variable_rate_left([]), 0),
        (theory.harmonic_left(0), 0),
        (theory.harmonic_left(3), 11 / 6),
        (theory.harmonic_sum(R=math.sqrt(6), gamma=math.pi), 1),
        (theory.harmonic_sum(R=math.sqrt(6), gamma=math.pi, m=4), 4),
        (theory.harmonic_updates(R=math.sqrt(6), gamma=math.pi), math.e),
        (theory.margin_perceptron(R=1, gamma=0.1), 800 - 4),
        (theory.margin_perceptron(R=2, gamma=0.5, eps=0.25), 512 - 8),
        (theory.margin_perceptron_margin(gamma=0.4, eps=0.25), 0.3),
        (theory.elimination(n=5, r=5), 0),
        (theory.elimination(n=5, r=0, literals="all"), 6),
        (theory.winnow_promotions(r=2, theta=9, alpha=3), 4),
        (theory.winnow_promotions(r=2, theta=243, alpha=3), 10),  # log(243)/log(3) is not 5
        (theory.winnow_promotions(r=2, theta=244, alpha=3), 12),
        (theory.winnow_promotions(r=2, theta=1, alpha=3), 0),
        (theory.winnow1_demotions(n=10, theta=5, p=3, alpha=1.5), 3.5),
        (theory.winnow2_demotions(n=10, theta=5, p=3, alpha=1.5), 6 + 4.5),
        (theory.winnow1(n=20, r=3), 31),
        (theory.winnow1(n=9, r=2, alpha=3), 13),
        (theory.winnow1_general(n=20, r=3, alpha=2, theta=0.5), 40),
        (theory.winnow2(n=20, r=3), 46),
        (theory.winnow2(n=1, r=1), 1),
        (theory.winnow2_general(n=10, theta=math.e, delta=0.5, mu_sum=2), 320 / math.e + 20 + 112),
        (theory.balanced_winnow(X_inf=3, gamma=0.5, n=10), 72 * math.log(20)),
        (theory.balanced_winnow(X_inf=1, gamma=0.5, n=10, eta=0.2), math.log(20) / 0.08),
        (theory.balanced_winnow(X_inf=1, gamma=2, n=10, u_1=4), 8 * math.log(20)),
        (
            theory.balanced_winnow_total_distance(X_inf=1, gamma=0.5, n=10, eta=0.2, TD=5),
            (math.log(20) + 1) / 0.08,
        ),
        (theory.pnorm(p=4, X_p=2, u_q=3, gamma=6), 3),
        (theory.mira(R=2, gamma=1, p=0.75), 64),
        (theory.mira_left(n_errors=3, n_updates=7, p=0.75), 3.25),
        (theory.mira_margin(gamma=1, p=0.5), 0.25),
        (theory.mira_geometric(R=2, gamma=1, p=0.25), 16),
        (theory.pa_separable(R=2, u_norm=3), 36),
        (theory.pa_unit(u_norm=3, squared_loss=1), 25),
        (theory.pa1(R=2, u_norm=3, C=1, loss=5), 76),
        (theory.pa1(R=0.5, u_norm=3, C=0.1, loss=5), 100),
        (theory.pa1(R=2, u_norm=3, C=math.inf, loss=0), 36),
        (theory.pa2(R=2, u_norm=3, C=1, squared_loss=5), 85.5),
        (theory.pa2(R=2, u_norm=3, C=math.inf, squared_loss=0), 36),
        (theory.romma_aggressive(R=2, gamma=1, delta=0.25), 64),
        (theory.romma_growth(R=4, delta=0.5), 1 / 64),
        (theory.romma_margin(gamma=2, delta=0.25), 1.5),
        (theory.alma(gamma=0.1, alpha=0.5), 1800 + 12),
        (theory.alma_margin(gamma=2, alpha=0.25), 1.5),
        (theory.multiclass(R=3, delta=0.5), 72),
        (theory.multiclass_hinge(R=2, u_norm=3, H=0.5), 73),
        (theory.multiclass_hinge_tight(R=math.sqrt(2), u_norm=1.5, H=10), 25),
        (theory.multiclass_mira(R=2, u_norm=3, p=0.5), 288),
        (theory.multiclass_pa(R=2, u_norm=3), 72),
        (theory.crammer_singer(W0_norm=3, u_dot_W0=-1, delta=2), 2),
        (theory.structured(R=3, delta=0.5), 36),
        (theory.ipm_total(R=3, gamma=0.5, S=4), 144),
        (theory.second_order(a=2, gamma=0.5, uSu=7, logdet=4, TD=1), 14),
        (theory.arow(r=2, u_norm=2, uXu=1, logdet=4, n_aggressive=5, H=3), 7),
        (theory.forgetron(u_norm=1, H=0.5, budget=83), 4),
        (theory.random_hypothesis(M=4, m=7), 0.5),
        (theory.voted(M=4, m=7), 1),
        (theory.online_to_batch(M=3, m=8, delta=math.exp(-1)), 3 / 8 + 1 / 2),
        (theory.compression(m=5, s=2, delta=0.5), math.log(10 * 10) / 3),
    ],
)
def test_value_by_hand(value, by_hand):
    assert value == near(by_hand)


@pytest.mark.parametrize("case", load("margin_perceptron"), ids=str)
def test_golden_margin_perceptron(case):
    X, p = case.X, case.params
    if p.get("normalize") == "l2":
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
    allowed = theory.margin_perceptron(theory.radius(X), p["gamma"], p["eps"])
    assert close(allowed, case.expected["update_bound"])
    assert close(theory.gamma_low(case.expected["w"], X, case.y), case.expected["margin_lower"])


with_bracket = [case for case in load("hard_margin") if "bracket_for_given" in case.expected]


@pytest.mark.parametrize("case", with_bracket, ids=str)
def test_golden_brackets(case):
    given_, bias = case.expected["bracket_for_given"], case.params["bias"]
    low = theory.gamma_low(given_["w"], case.X, case.y, free_bias=bias)
    up = theory.gamma_up_from_weights(given_["lambda"], case.X, case.y, free_bias=bias)
    assert close(low, given_["lower"]) and close(up, given_["upper"])
    assert low * (1 - 1e-6) <= case.expected["margin"] <= up * (1 + 1e-6)  # as exact as the file


# ----------------------------------------------------------------------------------- relations


@given(R, norm, loss)
def test_tight_is_at_most_simple(R, u_norm, H):
    a = R * u_norm
    tight = theory.hinge_tight(R, u_norm, H)
    assert tight <= theory.hinge(R, u_norm, H) * (1 + 1e-12)
    assert tight <= (H + a * math.sqrt(H) + a * a) * (1 + 1e-12)
    assert theory.multiclass_hinge_tight(R, u_norm, H) <= theory.multiclass_hinge(R, u_norm, H) * (1 + 1e-12)


@given(R, norm, loss)
def test_tight_solves_the_inequality_it_comes_from(R, u_norm, H):
    M = theory.hinge_tight(R, u_norm, H)
    assert H + R * u_norm * math.sqrt(M) == near(M)


@given(R, gamma, loss)
def test_total_distance_is_hinge_for_the_scaled_comparator(R, gamma, TD):
    assert theory.total_distance(R, gamma, TD) == near(theory.hinge(R, 1 / gamma, TD / gamma))
    assert theory.total_distance_tight(R, gamma, TD) == near(theory.hinge_tight(R, 1 / gamma, TD / gamma))


@given(R, gamma)
def test_nothing_missed_is_novikoff(R, gamma):
    k = near(theory.novikoff(R, gamma))
    assert theory.novikoff_from(R, gamma, w0_norm=0, eta=0.3) == k
    assert theory.hinge(R, 1 / gamma, H=0) == k
    assert theory.hinge_tight(R, 1 / gamma, H=0) == k
    assert theory.total_distance(R, gamma, TD=0) == k
    assert theory.total_distance_tight(R, gamma, TD=0) == k
    assert theory.squared(R, gamma, D=0) == k
    assert theory.single_point_steps(R, gamma, w0_norm=0) == k
    assert theory.variable_rate(R, gamma) == k
    assert theory.pnorm(2, R, 1, gamma) == k
    assert theory.mira(R, gamma, p=0) == k
    assert theory.mira_geometric(R, gamma, p=0) == k
    assert theory.pa_separable(R, 1 / gamma) == k
    assert theory.romma(R, gamma) == k
    assert theory.romma_aggressive(R, gamma, delta=1) == k
    assert theory.romma_aggressive_errors(R, gamma) == k
    assert theory.ipm(R, gamma) == k
    assert theory.ipm_total(R, gamma, S=1) == k
    assert theory.structured(R, gamma) == k
    assert theory.multiclass(R, math.sqrt(2) * gamma) == k  # two classes
    assert theory.multiclass_mira(R, 1 / (math.sqrt(2) * gamma)) == k


@given(R, gamma, st.floats(1e-3, 1e3))
def test_bounds_do_not_depend_on_the_unit_of_length(R, gamma, c):
    assert theory.novikoff(c * R, c * gamma) == near(theory.novikoff(R, gamma))
    assert theory.margin_perceptron(c * R, c * gamma) == near(theory.margin_perceptron(R, gamma))
    assert theory.balanced_winnow(c * R, c * gamma, 5) == near(theory.balanced_winnow(R, gamma, 5))
    assert theory.squared(c * R, c * gamma, c) == near(theory.squared(R, gamma, 1))


@given(R, gamma, fraction, fraction)
def test_more_aggressive_costs_more_updates(R, gamma, a, b):
    low, high = sorted((a, b))
    assert theory.mira(R, gamma, low) <= theory.mira(R, gamma, high)
    assert theory.romma_aggressive(R, gamma, high) <= theory.romma_aggressive(R, gamma, low)
    assert theory.alma(gamma, high) <= theory.alma(gamma, low)
    assert theory.mira_margin(gamma, low) <= theory.mira_margin(gamma, high)
    assert theory.romma_margin(gamma, high) <= theory.romma_margin(gamma, low)


@given(R, norm, loss, st.floats(0.01, 100.0))
def test_large_C_is_pa(R, u_norm, loss, C):
    assert theory.pa1(R, u_norm, math.inf, 0) == near(theory.pa_separable(R, u_norm))
    assert theory.pa2(R, u_norm, 1e12, 0) == pytest.approx(theory.pa_separable(R, u_norm), rel=1e-6, abs=1e-6)
    assert theory.pa1(R, u_norm, C, loss) >= theory.pa_separable(R, u_norm) * (1 - 1e-12)


@given(gamma, st.integers(1, 50), st.floats(0.05, 1.95))
def test_the_best_rate_of_balanced_winnow(gamma, n, share):
    best = theory.balanced_winnow(2.0, gamma, n)
    rate = gamma / 4.0
    assert theory.balanced_winnow(2.0, gamma, n, eta=rate) == near(best)
    assert theory.balanced_winnow(2.0, gamma, n, eta=share * rate) >= best * (1 - 1e-12)


@given(st.integers(2, 200), st.data())
def test_winnow_promotions_and_demotions_make_the_bound(n, data):
    r = data.draw(st.integers(1, n))
    p = theory.winnow_promotions(r, n)
    assert theory.winnow1(n, r) == p + theory.winnow1_demotions(n, n, p)
    assert theory.winnow2(n, r) == p + theory.winnow2_demotions(n, n, p) - 1  # strictly below
    assert p == r * (n - 1).bit_length()


def test_harmonic_updates_covers_the_harmonic_sum():
    for k in (1, 2, 10, 1000):
        H_k = sum(1 / j for j in range(1, k + 1))
        gamma = math.pi / math.sqrt(6) / H_k  # then harmonic_sum(1, gamma) = H_k
        assert theory.harmonic_sum(1, gamma) == near(H_k)
        assert theory.harmonic_updates(1, gamma) >= k


def test_compression_counts_the_subsets():
    assert theory.compression(30, 4, 0.1) == near((math.log(math.comb(30, 4)) + math.log(300)) / 26)


def test_second_order_terms_dense_sparse_wide_and_tall():
    rows = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 1.0], [3.0, 0.0, 0.5], [1.0, 1.0, 1.0]])
    u = np.array([0.5, -1.0, 2.0])
    S = rows.T @ rows
    logdet = np.linalg.slogdet(np.eye(3) + S / 0.7)[1]
    for kind in (np.asarray, sparse.csr_array, sparse.csr_matrix):
        assert theory.second_order_terms(kind(rows), u, 0.7) == near((u @ S @ u, logdet))
    assert theory.second_order_terms(rows[:2], u, 0.7)[1] == near(
        np.linalg.slogdet(np.eye(2) + rows[:2] @ rows[:2].T / 0.7)[1]
    )
    assert theory.second_order_terms(np.zeros((0, 3)), u, 0.7) == (0.0, 0.0)


# ------------------------------------------------------------------- where nothing is claimed


@pytest.mark.parametrize(
    "value",
    [
        theory.novikoff(R=1, gamma=0),
        theory.novikoff(R=0, gamma=0),
        theory.novikoff(R=1e200, gamma=1e-200),
        theory.novikoff_from(R=1, gamma=0, w0_norm=0),
        theory.novikoff_augmented(R=1, gamma=0, b=1),
        theory.passes(R=1, gamma=0),
        theory.forced_mistakes(gamma=0),
        theory.total_distance(R=1, gamma=0, TD=0),
        theory.total_distance_tight(R=1, gamma=0, TD=1),
        theory.squared(R=1, gamma=0, D=1),
        theory.harmonic_updates(R=1, gamma=1e-9),
        theory.margin_perceptron(R=1, gamma=0),
        theory.winnow2_general(n=3, theta=3, delta=0, mu_sum=1),
        theory.balanced_winnow(X_inf=1, gamma=0, n=3),
        theory.balanced_winnow(X_inf=1, gamma=0.5, n=3, eta=1.0),
        theory.balanced_winnow(X_inf=1, gamma=0.5, n=3, eta=7.0),
        theory.pnorm(p=2, X_p=1, u_q=1, gamma=0),
        theory.mira_geometric(R=1, gamma=0.5, p=0.25),
        theory.mira_geometric(R=1, gamma=0.5, p=0.4),
        theory.pa1(R=1, u_norm=1, C=math.inf, loss=1),
        theory.romma_aggressive(R=1, gamma=0.5, delta=0),
        theory.alma(gamma=0, alpha=0.5),
        theory.multiclass(R=1, delta=0),
        theory.crammer_singer(W0_norm=1, u_dot_W0=0, delta=0),
        theory.second_order(a=1, gamma=0, uSu=0, logdet=0),
        theory.forgetron(u_norm=1, H=0, budget=82),
        theory.forgetron(u_norm=2, H=0, budget=83),
        theory.compression(m=5, s=5),
        theory.gamma_up(w_norm=0, tau_sum=0),
    ],
)
def test_void_bound_is_infinite(value):
    assert value == math.inf


# ------------------------------------------------------------------------------- bad arguments


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.novikoff(1, -1.0), "gamma must be a positive number; got gamma=-1.0."),
        (lambda: theory.novikoff(1, math.nan), "gamma must be a positive number; got gamma=nan."),
        (lambda: theory.novikoff(1, math.inf), "gamma must be a positive number; got gamma=inf."),
        (lambda: theory.novikoff(-1, 1), "R must be a non-negative number; got R=-1."),
        (
            lambda: theory.novikoff(np.float64(-1), 1),
            "R must be a non-negative number; got R=-1.0.",
        ),
        (
            lambda: theory.novikoff_from(1, 1, 1, eta=0),
            "eta must be a positive number; got eta=0.",
        ),
        (lambda: theory.augmented_margin(1, math.inf), "b must be a finite number; got b=inf."),
        (lambda: theory.augmented_margin(1, 1, 0), "B must be a positive number; got B=0."),
        (lambda: theory.hinge(1, 1, -2.0), "H must be a non-negative number; got H=-2.0."),
        (lambda: theory.squared(1, 1, math.inf), "D must be a non-negative number; got D=inf."),
        (
            lambda: theory.forced_mistakes(1.5),
            "gamma must be a number above 0 and at most 1; got gamma=1.5.",
        ),
        (
            lambda: theory.margin_perceptron(1, 1, eps=1.0),
            "eps must be a number between 0 and 1, both excluded; got eps=1.0.",
        ),
        (
            lambda: theory.risk_descent_steps(2.5, 1, 1, 1),
            "m must be an integer of at least 0; got m=2.5.",
        ),
        (
            lambda: theory.variable_rate_left([1, 0]),
            "etas must be a positive number; got etas=0.",
        ),
        (lambda: theory.mira(1, 1, p=1), "p must be a number from 0 to 1, 1 excluded; got p=1."),
        (
            lambda: theory.mira_left(5, 3),
            "n_errors must be an integer from 0 to 3; got n_errors=5.",
        ),
        (lambda: theory.pa1(1, 1, 0.0, 1), "C must be a positive number; got C=0.0."),
        (
            lambda: theory.romma_aggressive(1, 1, delta=2.0),
            "delta must be a number from 0 to 1; got delta=2.0.",
        ),
        (
            lambda: theory.alma(1, alpha=0.0),
            "alpha must be a number above 0 and at most 1; got alpha=0.0.",
        ),
        (lambda: theory.winnow1(3, 4), "r must be an integer from 0 to 3; got r=4."),
        (lambda: theory.winnow1(3, 1, alpha=1), "alpha must be a number above 1; got alpha=1."),
        (
            lambda: theory.winnow2_general(3, 0.5, 1, 1),
            "theta must be a number of at least 1; got theta=0.5.",
        ),
        (
            lambda: theory.winnow1_general(3, 1, 2, 0.25),
            "theta must be at least 1/alpha=0.5; got theta=0.25.",
        ),
        (
            lambda: theory.elimination(3, 1, "some"),
            "literals must be 'monotone' or 'all'; got literals='some'.",
        ),
        (lambda: theory.pnorm(1.5, 1, 1, 1), "p must be a number of at least 2; got p=1.5."),
        (
            lambda: theory.crammer_singer(1, 2.0, 1),
            "u_dot_W0 must be at most W0_norm in absolute value; got u_dot_W0=2.0.",
        ),
        (
            lambda: theory.online_to_batch(9, 8),
            "M must be an integer from 0 to 8; got M=9.",
        ),
        (
            lambda: theory.compression(8, 2, delta=0),
            "delta must be a number between 0 and 1, both excluded; got delta=0.",
        ),
        (
            lambda: theory.sample_margins([1.0], [[1.0]], [1], kind="best"),
            "kind must be one of 'functional', 'geometric', 'normalized'; got kind='best'.",
        ),
        (
            lambda: theory.sample_margins([1.0], [[1.0, 2.0]], [1]),
            "X must have shape (1, 1), as y and w say; got shape (1, 2).",
        ),
        (
            lambda: theory.sample_margins([1.0], [[1.0]], [2]),
            "y must hold labels -1 and +1 only.",
        ),
        (
            lambda: theory.gamma_up_from_weights([-1.0], [[1.0]], [1]),
            "weights must be non-negative numbers; got a smallest of -1.0.",
        ),
    ],
)
def test_bad_value(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == message


@pytest.mark.parametrize("bad", ["1", None, [1.0], True, 1j])
def test_not_a_number(bad):
    with pytest.raises(TypeError, match="gamma must be a positive number; got gamma="):
        theory.novikoff(1, bad)


# ------------------------------------------------------------------------------------ the package


#: the lines that the specification marks as quoted, and the authors and year of the paper
QUOTED = {
    "squared": ("Freund", "Schapire", "1999"),
    "voted": ("Freund", "Schapire", "1999"),
    "winnow1_general": ("Littlestone", "1988"),
    "winnow2_general": ("Littlestone", "1988"),
    "pnorm": ("Grove", "Littlestone", "Schuurmans", "2001"),
    "online_to_batch": ("Cesa-Bianchi", "Conconi", "Gentile", "2004"),
    "pac_sample_size": ("Cesa-Bianchi", "Conconi", "Gentile", "2004"),  # the line above, solved for m
    "pa_unit": ("Crammer", "Dekel", "Keshet", "Shalev-Shwartz", "Singer", "2006"),
    "pa1": ("Crammer", "Dekel", "Keshet", "Shalev-Shwartz", "Singer", "2006"),
    "pa2": ("Crammer", "Dekel", "Keshet", "Shalev-Shwartz", "Singer", "2006"),
    "romma_aggressive_errors": ("Li", "Long", "2002"),
    "alma": ("Gentile", "2001"),
    "alma_margin": ("Gentile", "2001"),
    "second_order": ("Cesa-Bianchi", "Conconi", "Gentile", "2005"),
    "arow": ("Crammer", "Kulesza", "Dredze", "2009"),
    "forgetron": ("Dekel", "Shalev-Shwartz", "Singer", "2008"),
    "compression": ("Floyd", "Warmuth", "1995"),
}
#: arithmetic, not a theorem: no paper to name
PLAIN = {"variable_rate_left", "harmonic_left", "second_order_terms", "augmented_margin"}
FUNCTIONS = [name for name in bounds.__all__ if name != "AS_PUBLISHED"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_quoted_constants_say_so_and_name_their_paper(name):
    doc = inspect.getdoc(getattr(bounds, name))
    assert ("as published" in doc) == (name in QUOTED)
    assert ">>> " in doc  # an example
    if name in QUOTED:
        source = doc[doc.index("as published in") :]
        assert all(word in source and word in bounds.AS_PUBLISHED[name] for word in QUOTED[name])
    elif name not in PLAIN:
        assert re.search(r"\b(18|19|20)\d\d\b|arXiv", doc), "no paper is named"


def test_the_list_of_quoted_bounds_is_that_of_the_specification():
    assert set(bounds.AS_PUBLISHED) == set(QUOTED) <= set(FUNCTIONS)


def test_every_public_name_is_exported():
    assert set(bounds.__all__) <= set(theory.__all__)
    for name in theory.__all__:
        assert hasattr(theory, name)
    assert len(set(theory.__all__)) == len(theory.__all__)


# ------------------------------------------------------------------------------------- margins


def test_margins_by_hand():
    w, y = np.array([3.0, 4.0]), np.array([1, -1, 1])
    X = np.array([[1.0, 0.5], [0.0, -2.0], [0.0, 0.0]])
    for kind in (np.asarray, sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        margins = [theory.sample_margins(w, kind(X), y, kind=k) for k in KINDS]
        assert np.allclose(margins[0], [5, 8, 0])
        assert np.allclose(margins[1], [1, 1.6, 0])
        assert np.allclose(margins[2], [1 / math.sqrt(1.25), 0.8, 0])
        assert np.allclose(theory.sample_margins(w, kind(X), y, b=-1), [4, 9, -1])
        assert theory.gamma_low(w, kind(X), y) == 0.0
        assert theory.radius(kind(X)) == 2.0


def test_margins_of_nothing():
    X, y = np.array([[1.0], [2.0]]), np.array([1, 1])
    for kind in KINDS:
        assert np.array_equal(theory.sample_margins([0.0], X, y, kind=kind), [0, 0])
    assert np.array_equal(theory.sample_margins([0.0], X, y, b=1, kind="geometric"), [np.inf] * 2)
    assert np.array_equal(theory.sample_margins([0.0], X, y, b=-1, kind="geometric"), [-np.inf] * 2)
    assert theory.gamma_low([0.0], X, y) == -math.inf
    assert theory.gamma_low([0.0], X, y, b=1.0) == math.inf
    assert theory.gamma_low([1.0], X, y, free_bias=True) == math.inf
    assert theory.gamma_low([0.0], X, [1, -1], free_bias=True) == -math.inf
    assert theory.gamma_up_from_weights([0, 0], X, y) == math.inf
    assert theory.gamma_up_from_weights([1, 1], X, y, free_bias=True) == math.inf
    assert theory.radius(np.zeros((0, 3))) == 0.0
    assert theory.radius(sparse.csr_array((0, 3))) == 0.0


def test_small_integers_do_not_overflow():
    X = np.array([[100, 100]], dtype=np.int8)
    assert theory.radius(X) == theory.radius(sparse.csr_array(X)) == near(math.sqrt(20000))
    assert theory.second_order_terms(sparse.csr_array(X), [1, 0], 1.0)[0] == 10000


@given(separable())
def test_bracket_of_a_perceptron_run(data: Separable):
    X, y, u, gamma = data
    w, k = np.zeros(X.shape[1]), 0

    def margins(X, y):
        return y * (X @ w)

    for i in adversarial_stream(margins, X, y, limit=200):
        w, k = w + y[i] * X[i], k + 1
        assert gamma <= theory.gamma_up(np.linalg.norm(w), k) * (1 + 1e-12)
        assert theory.gamma_low(w, X, y) <= theory.gamma_up(np.linalg.norm(w), k) * (1 + 1e-12)
    assert k <= theory.novikoff(theory.radius(X), gamma)
    assert theory.gamma_low(u, X, y) >= gamma


@given(samples(), st.data())
def test_every_bracket_holds(sample, data):
    X, y, _ = sample
    n_rows, n_features = X.shape
    numbers = st.floats(-1, 1).map(lambda a: round(a, 3))
    w = data.draw(st.lists(numbers, min_size=n_features, max_size=n_features))
    weights = data.draw(st.lists(numbers.map(abs), min_size=n_rows, max_size=n_rows).filter(any))
    for free_bias in (False, True):
        low = theory.gamma_low(w, X, y, free_bias=free_bias)
        up = theory.gamma_up_from_weights(weights, X, y, free_bias=free_bias)
        assert low <= up + 1e-12
        assert up == near(theory.gamma_up_from_weights(weights, sparse.csr_array(X), y, free_bias=free_bias))


@given(disjunctions())
def test_elimination_on_the_blackboard(data):
    X, y, literals = data
    alive = np.ones(X.shape[1], dtype=bool)
    mistakes = 0
    for _ in range(3):
        for x, label in zip(X > 0, y):
            if label < 0 and (alive & x).any():
                alive &= ~x
                mistakes += 1
    assert mistakes <= theory.elimination(X.shape[1], len(literals)) and alive[list(literals)].all()
