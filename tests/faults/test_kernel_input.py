"""Bad input of kernel learners: an error that says what is wrong, and a model that is as it was."""

from __future__ import annotations

import threading
from typing import Any

import comparing
import numpy as np
import pytest
import scipy.sparse as sp
import zoo
from sklearn.exceptions import NotFittedError

import perceptrons as pc
from perceptrons import kernels, rules
from perceptrons.engine.spaces import NumericalError

RNG = np.random.default_rng(0)
X = RNG.integers(-128, 129, (24, 3)) / 32.0
y = np.where(X[:, 0] * X[:, 1] + X[:, 2] > 0, 1, 0)
y3 = y + (X[:, 2] > 1.0)
WORDS = ["banana", "bandana", "nab", "dad", "add", "abba"]
LABELS = [1, 1, 0, 0, 0, 1]

LEARNERS = {
    "perceptron": lambda **p: pc.KernelPerceptron(**({"shuffle": False, "max_iter": 3} | p)),
    "classifier": lambda **p: pc.KernelClassifier(
        **({"rule": rules.PA1(), "shuffle": False, "max_iter": 3} | p)
    ),
    "vote": lambda **p: pc.KernelPerceptron(**({"readout": "vote", "shuffle": False, "max_iter": 3} | p)),
    "budget": lambda **p: pc.BudgetKernelPerceptron(
        **({"budget": 8, "policy": "oldest", "shuffle": False, "max_iter": 3} | p)
    ),
}
EVERY = pytest.mark.parametrize("name", LEARNERS)


def snapshot(model: Any, rows: Any = X) -> dict[str, Any]:
    """The attributes of a model and what it predicts."""
    seen = zoo.attributes(model) | {"scores": model.decision_function(rows)}
    return {k: v.toarray() if sp.issparse(v) else v for k, v in seen.items()}


def refused(model: Any, match: str, error: Any = ValueError, rows: Any = X) -> Any:
    """The block raises, saying this, and the model is as it was; its next step is not looked at."""
    return comparing.refused(model, match, error, lambda model: snapshot(model, rows))


def untouched(model: Any) -> bool:
    """Whether nothing is left of a first attempt."""
    return set(model.__getstate__()) == set(type(model)().__getstate__())  # all but the lock


# ------------------------------------------------------------------------------ values and widths


@EVERY
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_values_that_are_not_finite(name, value, word, kind):
    bad = X.copy()
    bad[5, 1] = value
    model = LEARNERS[name]().fit(X, y)
    with refused(model, word):
        model.fit(kind(bad), y)
    with refused(model, word):
        model.partial_fit(kind(bad), y)
    with refused(model, word):
        model.predict(kind(bad))
    with refused(model, word):
        model.learn_one(bad[5], 1)
    with refused(model, word):
        model.predict_one(bad[5])
    fresh = LEARNERS[name]()
    for attempt in (fresh.fit, fresh.partial_fit):
        with pytest.raises(ValueError, match=word):
            attempt(kind(bad), y)
    with pytest.raises(ValueError, match=word):
        fresh.learn_one(bad[5], 1)
    assert untouched(fresh)


@EVERY
def test_another_number_of_features(name):
    model = LEARNERS[name]().fit(X, y)
    for rows in (X[:, :2], np.hstack([X, X]), sp.csr_array(X[:, :2])):
        with refused(model, "features"):
            model.predict(rows)
        with refused(model, "features"):
            model.partial_fit(rows, y)
    with refused(model, "x must have 3 features, as the model has"):
        model.learn_one(X[0, :2], 1)
    with refused(model, "x must have 3 features, as the model has"):
        model.score_one(np.zeros(4))
    with refused(model, "one row of numbers"):
        model.learn_one(X[:2], 1)
    with refused(model, "has learned one label a row"):
        model.learn_one(X[0], [1, 0])
    with pytest.raises(ValueError, match="one row of numbers"):
        LEARNERS[name]().learn_one(X[:2], 1)
    with refused(model, "not dicts of named features", TypeError):
        model.learn_one({"a": 1.0}, 1)


