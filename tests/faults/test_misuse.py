"""Objects of the user's that answer wrongly, and functions of the user's that change what they were given.

Each case runs in a process of its own, because an index that no loop has checked ends the process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import traceback

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import (
    BudgetKernelPerceptron,
    KernelClassifier,
    KernelPerceptron,
    MaxMargin,
    Perceptron,
    RiskDescent,
    TextClassifier,
    kernels,
)

FAR = 2**31 - 1  # so far outside that no memory is there
rng = np.random.default_rng(0)
X = rng.standard_normal((40, 6))
y = (X[:, 0] + rng.standard_normal(40) > 0).astype(int)
y3 = np.arange(40) % 3
TEXTS = [" ".join(f"w{k}" for k in row) for row in rng.integers(0, 50, (40, 8))]

CASES = {}


def case(message):
    """Decorator: a function that must raise ValueError with this message."""

    def add(function):
        CASES[function.__name__] = (function, message)
        return function

    return add


# ------------------------------------------------------------------------------------ random states


class Draws:
    """A random state that answers as it is told."""

    def __init__(self, permutation=lambda rows: rows, random=0.5):
        self._permutation, self._random = permutation, random

    def permutation(self, rows):
        return self._permutation(rows)

    def random(self, *size):
        return self._random


class Derived(np.random.Generator):
    """One of numpy's own, with other answers."""

    def __init__(self, permutation=None, drawn=None):
        super().__init__(np.random.PCG64(0))
        self._permutation, self._drawn = permutation, drawn

    def permutation(self, rows):
        return super().permutation(rows) if self._permutation is None else self._permutation(rows)

    def random(self, *size):
        return np.full(*size, self._drawn) if size else self._drawn


class Legacy(np.random.RandomState):
    def permutation(self, rows):
        return np.full(len(rows), -FAR)


PERMUTED = "random_state.permutation must return the 40 numbers"
DRAWN = "random_state.random must return"


@case(PERMUTED)
def permutation_beyond_the_rows():
    Perceptron(random_state=Draws(lambda rows: rows + FAR)).fit(X, y)


@case(PERMUTED)
def permutation_below_the_rows():
    Perceptron(random_state=Legacy(0)).fit(X, y3)


@case(PERMUTED)
def permutation_of_numbers_that_are_no_integers():
    Perceptron(random_state=Draws(lambda rows: rows * 1e9)).fit(sp.csr_array(X), y)


@case(PERMUTED)
def permutation_of_another_length():
    KernelPerceptron(random_state=Derived(lambda rows: np.tile(rows, 2))).fit(X, y)


@case(PERMUTED)
def permutation_with_a_row_twice():
    Perceptron(random_state=Draws(lambda rows: np.zeros_like(rows))).fit(X, y)


@case("random_state.permutation must return the 36 numbers")
def permutation_that_brings_back_what_was_held_out():
    Perceptron(random_state=Draws(lambda rows: np.arange(len(rows))), early_stopping=True).fit(X, y)


@case(PERMUTED)
def permutation_of_risk_descent():
    RiskDescent(batch_size=3, shuffle=True, random_state=Draws(lambda rows: rows + FAR)).fit(X, y)


@case(DRAWN)
def eviction_before_the_list():
    BudgetKernelPerceptron(budget=3, random_state=Draws(random=-1e9)).fit(X, y)


@case(DRAWN)
def eviction_of_nan():
    BudgetKernelPerceptron(budget=3, random_state=Derived(drawn=np.nan)).fit(X, y)


@case(DRAWN)
def eviction_of_too_few():
    BudgetKernelPerceptron(budget=3, random_state=Derived(drawn=-1e9)).fit(X, y3)


@case(DRAWN)
def random_readout_before_the_start():
    Perceptron(readout="random", random_state=Draws(random=-1e9)).fit(X, y).predict(X)


@case(DRAWN)
def random_row_of_nobody():
    RiskDescent(pick="random", random_state=Draws(random=1.0)).fit(X, y)


@case(DRAWN)
def held_out_by_a_list():
    Perceptron(early_stopping=True, random_state=Draws(random=[0.5])).fit(X, y)


# ------------------------------------------------------------------------------------ callbacks

CHANGED = "X was changed while it was read"


def broken(matrix):
    writable(matrix.indices)[:] = FAR


def writable(a):
    """The array, which somebody has made writable who should not have."""
    if isinstance(a.base, np.ndarray):
        writable(a.base)
    a.flags.writeable = True
    return a


