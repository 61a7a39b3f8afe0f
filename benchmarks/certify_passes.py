"""What ``certify`` costs: how often it reads the rows, and its time against one reading.

    .venv/bin/python benchmarks/certify_passes.py                    every estimator
    .venv/bin/python benchmarks/certify_passes.py --only MIRA,AROW
    .venv/bin/python benchmarks/certify_passes.py --rows 2000        smaller: does it run?

Rows are 0/1 with labels by a short OR, so that every learner takes them and few rows are updated on. A CSR
matrix counts what is read of it: a product or another operation on all of it is one pass, some of its rows
their share of one. "one reading" is the product X @ w of the same matrix. The digest is SHA-256 of the rows
in canonical form; "of it digest" is its time alone. Most of the rest is the search for the best multiple of
each comparator, and the labels. Times are the best of several calls. No solver is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from report import Report, options, parsed, progress
from sklearn.base import BaseEstimator

import perceptrons as pc
from perceptrons.certificates.digests import rows_digest

FEATURES, ACTIVE, RELEVANT = 300, 20, 3
PROMISED = 3.0  # passes
#: Second order and L1, where the defaults need fewer lines than the theory has.
MORE: list[tuple[str, dict[str, Any]]] = [
    ("AROW", {"covariance": "full"}),
    ("PNormPerceptron", {"p": 4.0, "row_norm": "l2"}),
    ("KernelPerceptron", {"kernel": "gaussian"}),
]


class Counted(sp.csr_array):
    """A CSR matrix that counts the passes over it."""

    rows_read: int

    def _count(self, rows: int) -> None:
        if hasattr(self, "rows_read"):
            self.rows_read += rows

    def __matmul__(self, other: Any) -> Any:
        self._count(self.shape[0])
        return sp.csr_array(self) @ other

    def multiply(self, other: Any) -> Any:
        self._count(self.shape[0])
        return sp.csr_array(self).multiply(sp.csr_array(other))

    def __abs__(self) -> Any:
        self._count(self.shape[0])
        return abs(sp.csr_array(self))

    def __getitem__(self, rows: Any) -> Any:
        found = sp.csr_array(self)[rows]
        self._count(found.shape[0])
        return found


def sample(rows: int) -> tuple[Any, Any]:
    """0/1 rows; positive is the OR of the first few inputs."""
    rng = np.random.default_rng(0)
    X = (rng.random((rows, FEATURES)) < ACTIVE / FEATURES).astype(np.float64)
    return sp.csr_array(X), X[:, :RELEVANT].any(axis=1).astype(int)


def fitted(name: str, params: dict[str, Any], X: Any, y: Any) -> tuple[Any, Any]:
    """The model, and the rows it has seen: a learner of texts makes its own."""
    clf = getattr(pc, name)(**params)
    if "random_state" in clf.get_params():
        clf.set_params(random_state=0)
    if name != "TextClassifier":
        return clf.fit(X, y), X
    texts = [" ".join(f"word{j}" for j in X.indices[a:b]) for a, b in zip(X.indptr[:-1], X.indptr[1:])]
    clf.set_params(bits=12).fit(texts, y)
    return clf, sp.csr_array(clf.hash(texts), dtype=np.float64)


def best(work: Callable[[], Any], rounds: int = 5) -> float:
    """Seconds of the quickest call; the first is not timed."""
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def estimators() -> list[tuple[str, dict[str, Any]]]:
    """Every public classifier."""
    kinds = [(name, getattr(pc, name)) for name in pc.__all__]
    classes = [name for name, kind in kinds if isinstance(kind, type) and issubclass(kind, BaseEstimator)]
    return [*((name, {}) for name in classes if hasattr(getattr(pc, name), "predict")), *MORE]


def line(name: str, params: dict[str, Any], X: Any, y: Any) -> tuple[list[str], float]:
    """A row of the table, and its passes."""
    clf, rows = fitted(name, params, X, y)
    counted = Counted(rows)
    counted.rows_read = 0
    certificate = pc.certify(clf, counted, y)
    passes = counted.rows_read / rows.shape[0]
    w = np.ones(rows.shape[1])
    one = best(lambda: rows @ w, rounds=20)
    spent = best(lambda: pc.certify(clf, rows, y), rounds=3)
    hashing = best(lambda: rows_digest(rows), rounds=3)
    with_params = ", ".join(f"{key}={value!r}" for key, value in params.items())
    cells = [
        f"{name}({with_params})" if params else name,
        f"{passes:.2f}",
        f"{len(certificate.bounds)}",
        f"{1e3 * spent:.1f}",
        f"{spent / one:.0f}",
        f"{hashing / spent:.0%}",
    ]
    return cells, passes


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--rows", metavar="N", type=int, default=20_000, help="(%(default)s)")
    parser.add_argument("--only", metavar="A,B", help="some of the estimators")
    chose = parsed(parser, argv)
    wanted = estimators()
    if chose.only:
        named = chose.only.split(",")
        wanted = [way for way in wanted if way[0] in named]
        if not wanted:
            raise SystemExit(f"--only takes names of estimators; got {chose.only!r}.")
    report = Report("certify_passes", chose.out)
    X, y = sample(chose.rows)
    report.setting(f"{chose.rows} x {FEATURES} rows of 0 and 1, {X.nnz} ones, y an OR of {RELEVANT} inputs")
    rows, passes = [], []
    for name, params in wanted:
        progress(name)
        cells, count = line(name, params, X, y)
        rows.append(cells)
        passes.append(count)
    head = ["estimator", "passes", "bounds", "certify ms", "x one reading", "of it digest"]
    report.table("certify without solvers", head, rows)
    verdict = "OK" if max(passes) <= PROMISED else "NOT MET"
    report.say()
    report.say(f"at most {PROMISED:g} passes: {verdict} (most: {max(passes):.2f})")
    report.keep()


if __name__ == "__main__":
    main()