@EVERY
def test_labels_and_weights(name):
    model = LEARNERS[name]().fit(X, y)
    with refused(model, "24 rows, y has 3 labels"):
        model.fit(X, y[:3])
    with refused(model, "one class only"):
        model.fit(X, np.zeros(24))
    with refused(model, "sample_weight must hold 24 numbers"):
        model.partial_fit(X, y, sample_weight=[1.0])
    with refused(model, "finite numbers of at least 0; row 3 has -1"):
        model.partial_fit(X, y, sample_weight=np.where(np.arange(24) == 3, -1.0, 1.0))
    with refused(model, "row numbers from 0 to 23"):
        model.fit(X, y, order=[[0, 24]])
    with refused(model, "labels of one type"):
        model.partial_fit(X[:1], ["a"])
    if name == "budget":
        with refused(model, "no theory of row weights"):
            model.partial_fit(X, y, sample_weight=np.full(24, 0.5))


def test_nothing_is_known_before_the_first_row():
    for make in LEARNERS.values():
        model = make()
        for attempt in (model.predict, model.decision_function):
            with pytest.raises(NotFittedError):
                attempt(X)
        with pytest.raises(NotFittedError, match="has learned nothing yet"):
            model.score_one(X[0])


# ------------------------------------------------------------------------------------ overflow


@pytest.mark.parametrize("name", ["perceptron", "classifier", "budget"])
def test_kernel_values_that_overflow_name_the_row(name):
    huge = X.copy()
    huge[7] = 1e200
    for kernel in ("linear", kernels.Polynomial(5), kernels.AllSubsets(), kernels.Gaussian(0.5)):
        model = LEARNERS[name](kernel=kernel).fit(X, y)
        for attempt in (model.fit, model.partial_fit):
            with refused(model, r"k\(x, x\) of row 7 is (inf|nan), not a finite number.*Scale the data"):
                attempt(huge, y)
        with refused(model, r"k\(x, x\) of row 0 is (inf|nan)"):
            model.learn_one(huge[7], 1)


@pytest.mark.parametrize("name", ["perceptron", "budget"])
def test_scores_that_overflow(name):
    """k(x, x) is finite in float64; in float32, or summed, values are not."""
    rows = X.astype(np.float32)
    rows[5] = 1e12
    rows[6] = -1e12
    model = LEARNERS[name](**{} if name == "budget" else {"device": "cpu"})
    with pytest.raises(NumericalError, match=r"row [56]: the score is"):
        model.partial_fit(rows, np.arange(24) % 2, classes=[0, 1])
    assert np.isfinite(model.dual_coef_).all()
    assert model.stop_reason_ == "partial_fit"
    model.partial_fit(X, y)  # and it can go on
    assert np.isfinite(model.decision_function(X)).all()
    if name == "budget":
        with refused(model, "A score is not finite", NumericalError):
            model.predict(X * 1e25)


@pytest.mark.compiled_later
def test_a_score_that_overflows_at_prediction():
    for readout in ("last", "average", "vote", "random"):
        model = pc.KernelPerceptron(readout=readout, random_state=0).fit(X, y)
        with refused(model, "A score is not finite.*Scale the data", NumericalError):
            model.predict(X * 1e200)


def test_precision_that_cannot_hold_the_values():
    model = pc.KernelPerceptron(precision="float32", device="cpu")
    with pytest.raises(ValueError, match="infinity or a value too large"):
        model.fit(X * 1e60, y)
    assert untouched(model)


# ------------------------------------------------------------------------------- no kernel at all


@EVERY
def test_functions_that_are_no_kernels(name):
    rows = list(X)
    for function, error, message in (
        (lambda a, b: -1.0, ValueError, r"k\(x, x\) of row 0 is -1.*see kernels.check_psd"),
        (lambda a, b: np.nan, ValueError, r"k\(x, x\) of row 0 is nan"),
        (lambda a, b: np.inf, ValueError, r"k\(x, x\) of row 0 is inf"),
        (lambda a, b: "one", TypeError, "must return a number for two objects; got 'one'"),
        (lambda a, b: None, TypeError, "must return a number for two objects; got None"),
        (lambda a, b: 1j, TypeError, "must return a number"),
        (lambda a, b: a, TypeError, "must return a number"),
        (lambda a: 1.0, TypeError, "positional argument"),
        (lambda a, b: 1 / 0, ZeroDivisionError, "division by zero"),
    ):
        model = LEARNERS[name](kernel=function)
        with pytest.raises(error, match=message):
            model.fit(rows, y)
        assert untouched(model)
        with pytest.raises(error, match=message):
            model.learn_one(rows[0], 1)
        assert untouched(model)


