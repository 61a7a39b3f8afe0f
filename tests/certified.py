"""Certificates of every kind with the rows they are about: what forgers start from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import zoo
from scipy import sparse
from ways import WAYS, fitted, given, seen

import perceptrons as pc
from perceptrons import datasets, kernels


class Certified(NamedTuple):
    """A certificate, the rows and the labels it is about, and the kernel that ``verify`` needs."""

    certificate: Any
    X: Any
    y: Any
    kernel: Any = None


def product(a: Any, b: Any) -> float:
    return float(np.dot(a, b)) + 1.0


def of_way(number: int, y: Any, log: bool) -> Certified:
    """Of one of the ways to set up a learner."""
    name, params = WAYS[number]
    clf = fitted(name, params, y, log_updates=log)
    rows = seen(clf)
    rows = rows.toarray() if sparse.issparse(rows) else rows
    return Certified(pc.certify(clf, given(name), y), rows, y)


def ways() -> list[tuple[int, Any, bool]]:
    """Every way, with two and three classes, with and without a log."""
    return [(k, y, log) for k in range(len(WAYS)) for y in (zoo.y, zoo.y3) for log in (False, True)]


def others() -> list[Certified]:
    """Not separable by log, zero row or search; undecided; solvers; strings, a table, shards, a function."""
    out = []
    toy = datasets.xor()
    clf = pc.Perceptron(log_updates=True, shuffle=False, max_iter=4).fit(toy.X, toy.y)
    out.append(Certified(pc.certify(clf, toy.X, toy.y), toy.X, toy.y))
    clf = pc.MIRA(shuffle=False, max_iter=1).fit(toy.X, toy.y)
    out.append(Certified(pc.certify(clf, toy.X, toy.y), toy.X, toy.y))
    clf = pc.KernelPerceptron(kernel="linear", fit_intercept=True, max_iter=4, shuffle=False).fit(
        toy.X, toy.y
    )
    out.append(Certified(pc.certify(clf, toy.X, toy.y), toy.X, toy.y))
    X, y = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 1.0]]), np.array([1, 1, 0])
    out.append(Certified(pc.certify(pc.Perceptron(fit_intercept=False, max_iter=3).fit(X, y), X, y), X, y))
    X = np.array([[0.0], [1.0], [2.0], [3.0], [1.5]])
    y = np.array([0, 1, 0, 1, 1])
    for clf in (pc.Perceptron(max_iter=3, random_state=0), pc.MaxMargin(C=1.0)):
        out.append(Certified(pc.certify(clf.fit(X, y), X, y, comparators="all"), X, y))
    clf = fitted("Perceptron", {"max_iter": 2}, zoo.y3)
    out.append(Certified(pc.certify(clf, zoo.X, zoo.y3, comparators="all"), zoo.X, zoo.y3))
    words, labels = ["banana", "ananas", "bandana", "sand"], np.array(["a", "a", "b", "b"])
    clf = pc.KernelPerceptron(kernel="spectrum", shuffle=False).fit(words, labels)
    out.append(Certified(pc.certify(clf, words, labels), words, labels))
    K = kernels.Polynomial()(zoo.X)
    clf = pc.KernelPerceptron(kernel="precomputed", shuffle=False).fit(K, zoo.y)
    out.append(Certified(pc.certify(clf, K, zoo.y), K, zoo.y))
    for y, how in ((zoo.y, "uniform"), (zoo.y3, "mistakes")):
        clf = pc.ParameterMixing(pc.Perceptron(shuffle=False), n_shards=3, mixing=how).fit(zoo.X, y)
        out.append(Certified(pc.certify(clf, zoo.X, y), zoo.X, y))
    objects = [tuple(row) for row in zoo.X.tolist()]
    clf = pc.KernelPerceptron(kernel=product, shuffle=False).fit(objects, zoo.y)
    out.append(Certified(pc.certify(clf, objects, zoo.y), objects, zoo.y, product))
    return out
