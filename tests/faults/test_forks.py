"""A process may fork while one of its threads compiles: the child can compile and fit."""

from __future__ import annotations

import os

import pytest
from processes import python

CHILDREN = 12

FORK_WHILE_COMPILING = """
import os, signal, sys, threading, time
import numpy as np
from perceptrons import Perceptron
from perceptrons.engine import compiler
from perceptrons.engine.compiler import compiled

def fit():
    model = Perceptron(shuffle=False).fit([[1, 1], [-1, -1], [2, 1]], [1, -1, 1])
    assert model.predict([[2, 2]])[0] == 1

fit()
compiler.numba_cache = lambda function: None  # from here on every loop is compiled

def fresh(name, factor):
    lines = [f"def {name}(x):", "    total = 0.0", "    for i in range(x.shape[0]):",
             f"        total += {factor} * x[i]", "    return total"]
    names = {}
    exec("\\n".join(lines), names)
    return compiled(names[name])

x = np.ones(4)
fresh("first", 1)(x)
stop, started = threading.Event(), threading.Event()

def compile_on_and_on():
    n = 1
    while not stop.is_set():
        started.set()
        fresh(f"loop_{n}", n)(x)
        n += 1

thread = threading.Thread(target=compile_on_and_on)
thread.start()
started.wait()
children = []
for n in range(CHILDREN):
    time.sleep(0.01 * (n % 5))
    child = os.fork()
    if child == 0:
        signal.alarm(LIMIT)  # only a child that hangs
        status = 1
        try:
            assert fresh(f"child_{n}", -2)(x) == -8.0
            fit()
            status = 0
        finally:
            os._exit(status)
    children.append(child)
endings = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
stop.set()
thread.join()
print(endings)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on Windows")
def test_fork_while_another_thread_compiles():
    code = FORK_WHILE_COMPILING.replace("CHILDREN", str(CHILDREN)).replace("LIMIT", "120")
    code = "import warnings; warnings.simplefilter('ignore', DeprecationWarning)\n" + code  # threads and fork
    run = python(code)
    assert run.stdout == f"{[0] * CHILDREN}\n"


FORK_WITH_A_FOLDER = """
import os, sys
import numpy as np
from perceptrons.text.hashing import HashedRows, Store
rows = HashedRows(np.zeros(1, np.uint32), np.ones(1), np.array([0, 1]), None, None, 0)
store = Store(np.dtype(float), cache_mb=0)
store.append(rows)
child = os.fork()
if child == 0:
    sys.exit()  # in the usual way: its own exit functions run
assert os.waitpid(child, 0)[1] == 0
store.append(rows)
folder = store.folder.name
matrix = store.matrix(2)
assert matrix.nnz == 2
del store, matrix
assert not os.path.exists(folder), "the process that made it removes it"
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on Windows")
def test_a_child_that_ends_leaves_the_files_of_its_parent_alone():
    python(FORK_WITH_A_FOLDER)


FORK_WHILE_FITTING = """
import os, signal, threading
import numpy as np
from perceptrons import Perceptron
rng = np.random.default_rng(0)
X, y = rng.normal(size=(2000, 20)), rng.integers(0, 2, 2000)
model = Perceptron(max_iter=20, random_state=0).fit(X, y)
stop = threading.Event()

def fit_on_and_on():
    while not stop.is_set():
        model.fit(X, y)

thread = threading.Thread(target=fit_on_and_on)
thread.start()
children = []
for n in range(CHILDREN):
    child = os.fork()
    if child == 0:
        signal.alarm(LIMIT)  # only a child that hangs
        status = 1
        try:
            try:
                model.partial_fit(X, y)
                status = 0
            except RuntimeError as error:
                status = 0 if "when this process was forked" in str(error) else 2
            Perceptron(max_iter=2).fit(X, y)
            model.fit(X, y)
            model.partial_fit(X, y)
        except BaseException:
            status = 3
        finally:
            os._exit(status)
    children.append(child)
endings = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
stop.set()
thread.join()
print(endings)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on Windows")
def test_fork_while_another_thread_fits():
    """The child may fit any model; the one that was being trained says that it must be fitted anew."""
    code = FORK_WHILE_FITTING.replace("CHILDREN", str(CHILDREN)).replace("LIMIT", "120")
    code = "import warnings; warnings.simplefilter('ignore', DeprecationWarning)\n" + code  # threads and fork
    assert python(code).stdout == f"{[0] * CHILDREN}\n"
