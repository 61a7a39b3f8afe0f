"""The run that the page shows, made once more here by the library's public functions."""

from __future__ import annotations

import numpy as np

import perceptrons as pc


def learner(scene, which="learner"):
    """The learner of a scene."""
    choice = scene[which]
    params = dict(choice["params"])
    if isinstance(params.get("kernel"), dict):
        kernel = params.pop("kernel")
        params |= {"kernel": getattr(pc.kernels, kernel["name"])(**kernel["params"])}
    settings = {"shuffle": scene["shuffle"], "random_state": scene["seed"], "max_iter": scene["max_iter"]}
    return getattr(pc, choice["name"])(**params, **settings)


def rows(scene):
    X = np.array(scene["X"], float)
    return X - scene.get("center", 0.0) * X.mean(axis=0), np.array(scene["classes"])[scene["y"]]


def trace(scene, which="learner", **options):
    X, y = rows(scene)
    return pc.trace(learner(scene, which), X, y, max_steps=scene["max_steps"], **options)


def fit(scene, which="learner"):
    return learner(scene, which).fit(*rows(scene))


def by_hand(X, y):
    """A perceptron with an intercept until a clean pass: whether each visit is a mistake, and w after it."""
    X = np.column_stack([X, np.ones(len(X))])
    w, path, mistakes = np.zeros(X.shape[1]), [], []
    while not path or any(mistakes[-len(X) :]):
        for x_t, y_t in zip(X, y):
            mistakes.append(bool(y_t * (w @ x_t) <= 0))
            w = w + y_t * x_t if mistakes[-1] else w
            path.append(w)
    return mistakes, np.array(path)
