"""Memory that is lent: it comes back when nothing refers to it, and never before."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from perceptrons.mixing.lending import Lender


def address(a):
    return a.__array_interface__["data"][0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_is_used_again(dtype):
    lender, like = Lender(), np.ones((5, 3), dtype)
    first = lender.empty_like(like)
    assert (first.shape, first.dtype) == (like.shape, like.dtype)
    assert first.flags.c_contiguous and first.flags.writeable
    place = address(first)
    first[:] = 7
    del first
    gc.collect()
    assert address(lender.empty_like(like)) == place


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[1:],
        lambda a: a.reshape(-1)[::2],
        lambda a: a.T,
        lambda a: a.view(np.int64),
        lambda a: np.asarray(memoryview(a)),
        lambda a: np.frombuffer(a, a.dtype),
    ],
)
def test_a_view_keeps_it(view):
    lender, like = Lender(), np.ones((4, 2))
    lent = lender.empty_like(like)
    lent[:] = np.arange(8).reshape(4, 2)
    kept, place = view(lent), address(lent)
    expected = kept.copy()
    del lent
    gc.collect()
    others = [lender.empty_like(like) for _ in range(3)]
    for other in others:
        other[:] = -1.0
    assert place not in map(address, others)
    np.testing.assert_array_equal(kept, expected)
    del kept
    gc.collect()
    assert address(lender.empty_like(like)) == place


def test_arrays_that_are_not_alike_have_memory_of_their_own():
    lender = Lender()
    lent = lender.empty_like(np.zeros(6))
    place = address(lent)
    del lent
    gc.collect()
    others = [lender.empty_like(np.zeros(n, dtype)) for n, dtype in ((3, float), (6, np.float32), (7, float))]
    assert place not in map(address, others)


def test_what_is_lent_outlives_the_lender():
    lender = Lender()
    lent = lender.empty_like(np.zeros(100))
    lent[:] = 3.0
    del lender
    gc.collect()
    assert [np.zeros(100) for _ in range(10)] and (lent == 3.0).all()