@EVERY
def test_a_value_between_two_rows_that_is_not_a_number(name):
    rows = [(i, x) for i, x in enumerate(X)]

    def broken(a, b):
        return np.nan if {a[0], b[0]} == {2, 9} else float(a[1] @ b[1]) + 100.0 * (a[0] == b[0])

    model = LEARNERS[name](kernel=broken, block_size=4)
    with pytest.raises(NumericalError, match=r"row \d+: the score is nan"):
        model.fit(rows, np.arange(24) % 2)
    assert np.isfinite(model.dual_coef_).all()
    assert model.stop_reason_ == "failed"


class Fragile:
    """A kernel function that fails at one object, until it is mended."""

    def __init__(self, at: int):
        self.at = at

    def __call__(self, a, b):
        if a[0] != b[0] and self.at in (a[0], b[0]):
            raise OSError("the disk is gone")
        return float(a[1] @ b[1])


@pytest.mark.parametrize(
    "readout", ["last", pytest.param("average", marks=pytest.mark.exhaustive), "vote", "random"]
)
@pytest.mark.parametrize("labels", [y, y3], ids=["two", "three"])
def test_a_kernel_function_that_fails_on_the_way(readout, labels):
    """What was learned before is kept, the log included, and the model can go on."""
    rows = [(i, x) for i, x in enumerate(X)]
    k = Fragile(at=13)
    options = {"readout": readout, "block_size": 4, "random_state": 0, "log_updates": True}
    model = pc.KernelPerceptron(kernel=k, **options)
    with pytest.raises(OSError, match="the disk is gone"):
        model.partial_fit(rows, labels, classes=np.unique(labels))
    assert len(model.update_log_) == model.n_updates_ > 0
    before = pc.KernelPerceptron(kernel=Fragile(at=-1), **options)
    before.partial_fit(rows[:12], labels[:12], classes=np.unique(labels))  # three whole blocks
    np.testing.assert_allclose(model.decision_function(rows[:12]), before.decision_function(rows[:12]))
    k.at = -1
    model.partial_fit(rows[12:], labels[12:])
    before.partial_fit(rows[12:], labels[12:])
    np.testing.assert_allclose(model.decision_function(rows), before.decision_function(rows), rtol=1e-9)


# ------------------------------------------------------------------------------- a user's own rule


@rules.rule
def gives_up(m, q, state):
    if state.t == 14:
        raise ValueError("no more")
    return (1.0, 1.0) if m <= 0.0 else rules.NO_STEP


@rules.rule
def loses_count(m, q, state):
    return (1.0, np.nan) if state.t == 14 else ((1.0, 1.0) if m <= 0.0 else rules.NO_STEP)


@pytest.mark.uncompiled
@pytest.mark.parametrize("rule", [gives_up, loses_count], ids=lambda r: r.__name__)
@pytest.mark.parametrize("block_size", [1, 5, 14, "auto"])
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("labels", [y, y3], ids=["two", "three"])
def test_a_rule_that_fails_within_a_block(rule, block_size, multiclass, labels):
    """The error names the row of the collection; the model is where the linear learner is."""
    order = [RNG.permutation(24)]
    options = {"rule": rule, "multiclass": multiclass, "readout": "average", "log_updates": True}
    kernel = pc.KernelClassifier(kernel="linear", block_size=block_size, **options)
    linear = pc.OnlineClassifier(fit_intercept=False, **options)
    joint = multiclass == "joint" or labels is y
    for model in (kernel, linear):
        with pytest.raises(rules.RuleError, match=f"rule '{rule.__name__}' at row {order[0][13]} "):
            model.fit(X, labels, order=order)
        assert model.stop_reason_ == "failed"
        assert model.history_ == []
    assert kernel.n_updates_ == linear.n_updates_ and kernel.n_mistakes_ == linear.n_mistakes_
    np.testing.assert_array_equal(kernel.update_log_, linear.update_log_)
    np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(X), atol=1e-12)
    if joint:
        assert kernel.set_params(rule=rules.Perceptron()).fit(X, labels).stop_reason_ != "failed"


@pytest.mark.compiled_later
def test_steps_that_would_overflow_stay_at_the_last_finite_weights():
    @rules.rule
    def explodes(m, q, state):
        return (1.0, 1e200 if state.t > 6 else 1.0) if m <= 0.0 else rules.NO_STEP

    model = pc.KernelClassifier(rule=explodes, kernel="linear")
    with pytest.raises(NumericalError, match=r"row \d+: the update would overflow the weights"):
        model.partial_fit(X, RNG.integers(2, size=24), classes=[0, 1])
    assert np.isfinite(model.dual_coef_).all() and np.abs(model.dual_coef_).max() <= 24
    before = model.n_updates_
    model.learn_one(X[0], 1) if model.score_one(X[0]) > 0 else None
    assert model.n_updates_ == before


