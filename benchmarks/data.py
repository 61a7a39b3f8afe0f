"""The data of the benchmarks: text-like rows that we generate, and the real sets where they are to be had.

Real sets are looked for in the folder that ``PERCEPTRONS_DATA`` names, and where `perceptrons.datasets.fetch`
has put them; ``None`` means: not there. A benchmark downloads nothing.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptrons import datasets

RESULTS = Path(__file__).parent / "results"


def text_like(
    rows: int = 40_000, features: int = 50_000, per_row: int = 75, seed: int = 0
) -> tuple[Any, Any]:
    """CSR float32 rows of unit length whose features follow Zipf's law, and labels -1, +1.

    A hidden linear rule labels the rows; those that it is least sure of are left out, as a topic is not
    given to a text that hardly mentions it. One label in a hundred is wrong, and one row in a hundred comes
    a second time with the other label, so that no pass is ever clean.
    """
    rng = np.random.default_rng(seed)
    X = _zipf_rows(2 * rows, features, round(1.26 * per_row), rng)
    score = X @ rng.normal(size=features)
    score -= np.median(score)
    sure = np.sort(np.argsort(np.abs(score))[-rows:])
    X, y = X[sure], np.where(score[sure] > 0.0, 1, -1)
    y[rng.random(rows) < 0.01] *= -1
    twice = rows // 100
    X = sp.vstack([X[:-twice], X[:twice]], format="csr")
    y[-twice:] = -y[:twice]
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def _zipf_rows(rows: int, features: int, draws: int, rng: np.random.Generator) -> Any:
    """log(1 + count) of words drawn by Zipf's law, each row scaled to length 1."""
    frequency = 1.0 / np.arange(1, features + 1)
    words = rng.choice(features, size=(rows, draws), p=frequency / frequency.sum())
    names = rng.permutation(features)  # frequent words do not sit side by side
    pointers = np.arange(0, words.size + 1, draws)
    counts = sp.csr_array((np.ones(words.size), names[words.ravel()], pointers), shape=(rows, features))
    counts.sum_duplicates()
    counts.data = np.log1p(counts.data)
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1))).ravel()
    return (sp.diags_array(1.0 / lengths) @ counts).tocsr().astype(np.float32)


def folder() -> Path | None:
    """Where the real sets are."""
    named = os.environ.get("PERCEPTRONS_DATA")
    return Path(named) if named and Path(named).is_dir() else None


def mnist_even_odd(rows: int | None = None) -> tuple[Any, Any] | None:
    """MNIST's training images as float32 in [0, 1]; +1 for even digits, -1 for odd ones."""
    loaded = mnist(rows, 0)
    return None if loaded is None else (loaded[0], np.where(loaded[1] % 2 == 0, 1, -1))


def mnist(rows: int | None = None, test_rows: int | None = None) -> tuple[Any, Any, Any, Any] | None:
    """MNIST's ten digits: X_train, y_train, X_test, y_test; pixels / 255 as float32, in the files' order."""
    if datasets.find("mnist") is None:
        return None
    digits = datasets.load_mnist()
    X, X_test = (
        part.astype(np.float32) / np.float32(255) for part in (digits.X[:rows], digits.X_test[:test_rows])
    )
    return X, digits.y[:rows], X_test, digits.y_test[:test_rows]


def sms_spam(rows: int | None = None) -> tuple[list[str], Any] | None:
    """The SMS Spam Collection: messages, and 1 for spam, 0 for the others."""
    if datasets.find("sms_spam") is None:
        return None
    messages = datasets.load_sms()
    return messages.X[:rows], messages.y[:rows]


def required(loaded: Any, name: str) -> Any:
    """What was loaded; without it the script ends here, and says why."""
    if loaded is None:
        raise SystemExit(
            f"{name} is not in the folder PERCEPTRONS_DATA names ({folder() or 'none'}): nothing to run."
        )
    return loaded


def sector(rows: int | None = None) -> tuple[Any, Any, Any, Any] | None:
    """LIBSVM's sector.scale: X_train, y_train, X_test, y_test; 105 classes, 55,197 features, float32."""
    where = folder()
    if where is None or not (where / "libsvm" / "sector.scale.bz2").exists():
        return None
    parsed = RESULTS / "sector.npz"
    if not parsed.exists():
        _parse_sector(where / "libsvm", parsed)
    with np.load(parsed) as z:
        train, test = (
            sp.csr_matrix(
                (z[f"{part}_data"], z[f"{part}_indices"], z[f"{part}_indptr"]), shape=z[f"{part}_shape"]
            )
            for part in ("train", "test")
        )
        y_train, y_test = z["train_y"], z["test_y"]
    return train[:rows], y_train[:rows], test, y_test


def _parse_sector(where: Path, target: Path) -> None:
    """Parse the text files once (some seconds) and keep the arrays."""
    from sklearn.datasets import load_svmlight_files

    files = [str(where / "sector.scale.bz2"), str(where / "sector.t.scale.bz2")]
    X_train, y_train, X_test, y_test = load_svmlight_files(files, dtype=np.float32)
    target.parent.mkdir(exist_ok=True)
    arrays = {}
    for part, X, y in (("train", X_train, y_train), ("test", X_test, y_test)):
        arrays |= {
            f"{part}_data": X.data,
            f"{part}_indices": X.indices.astype(np.int32),
            f"{part}_indptr": X.indptr.astype(np.int32),
            f"{part}_shape": np.asarray(X.shape),
            f"{part}_y": y.astype(np.int64),
        }
    half = target.with_suffix(".part.npz")
    np.savez(half, **arrays)
    half.replace(target)


def r8(rows: int | None = None) -> tuple[Any, Any] | None:
    """R8's training texts as tf-idf rows, and their eight classes."""
    where = folder()
    if where is None or not (where / "r8" / "train.txt.gz").exists():
        return None
    with gzip.open(where / "r8" / "train.txt.gz", "rt", encoding="utf-8") as lines:
        labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    return _tf_idf(texts, labels, rows)


def newsgroups(rows: int | None = None) -> tuple[Any, Any] | None:
    """The training posts of 20 newsgroups as tf-idf rows, and their groups."""
    if datasets.find("20newsgroups") is None:
        return None
    posts = datasets.load_20newsgroups()
    return _tf_idf(posts.X, posts.y, rows)


def _tf_idf(texts: Any, labels: Any, rows: int | None) -> tuple[Any, Any]:
    """All rows, or so many from everywhere: texts may be sorted by class."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    step = 1 if rows is None else max(1, len(texts) // rows)
    return TfidfVectorizer().fit_transform(texts[::step]).tocsr(), np.asarray(labels[::step])


def libsvm(name: str, rows: int | None = None) -> tuple[Any, Any] | None:
    """One of LIBSVM's files by its name, without the ending: CSR float64 rows and their labels."""
    from sklearn.datasets import load_svmlight_file

    where = folder()
    for ending in ("gz", "bz2"):
        if where is not None and (path := where / "libsvm" / f"{name}.{ending}").exists():
            X, y = load_svmlight_file(str(path), dtype=np.float64)
            return X[:rows], y[:rows].astype(int)
    return None
