"""Model files: what is stored, what is shared, what is refused; checkpoints; ONNX."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from places import DATA

import perceptrons as pc
from perceptrons import kernels, rules
from perceptrons.models import Checkpoint, ModelError, describe, export_onnx, load, save
from perceptrons.models import checkpoint as checkpoint_module
from perceptrons.models.reader import Reader
from perceptrons.models.writer import Writer

SAMPLES = DATA / "models"
X = np.array([[1.0, 1.0, 0.0], [-1.0, -1.0, 0.5], [2.0, 1.0, -1.0], [0.5, -2.0, 0.0]])
Y = np.array([1, 0, 1, 0])


def there_and_back(x: Any) -> Any:
    writer = Writer()
    root = writer.value(x)
    nodes = json.loads(json.dumps(writer.nodes, allow_nan=False))
    reader = Reader(nodes, writer.arrays, {})
    reader.read()
    return reader.value(root)


# ---------------------------------------------------------------- data


@pytest.mark.parametrize(
    "x",
    [
        None,
        True,
        -(2**70),
        0.1,
        float("inf"),
        float("-inf"),
        "é\ud800",
        b"\x00\xff",
        [],
        (1, "a", None),
        {"a": [1.5, (2, b"c")], 3: {}, ("x", 1): None, 0.5: 1, b"k": 2},
        list(range(40)),
        [0.1 * i for i in range(40)],
        [i % 2 == 0 for i in range(40)],
        ["ab", "", "ü"] * 10,
        [b"ab", b""] * 10,
        [("u", i) for i in range(30)],
        [{"epoch": i, "mistakes": 3} for i in range(30)],
        [{"epoch": i} if i else {} for i in range(30)],
        [2**70] * 20,
        [1, 2.0, "x"] * 10,
    ],
    ids=lambda x: repr(x)[:30],
)
def test_plain_data_come_back_as_they_were(x):
    back = there_and_back(x)
    assert back == x
    assert repr(back) == repr(x)  # 1 is not True, and not 1.0


def test_nan_comes_back():
    assert np.isnan(there_and_back([float("nan")] * 2)).all()


@pytest.mark.parametrize(
    "a",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(12.0).reshape(3, 4)[:, ::2],
        np.arange(5, dtype=">i4"),
        np.zeros((0, 3), np.float32),
        np.array(3.5),
        np.array(["ham", "spam"]),
        np.array([b"ham", b"spam"]),
        np.array(["ham", "spam"], object),
        np.array([], "U3"),
        np.array([True, False]),
        np.array([1 + 2j]),
        np.array(["2020-01-01"], "datetime64[D]"),
    ],
    ids=lambda a: f"{a.dtype}{a.shape}",
)
def test_arrays_come_back_as_they_were(a):
    back = there_and_back(a)
    np.testing.assert_array_equal(back, a)
    assert back.dtype == a.dtype.newbyteorder("=")
    assert back.flags.f_contiguous == a.flags.f_contiguous or not a.flags.c_contiguous


def test_a_memory_map_becomes_an_array(tmp_path):
    a = np.memmap(tmp_path / "a", np.float64, "w+", shape=(3,))
    a[:] = 1.5
    assert type(there_and_back(a)) is np.ndarray


def test_an_array_nobody_may_write_stays_so():
    a = np.arange(3.0)
    a.flags.writeable = False
    assert not there_and_back(a).flags.writeable
    assert there_and_back(a.copy()).flags.writeable


def test_numpy_scalars_keep_their_type():
    for x in (np.float32(0.1), np.int8(-3), np.str_("a"), np.bool_(True)):
        assert type(there_and_back(x)) is type(x)
        assert there_and_back(x) == x


@pytest.mark.parametrize("cls", [sp.csr_array, sp.csr_matrix])
def test_sparse_matrices_come_back(cls):
    a = cls(X)
    back = there_and_back(a)
    assert type(back) is cls
    np.testing.assert_array_equal(back.toarray(), X)


def test_what_is_shared_stays_shared():
    a, b = np.zeros(3), [1]
    back = there_and_back({"x": a, "y": [a, b], "z": b})
    assert back["x"] is back["y"][0]
    assert back["z"] is back["y"][1]


def test_what_contains_itself_is_refused():
    a: list[Any] = []
    a.append(a)
    with pytest.raises(ModelError, match="contains itself"):
        Writer().value(a)


def test_what_is_nested_without_end_is_refused():
    a: list[Any] = []
    for _ in range(1000):
        a = [a]
    with pytest.raises(ModelError, match="nested too deeply"):
        Writer().value(a)


BITS = [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64]


@pytest.mark.parametrize("bits", BITS, ids=lambda b: b.__name__)
def test_generators_draw_on(bits):
    rng = np.random.Generator(bits(5))
    rng.random(3), rng.integers(0, 9, dtype=np.uint32)
    back = there_and_back(rng)
    assert back.random(9).tolist() == rng.random(9).tolist()
    assert (
        back.integers(0, 2**31, 5, dtype=np.uint32).tolist()
        == rng.integers(0, 2**31, 5, dtype=np.uint32).tolist()
    )


def test_the_legacy_generator_draws_on():
    rng = np.random.RandomState(5)
    rng.normal(), rng.rand(3)
    back = there_and_back(rng)
    assert back.normal(size=5).tolist() == rng.normal(size=5).tolist()
    assert there_and_back(np.random) is np.random


# ---------------------------------------------------------------- models


def test_an_estimator_that_has_learned_nothing(tmp_path):
    save(pc.MarginPerceptron(gamma=0.25, class_weight={1: 2.0}), tmp_path / "a")
    back = load(tmp_path / "a")
    assert repr(back) == "MarginPerceptron(class_weight={1: 2.0}, gamma=0.25)"
    assert back.fit(X, Y).n_features_in_ == 3


def test_a_transformer(tmp_path):
    hasher = pc.TextHasher(bits=6, ngram_range=(1, 2), seed=3)
    save(hasher, tmp_path / "a")
    texts = ["one text", "and another"]
    np.testing.assert_array_equal(
        load(tmp_path / "a").transform(texts).toarray(), hasher.transform(texts).toarray()
    )


def test_any_safetensors_reader_opens_a_model(tmp_path):
    from safetensors.numpy import load_file

    model = pc.Perceptron(shuffle=False).fit(X, Y)
    save(model, tmp_path / "a.safetensors")
    found = load_file(tmp_path / "a.safetensors")
    assert any(np.array_equal(a, model._space.v) for a in found.values())


def test_the_same_model_makes_the_same_file(tmp_path):
    model = pc.BudgetKernelPerceptron(budget=2, random_state=np.random.default_rng(1)).fit(X, Y)
    save(model, tmp_path / "a")
    save(load(tmp_path / "a"), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_link_keeps_pointing_at_the_file(tmp_path):
    save(pc.Perceptron().fit(X, Y), tmp_path / "v1.model")
    os.symlink("v1.model", tmp_path / "latest.model")
    save(pc.AROW().fit(X, Y), tmp_path / "latest.model")
    assert isinstance(load(tmp_path / "v1.model"), pc.AROW)
    assert os.path.islink(tmp_path / "latest.model")


@pytest.mark.skipif(not hasattr(os, "fchmod"), reason="NOT RUN: files have no modes here")
def test_a_private_file_stays_private(tmp_path):
    save(pc.Perceptron(), tmp_path / "a")
    os.chmod(tmp_path / "a", 0o600)
    save(pc.AROW(), tmp_path / "a")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_what_a_file_says_about_itself(tmp_path):
    save(pc.PassiveAggressive(C=0.5).fit(X, Y), tmp_path / "a")
    facts = describe(tmp_path / "a")
    assert facts["estimator"] == "PassiveAggressive"
    assert facts["parameters"]["C"] == "0.5"
    assert facts["library"] == pc.__version__
    assert facts["n_bytes"] == (tmp_path / "a").stat().st_size
    assert not facts["checkpoint"]


def test_a_frame_keeps_its_names(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    save(pc.Perceptron().fit(frame, Y), tmp_path / "a")
    back = load(tmp_path / "a")
    assert back.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        back.predict(frame[["b", "a", "c"]])
    back.learn_one({"a": 1.0, "d": 2.0}, 1)
    save(back, tmp_path / "a")
    assert load(tmp_path / "a").feature_names_in_.tolist() == ["a", "b", "c", "d"]


def test_a_class_of_the_users_is_refused(tmp_path):
    class Mine(pc.Perceptron):
        """Not of this library."""

    with pytest.raises(ModelError, match=r"Mine of .* is none. Store a class of your own with pickle"):
        save(Mine().fit(X, Y), tmp_path / "a")
    assert os.listdir(tmp_path) == []


@rules.rule
def third(m, q, state):
    return (1.0, 0.3) if m <= 0.0 else (1.0, 0.0)


def test_a_rule_of_the_users_is_asked_for(tmp_path):
    save(pc.OnlineClassifier(rule=third).fit(X, Y), tmp_path / "a")
    with pytest.raises(
        ModelError, match=r"a rule of yours, 'third', .* load\(path, objects=\{'rule': third\}\)"
    ):
        load(tmp_path / "a")
    with pytest.raises(ModelError, match=r"objects\['rule'\] must be a rule; got <function"):
        load(tmp_path / "a", objects={"rule": third.function})
    back = load(tmp_path / "a", objects={"rule": third})
    assert back.rule is third
    assert back._space.rule is third
    with pytest.raises(ModelError, match=r"no use for objects\['rul'\]; it asks for 'rule'"):
        load(tmp_path / "a", objects={"rul": third, "rule": third})


def closeness(a, b):
    return float(np.exp(-np.abs(np.subtract(a, b)).sum()))


def test_kernel_functions_are_asked_for_by_their_place(tmp_path):
    kernel = kernels.Linear() + 0.5 * kernels.Pairwise(closeness)
    model = pc.MaxMargin(kernel=kernel, C=1.0).fit(X, Y)
    save(model, tmp_path / "a")
    with pytest.raises(ModelError, match=r"objects=\{'kernel.terms.1.kernel.function': closeness\}"):
        load(tmp_path / "a")
    back = load(tmp_path / "a", objects={"kernel.terms.1.kernel.function": closeness})
    np.testing.assert_array_equal(back.decision_function(X), model.decision_function(X))


class Draws:
    """A generator of the user's own."""

    def random(self):
        return 0.25


