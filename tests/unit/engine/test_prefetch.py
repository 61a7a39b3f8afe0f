"""Memory that is asked for ahead: an instruction in compiled code, nothing elsewhere."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import rows
from perceptrons.engine import compiler, intake, prefetch


def assembly(function, *args):
    """The machine code of a function, compiled anew."""
    import numba

    compiler._register_with_numba()
    made = numba.njit(no_cfunc_wrapper=True, _nrt=False)(function)
    made.compile(tuple(map(numba.typeof, args)))
    return "".join(made.inspect_llvm().values()), "".join(made.inspect_asm().values())


def ask(a, place):
    rows.request(a, place)


def test_the_instruction():
    code, machine = assembly(ask, np.zeros(3), 1)
    assert prefetch.known()
    assert "@llvm.prefetch" in code
    if "x86" in code or "x86" in machine:
        assert "prefetch" in machine


@pytest.mark.parametrize("alone", [True, False])
def test_rows_in_order_are_asked_for_where_the_processor_does_not_foresee_them(alone):
    sparse, dense = (mock.Mock(instance_class=kind) for kind in (rows.Csr, rows.Dense))
    with mock.patch.object(prefetch, "has", lambda feature: alone):
        choose = prefetch.overload_of_foresees()
        assert choose(sparse)(sparse) is alone
        assert choose(dense)(dense) is True


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
    order = np.array([0, 99, 99, 99, 99, 99])
    for at in range(len(order)):
        rows.look_ahead(some, order, at)
    rows.request(some.sq, 99)