# ---------------------------------------------------------------- the wrong objects for a kernel


@EVERY
def test_the_wrong_objects(name):
    numbers = LEARNERS[name]().fit(X, y)
    for wrong in (WORDS * 4, np.array(WORDS * 4), [WORDS] * 24, [[w] for w in WORDS * 4]):
        with refused(numbers, "could not convert|numeric|strings"):
            numbers.fit(wrong, y)
        with refused(numbers, "could not convert|numeric|strings"):
            numbers.predict(wrong)
    with refused(numbers, "could not convert|numeric|strings"):
        numbers.learn_one("banana", 1)
    strings = LEARNERS[name](kernel=kernels.Spectrum(2)).fit(WORDS, LABELS)
    for wrong, type_name in ((X, "ndarray"), (X.tolist(), "list"), ([1, 2], "int"), ([None] * 9, "NoneType")):
        with refused(strings, f"Spectrum needs strings; object 0 is of type {type_name}", TypeError, WORDS):
            strings.fit(wrong, y[: len(wrong)])
        with refused(strings, type_name, TypeError, WORDS):
            strings.predict(wrong)
    with refused(strings, "object 1 is of type float", TypeError, WORDS):
        strings.partial_fit(["a", 1.0], [0, 1])
    with refused(strings, "object 0 is of type ndarray", TypeError, WORDS):
        strings.learn_one(X[0], 1)
    for wrong in ("banana", b"banana"):
        with refused(strings, "collection of objects; got (str|bytes)", TypeError, WORDS):
            strings.fit(wrong, LABELS)
        with refused(strings, "collection of objects", TypeError, WORDS):
            strings.predict(wrong)


def dot(a: Any, b: Any) -> float:
    return float(np.dot(a, b))


@EVERY
def test_what_is_no_collection(name):
    model = LEARNERS[name](kernel=dot).fit(list(X), y)
    rows = list(X)
    with refused(model, "rows as a list or a dense array", TypeError, rows):
        model.fit(sp.csr_array(X), y)
    with refused(model, "rows as a list or a dense array", TypeError, rows):
        model.predict(sp.csr_matrix(X))
    for wrong in (None, 3, (x for x in X), "rows"):
        with refused(model, "X must be a collection of objects", TypeError, rows):
            model.fit(wrong, y)
    for nothing in ([], np.empty((0, 3))):
        with refused(model, "Found no objects", ValueError, rows):
            model.fit(nothing, [])
        with refused(model, "Found no objects", ValueError, rows):
            model.predict(nothing)
    with pytest.raises(ValueError, match="0 sample"):
        LEARNERS[name]().fit(np.empty((0, 3)), [])


# ----------------------------------------------------------------------------- matrices and widths


@EVERY
def test_precomputed(name):
    G = X @ X.T
    model = LEARNERS[name](kernel="precomputed")
    with pytest.raises(ValueError, match=r"square matrix over the training objects; got shape \(24, 3\)"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="cannot learn in pieces"):
        model.partial_fit(G, y)
    with pytest.raises(ValueError, match="cannot learn in pieces"):
        model.learn_one(G[0], 1)
    with pytest.raises(ValueError, match=r"k\(x, x\) of row 3 is -1"):
        model.fit(G - np.diag([0.0, 0.0, 0.0, G[3, 3] + 1.0] + [0.0] * 20), y)
    assert untouched(model)
    model.fit(G, y)
    with refused(model, "features", rows=G):
        model.predict(G[:, :5])
    with refused(model, "cannot learn in pieces", rows=G):
        model.partial_fit(G, y)
    np.testing.assert_array_equal(model.predict(G[:5]), model.predict(G)[:5])
    assert model.score_one(G[2]) == pytest.approx(model.decision_function(G)[2])
    model.set_params(warm_start=True)
    with refused(model, "not trained on", rows=G):
        model.fit(G, y)