def test_a_generator_of_the_users_is_asked_for(tmp_path):
    draws = Draws()
    model = pc.BudgetKernelPerceptron(budget=1, shuffle=False, random_state=draws).fit(X, Y)
    save(model, tmp_path / "a")
    back = load(tmp_path / "a", objects={"random_state": draws})
    assert back._draws is back._space.rng is draws


def test_objects_of_a_kernel_that_no_file_can_hold(tmp_path):
    things = [Draws(), Draws()]
    model = pc.KernelClassifier(kernel=lambda a, b: float(a is b)).fit(things, [0, 1])
    with pytest.raises(
        ModelError, match=r"_known|items\.0 is of type .*Draws, which a model file cannot hold"
    ):
        save(model, tmp_path / "a")


def test_a_model_of_a_device_that_is_not_here_runs_on_the_cpu(tmp_path):
    model = pc.KernelPerceptron().fit(X, Y)
    model._space.device = "cuda"
    save(model, tmp_path / "a")
    back = load(tmp_path / "a")
    has_cuda = importlib.util.find_spec("torch") is not None and __import__("torch").cuda.is_available()
    assert back._space.device == ("cuda" if has_cuda else "cpu")


# ---------------------------------------------------------------- stored samples


def sample_writer() -> Any:
    spec = importlib.util.spec_from_file_location("write_samples", SAMPLES / "write_samples.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FOLDERS = sorted(path for path in SAMPLES.iterdir() if path.is_dir() and path.name.startswith("format"))


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(f, marks=pytest.mark.compiled_later) if f.stem == "margin" else f
        for d in FOLDERS
        for f in sorted(d.glob("*.model"))
    ],
    ids=lambda f: f"{f.parent.name}/{f.stem}",
)
def test_files_of_every_format_stay_readable(file):
    expected = json.loads((file.parent / "expected.json").read_text())[file.stem]
    model, rows = load(file), sample_writer().rows_of(file.stem)
    labels, scores = sample_writer().answers(model, rows)
    assert type(model).__name__ == expected["estimator"]
    assert labels == expected["labels"]
    np.testing.assert_allclose(scores, expected["scores"], rtol=1e-9, atol=1e-12)
    if hasattr(model, "learn_one"):  # and it goes on
        model.learn_one(rows[0], labels[-1])


