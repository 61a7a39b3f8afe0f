"""Garbage collection is off in some blocks, in every thread, and on again afterwards."""

from __future__ import annotations

import gc
import os
import threading

import pytest

from perceptrons._garbage import no_collections
from perceptrons.engine import compiler


@pytest.fixture(autouse=True)
def switched_on():
    gc.enable()
    yield
    gc.enable()


def test_the_last_block_turns_it_on_again():
    first, second = no_collections(), no_collections()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled()


def test_who_switched_it_off_finds_it_off():
    gc.disable()
    with no_collections():
        pass
    assert not gc.isenabled()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_ends_the_block(error):
    with pytest.raises(error), no_collections():
        raise error
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of threads, by Python 3.12
def test_a_child_does_not_wait_for_the_blocks_of_other_threads():
    begun, end = threading.Event(), threading.Event()

    def block():
        with no_collections():
            begun.set()
            end.wait()

    thread = threading.Thread(target=block)
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if gc.isenabled() else 1)
    _, status = os.waitpid(child, 0)
    end.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
    assert gc.isenabled()


def test_the_first_call_of_a_loop_compiles_without_it_and_runs_with_it():
    seen = []

    class Target:
        def compile(self, types):
            seen.append(("compile", gc.isenabled(), len(types)))

        def __call__(self, x):
            seen.append(("call", gc.isenabled()))

    loop = compiler.compiled(lambda x: None)
    loop.target = lambda: Target()
    loop(1.0)
    assert seen == [("compile", False, 1), ("call", True)]