@case(CHANGED)
def callback_that_breaks_indices():
    A = sp.csr_array(X)
    Perceptron(callback=lambda model: broken(A)).fit(A, y)


@case(CHANGED)
def callback_that_breaks_indices_of_prototypes():
    A = sp.csr_array(X)
    Perceptron(callback=lambda model: broken(A)).fit(A, y3)


@case(CHANGED)
def callback_that_breaks_pointers():
    A = sp.csr_array(X)
    A.indptr = A.indptr.astype(np.int64)
    A.indices = A.indices.astype(np.int64)

    def change(model):
        A.indptr[1:] = 2**40

    Perceptron(callback=change).fit(A, y)


@case(CHANGED)
def callback_that_exchanges_indices():
    """The loop has the old ones; what is held out is read from the matrix."""
    A = sp.csr_array(X)

    def change(model):
        A.indices = np.full_like(A.indices, FAR)

    Perceptron(callback=change, early_stopping=True, random_state=0).fit(A, y)


@case(CHANGED)
def callback_after_the_last_epoch():
    """The margin is measured after it."""
    A = sp.csr_array(X)
    Perceptron(callback=lambda model: broken(A), max_iter=1).fit(A, y)


@case(CHANGED)
def callback_of_a_kernel_learner():
    A = sp.csr_array(X)
    KernelPerceptron(kernel="linear", callback=lambda model: broken(A)).fit(A, y)


@case(CHANGED)
def random_state_that_breaks_indices():
    A = sp.csr_array(X)

    def permutation(rows):
        broken(A)
        return rows

    Perceptron(random_state=Draws(permutation)).fit(A, y)


@case(CHANGED)
def callback_of_scikit_learn():
    from sklearn.callback import FitCallback  # noqa: F401  # where there is none, the case below stands for it

    A = sp.csr_array(X)

    class Breaks:
        def setup(self, *args, **more):
            pass

        def teardown(self, *args, **more):
            pass

        def on_fit_task_begin(self, *args, **more):
            broken(A)

        def on_fit_task_end(self, *args, **more):
            pass

    Perceptron().set_callbacks(Breaks()).fit(A, y)


@case("")
def callback_that_changes_the_order():
    """The rows are visited in the order that was given; no error."""
    order = [np.arange(40), np.arange(40)]

    def change(model):
        order[1][:] = FAR

    Perceptron(callback=change).fit(X, y, order=order)
    raise ValueError


@case(CHANGED)
def label_that_breaks_indices():
    A = sp.csr_array(X)

    class Label(str):
        def __lt__(self, other):
            broken(A)
            return str(self) < str(other)

        __hash__ = str.__hash__

    labels = np.array([Label("ab"[k]) for k in y], dtype=object)
    for model in (Perceptron(), RiskDescent(), MaxMargin(C=1.0)):
        A = sp.csr_array(X)
        with pytest.raises(ValueError, match=CHANGED):
            model.fit(A, labels)
    A = sp.csr_array(X)
    Perceptron().partial_fit(A, labels)


@case(CHANGED)
def weights_that_break_indices():
    A = sp.csr_array(X)

    class Weights:
        def __array__(self, *args, **more):
            broken(A)
            return np.ones(40)

    Perceptron().partial_fit(A, y, sample_weight=Weights())


@case("is not an ascending sequence")
def weights_that_break_pointers():
    A = sp.csr_array(X)

    class Weights:
        def __array__(self, *args, **more):
            A.indptr[1:] = FAR
            return np.ones(40)

    Perceptron().fit(A, y, sample_weight=Weights())


@case("broken CSR matrix")
def matrix_that_shows_other_indices_later():
    class Changes(sp.csr_array):
        shown = 0

        @property
        def indices(self):
            self.shown += 1
            return self._indices if self.shown < 30 else np.full_like(self._indices, FAR)

        @indices.setter
        def indices(self, found):
            self._indices = found

    for start in range(30):
        A = Changes(X)
        A.shown = start
        Perceptron().fit(A, y)
    A.shown = 30
    Perceptron().fit(A, y)


# ------------------------------------------------------------------------------------ prepared texts


def prepared(change):
    model = TextClassifier(bits=10)
    batch = model.prepare_batch(TEXTS)
    change(batch.X)
    model.partial_fit(batch, y)


@case(CHANGED)
def prepared_batch_with_other_indices():
    prepared(broken)


@case(CHANGED)
def prepared_batch_with_negative_indices():
    def change(A):
        writable(A.indices)[:] = -FAR

    prepared(change)