def test_there_are_samples_of_the_format_of_today():
    from perceptrons.models import container

    assert [folder.name for folder in FOLDERS] == [f"format{v}" for v in range(1, container.VERSION + 1)]


# ---------------------------------------------------------------- checkpoints


def test_a_checkpoint_keeps_model_and_position(tmp_path):
    position = {"pass": 1, "row": 2**40, "stream": ["a.svm", "9f3c"], "done": [1.5, None]}
    with Checkpoint(tmp_path / "run") as checkpoint:
        assert checkpoint.resume() is None
        checkpoint.save(pc.Perceptron().fit(X, Y), position)
        model, found = checkpoint.resume()
    assert found == position
    assert isinstance(model, pc.Perceptron)
    assert describe(tmp_path / "run")["checkpoint"]
    assert isinstance(load(tmp_path / "run"), pc.Perceptron)
    assert os.listdir(tmp_path) == ["run"]


def test_a_checkpoint_is_due_by_rows_or_by_time(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(checkpoint_module.time, "monotonic", lambda: now[0])
    with Checkpoint(tmp_path / "run", every_rows=100, every_seconds=30.0) as checkpoint:
        assert not checkpoint.due(99)
        assert checkpoint.due(1)
        checkpoint.save(pc.Perceptron(), None)
        assert not checkpoint.due(99)
        now[0] = 30.0
        assert checkpoint.due()
    with Checkpoint(tmp_path / "run", every_seconds=None) as checkpoint:
        now[0] = 1e9
        assert not checkpoint.due(10**9)


def test_a_checkpoint_is_called_after_each_batch(tmp_path):
    class Report:
        rows = 0

        def to_dict(self):
            return {"rows": self.rows, "row": self.rows, "margin_up": float("inf")}

    report, model, saved = Report(), pc.Perceptron(shuffle=False), []
    with Checkpoint(tmp_path / "run", every_rows=5, every_seconds=None) as checkpoint:
        for _ in range(4):
            model.partial_fit(X[:2], Y[:2])
            report.rows += 2
            checkpoint(model, report)
            found = checkpoint.resume()
            saved.append(found and found[1]["rows"])
    assert saved == [None, None, 6, 6]
    assert load(tmp_path / "run").history_ == model.history_[:3]


def test_a_resumed_checkpoint_counts_from_where_it_was(tmp_path):
    """Rows that were learned before the stop do not count; the report is stored as the run describes it."""
    model = pc.Perceptron(shuffle=False).partial_fit(X, Y)

    def opened():
        made = Checkpoint(tmp_path / "run", every_rows=5, every_seconds=None)
        made.position = lambda report: {"options": ["-q"], "report": report}
        return made

    with opened() as checkpoint:
        checkpoint(model, {"rows": 8})
    with opened() as checkpoint:
        assert checkpoint.resume()[1] == {"options": ["-q"], "report": {"rows": 8}}
        for rows, stored in ((10, 8), (12, 8), (13, 13)):
            checkpoint(model, {"rows": rows})
            assert checkpoint.resume()[1]["report"]["rows"] == stored


@pytest.mark.parametrize("params", [{"every_rows": 0}, {"every_seconds": -1.0}])
def test_a_checkpoint_refuses_senseless_times(tmp_path, params):
    with pytest.raises(ValueError, match="must be a positive number or None"):
        Checkpoint(tmp_path / "run", **params)
    assert os.listdir(tmp_path) == []


# ---------------------------------------------------------------- ONNX


def predicted(path: Any, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    labels, scores = session.run(["label", "scores"], {"X": rows.astype(np.float32)})
    return labels, scores


LABELS = {
    "strings": np.array(["ham", "spam", "eggs"]),
    "objects": np.array(["ham", "spam", "eggs"], object),
    "integers": np.array([-7, 3, 40], np.int32),
    "floats": np.array([1.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("row_norm", [None, "l2"])
def test_onnx_answers_as_the_model_does(tmp_path, kind, n_classes, row_norm):
    pytest.importorskip("onnx")
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(60, 4))
    codes = np.argmax(rows[:, :n_classes], axis=1)
    rows[0] = 0.0
    for model in (
        pc.AveragedPerceptron(row_norm=row_norm, random_state=0),
        pc.PassiveAggressive(row_norm=row_norm, fit_intercept=False, multiclass="ovr", random_state=0),
        pc.Perceptron(row_norm=row_norm, intercept_scaling=0.5, readout="random", random_state=0),
    ):
        model.fit(rows, LABELS[kind][codes])
        export_onnx(model, tmp_path / "a.onnx")
        labels, scores = predicted(tmp_path / "a.onnx", rows)
        exact = model.decision_function(rows)
        np.testing.assert_allclose(scores, exact, rtol=1e-4, atol=1e-5)
        sides = np.sort(exact, axis=1) if exact.ndim == 2 else np.abs(exact)
        clear = sides[:, -1] - sides[:, -2] > 1e-3 if exact.ndim == 2 else sides > 1e-3
        np.testing.assert_array_equal(labels[clear], model.predict(rows)[clear])


def test_onnx_of_other_linear_models(tmp_path):
    pytest.importorskip("onnx")
    bits = np.array([[i >> j & 1 for j in range(4)] for i in range(16)], float)
    y = (bits[:, 0] + bits[:, 2] > 0).astype(int)
    y3 = (bits[:, 0] + bits[:, 2]).astype(int)
    models = [
        pc.Winnow().fit(bits, y),  # its threshold is hit exactly, and a tie is positive
        pc.Winnow().fit(bits, y3),
        pc.Elimination().fit(bits, y),
        pc.AROW().fit(bits, y > 0),
        pc.MaxMargin().fit(bits, y),
        pc.RiskDescent().fit(bits, y3),
        pc.BalancedWinnow().fit(bits, y3),
        pc.Perceptron().partial_fit(bits, np.full(16, "one")),
    ]
    for model in models:
        export_onnx(model, tmp_path / "a.onnx")
        labels, scores = predicted(tmp_path / "a.onnx", bits)
        np.testing.assert_allclose(scores, model.decision_function(bits), rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(labels, model.predict(bits), err_msg=repr(model))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (pc.VotedPerceptron(), "readout='vote' is no linear model, .* fit readout='average'"),
        (pc.KernelPerceptron(), "with a kernel is no linear model"),
        (pc.MaxMargin(kernel="gaussian", C=1.0), "with a kernel is no linear model"),
        (pc.SecondOrderPerceptron(), "divides its scores"),
    ],
)
def test_onnx_is_for_linear_models(tmp_path, model, message):
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match=message):
        export_onnx(model.fit(X, Y), tmp_path / "a.onnx")
    assert os.listdir(tmp_path) == []


def test_onnx_takes_no_text(tmp_path):
    pytest.importorskip("onnx")
    model = pc.TextClassifier(bits=4).fit(["one text", "and another"], Y[:2])
    with pytest.raises(ValueError, match="takes text, and the graph takes numbers"):
        export_onnx(model, tmp_path / "a.onnx")


def test_without_onnx_the_way_out_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'perceptrons\[onnx\]'"):
        export_onnx(pc.Perceptron().fit(X, Y), tmp_path / "a.onnx")
