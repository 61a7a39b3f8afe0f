"""The format of model files: sparse arrays, earlier versions, limits, the digest of what is on the disk."""

from __future__ import annotations

import json
import os
import pickle
import threading
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from places import DATA
from plain_texts import PLAIN

import perceptrons as pc
from perceptrons import rules
from perceptrons.core.writing import disable_fast_path
from perceptrons.models import Checkpoint, ModelError, container, describe, load, save, sparse

SAMPLES = DATA / "models"
X = np.array([[1.0, 1.0, 0.0], [-1.0, -1.0, 0.5], [2.0, 1.0, -1.0], [0.5, -2.0, 0.0]])
Y = np.array([1, 0, 1, 0])


def forged(path: Any, change: Any) -> None:
    """Change the text or the arrays of a file, and give it the digest that goes with them."""
    contents = container.read(path)
    table, arrays = json.loads(contents.text), dict(contents.arrays)
    change(table, arrays)
    made = container.pieces(container.Contents(json.dumps(table), arrays))
    path.write_bytes(b"".join(bytes(piece) for piece in made))


# ---------------------------------------------------------------- sparse arrays


@given(
    usual=st.sampled_from([0.0, -0.0, 1.0, np.inf, np.nan, 1e-310]),
    dtype=st.sampled_from([np.float32, np.float64, np.int64, np.int32, np.uint8]),
    shape=st.sampled_from([(4096,), (1500, 3), (3, 1500), (64, 64), (2, 8, 256)]),
    data=st.data(),
)
def test_sparse_arrays_come_back_to_the_last_bit(usual, dtype, shape, data):
    with np.errstate(all="ignore"):
        a = np.full(shape, np.asarray(usual).astype(dtype))
    places = data.draw(hnp.arrays(np.int64, data.draw(st.integers(0, 100)), elements=st.integers(0, 2**30)))
    values = data.draw(hnp.arrays(dtype, len(places)))
    a.reshape(-1)[places % a.size] = values
    found = sparse.parts(a)
    assert found is not None
    back = sparse.whole(found.at, found.values, shape)
    assert back.dtype == a.dtype
    assert back.shape == a.shape
    assert back.tobytes() == a.tobytes()


def test_only_what_becomes_smaller_is_stored_sparsely():
    assert sparse.parts(np.zeros(100)) is None
    assert sparse.parts(np.random.default_rng(0).normal(size=10_000)) is None
    for n in (6_000, 7_000):
        a = np.zeros(10_000)
        a[:n] = np.arange(1, n + 1)
        found = sparse.parts(a)
        assert (found is None) == (n == 7_000)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("frozen", [True, False])
def test_layout_and_flags_of_a_sparse_array(tmp_path, order, frozen):
    model = pc.Perceptron().fit(X, Y)
    model.note_ = np.zeros((60, 50), order=order)
    model.note_[3, 4] = -0.0
    model.note_.flags.writeable = not frozen
    save(model, tmp_path / "a")
    assert (tmp_path / "a").stat().st_size < 8000
    back = load(tmp_path / "a").note_
    assert back.flags.f_contiguous == (order == "F")
    assert back.flags.writeable != frozen
    assert back.tobytes() == model.note_.tobytes()


WORDS = [f"w{i}" for i in range(3000)]


def texts(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, size=20)) for _ in range(n)]


TEXTS = {
    "default": ({}, 2),
    "default64": ({"precision": "float64"}, 2),
    "average": (PLAIN, 2),
    "last": ({**PLAIN, "readout": "last", "precision": "float64"}, 2),
    "average64": ({**PLAIN, "precision": "float64"}, 2),
    "AROW": ({**PLAIN, "rule": rules.AROW(), "readout": "last"}, 2),
    "SCW": ({**PLAIN, "rule": rules.SCW1(phi=1.0), "readout": "last", "precision": "float64"}, 3),
    "joint": (PLAIN, 5),
    "rest": ({**PLAIN, "multiclass": "ovr"}, 4),
}


def touched(model: Any) -> int:
    """Weights that differ from those of a model that has learned nothing."""
    total = 0
    for space in model._space.learners:
        changed = space.v != 0
        if getattr(space, "A", None) is not None:
            changed |= space.A != 0
        if hasattr(space, "sigma"):
            changed |= space.sigma != space.start
        total += np.count_nonzero(changed)
    return total


