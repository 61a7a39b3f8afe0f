"""Rows that each shard reads for itself: the same model as of the same shards in memory."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import AROW, AveragedPerceptron, ParameterMixing, PassiveAggressive, Perceptron, load, save
from perceptrons.io import FormatError, Limits
from perceptrons.mixing import cluster, places

N_ROUNDS = 3


def data(n=90, d=5, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 3) * (rng.random((n, d)) < 0.6)
    return X, (X @ rng.normal(size=(d, classes))).argmax(1)


def learner(class_=AveragedPerceptron, **more):
    return class_(random_state=3, max_iter=N_ROUNDS, **more)


def thirds(n):
    return np.array_split(np.arange(n), 3)


def same(model, expected):
    assert np.array_equal(model.coef_, expected.coef_) and np.array_equal(model.classes_, expected.classes_)
    assert np.array_equal(model.intercept_, expected.intercept_)
    assert model.history_ == expected.history_ and model.stop_reason_ == expected.stop_reason_
    assert model.margin_bounds_ == expected.margin_bounds_ and model.radius_ == expected.radius_


def in_memory(X, y, class_=AveragedPerceptron, **more):
    return ParameterMixing(learner(class_, **more), n_shards=3, backend="serial").fit(X, y)


# --------------------------------------------------------------------------------------------- arrays


@pytest.mark.parametrize("backend", ["threads", "serial"])
@pytest.mark.parametrize("classes", [2, 3])
def test_array_files(tmp_path, backend, classes):
    X, y = data(classes=classes)
    np.save(tmp_path / "X.npy", X)
    np.savez(tmp_path / "y.npz", labels=y)
    model = ParameterMixing(learner(), n_shards=3, backend=backend)
    same(model.fit(tmp_path / "X.npy", tmp_path / "y.npz"), in_memory(X, y))


def test_sparse_array_files(tmp_path):
    X, y = data()
    sp.save_npz(tmp_path / "X.npz", sp.csr_array(X))
    np.save(tmp_path / "y.npy", y)
    model = ParameterMixing(learner(AROW), n_shards=3).fit(str(tmp_path / "X.npz"), str(tmp_path / "y.npy"))
    same(model, in_memory(sp.csr_array(X), y, AROW))


def test_array_files_are_checked(tmp_path):
    X, y = data()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y[:-1])
    np.save(tmp_path / "objects.npy", np.array([None, 1]), allow_pickle=True)
    model = ParameterMixing(learner(), n_shards=3)
    with pytest.raises(ValueError, match=r"X\.npy has 90 rows, and .*y\.npy has 89 labels"):
        model.fit(str(tmp_path / "X.npy"), str(tmp_path / "y.npy"))
    with pytest.raises(ValueError, match=r"objects\.npy is no file of an array that can be read: .*objects"):
        model.fit(str(tmp_path / "X.npy"), str(tmp_path / "objects.npy"))
    with pytest.raises(ValueError, match="y must be one, too"):
        model.fit(str(tmp_path / "X.npy"), y)
    with pytest.raises(ValueError, match="n_shards must be at most the number of rows, 90"):
        ParameterMixing(n_shards=91).fit(str(tmp_path / "X.npy"), str(tmp_path / "y.npy"))


# ---------------------------------------------------------------------------------------------- files


def libsvm(X, y):
    pairs = [" ".join(f"{j + 1}:{v!r}" for j, v in enumerate(x) if v) for x in X.tolist()]
    return "".join(f"{label} {row}\n" for label, row in zip(y, pairs))


def csv(X, y, header="label,a,b,c,d,e\n"):
    return header + "".join(f"{label},{','.join(map(repr, x))}\n" for x, label in zip(X.tolist(), y))


def jsonl(X, y):
    rows = ({"label": int(label), **dict(zip("abcde", x))} for x, label in zip(X.tolist(), y))
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.compiled_later
@pytest.mark.parametrize(
    "write, ending", [(libsvm, "svm"), (csv, "csv"), (jsonl, "jsonl")], ids=["libsvm", "csv", "jsonl"]
)
def test_lists_of_files(tmp_path, write, ending):
    X, y = data()
    X[60:, 4] = 0.0  # the last files are narrower than the others
    files = []
    for s, rows in enumerate(np.array_split(np.arange(90), 6)):
        files.append(str(tmp_path / f"{s}.{ending}"))
        (tmp_path / f"{s}.{ending}").write_text(write(X[rows], y[rows]))
    model = ParameterMixing(learner(), shards=[files[:2], files[2:4], files[4:]]).fit()
    if write is jsonl:  # names are hashed to other columns
        assert [record["updates"] for record in model.history_] == [
            record["updates"] for record in in_memory(X, y).history_
        ]
        return
    same(model, in_memory(X if write is csv else sp.csr_array(X), y))
    assert model.n_features_in_ == 5


@pytest.mark.compiled_later
def test_one_file_is_cut(tmp_path):
    X, y = data(n=300)
    (tmp_path / "all.csv").write_text(csv(X, y))
    model = ParameterMixing(learner(), n_shards=3).fit(str(tmp_path / "all.csv"))
    sizes = [np.sum(record["examples"]) for record in model.history_]
    (tmp_path / "all.svm").write_text(libsvm(X, y))
    sparse = ParameterMixing(learner(), n_shards=3, reading={"header": "auto"}).fit(tmp_path / "all.svm")
    assert sparse.history_[0]["examples"] == 300
    assert sizes == [300] * len(sizes) and len(model.history_[0]["shard_updates"][0]) == 3
    same(ParameterMixing(learner(), n_shards=3, backend="serial").fit([str(tmp_path / "all.csv")]), model)


def test_row_groups_and_weights(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    X, y = data()
    weights = np.random.default_rng(1).random(90)
    columns = {"w": weights, "label": y, **{name: X[:, j] for j, name in enumerate("abcde")}}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=30)
    reading = {"weight_column": "w"}
    model = ParameterMixing(learner(Perceptron), n_shards=3, reading=reading).fit(tmp_path / "rows.parquet")
    expected = ParameterMixing(learner(Perceptron), n_shards=3).fit(X, y, sample_weight=weights)
    same(model, expected)


def test_a_bad_line_is_named(tmp_path):
    X, y = data()
    lines = csv(X, y).splitlines(keepends=True)
    lines[77] = "1,2,3,oops,5,6\n"
    (tmp_path / "all.csv").write_text("".join(lines))
    with pytest.raises(FormatError, match=r"all\.csv, line 78, column 7: expected a finite number"):
        ParameterMixing(learner(), n_shards=3).fit(str(tmp_path / "all.csv"))
    model = ParameterMixing(learner(), n_shards=3, reading={"on_error": "skip"})
    assert model.fit(str(tmp_path / "all.csv")).history_[0]["examples"] == 89


# ------------------------------------------------------------------------------------- what all rows decide


def test_labels_of_all_shards(tmp_path):
    X, y = data(classes=3)
    order = np.argsort(y, kind="stable")  # a shard has one class, or two
    X, y = X[order], np.array(["ham", "mail", "spam"])[y[order]]
    files = []
    for s, rows in enumerate(thirds(90)):
        files.append(tmp_path / f"{s}.csv")
        files[-1].write_text(csv(X[rows], y[rows]))
    same(ParameterMixing(learner(), shards=files).fit(), in_memory(X, y))
    (tmp_path / "1.csv").write_text(csv(X[:30], np.arange(30)))
    with pytest.raises(ValueError, match=r"0\.csv has .*ham.*, and .*1\.csv has \[0, 1, 2\]"):
        ParameterMixing(learner(), shards=files).fit()
    for file in files:
        file.write_text(csv(X, ["ham"] * 90))
    with pytest.raises(ValueError, match="needs at least two classes in y; it holds one class only"):
        ParameterMixing(learner(), shards=files).fit()


@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.5, 1: 3.0}])
def test_weights_of_classes(tmp_path, class_weight):
    X, y = data()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    given = learner(PassiveAggressive, class_weight=class_weight)
    model = ParameterMixing(given, n_shards=3).fit(tmp_path / "X.npy", tmp_path / "y.npy")
    same(model, in_memory(X, y, PassiveAggressive, class_weight=class_weight))
    assert model.estimator_.class_weight == class_weight


def test_a_clean_pass_and_rows_that_are_separated(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X = X[np.abs(X[:, 0]) > 0.2]
    y = X[:, 0] > 0
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    model = ParameterMixing(Perceptron(max_iter=None), n_shards=3)
    model.fit(tmp_path / "X.npy", tmp_path / "y.npy")
    low, up = model.margin_bounds_
    assert model.stop_reason_ == "clean pass" and 0.0 < low <= up


def test_what_needs_all_rows(tmp_path):
    (tmp_path / "a.csv").write_text("label,a\n1,2\n0,1\n")
    paths = [str(tmp_path / "a.csv")]
    with pytest.raises(ValueError, match="intercept_scaling='auto' takes B from all rows"):
        ParameterMixing(Perceptron(intercept_scaling="auto"), shards=paths).fit()
    with pytest.raises(ValueError, match="missing='mean' takes the mean of the rows before"):
        ParameterMixing(reading={"missing": "mean"}, shards=paths).fit()


# ------------------------------------------------------------------------------------------- arguments


def test_what_does_not_go_together(tmp_path):
    X, y = data()
    (tmp_path / "a.csv").write_text(csv(X, y))
    path = str(tmp_path / "a.csv")
    for model, args, message in (
        (ParameterMixing(shards=[path]), (X, y), "X must be left out: shards has the files"),
        (ParameterMixing(shards=[[0, 1]]), (path,), "shards must be left out"),
        (ParameterMixing(), (path, None, y), "sample_weight must be left out"),
        (ParameterMixing(reading={"bits": 3}), (X, y), "reading must be left out"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(*args)
    with pytest.raises(FileNotFoundError):
        ParameterMixing(shards=[str(tmp_path / "none.csv")]).fit()


def test_blocks_of_dask(tmp_path):
    da = pytest.importorskip("dask.array")
    dd = pytest.importorskip("dask.dataframe")
    import pandas as pd

    X, y = data()
    expected = in_memory(X, y)
    arrays = da.from_array(X, chunks=(30, 2)), da.from_array(y, chunks=45)
    same(ParameterMixing(learner()).fit(*arrays), expected)
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcde")), npartitions=3)
    labels = dd.from_pandas(pd.Series(y), npartitions=3)
    model = ParameterMixing(learner()).fit(frame, labels)
    same(model, expected)
    assert model.feature_names_in_.tolist() == list("abcde")
    weights = np.random.default_rng(1).random(90)
    weighted = ParameterMixing(learner(), n_shards=3).fit(X, y, weights)
    same(ParameterMixing(learner()).fit(*arrays, da.from_array(weights, chunks=30)), weighted)
    with pytest.raises(ValueError, match="y must be an array or a data frame of Dask"):
        ParameterMixing(learner()).fit(arrays[0], y)
    with pytest.raises(ValueError, match="X has 3, y 2"):
        ParameterMixing(learner()).fit(frame, dd.from_pandas(pd.Series(y), npartitions=2))
    with pytest.raises(ValueError, match="Block 0 of the rows has 30 rows and 15 labels"):
        labels = dd.from_pandas(pd.Series(y[:45]), npartitions=3)
        ParameterMixing(learner()).fit(frame, labels)


def test_paths_and_limits_are_stored(tmp_path):
    X, y = data()
    (tmp_path / "a.csv").write_text(csv(X, y))
    (tmp_path / "b.csv").write_text(csv(X, y))
    reading = {"limits": Limits(columns=9), "label_column": "label"}
    shards = [[tmp_path / "a.csv"], tmp_path / "b.csv"]
    model = ParameterMixing(learner(), shards=shards, reading=reading, checkpoint=tmp_path / "run").fit()
    save(model, tmp_path / "m")
    stored = load(tmp_path / "m")
    assert np.array_equal(stored.coef_, model.coef_) and stored.checkpoint == str(tmp_path / "run")
    assert stored.shards == [[str(tmp_path / "a.csv")], str(tmp_path / "b.csv")]
    same(stored.fit(), model)
    stored.reading["limits"]["columns"] = 3
    with pytest.raises(FormatError, match="at most 3 columns"):
        stored.fit()


# --------------------------------------------------------------------------------------------- backends


def test_no_backend():
    X, y = data()
    for wrong in ("processes", 3, object()):
        with pytest.raises(
            ValueError, match="backend must be one of 'threads', 'serial', 'dask', or a client"
        ):
            ParameterMixing(backend=wrong).fit(X, y)


def test_without_distributed(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(
        ImportError, match=r"backend='dask' needs extra packages: pip install 'perceptrons\[dask\]'"
    ):
        ParameterMixing(backend="dask").fit(*data())


def test_without_a_client():
    pytest.importorskip("distributed")
    with pytest.raises(ValueError, match="backend='dask' needs a client"):
        places.client_of("dask")


def test_workers_without_the_package():
    error = ModuleNotFoundError("No module named 'perceptrons'", name="perceptrons.mixing")
    found = cluster.Waiting._clear(error)
    assert isinstance(found, cluster.ClusterError) and "A worker has no perceptrons" in str(found)
