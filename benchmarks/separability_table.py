"""Which real sets does a halfspace separate? Verdicts with proofs that were checked again.

    .venv/bin/python benchmarks/separability_table.py --out docs/measured
    .venv/bin/python benchmarks/separability_table.py --only splice,mnist-4-9 --max-time 30

Training files as they are; where * stands, without the rows whose x has both labels. "one class" asks for one
class against the rest. "proof" is the number of rows that carry weight, "residual" that of their weights as
floats, "exact" whether the proof was redone in whole numbers, "check" what a new check of the proof says and
how long it takes, in whole numbers too. Seconds are wall times of one call in a warm process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import data
import numpy as np
import scipy.sparse as sp
from report import Report, options, parsed, progress
from sklearn.datasets import load_breast_cancer, load_digits

from perceptrons import separability

HEAD = ("", "rows", "features", "verdict", "s", "proof", "residual", "margin", "exact", "check", "check, s")


def pair(sample: Any, first: int, second: int) -> Any:
    """The rows of two classes."""
    if sample is None:
        return None
    X, y = sample[:2]
    part = (y == first) | (y == second)
    return X[part], y[part]


def against_the_rest(sample: Any) -> Any:
    """The class of the first row against all others."""
    return None if sample is None else (sample[0], sample[1] == sample[1][0])


def consistent(sample: Any) -> Any:
    """Without the rows whose x has both labels."""
    if sample is None:
        return None
    X, y = sample
    names = [
        X.indices[a:b].tobytes() + X.data[a:b].tobytes()
        for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]
    labels: dict[bytes, set[int]] = {}
    for name, label in zip(names, y.tolist(), strict=True):
        labels.setdefault(name, set()).add(label)
    part = np.array([len(labels[name]) == 1 for name in names])
    return X[part], y[part]


SETS: dict[str, tuple[str, Callable[[], Any]]] = {
    "mushrooms": ("mushrooms", lambda: data.libsvm("mushrooms")),
    "a9a": ("a9a", lambda: data.libsvm("a9a")),
    "a9a*": ("a9a*", lambda: consistent(data.libsvm("a9a"))),
    "w8a": ("w8a", lambda: data.libsvm("w8a")),
    "w8a*": ("w8a*", lambda: consistent(data.libsvm("w8a"))),
    "splice": ("splice", lambda: data.libsvm("splice")),
    "phishing": ("phishing", lambda: data.libsvm("phishing")),
    "phishing*": ("phishing*", lambda: consistent(data.libsvm("phishing"))),
    "sector": ("sector, one class", lambda: against_the_rest(data.sector())),
    "money-fx": ("Reuters money-fx", lambda: data.libsvm("reuters_money-fx.trn")),
    "money-fx*": ("Reuters money-fx*", lambda: consistent(data.libsvm("reuters_money-fx.trn"))),
    "mnist-0-1": ("MNIST 0 against 1", lambda: pair(data.mnist(), 0, 1)),
    "mnist-4-9": ("MNIST 4 against 9", lambda: pair(data.mnist(), 4, 9)),
    "breast-cancer": ("breast cancer", lambda: load_breast_cancer(return_X_y=True)),
}


def row(name: str, X: Any, y: Any, seconds: float) -> tuple[list[str], Any]:
    """A line of the table, and the proof."""
    proof = separability(X, y, max_time=seconds)
    began = time.perf_counter()
    wrong = proof.check(X, y) or proof.check(X, y, exact=True)
    took = time.perf_counter() - began
    return [
        name,
        f"{X.shape[0]:,}",
        f"{X.shape[1]:,}",
        proof.verdict,
        f"{proof.seconds:.2f}",
        "" if proof.weights is None else f"{proof.support.size:,}",
        "" if proof.residual is None else f"{proof.residual:.1e}",
        "" if proof.margin is None else f"{proof.margin:.2e}",
        "yes" if proof.exact else "no",
        "OK" if wrong is None else wrong,
        f"{took:.2f}",
    ], proof


def digit_pairs(seconds: float) -> Iterator[tuple[list[str], Any]]:
    """scikit-learn's digits, every two of them."""
    X, y = load_digits(return_X_y=True)
    for first, second in combinations(range(10), 2):
        yield row(f"digits {first} against {second}", *pair((X, y), first, second), seconds)


def main(argv: list[str] | None = None) -> None:
    parser = options(__doc__)
    parser.add_argument("--only", metavar="a,b", help=f"some of {', '.join([*SETS, 'digits'])}")
    parser.add_argument(
        "--max-time", metavar="S", type=float, default=60.0, help="for each set (%(default)s)"
    )
    chose = parsed(parser, argv)
    wanted = chose.only.split(",") if chose.only else [*SETS, "digits"]
    if any(name not in (*SETS, "digits") for name in wanted):
        raise SystemExit(f"--only takes some of {', '.join([*SETS, 'digits'])}; got {chose.only!r}.")
    report = Report("separability", chose.out)
    report.setting("LIBSVM's files, MNIST (pixels / 255, float32), breast cancer and digits of scikit-learn")
    warm = np.random.default_rng(0).normal(size=(40, 3))
    for kind in (np.asarray, sp.csr_array):  # compiled
        separability(kind(warm), np.arange(40) % 2)
    rows, reasons, missing = [], [], []
    for name in wanted:
        if name == "digits":
            continue
        title, load = SETS[name]
        sample = load()
        if sample is None:
            missing.append(title)
            continue
        progress(title)
        line, proof = row(title, *sample, chose.max_time)
        rows.append(line)
        reasons.append(f"{title}: {proof.claim}; {proof.reason}")
    if "digits" in wanted:
        found = list(digit_pairs(chose.max_time))
        separable = [proof for _, proof in found if proof.verdict == "separable"]
        rows += [line for line, proof in found if proof.verdict != "separable"]
        slowest = max(separable, key=lambda proof: proof.seconds)
        smallest = min(separable, key=lambda proof: proof.margin)
        good = all(line[-2] == "OK" for line, _ in found)
        reasons.append(
            f"digits: {len(separable)} of {len(found)} pairs are separable, each within "
            f"{slowest.seconds:.2f} s, with margins from {smallest.margin:.2g}; "
            f"checks: {'all OK' if good else 'NOT OK'}"
        )
    if rows:
        report.table(f"one halfspace with intercept, at most {chose.max_time:g} s each", HEAD, rows)
    report.say()
    for reason in reasons:
        report.say(reason)
    for title in missing:
        report.say(f"{title}: NOT RUN, it is not in the folder PERCEPTRONS_DATA names")
    report.keep()


if __name__ == "__main__":
    main()