@pytest.mark.parametrize("name", TEXTS)
def test_files_of_hashed_text_are_as_large_as_what_was_learned(tmp_path, name):
    params, n_classes = TEXTS[name]
    model = pc.TextClassifier(**params | {"bits": 18, "max_iter": 2, "random_state": 0})
    model.fit(texts(300, seed=1), np.arange(300) % n_classes)
    save(model, tmp_path / "a")
    assert touched(model) > 1000
    each = 32 if model.idf and model.precision == "float64" else 24
    assert (tmp_path / "a").stat().st_size <= each * touched(model) + 64 * 1024
    back, more = load(tmp_path / "a"), texts(50, seed=2)
    assert back.decision_function(more).tobytes() == model.decision_function(more).tobytes()
    for one in (model, back):
        one.partial_fit(more, np.arange(50) % n_classes)
    assert back.decision_function(more).tobytes() == model.decision_function(more).tobytes()


# ---------------------------------------------------------------- sparse arrays that somebody has written


def sparse_file(path: Any) -> Any:
    save(pc.TextClassifier(bits=10).fit(["one two three", "four five six"], [0, 1]), path)
    return path


def changed(**values: Any) -> Any:
    def change(table: Any, arrays: Any) -> None:
        for node in table["nodes"]:
            if node["k"] == "sparse":
                for name, value in values.items():
                    if name == "shape":
                        node[name] = value
                    else:
                        arrays[node[name]] = value(arrays[node[name]])

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed(shape=[2**40]), "sparse arrays take .* bytes of memory or more; the limit is"),
        (changed(shape=[2**61, 2**61]), "sparse arrays take"),
        (changed(shape=[3]), "place outside"),
        (changed(shape=[-1]), "no shape"),
        (changed(at=lambda a: a[::-1].copy()), "ascending"),
        (changed(at=lambda a: a[:-1]), "other entries than places"),
        (changed(at=lambda a: np.repeat(a[:1], len(a))), "ascending"),
        (changed(at=lambda a: a.astype(np.int64) - 1), "other entries than places"),
        (changed(at=lambda a: a + np.uint32(2**31)), "place outside"),
        (changed(v=lambda a: a[:0]), "other entries than places"),
        (changed(v=lambda a: a[None]), "other entries than places"),
    ],
)
def test_a_sparse_array_that_is_not_one(tmp_path, change, message):
    path = sparse_file(tmp_path / "a")
    forged(path, change)
    with pytest.raises(ModelError, match=message):
        load(path)


def test_the_memory_of_sparse_arrays_is_limited(tmp_path):
    path = sparse_file(tmp_path / "a")
    size = path.stat().st_size
    assert isinstance(load(path, max_bytes=size + 2 * 12 * 1025), pc.TextClassifier)
    with pytest.raises(ModelError, match=rf"the limit is {size}\. .* larger max_bytes"):
        load(path, max_bytes=size)
    with Checkpoint(path) as checkpoint:  # what it wrote, it reads
        assert checkpoint.resume() is not None


# ---------------------------------------------------------------- earlier versions


def test_files_of_format_1_have_no_upper_margin_bound(tmp_path):
    model = load(SAMPLES / "format1" / "perceptron.model")
    assert model.margin_bounds_[1] == inf
    assert load(SAMPLES / "format2" / "perceptron.model").margin_bounds_[1] < inf
    rows = np.array([[i >> j & 1 for j in range(4)] for i in range(16)], float)
    model.partial_fit(rows, np.ones(16, int))
    assert model.margin_bounds_[1] == inf
    save(model, tmp_path / "a")  # in the format of today
    assert load(tmp_path / "a").margin_bounds_[1] == inf
    assert describe(tmp_path / "a")["format"] == container.VERSION


def test_the_version_of_a_file_is_told():
    assert describe(SAMPLES / "format1" / "perceptron.model")["format"] == 1
    assert describe(SAMPLES / "format2" / "perceptron.model")["format"] == 2


@pytest.mark.parametrize("name", sorted(path.stem for path in (SAMPLES / "format1").glob("*.model")))
def test_files_of_format_1_become_files_of_today(tmp_path, name):
    old = load(SAMPLES / "format1" / f"{name}.model")
    save(old, tmp_path / "a")
    new = load(tmp_path / "a")
    save(new, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert describe(tmp_path / "a")["format"] == container.VERSION


# ---------------------------------------------------------------- the header


def header(path: Any, change: Any) -> None:
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    table = change(json.loads(raw[8 : 8 + length]))
    text = table if isinstance(table, bytes) else json.dumps(table).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + raw[8 + length :])


