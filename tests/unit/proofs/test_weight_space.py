"""Rows as half-spaces of the weights: paper cases, and the cone against its definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

from perceptrons import MaxMargin, datasets, proofs, separability
from perceptrons.proofs import _cones, weight_space

SLAB = datasets.slab_points()
FOUR = datasets.four_points()


def directions(space) -> set[tuple[float, ...]]:
    return {tuple(np.round(ray, 12) + 0.0) for ray in space.rays}


def units(*vectors) -> set[tuple[float, ...]]:
    return {tuple(np.round(np.array(v) / np.linalg.norm(v), 12) + 0.0) for v in vectors}


# ------------------------------------------------------------------------------------ paper cases


def test_four_points():
    """y x are (1, 2), (2, 1), (1, 1), (1, -1): the first and the last bound the cone of (1, 1), (2, -1)."""
    space = weight_space(FOUR.X, FOUR.y)
    assert space.normals.tolist() == [[1, 2], [2, 1], [1, 1], [1, -1]]
    assert space.offsets.tolist() == [0, 0, 0, 0] and space.dimension == 2
    assert directions(space) == units((1, 1), (2, -1))
    assert space.facets.tolist() == [0, 3] and space.empty is False and space.optimum is None
    assert space.contains([2, 1]) and not space.contains([1, 1]) and not space.contains([0, 0])
    assert space.contains([[2, 1], [1, 1], [1, 0]]).tolist() == [True, False, True]
    assert str(space) == "4 half-spaces in 2 dimensions have a cone in common, bounded by rows 0, 3"


def test_rays_in_the_plane_are_counter_clockwise():
    (a, b), (p, q) = weight_space(FOUR.X, FOUR.y).rays
    assert a * q - b * p > 0.0
    assert weight_space([[1, 0]], [1]).rays.tolist() == [[0, -1], [1, 0], [0, 1]]


@pytest.mark.parametrize(
    "rows, rays, facets, empty",
    [
        ([[1, 0]], [(0, 1), (0, -1), (1, 0)], [0], False),  # a half-plane
        ([[1, 0], [3, 0]], [(0, 1), (0, -1), (1, 0)], [0, 1], False),  # parallel
        ([[1, 0], [1, 0], [0, 1]], [(0, 1), (1, 0)], [0, 1, 2], False),  # twice the same row
        ([[1, 0], [-2, 0]], [(0, 1), (0, -1)], [], True),  # opposite rows leave a line
        ([[1, 0], [-2, 0], [1, 1]], [(0, 1)], [], True),  # a ray
        ([[1, 0], [0, 1], [-1, -1]], [], [], True),  # w = 0 alone
        ([[0, 0]], [(1, 0), (-1, 0), (0, 1), (0, -1)], [], True),  # a row of zeros is right for no w
        ([[1, 0], [0, 0], [0, 1]], [(0, 1), (1, 0)], [], True),
        ([[2]], [(1,)], [0], False),
        ([[2], [-1]], [], [], True),
        ([[1, 0, 0]], [(0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1), (1, 0, 0)], [0], False),
        ([[1, 0, 0], [0, 1, 0]], [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, 1, 0)], [0, 1], False),  # a wedge
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], [(1, 0, 0), (0, 1, 0), (0, 0, 1)], [0, 1, 2], False),
        (
            [[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1]],  # a pyramid
            [(1, 1, 1), (-1, 1, 1), (-1, -1, 1), (1, -1, 1)],
            [0, 1, 2, 3],
            False,
        ),
        ([[1, 0, 0], [-1, 0, 0], [0, 1, 0]], [(0, 0, 1), (0, 0, -1), (0, 1, 0)], [], True),  # half of a plane
        ([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, 0, 1]], [(0, 1, 0), (0, 0, 1)], [], True),
    ],
)
def test_cones_of_one_class(rows, rays, facets, empty):
    space = weight_space(rows, np.ones(len(rows)))
    assert directions(space) == units(*rays) and len(space.rays) == len(rays)
    assert space.facets.tolist() == facets and space.empty is empty
    assert space.separability.verdict == ("not separable" if empty else "separable")
    assert not space.contains(np.zeros(space.dimension))
    other = weight_space(-np.array(rows), np.full(len(rows), -1.0))
    assert np.array_equal(other.rays, space.rays) and other.facets.tolist() == facets


def test_without_rows_every_w_is_right():
    space = weight_space(np.zeros((0, 2)), [])
    assert space.empty is False and space.separability is None and space.contains([0, 0])
    assert directions(space) == units((1, 0), (-1, 0), (0, 1), (0, -1))


def test_the_lectures_slab():
    space = weight_space(SLAB.X, SLAB.y, fit_intercept=True, margin=1)
    assert space.exact_optimum == (Fraction(1, 17), Fraction(4, 17), Fraction(-1, 17))
    assert space.support.tolist() == [0, 1] and space.offsets.tolist() == [1, 1, 1]
    assert space.normals.tolist() == [[2, 4, 1], [0, 4, -1], [-4, 5, -1]]
    model = MaxMargin().fit(SLAB.X, SLAB.y)
    assert np.allclose(space.optimum, [*model.coef_[0], *model.intercept_], rtol=1e-9)
    assert np.isclose(model.margin_, np.sqrt(17))
    assert space.contains(17.25 * np.array([1, 4, -1]) / 289) and not space.contains([0.05, 0.2, 0.0])
    through_zero = weight_space(SLAB.X, SLAB.y, margin=1)
    assert through_zero.exact_optimum == (0, Fraction(1, 4))


def test_the_optimum_scales_with_the_margin():
    one, three = (weight_space(FOUR.X, FOUR.y, margin=c) for c in (1, 3))
    assert one.exact_optimum == (1, 0) and three.exact_optimum == (3, 0)
    assert one.contains([1, 0]) and not three.contains([1, 0]) and three.contains([3, 0])
    assert not one.contains([1 - 2**-52, 0])


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_xor_has_no_w_and_a_proof(fit_intercept):
    toy = datasets.xor()
    space = weight_space(toy.X, toy.y, fit_intercept=fit_intercept, margin=1)
    assert space.empty is True and space.optimum is None and len(space.rays) == 0
    assert space.separability.check(toy.X, toy.y, exact=True) is None
    assert "no point in common" in str(space)


def test_one_class_with_an_offset():
    space = weight_space([[3.0, 1.0], [-1.0, 0.0]], [0, 0], fit_intercept=True, margin=2)
    assert space.optimum.tolist() == [0, 0, -2] and space.contains(space.optimum)
    assert space.support.tolist() == [] and space.empty is False


# ------------------------------------------------------------------------- against the definition


def random_rows(rng, d):
    rows = rng.integers(-3, 4, (rng.integers(1, 8), d)) * rng.integers(1, 3)
    return rows if rng.random() < 0.5 else rows + rng.integers(0, 3, d)  # cones that are not empty, too


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_rays_generate_the_closed_cone_and_none_can_be_left_out(d):
    rng = np.random.default_rng(d)
    n_open = 0
    for _ in range(60):
        Z = random_rows(rng, d)
        cone = _cones.cone([tuple(z) for z in Z.tolist()], d)
        G = np.array(cone.generators, float).reshape(-1, d)
        assert (Z @ G.T >= 0).all()
        for w in rng.integers(-5, 6, (10, d)):
            inside = bool((Z @ w >= 0).all())
            assert inside == (nnls(G.T, w.astype(float))[1] < 1e-9 if len(G) else not w.any())
        for k in range(len(G)):
            assert nnls(np.delete(G, k, axis=0).T, G[k])[1] > 1e-9 if len(G) > 1 else True
        space = weight_space(Z, np.ones(len(Z)))
        assert space.empty == (separability(Z, np.ones(len(Z)), fit_intercept=False).verdict != "separable")
        n_open += not space.empty
    assert 5 < n_open < 60


@pytest.mark.parametrize("d", [2, 3])
def test_only_the_facets_matter_and_each_does(d):
    rng = np.random.default_rng(10 + d)
    for _ in range(25):
        Z = random_rows(rng, d)
        space = weight_space(Z, np.ones(len(Z)))
        if space.empty:
            continue
        kept = weight_space(Z[space.facets], np.ones(len(space.facets)))
        assert directions(kept) == directions(space)
        for i in space.facets:
            lengths = np.linalg.norm(Z, axis=1)
            others = np.flatnonzero(np.abs(Z @ Z[i] - lengths * lengths[i]) > 1e-9)  # none parallel to row i
            assert directions(weight_space(Z[others], np.ones(len(others)))) != directions(space)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_optimum_is_that_of_the_solver(d, fit_intercept):
    rng = np.random.default_rng(20 + d)
    for _ in range(4):
        u = rng.normal(size=d)
        X = rng.normal(size=(40, d))
        y = np.where(X @ u > 0.0, 1, -1)
        X = X + 0.25 * y[:, None] * u
        space = weight_space(X, y, fit_intercept=fit_intercept, margin=1)
        model = MaxMargin(fit_intercept=fit_intercept).fit(X, y)
        expected = [*model.coef_[0], *(model.intercept_ if fit_intercept else [])]
        assert np.allclose(space.optimum, expected, rtol=1e-5, atol=1e-8)
        m = space.normals @ space.optimum
        assert m.min() >= 1 - 1e-9 and np.allclose(m[space.support], 1.0)
        assert (space.exact_optimum is None) == (d + fit_intercept > 6)
        if space.exact_optimum is not None:
            assert (
                min(
                    sum(Fraction(a) * b for a, b in zip(z, space.exact_optimum, strict=True))
                    for z in space.normals.tolist()
                )
                == 1
            )


def test_more_than_three_dimensions():
    toy = datasets.spam_words()
    for X in (toy.X, sp.csr_array(toy.X)):
        space = weight_space(X, toy.y, margin=1)
        assert space.rays is None and space.facets is None and space.empty is False
        assert space.contains(1.0001 * space.optimum) and not space.contains(0.99 * space.optimum)
        assert str(space) == "3 half-spaces in 5 dimensions have points in common"
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.choice([0, 1], 60)
    space = weight_space(X, y, fit_intercept=True, margin=1)
    assert space.empty is True and space.separability.weights is not None and space.optimum is None


# ------------------------------------------------------------------------------------------ scale


@pytest.mark.parametrize("d", [2, 3])
def test_the_cone_does_not_depend_on_the_length_of_rows(d):
    rng = np.random.default_rng(30 + d)
    for _ in range(10):
        Z = random_rows(rng, d)
        factors = np.ldexp(1.0, rng.integers(-500, 500, len(Z)))
        plain, scaled = (weight_space(z, np.ones(len(z))) for z in (Z, factors[:, None] * Z))
        assert np.array_equal(plain.rays, scaled.rays) and np.array_equal(plain.facets, scaled.facets)
        assert plain.empty == scaled.empty
        assert plain.separability.verdict == scaled.separability.verdict


def test_a_sliver_that_floats_do_not_see():
    """(1, e) and (-1, e) leave the rays (e, 1) and (-e, 1); with one of them moved below the axis nothing."""
    e = 2.0**-60
    space = weight_space([[1.0, e], [-1.0, e]], [1, 1])
    assert space.empty is False and len(space.rays) == 2
    assert space.contains([0, 1]) and not space.contains([2 * e, 1]) and not space.contains([e, 1])
    assert weight_space([[1.0, e], [-1.0, -e]], [1, 1]).empty is True
    assert weight_space([[1.0, e], [-1.0, 0.0], [0.0, -1.0]], [1, 1, 1]).empty is True


def test_integers_that_float64_rounds():
    k = 2**60
    space = weight_space([[k + 1, k], [-k, -k + 1]], [1, 1], margin=1)
    assert space.empty is False and space.separability is not None
    assert weight_space([[k + 1, k], [-k - 1, -k]], [1, 1]).empty is True


def test_an_optimum_beyond_the_range_of_floats():
    space = weight_space([[1e-300, 0.0]], [1], margin=1e10)
    assert space.optimum is None and space.exact_optimum[0] * Fraction(1e-300) == 10**10


def test_an_optimum_that_floats_miss():
    """Rows of size 1e-13 beside a constant coordinate of 1: a solver in floats is 4 percent off."""
    X = np.array([[4.0, -3, -2, 1], [-3, 4, 1, 1], [-3, 3, -1, 1]]) * [2.0**-45, 2.0**-45, 2.0**-45, 1]
    space = weight_space(X, [-1, 1, 1], margin=1)
    m = [
        sum(Fraction(a) * b for a, b in zip(z, space.exact_optimum, strict=True))
        for z in space.normals.tolist()
    ]
    assert min(m) == 1 and {i for i in range(3) if m[i] > 1}.isdisjoint(space.support)
    alpha = np.linalg.lstsq(space.normals[space.support].T, space.optimum, rcond=None)[0]
    assert (alpha > 0.0).all()  # the conditions of optimality


def test_many_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    X[:, 0] += 3.0 * np.sign(X[:, 0])
    space = weight_space(X, np.where(X[:, 0] > 0, 1, -1), fit_intercept=True, margin=1)
    assert space.empty is False and 3 <= len(space.rays) == len(space.facets) < 30
    model = MaxMargin().fit(X, np.where(X[:, 0] > 0, 1, -1))
    assert np.allclose(space.optimum, [*model.coef_[0], *model.intercept_], rtol=1e-6)


# ---------------------------------------------------------------------------------------- refusals


def test_what_is_refused():
    with pytest.raises(ValueError, match="margin must be"):
        weight_space(FOUR.X, FOUR.y, margin=0.0)
    with pytest.raises(ValueError, match="one or two labels"):
        weight_space(FOUR.X, [0, 1, 2, 0])
    with pytest.raises(ValueError, match="4 rows, y has 3 labels"):
        weight_space(FOUR.X, FOUR.y[:3])
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        weight_space([[np.inf, 1.0]], [1])
    with pytest.raises(ValueError, match="2 coordinates"):
        weight_space(FOUR.X, FOUR.y).contains([1, 2, 3])
    assert not weight_space(FOUR.X, FOUR.y).contains([np.inf, 0])
    assert "weight_space" in dir(proofs)
