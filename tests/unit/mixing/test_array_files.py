"""Rows of arrays in files, a slice at a time."""

from __future__ import annotations

import io
import itertools
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import ParameterMixing
from perceptrons.mixing import array_files
from perceptrons.mixing.array_files import count_rows, read_rows

rng = np.random.default_rng(0)
DENSE = rng.normal(size=(23, 4)) * (rng.random((23, 4)) < 0.4)
ARRAYS = [DENSE, np.asfortranarray(DENSE), DENSE[:, 0], np.arange(23), np.array([f"w{i}" for i in range(23)])]
SLICES = [(0, 23), (0, 1), (22, 23), (5, 12), (7, 7)]


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "compressed.npz"])
@pytest.mark.parametrize("a", ARRAYS, ids=["C", "F", "vector", "integers", "words"])
def test_arrays(tmp_path, a, name):
    path = str(tmp_path / name)
    {"a.npy": np.save, "a.npz": np.savez}.get(name, np.savez_compressed)(path, a)
    assert count_rows(path) == len(a)
    for start, stop in SLICES:
        found = read_rows(path, start, stop)
        assert found.dtype == a.dtype and np.array_equal(found, a[start:stop])


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("made", [sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_matrices(tmp_path, made, compressed):
    path = str(tmp_path / "X.npz")
    sp.save_npz(path, made(DENSE), compressed=compressed)
    assert count_rows(path) == len(DENSE)
    for start, stop in SLICES:
        found = read_rows(path, start, stop)
        assert isinstance(found, sp.csr_array) and np.array_equal(found.toarray(), DENSE[start:stop])


def test_entries_of_a_row_stay_in_their_order(tmp_path):
    X = sp.csr_array((np.arange(5.0), np.array([3, 1, 2, 0, 0]), np.array([0, 2, 4, 5])), shape=(3, 4))
    sp.save_npz(tmp_path / "X.npz", X)
    found = read_rows(str(tmp_path / "X.npz"), 1, 3)
    assert found.indices.tolist() == [2, 0, 0] and found.data.tolist() == [2.0, 3.0, 4.0]


@pytest.mark.parametrize("compressed", [False, True])
def test_numbers_outside_the_slice_are_not_kept(tmp_path, monkeypatch, compressed):
    """What is read at once: the header, and the rows of the slice, or a bounded part of those before it."""
    path, X = str(tmp_path / "X.npz"), np.arange(4_000_000.0).reshape(-1, 10)
    (np.savez_compressed if compressed else np.savez)(path, X)
    largest, exactly = [], array_files._exactly
    noted = lambda file, size: largest.append(size) or exactly(file, size)  # noqa: E731
    monkeypatch.setattr(array_files, "_exactly", noted)
    assert np.array_equal(read_rows(path, 399_000, 399_010), X[399_000:399_010])
    assert largest == [10 * 10 * 8]


def written(path, **arrays):
    with zipfile.ZipFile(path, "w") as archive:
        for name, a in arrays.items():
            file = io.BytesIO()
            np.save(file, a, allow_pickle=True)
            archive.writestr(f"{name}.npy", file.getvalue())
    return str(path)


def parts_of(X):
    made = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
    return {**made, "shape": np.array(X.shape), "format": b"csr"}


WRONG = {
    "several arrays": (lambda parts: {"a": np.ones(3), "b": np.ones(3)}, "it must hold one array"),
    "objects": (lambda parts: {"a": np.array([None, 1])}, "a.npy holds pickled objects"),
    "a single value": (lambda parts: {"a": np.array(3.0)}, "a.npy holds a single value"),
    "no data": (lambda parts: {k: v for k, v in parts.items() if k != "data"}, "data.npy"),
    "no shape": (lambda parts: {k: v for k, v in parts.items() if k != "shape"}, "shape.npy"),
    "pickled format": (lambda parts: {**parts, "format": np.array([None])}, "Object arrays"),
    "too few places": (lambda parts: {**parts, "indptr": parts["indptr"][:-1]}, "places where they begin"),
    "too many rows": (lambda parts: {**parts, "shape": np.array([10**15, 4])}, "places where they begin"),
    "places beyond the data": (lambda parts: {**parts, "indptr": parts["indptr"] * 3}, "are asked for"),
    "places that go back": (lambda parts: {**parts, "indptr": parts["indptr"][::-1]}, "are asked for"),
    "negative places": (lambda parts: {**parts, "indptr": parts["indptr"] - 100}, "are asked for"),
    "too few indices": (lambda parts: {**parts, "indices": parts["indices"][:-1]}, "are asked for"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_files(tmp_path, kind):
    change, message = WRONG[kind]
    path = written(tmp_path / "X.npz", **change(parts_of(sp.csr_array(DENSE))))
    with pytest.raises(ValueError, match=message) as caught:
        read_rows(path, 0, count_rows(path))
    assert f"{path} is no file of an array that can be read: " in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda parts: {"indices": np.where(np.arange(len(parts["indices"])) == 5, 10**6, parts["indices"])},
        lambda parts: {"indices": np.where(np.arange(len(parts["indices"])) == 5, -1, parts["indices"])},
        lambda parts: {"indptr": np.where(np.arange(24) == 11, 10**6, parts["indptr"])},
        lambda parts: {"indptr": np.where(np.arange(24) == 11, -7, parts["indptr"])},
    ],
    ids=["a large column", "a negative column", "a row that ends beyond", "a row that begins before"],
)
def test_rows_of_forged_matrices_are_refused(tmp_path, change):
    """Compiled loops do not check places again."""
    parts = parts_of(sp.csr_array(DENSE))
    path = written(tmp_path / "X.npz", **{**parts, **change(parts)})
    np.save(tmp_path / "y.npy", np.arange(23) % 2)
    with pytest.raises(ValueError):
        ParameterMixing(n_shards=2).fit(path, str(tmp_path / "y.npy"))


def test_cut_off_at_every_place(tmp_path):
    whole, path = tmp_path / "whole.npz", tmp_path / "X.npz"
    sp.save_npz(whole, sp.csr_array(DENSE))
    stored = whole.read_bytes()
    for size, flip in itertools.product(range(0, len(stored), 37), (False, True)):
        found = bytearray(stored if flip else stored[:size])
        if flip:
            found[size] ^= 0xFF
        path.write_bytes(found)
        try:
            rows = read_rows(str(path), 0, 23)
        except ValueError as error:
            assert str(error).startswith(f"{path} is no file of an array")
        else:
            assert flip and rows.shape[0] == 23  # a number, a name, or what nobody reads


def test_a_file_that_became_shorter(tmp_path):
    from perceptrons.mixing.sources import of_arrays

    X, y = str(tmp_path / "X.npy"), str(tmp_path / "y.npy")
    np.save(X, DENSE)
    np.save(y, np.arange(23))
    (*_, last) = of_arrays(X, y, 3)
    np.save(X, DENSE[:20])
    with pytest.raises(ValueError, match="has fewer rows here than where the fit began"):
        last.read()
