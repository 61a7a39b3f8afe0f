"""Vectors of eight weights: the sums of the written loop, to the last bit."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

from perceptrons import rows
from perceptrons.engine import compiler, gathers
from perceptrons.engine.loops import confidence

SUMS = {"products": rows.gather_dot, "squares": confidence.gather_squares}
only_where_they_pay = pytest.mark.usefixtures("fast_gathers")
KINDS = [("f4", "u4", "f4"), ("f8", "u4", "f8"), ("f4", "u8", "f4"), ("f8", "u8", "f8")]


@pytest.fixture(scope="module")
def fast_gathers():
    if not gathers.pays():
        pytest.skip("gathers are slow on this processor")


def sums_of(function, *kinds, gathered=True):
    """The sum in compiled code, and that code; kinds: of the entries, of the indices, of the weights."""
    import numba

    compiler._register_with_numba()
    options = {"fastmath": {"contract"}, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
    if not gathered:
        made = numba.njit(**options)(function)
    else:

        def call(data, indices, p, stop, w):
            return function(data, indices, p, stop, w)

        made = numba.njit(**options)(call)
    data, indices, w = (numba.types.Array(numba.from_dtype(np.dtype(kind)), 1, "C") for kind in kinds)
    made.compile((data, indices, numba.uint64, numba.uint64, w))
    return made, "".join(made.inspect_llvm().values())


def drawn(rng, size, kind):
    """Numbers of all sizes, zeros of both signs, and some whose squares underflow."""
    found = rng.standard_normal(size) * 10.0 ** rng.integers(-20, 15, size)
    found[rng.random(size) < 0.1] = -0.0
    return found.astype(kind)


@only_where_they_pay
@pytest.mark.parametrize(
    ("what", "kinds"),
    [
        ("products", ("f4", "u4", "f4")),
        ("products", ("f8", "u4", "f8")),
        ("products", ("f4", "u8", "f4")),
        ("products", ("f8", "u8", "f8")),
        ("squares", ("f4", "u4", "f8")),
        ("squares", ("f8", "u8", "f8")),
    ],
    ids=str,
)
def test_the_same_bits_as_the_loop(what, kinds):
    fast, code = sums_of(SUMS[what], *kinds)
    slow, plain = sums_of(SUMS[what], *kinds, gathered=False)
    assert "mask.gather" in code and "mask.gather" not in plain
    assert_same_bits(fast, slow, kinds)


@pytest.mark.parametrize("kinds", KINDS, ids=str)
def test_eight_loads_have_the_bits_of_the_loop_too(kinds):
    """Any processor can run them; one without vectors of eight runs them slowly."""
    fast, code = summed_by(gathers._LoadedVectors, kinds)
    slow, plain = sums_of(rows.gather_dot, *kinds, gathered=False)
    assert "expandload" in code and "mask.gather" not in code and "expandload" not in plain
    assert_same_bits(fast, slow, kinds)


def summed_by(vectors, kinds):
    """The sum of products by these vectors, and its code."""
    import numba

    summed = gathers._sum_over_vectors(vectors, False)

    def call(data, indices, p, stop, w):
        return summed(data, indices, p, stop, w)

    made = numba.njit(fastmath={"contract"}, no_cfunc_wrapper=True, _nrt=False)(call)
    data, indices, w = (numba.types.Array(numba.from_dtype(np.dtype(kind)), 1, "C") for kind in kinds)
    made.compile((data, indices, numba.uint64, numba.uint64, w))
    return made, "".join(made.inspect_llvm().values())


def test_eight_loads_keep_what_is_not_finite_and_see_no_other_weight():
    fast, _ = summed_by(gathers._LoadedVectors, ("f8", "u8", "f8"))
    for length in range(1, 18):
        for at in range(length):
            data, w = np.ones(length), np.ones(length + 1)
            w[at] = np.nan
            columns = np.arange(length, dtype="u8")
            assert np.isnan(fast(data, columns, 0, length, w))
            # lanes without an entry have the weight of column 0, which must not matter
            shifted = np.roll(w, -at)
            assert fast(data, columns + np.uint64(1), 0, length, shifted) == length


def assert_same_bits(fast, slow, kinds):
    rng = np.random.default_rng(0)
    for length in [*range(26), 61, 64, 200]:
        for _ in range(5):
            data, w = drawn(rng, length + 3, kinds[0]), drawn(rng, 50, kinds[2])
            indices = rng.integers(0, 50, length + 3).astype(kinds[1])
            for start in (0, 3):  # to the end of the arrays, or not
                args = data, indices, np.uint64(start), np.uint64(start + length), w
                with np.errstate(over="ignore"):
                    found, wanted = fast(*args), slow(*args)
                assert found == wanted and np.signbit(found) == np.signbit(wanted)


@only_where_they_pay
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_stays_so(bad):
    fast, _ = sums_of(rows.gather_dot, "f8", "u8", "f8")
    for length in range(1, 18):
        for at in range(length):
            data, w = np.ones(length), np.ones(length)
            w[at] = bad
            assert not np.isfinite(fast(data, np.arange(length, dtype="u8"), 0, length, w))


@only_where_they_pay
def test_columns_next_to_the_largest_index_of_32_bits():
    """The instruction takes signed indices; those of 32 bits end where the sign begins."""
    fast, _ = sums_of(rows.gather_dot, "f4", "u4", "f4")
    w = np.zeros(1 << 26, np.float32)
    w[-9:] = np.arange(9)
    indices = np.arange((1 << 26) - 9, 1 << 26, dtype=np.uint32)
    assert fast(np.ones(9, np.float32), indices, 0, 9, w) == 36.0


def test_elsewhere_compiled_code_has_the_loop():
    with mock.patch.object(gathers, "loads", lambda: False):
        _, code = sums_of(rows.gather_dot, "f4", "i8", "f8")  # types that no loop has
    assert "mask.gather" not in code and "expandload" not in code


def test_not_where_every_index_is_tested():
    import numba

    with mock.patch.object(numba.config, "BOUNDSCHECK", 1):
        assert not gathers.pays() and not gathers.loads()


def test_another_compiler_may_not_know_the_names():
    assert not gathers.known(("llvm.x86.no.such.gather.qps.512",))
    assert not gathers.known(("llvm.of_no_kind",))


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_squares_have_the_bits_of_the_loop(kind):
    import numba

    compiler._register_with_numba()

    def call(data, p, stop):
        return rows.sum_of_squares(data, p, stop)

    made = numba.njit(fastmath={"contract"}, error_model="numpy", no_cfunc_wrapper=True, _nrt=False)
    fast, slow = made(call), made(rows.sum_of_squares)
    rng = np.random.default_rng(1)
    for length in [*range(26), 61, 200]:
        data = drawn(rng, length + 3, kind)
        for start in (0, 3):
            args = data, np.uint64(start), np.uint64(start + length)
            found = fast(*args)
            assert found == slow(*args)
            exact = np.sum(np.square(data[start : start + length].astype(np.longdouble)))
            assert abs(found - exact) <= 1e-15 * exact
    assert "phi <8 x double>" in "".join(fast.inspect_llvm().values())  # on every processor
    data[5] = np.nan
    assert np.isnan(fast(data, np.uint64(3), np.uint64(8)))
    assert np.isfinite(fast(data, np.uint64(0), np.uint64(5)))


@pytest.mark.parametrize(("kind", "of_weights", "squared"), [("f4", "f4", False), ("f4", "f8", True)])
def test_pairs_have_the_bits_of_gathers(kind, of_weights, squared):
    import numba

    compiler._register_with_numba()
    of_pairs, of_columns = rows.paired_dot, rows.gather_dot
    if squared:
        of_pairs, of_columns = confidence.paired_squares, confidence.gather_squares

    def pairs(data, p, stop, w):
        return of_pairs(data, p, stop, w)

    def columns(data, indices, p, stop, w):
        return of_columns(data, indices, p, stop, w)

    made = numba.njit(fastmath={"contract"}, error_model="numpy", no_cfunc_wrapper=True, _nrt=False)
    fast, slow = made(pairs), made(columns)
    rng = np.random.default_rng(1)
    for length in [*range(18), 61, 200]:
        data, w = drawn(rng, length + 3, kind), drawn(rng, length + 3, of_weights)
        indices = np.arange(length + 3, dtype=np.uint32)
        for start in (0, 3):
            p, stop = np.uint64(start), np.uint64(start + length)
            assert fast(data, p, stop, w) == slow(data, indices, p, stop, w)
