"""Memory that is asked for ahead: an instruction in compiled code, nothing elsewhere."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import rows
from perceptrons.engine import compiler, intake, look_ahead, packing, prefetch


def assembly(function, *args):
    """The machine code of a function, compiled anew."""
    import numba

    compiler._register_with_numba()
    made = numba.njit(no_cfunc_wrapper=True, _nrt=False)(function)
    made.compile(tuple(map(numba.typeof, args)))
    return "".join(made.inspect_llvm().values()), "".join(made.inspect_asm().values())


def ask(a, place):
    look_ahead.request(a, place)


def test_the_instruction():
    code, machine = assembly(ask, np.zeros(3), 1)
    assert prefetch.known()
    assert "@llvm.prefetch" in code
    if "x86" in code or "x86" in machine:
        assert "prefetch" in machine


KINDS = [prefetch.SAPPHIRE_RAPIDS, prefetch.ZEN_4, prefetch.ZEN_5]


@pytest.mark.parametrize(
    ("features", "kind"),
    [
        ({"+avx512vl", "+avx512fp16"}, prefetch.SAPPHIRE_RAPIDS),
        ({"+avx512vl", "+clzero"}, prefetch.ZEN_4),
        ({"+avx512vl", "+clzero", "+avx512vp2intersect"}, prefetch.ZEN_5),
        ({"+avx512vl", "+avx512vp2intersect"}, prefetch.ZEN_4),  # Tiger Lake, which was not measured
        (set(), prefetch.ZEN_4),
    ],
)
def test_processors_are_known_by_their_features(features, kind, monkeypatch):
    monkeypatch.setattr(prefetch, "has", features.__contains__)
    assert prefetch.processor() is kind


@pytest.mark.parametrize("kind", KINDS)
def test_what_compiled_code_asks_for_depends_on_the_processor(kind, monkeypatch):
    asked = mock.Mock()
    monkeypatch.setattr(prefetch, "processor", lambda: kind)
    monkeypatch.setattr(prefetch, "overload_of_request", asked)
    prefetch.overload_of_early_request()
    asked.assert_called_once_with(kind.keep)
    for name, constant in {
        "ahead": kind.ahead,
        "waiting": kind.weights,
        "most_lines": kind.lines,
        "fewer": kind.fewer,
        "apart": kind.apart,
    }.items():
        assert getattr(prefetch, f"overload_of_{name}")()()() == constant
    for n_bytes in (look_ahead.LARGE, look_ahead.LARGE + 4):
        weights = np.zeros(n_bytes // 4, np.float32)
        asks = prefetch.overload_of_asks_for_weights()(weights)(weights)
        assert asks == (kind.weights > 0 and look_ahead.asks_for_weights(weights))
        assert look_ahead.asks_for_weights(weights) == (n_bytes > look_ahead.LARGE)


def test_compiled_rows_are_announced_before_they_are_asked_for():
    """Where a row is, its squared length and its label: further ahead than its entries."""
    some = intake.make_rows(sp.csr_array(np.eye(3)), 0.0, False)
    code, _ = assembly(look_ahead.look_ahead, some, np.arange(3), 0, False)
    wanted = 4 if prefetch.known() else 0  # indptr, sq; indices, data
    assert code.count("call void @llvm.prefetch") >= wanted
    code, _ = assembly(look_ahead.look_ahead_in, np.zeros(3), np.arange(3), 0)
    assert code.count("call void @llvm.prefetch") == (1 if prefetch.known() else 0)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_in_order_are_asked_for_where_the_processor_does_not_foresee_them(kind):
    sparse, dense = (mock.Mock(instance_class=kind) for kind in (rows.Csr, rows.Dense))
    with mock.patch.object(prefetch, "processor", lambda: kind):
        choose = prefetch.overload_of_foresees()
        assert choose(sparse)(sparse) is kind.foresees
        for n_bytes in (kind.long - 4, kind.long):
            found = mock.Mock(X=np.zeros((1, n_bytes // 4), np.float32))
            assert choose(dense)(found) == (kind.foresees or n_bytes < kind.long)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dtype", "n_columns"), [(np.float32, 784), (np.float64, 5), (np.float32, 50_000)])
def test_lines_of_a_dense_row(dtype, n_columns, kind, monkeypatch):
    """All of them, up to a limit; or one of some, of an earlier row, where rows follow each other."""
    asked = []
    most = kind.lines
    monkeypatch.setattr(look_ahead, "most_lines", lambda: most)
    monkeypatch.setattr(look_ahead, "apart", lambda: kind.apart)
    monkeypatch.setattr(look_ahead, "fewer", lambda: kind.fewer)
    monkeypatch.setattr(
        look_ahead, "request_early", lambda a, place: asked.append(a.ctypes.data + place * a.itemsize)
    )
    X = np.zeros((20, n_columns), dtype)
    some, size = intake.make_rows(X, 0.0, False), n_columns * X.itemsize
    look_ahead._dense_expect(some, 9, False)
    begin = some.X[9].ctypes.data
    assert asked == [
        *range(begin, begin + min(size, most * look_ahead.LINE), look_ahead.LINE),
        begin + size - X.itemsize,
    ]
    asked.clear()
    look_ahead._dense_expect(some, 9, True)
    begin = some.X[9 - kind.fewer].ctypes.data
    assert asked == list(
        range(begin, begin + min(size, most * look_ahead.LINE), kind.apart * look_ahead.LINE)
    )
    asked.clear()
    look_ahead._dense_expect(some, 1, True)
    assert asked[0] == some.X[max(0, 1 - kind.fewer)].ctypes.data  # there may be no row so far before it


def test_lines_of_a_sparse_row(monkeypatch):
    """The last one, too, of a row that does not begin where a line does."""
    asked = []
    monkeypatch.setattr(
        look_ahead, "request_early", lambda a, place: asked.append((a.dtype.kind, int(place)))
    )
    some = intake.make_rows(sp.csr_array(np.tri(40, 400, 360)), 0.0, False)  # rows of 361, 362, ... entries
    for i in (1, 2):
        asked.clear()
        look_ahead._csr_expect(some, i, False)
        begin, end = (
            int(some.indptr[i]),
            min(int(some.indptr[i + 1]), int(some.indptr[i]) + 8 * look_ahead.LINES),
        )
        assert [place for kind, place in asked if kind == "f"] == [*range(begin, end, 8), end - 1]
        assert [place for kind, place in asked if kind == "u"] == [*range(begin, end, 8), end - 1]


@pytest.mark.parametrize(("dtype", "n_classes"), [(np.float64, 1), (np.float64, 8), (np.float32, 20)])
def test_weights_of_a_sparse_row(dtype, n_classes, monkeypatch):
    """All lines of the columns that it has."""
    asked = []
    monkeypatch.setattr(look_ahead, "request_early", lambda a, place: asked.append(int(place)))
    some = intake.make_rows(sp.csr_array(np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]])), 0.0, False)
    weights = np.zeros(4 if n_classes == 1 else (4, n_classes), dtype)
    rows.VERBS[look_ahead.expect_weights][rows.Csr](some, 1, weights)
    line = look_ahead.LINE // weights.itemsize
    lines = range(0, n_classes, line)
    assert asked == [j * n_classes + first for j in (0, 2) for first in lines]


def test_compiled_weights_are_asked_for():
    some = intake.make_rows(sp.csr_array(np.eye(3)), 0.0, False)
    code, _ = assembly(look_ahead.look_ahead_at, np.zeros((4, 8)), some, np.arange(3), 0, 2)
    assert ("@llvm.prefetch" in code) == prefetch.known()
    dense = intake.make_rows(np.eye(3), 0.0, False)
    code, _ = assembly(look_ahead.look_ahead_at, np.zeros((4, 8)), dense, np.arange(3), 0, 2)
    assert "@llvm.prefetch" not in code  # rows read all weights


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_no_cache_has_are_asked_for_twice(kind, monkeypatch):
    """Where the processor forgets requests: some rows ahead, and again shortly before they are read."""
    asked = []
    monkeypatch.setattr(look_ahead, "expect", lambda rows, i, follows: asked.append((int(i), bool(follows))))
    monkeypatch.setattr(prefetch, "processor", lambda: kind)

    def forgets(some):
        of_type = mock.Mock(instance_class=type(some))
        return prefetch.overload_of_forgets_requests()(of_type)(some)

    monkeypatch.setattr(look_ahead, "forgets_requests", forgets)
    many = look_ahead.MANY // 8 + 1
    csr = intake.make_rows(sp.csr_array(np.ones((1, 4), np.float32)), 0.0, False)
    large = csr._replace(data=np.zeros(many, np.float32), indices=np.zeros(many, np.uint32))
    dense = intake.make_rows(np.zeros((2, many // 2 + 1)), 0.0, False)
    whole = rows.Packed(np.zeros(2 * many, np.float32), *large[1:])
    assert not look_ahead.asks_twice(csr)
    assert [look_ahead.asks_twice(some) for some in (large, dense, whole)] == [
        type(some) in kind.forgets for some in (large, dense, whole)
    ]


@pytest.mark.parametrize("forgets", [True, False])
def test_rows_asked_for_twice(forgets, monkeypatch):
    asked = []
    monkeypatch.setattr(look_ahead, "expect", lambda rows, i, follows: asked.append((int(i), bool(follows))))
    large = intake.make_rows(sp.csr_array(np.ones((10, 4), np.float32)), 0.0, False)
    order = np.array([7, 5, 6, 9, 2, 3, 1, 0, 4, 8])
    look_ahead.look_ahead(large, order, 0, forgets)
    assert asked == [(4, False), *[(9, False)] * forgets]
    asked.clear()
    look_ahead.look_ahead(large, order, 2, forgets)  # row 3 follows row 2
    assert asked == []


def rows_of(entries, n=30):
    """Sparse rows with so many entries each."""
    places = np.tile(np.arange(entries), n)
    ends = np.arange(0, n * entries + 1, entries)
    return intake.make_rows(sp.csr_array((np.ones(n * entries), places, ends)), 0.0, False)


@pytest.mark.parametrize(
    ("entries", "in_order", "shuffled"),
    [
        (1, 4, 4),
        (look_ahead.WAITING // 5, 4, 3),
        (look_ahead.WAITING // 4, 4, 3),
        (look_ahead.WAITING // 3, 3, 2),
        (look_ahead.WAITING, 2, 2),
    ],
)
def test_how_far_ahead_weights_are_asked_for(entries, in_order, shuffled):
    """So that about as many lines are on their way, but after their rows have come."""
    some = rows_of(entries)
    for order, soon in ((np.arange(30), in_order), (np.arange(30)[::-1], shuffled)):
        assert look_ahead.what_to_ask_for(some, order, 1, True) == (True, soon, False)
    assert look_ahead.what_to_ask_for(some, np.arange(30), 0, True) == (True, 0, False)


def test_weights_of_several_lines():
    some = rows_of(look_ahead.WAITING // 6)
    assert [look_ahead.what_to_ask_for(some, np.arange(30), n, True).weights for n in (1, 2, 3)] == [4, 3, 2]


@pytest.mark.parametrize("again", [True, False])
def test_rows_are_asked_for_twice_where_weights_are_not(again, monkeypatch):
    monkeypatch.setattr(look_ahead, "asks_twice", lambda rows: True)
    some, order = rows_of(5), np.arange(30)[::-1]
    assert look_ahead.what_to_ask_for(some, order, 0, again) == (True, 0, again)
    assert not look_ahead.what_to_ask_for(some, order, 1, again).twice


def test_nothing_is_asked_for_where_rows_are_foreseen(monkeypatch):
    monkeypatch.setattr(look_ahead, "foresees", lambda rows: True)
    some = rows_of(5)
    assert look_ahead.what_to_ask_for(some, np.arange(30), 1, True) == (False, 0, False)
    assert look_ahead.what_to_ask_for(some, np.arange(30)[::-1], 1, True).rows


@pytest.mark.parametrize("kind", KINDS)
def test_weights_on_each_processor(kind, monkeypatch):
    """Where no number of lines is known to be better, weights are asked for two rows ahead; or not at all."""
    weights = np.zeros(look_ahead.LARGE // 8 + 1)
    monkeypatch.setattr(look_ahead, "waiting", lambda: kind.weights)
    monkeypatch.setattr(look_ahead, "ahead", lambda: kind.ahead)
    monkeypatch.setattr(prefetch, "processor", lambda: kind)
    asks = prefetch.overload_of_asks_for_weights()(weights)
    monkeypatch.setattr(look_ahead, "asks_for_weights", asks)
    lines = look_ahead.lines_of(weights)
    assert lines == (kind.weights > 0)
    asked = look_ahead.what_to_ask_for(rows_of(20), np.arange(30), lines, False)
    assert asked.weights == {0: 0, 1: look_ahead.SOON}.get(kind.weights, kind.ahead // 2)


@pytest.mark.parametrize(("n_classes", "lines"), [(1, 1), (8, 1), (9, 2), (20, 3)])
def test_lines_of_weights_that_an_entry_reads(n_classes, lines):
    size = look_ahead.LARGE // 8 + 1
    shape = (size,) if n_classes == 1 else (size, n_classes)
    assert look_ahead.lines_of(np.zeros(shape)) == lines
    assert look_ahead.lines_of(np.zeros((3, n_classes))) == 0


@pytest.mark.parametrize(("values", "indices"), [(np.float32, np.uint32), (np.float64, np.uint32)])
def test_weights_of_a_row_in_one_piece(values, indices, monkeypatch):
    asked = []
    monkeypatch.setattr(look_ahead, "request_early", lambda a, place: asked.append(int(place)))
    some = intake.make_rows(sp.csr_array(np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]], values)), 0.0, False)
    made = packing.packed(some._replace(indices=intake.frozen(some.indices, indices)))
    rows.VERBS[look_ahead.expect_weights][rows.Packed](made, 1, np.zeros(4, values))
    assert asked == [0, 2]


@pytest.mark.parametrize("order", [[], [3], [0, 1, 2, 3], [2, 3, 4], [0, 1, 3], [1, 0]])
def test_a_pass_asks_for_rows_that_do_not_follow_each_other(order, monkeypatch):
    some, visits = intake.make_rows(np.eye(5), 0.0, False), np.array(order, np.int64)
    assert look_ahead.asks(some, visits)  # nothing is foreseen in plain Python
    monkeypatch.setattr(look_ahead, "foresees", lambda rows: True)
    assert look_ahead.asks(some, visits) == bool(np.any(np.diff(visits) != 1))


def test_a_compiler_without_it_makes_no_code():
    assert not prefetch.known("llvm.no_such_thing")
    with mock.patch.object(prefetch, "known", lambda: False):
        code, _ = assembly(ask, np.zeros(3, np.int8), 1)  # of a type that no loop asks for
    assert "@llvm.prefetch" not in code


def test_a_compiler_that_cannot_be_asked_makes_no_code():
    from llvmlite import binding

    with mock.patch.object(binding, "parse_assembly", side_effect=RuntimeError):
        assert not prefetch.known("llvm.prefetch.p0")


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_nothing_in_plain_python(kind):
    """Not even the rows are read: places beyond the end are no matter."""
    some = intake.make_rows(kind(np.eye(3)), 0.0, False)
    order = np.array([0] + 3 * look_ahead.FAR * [99])
    for at in range(len(order)):
        look_ahead.look_ahead(some, order, at, True)
        look_ahead.look_ahead_in(some.sq, order, at)
        look_ahead.look_ahead_at(some.sq, some, order, at, look_ahead.SOON)
    look_ahead.request(some.sq, 99)