@EVERY
@pytest.mark.parametrize(
    "kernel", ["rbf", kernels.Normalized(kernels.Gaussian() * kernels.Linear()), kernels.Gaussian()]
)
def test_a_width_from_all_of_the_data(name, kernel):
    model = LEARNERS[name](kernel=kernel)
    for attempt in (lambda: model.partial_fit(X, y), lambda: model.learn_one(X[0], 1)):
        with pytest.raises(ValueError, match=r"takes its width from all of the data.*give a number"):
            attempt()
    assert untouched(model)
    model.fit(X, y).partial_fit(X, y)


# ------------------------------------------------------------------------------------ parameters

BAD: dict[str, list[Any]] = {
    "block_size": [0, -1, 1.5, True, "large", None],
    "cache_mb": [-1.0, np.nan, "1", None],
    "device": ["gpu", None, 0],
    "precision": ["half", "double", np.float32, 32],
    "kernel": ["sigmoid", None, 3, kernels.Linear],
    "scheme": ["all", None],
    "mistake": ["error", None],
    "learning_rate": [0.0, -1.0, "constant", None],
    "readout": ["mean", None],
    "multiclass": ["ovo", None],
    "intercept_scaling": [0.0, -1.0, "1"],
    "fit_intercept": [1, None],
    "budget": [0, -1, 1.5, None, True],
    "policy": ["newest", None],
    "eta": [-0.5, "1", None, np.nan],
    "rule": ["no such rule", rules.PA1, rules.AROW(), rules.PA1(C=-1.0)],
}


@EVERY
def test_bad_parameters(name):
    model = LEARNERS[name]().fit(X, y)
    for parameter, values in BAD.items():
        if parameter not in model.get_params():
            continue
        good = model.get_params()[parameter]
        for value in values:
            before = snapshot(model)
            model.set_params(**{parameter: value})
            with pytest.raises(ValueError, match=parameter):
                model.fit(X, y)
            fresh = LEARNERS[name](**{parameter: value})
            for attempt in (lambda f=fresh: f.partial_fit(X, y), lambda f=fresh: f.learn_one(X[0], 1)):
                with pytest.raises(ValueError, match=parameter):
                    attempt()
            assert untouched(fresh)
            model.set_params(**{parameter: good})
            comparing.same_state(before, snapshot(model))


def test_a_device_that_is_not_there():
    """Either torch is not installed or it finds no CUDA device; both say what to do."""
    try:
        import torch

        if torch.cuda.is_available():
            pytest.skip("there is a CUDA device here")
    except ImportError:
        pass
    way_out = r"use device='cpu'|pip install 'perceptrons\[gpu\]'"
    for model in (pc.KernelPerceptron(device="cuda"), pc.KernelClassifier(device="cuda")):
        with pytest.raises((ValueError, ImportError), match=way_out):
            model.fit(X, y)
        assert untouched(model)
        with pytest.raises((ValueError, ImportError), match="device='cuda'"):
            model.learn_one(X[0], 1)
    assert pc.KernelPerceptron(device="auto").fit(X.astype(np.float32), y)._space.device == "cpu"


def test_a_budget_has_no_parameters_that_mean_nothing():
    assert not {"device", "precision", "cache_mb", "readout"} & set(pc.BudgetKernelPerceptron().get_params())
    pc.BudgetKernelPerceptron(budget=None, policy="projectron").fit(X, y)
    with pytest.raises(ValueError, match="budget"):
        pc.BudgetKernelPerceptron(budget=None, policy="oldest").fit(X, y)


# --------------------------------------------------------------------------------------- threads


@EVERY
def test_two_threads_cannot_train_one_model(name):
    """A kernel function that is in the middle of a fit meets a second thread."""
    entered, go_on = threading.Event(), threading.Event()

    def slow(a, b):
        entered.set()
        assert go_on.wait(60)
        return dot(a, b)

    model = LEARNERS[name](kernel=slow)
    trained = threading.Thread(target=lambda: model.fit(list(X), y))
    trained.start()
    assert entered.wait(60)
    attempts = (
        lambda: model.fit(list(X), y),
        lambda: model.partial_fit(list(X), y, classes=[0, 1]),
        lambda: model.learn_one(X[0], 1),
    )
    for attempt in attempts:
        with pytest.raises(RuntimeError, match="is being trained by another thread"):
            attempt()
    go_on.set()
    trained.join()
    plain = LEARNERS[name](kernel=dot).fit(list(X), y)
    np.testing.assert_array_equal(model.decision_function(list(X)), plain.decision_function(list(X)))
    model.partial_fit(list(X), y)  # free again