@case(CHANGED)
def prepared_batch_with_other_pointers():
    def change(A):
        A.indptr[1:] = FAR

    prepared(change)


@case(CHANGED)
def prepared_batch_with_fewer_indices():
    def change(A):
        A.indices = A.indices[:1]

    prepared(change)


@case("not what prepare_batch makes")
def prepared_batch_that_is_dense():
    model = TextClassifier(bits=10)
    batch = model.prepare_batch(TEXTS)
    model.partial_fit(type(batch)(np.full((40, 1024), FAR), batch.recipe), y)


@case(CHANGED)
def prepared_batch_that_a_callback_changes():
    model = TextClassifier(bits=10, max_iter=3)
    batch = model.prepare_batch(TEXTS)
    model.callback = lambda model: broken(batch.X)
    model.fit(batch, y)


# ----------------------------------------------------------------------------- names, kernels, attributes


@case("")
def dict_that_names_a_feature_twice():
    """Names are counted once; no error."""

    class Twice(dict):
        def __iter__(self):
            return iter(list(super().keys()) * 2)

        def keys(self):
            return list(super().keys()) * 2

    model = Perceptron()
    for i in range(50):
        model.learn_one(Twice({f"name {i} {j}": 1.0 for j in range(100)}), i % 2)
    assert model.coef_.shape == (1, 5000) == (1, len(model.feature_names_in_))
    raise ValueError


@case("")
def names_that_are_all_the_same():
    class Same(str):
        def __eq__(self, other):
            return True

        def __hash__(self):
            return 0

    class Different(str):
        count = 0

        def __eq__(self, other):
            return False

        def __hash__(self):
            Different.count += 1
            return Different.count

    model = Perceptron()
    for i in range(50):
        model.learn_one({Same(f"a {i}"): 1.0, Different("b"): 1.0, "c": 1.0}, i % 2)
    assert len(model.feature_names_in_) == model.coef_.shape[1] == model.n_features_in_
    raise ValueError


@case("must return 40 x 40 values; it returned shape")
def kernel_of_the_wrong_shape():
    class Short(kernels.Linear):
        def matrix(self, A, B):
            return super().matrix(A, B)[:1]

    KernelClassifier(kernel=Short(), block_size=40).fit(X, y)


@case("must return 40 x")
def kernel_that_shrinks_when_it_votes():
    class Shrinks(kernels.Linear):
        def matrix(self, A, B):
            values = super().matrix(A, B)
            return values[:, :1] if TRAINED else values

    TRAINED = []
    model = KernelPerceptron(kernel=Shrinks(), readout="vote").fit(X, y)
    TRAINED.append(1)
    model.predict(X)


@case("must return one value k")
def kernel_with_a_short_diagonal():
    class Short(kernels.Linear):
        def diagonal(self, A):
            return super().diagonal(A)[:1]

    KernelClassifier(kernel=Short()).fit(X, y)


@case("classes_ holds more labels than the 3 classes")
def classes_that_were_changed():
    model = Perceptron().fit(X, y3)
    model.classes_ = np.arange(1_000_000)
    model.partial_fit(X, np.full(40, 999_999))


@case("X has 100000 features; the model has 6")
def width_that_was_changed():
    model = Perceptron().fit(X, y)
    model.n_features_in_ = 100_000
    model.partial_fit(np.ones((40, 100_000)), y)


# ------------------------------------------------------------------------------------ the runner


def attempt(function, message):
    """0: it raised ValueError with the message; 1: something else happened."""
    try:
        function()
    except ValueError as error:
        if message in str(error) and "\n" not in str(error):
            return 0
        traceback.print_exc()
    except BaseException:
        traceback.print_exc()
    return 1


def run_all():
    """Every case in a child of this process, which has the loops of most; one line about each."""
    for model in (Perceptron(), KernelClassifier(), BudgetKernelPerceptron(budget=3)):
        model.fit(X, y)
    TextClassifier().fit(TEXTS, y)
    for name, (function, message) in CASES.items():
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os._exit(attempt(function, message))
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        print(name, signal.Signals(-code).name if code < 0 else code)


@pytest.fixture(scope="module")
def outcomes():
    words = [sys.executable, "-c", "import test_misuse; test_misuse.run_all()"]
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    done = subprocess.run(
        words, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=280
    )
    return dict(line.rsplit(maxsplit=1) for line in done.stdout.splitlines()), done.stderr


@pytest.mark.parametrize("name", CASES)
def test_a_clear_error_and_no_crash(outcomes, name):
    found, said = outcomes
    assert found.get(name) == "0", said
