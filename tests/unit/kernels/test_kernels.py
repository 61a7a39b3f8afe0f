"""Kernels one by one and composed, in every storage; collections that are cut and joined; the PSD check."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from strategies import samples

from perceptrons import kernels, reference
from perceptrons.kernels import (
    AllSubsets,
    Gaussian,
    Linear,
    Normalized,
    Pairwise,
    Polynomial,
    Precomputed,
    Spectrum,
    as_kernel,
    check_psd,
)
from perceptrons.theory import gram

RNG = np.random.default_rng(0)
A = RNG.integers(-64, 65, (9, 4)) / 32.0
A[RNG.random(A.shape) < 0.3] = 0.0
A[3] = 0.0
B = RNG.integers(-64, 65, (6, 4)) / 32.0
B[1] = A[2]

poly = reference.polynomial_kernel
NUMBERS = {
    "linear": (Linear(), reference.linear_kernel),
    "polynomial": (Polynomial(3, 0.5, 0.25), poly(3, 0.5, 0.25)),
    "degree 1": (Polynomial(1), poly(1)),
    "degree 7": (Polynomial(7, gamma=0.125), poly(7, 1.0, 0.125)),
    "homogeneous": (Polynomial(2, 0.0), poly(2, 0.0)),
    "gaussian": (Gaussian(0.5), reference.gaussian_kernel(0.5)),
    "all subsets": (AllSubsets(), reference.all_subsets_kernel),
    "sum": (
        Linear() + Gaussian(0.5) + 2.0 * Polynomial(2),
        reference.sum_kernel(
            reference.linear_kernel,
            reference.gaussian_kernel(0.5),
            reference.scaled_kernel(2.0, poly(2)),
        ),
    ),
    "product": (
        Polynomial(2) * Gaussian(0.25) * AllSubsets(),
        reference.product_kernel(poly(2), reference.gaussian_kernel(0.25), reference.all_subsets_kernel),
    ),
    "scaled": (Linear() * 0.25, reference.scaled_kernel(0.25, reference.linear_kernel)),
    "times 0": (0 * Polynomial(2), reference.constant_kernel(0.0)),
    "normalised": (Normalized(Polynomial(2)), reference.normalized_kernel(poly(2))),
    "normalised linear": (Normalized(Linear()), reference.normalized_kernel(reference.linear_kernel)),
    "normalised sum": (
        Normalized(Linear() + Gaussian(1.0) * Normalized(AllSubsets())),
        reference.normalized_kernel(
            reference.sum_kernel(
                reference.linear_kernel,
                reference.product_kernel(
                    reference.gaussian_kernel(1.0),
                    reference.normalized_kernel(reference.all_subsets_kernel),
                ),
            )
        ),
    ),
    "function": (
        as_kernel(lambda a, b: float(np.minimum(a, b).clip(0).sum())),
        lambda a, b: np.minimum(a, b).clip(0).sum(),
    ),
    "record and function": (
        Linear() + as_kernel(reference.gaussian_kernel(1.0)),
        reference.sum_kernel(reference.linear_kernel, reference.gaussian_kernel(1.0)),
    ),
}
EVERY = pytest.mark.parametrize("name", NUMBERS)


# --------------------------------------------------------------------------------------- values


@EVERY
def test_values_are_those_of_the_formula(name):
    kernel, formula = NUMBERS[name]
    expected = reference.gram(formula, A, B)
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel(B, A), expected.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel(A), reference.gram(formula, A), rtol=1e-12, atol=1e-12)
    prepared = kernel.prepare(A)
    diagonal = kernel.diagonal(prepared)
    assert diagonal.dtype == np.float64
    np.testing.assert_allclose(diagonal, [formula(a, a) for a in A], rtol=1e-12)


@pytest.mark.parametrize("name", [n for n in NUMBERS if not NUMBERS[n][0].by_pairs])
def test_every_storage_has_the_same_values(name):
    kernel, formula = NUMBERS[name]
    expected = reference.gram(formula, A, B)
    for left in (A, sp.csr_array(A), sp.csc_matrix(A), A.tolist(), np.asfortranarray(A)):
        for right in (B, sp.csr_array(B), sp.csr_matrix(B)):
            found = kernel(left, right)
            assert type(found) is np.ndarray
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    sparse = kernel.prepare(sp.csr_array(A))
    np.testing.assert_allclose(kernel.diagonal(sparse), [formula(a, a) for a in A], rtol=1e-12)


@pytest.mark.parametrize("name", [n for n in NUMBERS if not NUMBERS[n][0].by_pairs])
def test_float32_stays_float32_and_is_as_good(name):
    kernel, formula = NUMBERS[name]
    expected = reference.gram(formula, A, B)
    for kind in (np.asarray, sp.csr_array):
        found = kernel(kind(A.astype(np.float32)), kind(B.astype(np.float32)))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * (1.0 + np.abs(expected).max()))
        assert kernel.diagonal(kernel.prepare(kind(A.astype(np.float32)))).dtype == np.float64


@pytest.mark.parametrize("tile", [1, 7, 10**9])
def test_tiles_change_nothing(monkeypatch, tile):
    whole = {name: kernel(A, B) for name, (kernel, _) in NUMBERS.items()}
    monkeypatch.setattr(kernels.numeric, "_TILE", tile)
    for name, (kernel, _) in NUMBERS.items():
        np.testing.assert_array_equal(kernel(A, B), whole[name])


def test_values_are_fresh_arrays():
    """Whoever changes them changes nothing else."""
    for kernel, _ in [*NUMBERS.values(), (Precomputed(), None)]:
        X = np.eye(4) if isinstance(kernel, Precomputed) else A
        prepared = kernel.prepare(X.copy())
        before = kernel.matrix(prepared, prepared)
        changed = kernel.matrix(prepared, prepared)
        changed += 5.0
        np.testing.assert_array_equal(kernel.matrix(prepared, prepared), before)


@EVERY
@given(samples(max_rows=8))
def test_no_sample_refutes_a_kernel(name, sample):
    kernel, _ = NUMBERS[name]
    if name != "function":
        check = check_psd(kernel, sample.X)
        assert check and check.psd and check.asymmetry <= 1e-10 * max(1.0, np.abs(kernel(sample.X)).max())


def test_distances_that_rounding_would_make_negative():
    rows = np.full((3, 5), 1e8) + np.arange(3)[:, None] * 1e-8
    values = Gaussian(1.0)(rows)
    assert (values <= 1.0).all() and (values > 0.0).all()


def test_the_width_of_the_gaussian():
    for kind in (np.asarray, sp.csr_array, lambda X: X.tolist()):
        found = Gaussian().fitted(kind(A))
        assert np.isclose(found.gamma, 1.0 / (4 * A.var()))
    assert np.isclose((Gaussian() + Normalized(Gaussian())).fitted(A).terms[1].kernel.gamma, found.gamma)
    assert Gaussian().fitted(np.ones((3, 2))).gamma == 1.0
    assert Gaussian(0.5).fitted(A) == Gaussian(0.5)
    with pytest.raises(ValueError, match=r"takes its width from data: call fitted\(X\)"):
        Gaussian()(A)


# ------------------------------------------------------------------------------------ strings

WORDS = ["banana", "bandana", "", "a", "nab", "aaaa", "banana"]


@pytest.mark.parametrize("mode", ["multiset", "set", "min"])
@pytest.mark.parametrize("p", [1, 2, 3, 9])
def test_strings(p, mode):
    expected = reference.gram(reference.spectrum_kernel(p, mode), WORDS)
    kernel = Spectrum(p, mode)
    np.testing.assert_array_equal(kernel(WORDS), expected)
    np.testing.assert_array_equal(kernel([w.encode() for w in WORDS]), expected)
    for kind in (np.array, pd.Series, tuple):
        np.testing.assert_array_equal(kernel(kind(WORDS)), expected)
    np.testing.assert_array_equal(kernel(WORDS[:2], WORDS[2:]), expected[:2, 2:])
    np.testing.assert_array_equal(kernel(["", ""]), np.zeros((2, 2)))
    np.testing.assert_array_equal(kernel.diagonal(kernel.prepare(WORDS)), expected.diagonal())
    mixed = Normalized(kernel) + 2.0 * kernel * kernel
    roots = np.sqrt(expected.diagonal())
    unit = np.divide(expected, np.outer(roots, roots), out=np.zeros_like(expected), where=expected > 0)
    np.testing.assert_allclose(mixed(WORDS), unit + 2.0 * expected**2)
    assert check_psd(kernel, WORDS) and check_psd(mixed, WORDS)


def test_str_and_bytes_have_nothing_in_common():
    assert Spectrum(1)(["ab"], [b"ab"])[0, 0] == 0.0


def test_new_strings_extend_the_columns_of_the_old():
    kernel = Spectrum(2)
    first = kernel.prepare(["abc", "bcd"])
    second = kernel.prepare(["xyz", "abx"], first)
    third = kernel.prepare(["zz", "yzb"], second)
    every = first.join(second).join(third)
    names = ["abc", "bcd", "xyz", "abx", "zz", "yzb"]
    np.testing.assert_array_equal(kernel.matrix(every, every), kernel(names))
    np.testing.assert_array_equal(kernel.matrix(first, third), kernel(names[:2], names[4:]))
    np.testing.assert_array_equal(kernel.matrix(every[[5, 0]], first), kernel(["yzb", "abc"], names[:2]))
    assert len(first.columns) == 3 and first.X.shape[1] == 3  # as they were


# ----------------------------------------------------------------- collections cut and joined

COLLECTIONS = {
    "dense": lambda: (Polynomial(2), A),
    "float32": lambda: (Gaussian(0.5), A.astype(np.float32)),
    "csr": lambda: (Gaussian(0.5), sp.csr_array(A)),
    "strings": lambda: (Spectrum(2), ["banana", "bandana", "", "nab", "abba", "ana", "dan", "and", "x"]),
    "objects": lambda: (Pairwise(lambda a, b: float(a @ b)), list(A)),
    "parts": lambda: (Linear() * Gaussian(1.0) + Normalized(Polynomial(2)), A),
    "mixed parts": lambda: (Linear() + Pairwise(lambda a, b: float(a @ b)), A),
    "table": lambda: (Precomputed(), A @ A.T),
}


@pytest.mark.parametrize("name", COLLECTIONS)
def test_cut_and_joined_a_collection_is_what_it_was(name):
    kernel, objects = COLLECTIONS[name]()
    whole = kernel.prepare(objects)
    G = kernel.matrix(whole, whole)
    assert len(whole) == whole.shape[0] == 9
    kernel.diagonal(whole)  # what is remembered of it is cut and joined, too
    order = np.array([4, 0, 7, 7, 2, 8])
    some = whole[order]
    np.testing.assert_allclose(kernel.matrix(some, whole), G[order], rtol=1e-6)
    np.testing.assert_allclose(kernel.diagonal(some), np.diag(G)[order], rtol=1e-6, atol=1e-6)
    for cut in (whole[2:5], whole[np.array([2, 3, 4])]):
        np.testing.assert_allclose(kernel.matrix(cut, some), G[2:5][:, order], rtol=1e-6)
    assert len(whole[:0]) == 0
    chain = whole[:0]
    for i in range(9):
        chain = chain.join(whole[i : i + 1])
    np.testing.assert_allclose(kernel.matrix(chain, whole), G, rtol=1e-6)
    np.testing.assert_allclose(kernel.diagonal(chain), np.diag(G), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_joins_of_one_beginning_do_not_disturb_each_other(name):
    """They share room for rows to come; who comes second moves out."""
    kernel, objects = COLLECTIONS[name]()
    whole = kernel.prepare(objects)
    G = kernel.matrix(whole, whole)
    start = whole[0:1].join(whole[1:2]).join(whole[2:3])
    left = start.join(whole[3:5])
    right = start.join(whole[6:7])
    again = left.join(whole[5:6])
    other = left.join(whole[8:9])
    interrupted = [f(start).join(whole[4:6]) for f in (copy.copy, copy.deepcopy)]
    for joined, rows in (
        (start, [0, 1, 2]),
        (left, [0, 1, 2, 3, 4]),
        (right, [0, 1, 2, 6]),
        (again, [0, 1, 2, 3, 4, 5]),
        (other, [0, 1, 2, 3, 4, 8]),
        (interrupted[0], [0, 1, 2, 4, 5]),
        (interrupted[1], [0, 1, 2, 4, 5]),
    ):
        np.testing.assert_allclose(kernel.matrix(joined, whole), G[rows], rtol=1e-6)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=30), st.integers(0, 2**32 - 1))
def test_many_joins(sizes, seed):
    rng = np.random.default_rng(seed)
    kernel = Linear()
    pieces = [rng.normal(size=(n, 3)) for n in sizes]
    joined, stale = kernel.prepare(pieces[0]), []
    for k, piece in enumerate(pieces[1:], 1):
        stale.append((joined, np.concatenate(pieces[:k])))
        joined = joined.join(kernel.prepare(piece))
        if rng.random() < 0.3:
            joined.join(kernel.prepare(piece))  # and nobody keeps it
    np.testing.assert_array_equal(joined.X, np.concatenate(pieces))
    for before, expected in stale:
        np.testing.assert_array_equal(before.X, expected)


def test_room_for_more_rows_is_not_pickled():
    joined = Linear().prepare(np.zeros((1, 100)))
    for _ in range(9):
        joined = joined.join(Linear().prepare(np.ones((1, 100))))
    assert len(pickle.dumps(joined)) < 1.2 * joined.X.nbytes
    loaded = pickle.loads(pickle.dumps(joined))
    np.testing.assert_array_equal(loaded.join(joined).X, np.concatenate([joined.X, joined.X]))


def test_a_table_knows_its_training_objects():
    G = A @ A.T
    kernel = Precomputed()
    table = kernel.prepare(G)
    some = kernel.matrix(table[[1, 4]], table[[0, 8, 4]])
    np.testing.assert_array_equal(some, G[[1, 4]][:, [0, 8, 4]])
    np.testing.assert_array_equal(kernel.diagonal(table[[3, 1]]), G[[3, 1], [3, 1]])
    new = kernel.prepare(B @ A.T, table)
    np.testing.assert_array_equal(kernel.matrix(new, table[2:4]), (B @ A.T)[:, 2:4])
    np.testing.assert_array_equal(kernel.prepare(sp.csr_array(G)).X, G)
    with pytest.raises(ValueError, match="only if they are training rows"):
        table.join(new)
    with pytest.raises(ValueError, match="no values between objects that were not trained on"):
        kernel.matrix(table, new)
    with pytest.raises(ValueError, match=r"no k\(x, x\)"):
        kernel.diagonal(new)
    with pytest.raises(ValueError, match=r"square matrix .* got shape \(6, 9\)"):
        kernel.prepare(B @ A.T)


def test_rows_of_a_frame_are_the_objects_of_a_function():
    frame = pd.DataFrame({"name": ["ann", "bob", "ann"], "age": [1.0, 2.0, 4.0]})

    def alike(a, b):
        return (a["name"] == b["name"]) + a["age"] * b["age"]

    expected = [[2.0, 2.0, 5.0], [2.0, 5.0, 8.0], [5.0, 8.0, 17.0]]
    np.testing.assert_array_equal(as_kernel(alike)(frame), expected)
    assert check_psd(alike, frame)


# ------------------------------------------------------------------------------- names and words


def test_names():
    found = {name: type(as_kernel(name)).__name__ for name in kernels.NAMES}
    assert found == {
        "linear": "Linear",
        "polynomial": "Polynomial",
        "poly": "Polynomial",
        "all_subsets": "AllSubsets",
        "gaussian": "Gaussian",
        "rbf": "Gaussian",
        "spectrum": "Spectrum",
        "precomputed": "Precomputed",
    }
    record = Gaussian(0.5)
    assert as_kernel(record) is record
    assert as_kernel(max).function is max
    for wrong in ("sigmoid", None, 3, Linear, ["linear"], np.eye(2)):
        with pytest.raises(ValueError, match="a function of two objects or one of 'linear'"):
            as_kernel(wrong)


def test_what_kernels_take():
    k = as_kernel(max)
    assert [one.takes for one in (Linear(), Spectrum(), Precomputed(), k)] == [
        "numbers",
        "strings",
        "table",
        "objects",
    ]
    assert (Linear() + Gaussian(1.0)).takes == (2.0 * Normalized(AllSubsets())).takes == "numbers"
    assert (Linear() + k).takes == "objects"
    assert (Linear() * Gaussian(1.0)).by_inner_products and not (Linear() + AllSubsets()).by_inner_products
    assert Normalized(2.0 * k).by_pairs and (Linear() + k).by_pairs and not Linear().by_pairs


def test_records_are_values():
    assert Linear() + 2.0 * Gaussian(0.5) == Linear() + 2.0 * Gaussian(0.5)
    assert len({Polynomial(2), Polynomial(2), Polynomial(3)}) == 2
    kernel = Normalized(Spectrum(2) * 0.5)
    assert pickle.loads(pickle.dumps(kernel)) == copy.deepcopy(kernel) == kernel
    with pytest.raises(AttributeError):
        kernel.factor = 3.0  # frozen
    assert np.float64(2.0) * Linear() == 2 * Linear() == Linear() * 2.0


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Polynomial(0), ValueError, "degree must be an integer of at least 1; got degree=0"),
        (lambda: Polynomial(1.5), ValueError, "degree=1.5"),
        (lambda: Polynomial(True), ValueError, "degree=True"),
        (lambda: Polynomial(coef0=-1.0), ValueError, "coef0 must be a number of at least 0"),
        (lambda: Polynomial(coef0=np.nan), ValueError, "coef0=nan"),
        (lambda: Polynomial(coef0=None), ValueError, "coef0=None"),
        (lambda: Polynomial(gamma=0.0), ValueError, "gamma must be a positive number"),
        (lambda: Gaussian(-1.0), ValueError, "gamma must be a positive number; got gamma=-1.0"),
        (lambda: Gaussian(np.inf), ValueError, "gamma=inf"),
        (lambda: Gaussian("auto"), ValueError, "gamma='auto'"),
        (lambda: Gaussian(None), ValueError, "gamma=None"),
        (lambda: Spectrum(0), ValueError, "p must be an integer of at least 1"),
        (lambda: Spectrum(2, "max"), ValueError, "mode must be 'multiset', 'set' or 'min'"),
        (lambda: -1.0 * Linear(), ValueError, "a number of at least 0; got -1.0"),
        (lambda: np.nan * Linear(), ValueError, "got nan"),
        (lambda: Normalized("linear"), TypeError, "Normalized needs a kernel; got 'linear'"),
        (lambda: Linear() + 1.0, TypeError, "unsupported operand"),
        (lambda: Linear() * "2", TypeError, "unsupported operand|can't multiply"),
        (lambda: Linear()([1.0, 2.0]), ValueError, "Linear needs a matrix"),
        (lambda: Linear()(A, B[:, :3]), ValueError, "Rows of 4 and of 3 features"),
        (lambda: AllSubsets()(A[:, :3], B), ValueError, "Rows of 3 and of 4 features"),
        (lambda: AllSubsets()(sp.csr_array(A), B[:, :3]), ValueError, "Rows of 4 and of 3 features"),
        (lambda: Spectrum()("banana"), TypeError, "a collection of strings; got a single one"),
        (lambda: Spectrum()(["a", 3]), TypeError, "object 1 is of type int"),
        (lambda: Spectrum()(pd.DataFrame({"a": ["x"]})), TypeError, "give one of its columns"),
        (lambda: as_kernel(max)(sp.csr_array(A)), TypeError, "a list or a dense array"),
        (lambda: as_kernel(lambda a, b: "x")(A), TypeError, "must return a number for two objects; got 'x'"),
    ],
)
def test_what_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


# ------------------------------------------------------------------------------- the PSD check


def test_a_function_that_is_no_kernel_is_refuted_by_a_combination():
    """c'Gc < 0 for the c that comes with the verdict."""

    def distance(a, b):
        return float(np.abs(a - b).sum())

    check = check_psd(distance, A)
    G = np.array([[distance(a, b) for b in A] for a in A])
    assert not check and not check.psd
    assert np.isclose(check.combination @ G @ check.combination, check.min_eigenvalue)
    assert check.min_eigenvalue < -0.1
    assert np.isclose(np.linalg.norm(check.combination), 1.0)
    assert np.isclose(check_psd(G).min_eigenvalue, check.min_eigenvalue)