def with_entry(**values: Any) -> Any:
    def change(table: Any) -> Any:
        first = next(name for name in table if name != "__metadata__")
        table[first] |= values
        return table

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda table: b'{"a": 1' + b" " * 50,
        lambda table: b"{" * 100_000,
        lambda table: b'{"a":' + b"[" * 100_000,
        lambda table: {"__metadata__": 7},
        lambda table: table | {"__metadata__": table["__metadata__"] | {"version": "0"}},
        lambda table: table | {"__metadata__": table["__metadata__"] | {"model": 7}},
        lambda table: table | {"more": {"dtype": "F64", "shape": [2**61], "data_offsets": [0, 2**62 - 1]}},
        lambda table: table | {"more": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}},
        lambda table: table | {"more": [1]},
        with_entry(dtype="F99"),
        with_entry(dtype=None),
        with_entry(shape=[-1]),
        with_entry(shape=[1.0]),
        with_entry(shape=[0, 2**61, 2**61]),
        with_entry(shape="4"),
        with_entry(data_offsets=[0]),
        with_entry(data_offsets=[8, 0]),
        with_entry(data_offsets=[-8, 0]),
        with_entry(more=1),
    ],
)
def test_a_header_that_is_wrong(tmp_path, change):
    path = tmp_path / "a"
    save(pc.Perceptron().fit(X, Y), path)
    header(path, change)
    with pytest.raises(ModelError, match=r"damaged|cannot be made"):
        load(path)


# ---------------------------------------------------------------- what reaches the disk


@pytest.mark.parametrize("at", [0, 12, -3])
def test_a_byte_that_is_lost_on_the_way_to_the_disk_leaves_the_old_file(tmp_path, monkeypatch, at):
    path = tmp_path / "a"
    save(pc.Perceptron().fit(X, Y), path)
    before, real = path.read_bytes(), os.write

    def damaging(handle, data):
        raw = bytearray(data)
        if not raw.startswith(b"perceptrons lock"):
            raw[at] ^= 16
        return real(handle, bytes(raw))

    monkeypatch.setattr(os, "write", damaging)
    with pytest.raises(ModelError):
        save(pc.AROW().fit(X, Y), path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a"]


def test_the_digest_is_that_of_the_bytes_written(tmp_path, monkeypatch):
    """Somebody writes to the weights between the digest and the bytes: the file has those of the digest."""
    model = pc.Perceptron(shuffle=False).fit(X, Y)
    weights, real = model._space.v.copy(), container.digest

    def disturbed(*args):
        found = real(*args)
        model._space.v += 1.0
        return found

    monkeypatch.setattr(container, "digest", disturbed)
    save(model, tmp_path / "a")
    monkeypatch.undo()
    np.testing.assert_array_equal(load(tmp_path / "a")._space.v, weights)


def test_a_model_that_another_thread_trains_is_stored_as_it_was_between_two_rows(tmp_path):
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(97, 300)), rng.integers(0, 2, size=97)
    model, replayed = (pc.AveragedPerceptron().partial_fit(rows, labels) for _ in range(2))
    stop, errors = threading.Event(), []

    def train() -> None:
        i = 0
        try:
            while not stop.is_set():
                model.learn_one(rows[i % 97], labels[i % 97])
                i += 1
        except Exception as error:  # told by the thread that waits
            errors.append(error)

    trainer = threading.Thread(target=train)
    trainer.start()
    found = []
    try:
        for i in range(12):
            save(model, tmp_path / f"{i}")
            found.append(load(tmp_path / f"{i}"))
    finally:
        stop.set()
        trainer.join()
    assert not errors
    at = 97
    for one in found:
        for i in range(at, one._examples()):
            replayed.learn_one(rows[(i - 97) % 97], labels[(i - 97) % 97])
        at = one._examples()
        disable_fast_path(replayed)  # as save does
        assert one.radius_ == replayed.radius_
        for name in ("v", "A", "state"):
            np.testing.assert_array_equal(getattr(one._space, name), getattr(replayed._space, name))
    assert at > 97


def test_a_callback_may_save_the_model(tmp_path):
    def keep(model: Any) -> None:
        save(model, tmp_path / f"epoch{model.n_iter_}")

    rows = np.random.default_rng(0).normal(size=(40, 2))
    pc.Perceptron(callback=keep, max_iter=3).fit(rows, np.arange(40) % 2)
    assert [load(path).n_iter_ for path in sorted(tmp_path.iterdir())] == [1, 2, 3]


def test_a_transformer_that_was_stored_can_be_pickled(tmp_path):
    hasher = pc.TextHasher(bits=6)
    save(hasher, tmp_path / "a")
    assert pickle.loads(pickle.dumps(hasher)).bits == 6