def test_a_function_that_is_not_symmetric_is_refuted():
    check = check_psd([[1.0, 0.5], [0.25, 1.0]])
    assert not check and check.asymmetry == 0.25 and check.min_eigenvalue > 0.0


@given(samples(max_rows=6))
def test_the_check_agrees_with_the_blackboard(sample):
    rng = np.random.default_rng(len(sample.y))
    for G in (Polynomial(2)(sample.X), rng.normal(size=(4, 4)), np.diag([1.0, 0.0, -1e-12])):
        ours, theirs = check_psd(G), reference.is_psd(G)
        assert ours.psd == theirs.psd
        assert np.isclose(ours.min_eigenvalue, theirs.min_eigenvalue)


@pytest.mark.parametrize(
    ("G", "error", "message"),
    [
        ([[np.nan]], ValueError, "not finite"),
        ([[1.0, np.inf], [np.inf, 1.0]], ValueError, "not finite"),
        (np.empty((0, 0)), ValueError, "square and not empty"),
        (np.ones((2, 3)), ValueError, r"got shape \(2, 3\)"),
        (np.ones(3), ValueError, r"got shape \(3,\)"),
        (Linear(), TypeError, "on a sample: give one"),
        ("rbf", TypeError, "on a sample: give one"),
    ],
)
def test_what_the_check_refuses(G, error, message):
    with pytest.raises(error, match=message):
        check_psd(G)


def test_the_check_fits_the_width():
    assert check_psd("rbf", A)
    assert check_psd("spectrum", ["banana", "ban"])
    with pytest.raises(ValueError, match="not finite"):
        check_psd(lambda a, b: np.nan, A)


def test_the_checker_knows_every_kernel_and_its_parameters():
    """Its formulas are its own; a kernel that it lacks would have no certificate."""
    fields = {name: [f.name for f in dataclasses.fields(row.kernel)] for name, row in kernels.TABLE.items()}
    known = {name: tuple(f for f in own if f != "function") for name, own in fields.items()}
    assert {name: set(own) for name, own in known.items()} == {k: set(own) for k, own in gram.KINDS.items()}


def test_a_row_of_the_table_leaves_nothing_out():
    with pytest.raises(TypeError, match="missing"):
        kernels.declare(names=("mine",), collection=None)
    assert {row.kernel for row in kernels.TABLE.values()} == set(classes(kernels.Kernel)) - {
        kernels.InnerProduct,
        kernels.Composed,
        kernels.Wrapped,
    }


def classes(kind):
    """The kernels of the package under a class."""
    for sub in kind.__subclasses__():
        if sub.__module__.startswith("perceptrons."):
            yield sub
            yield from classes(sub)
