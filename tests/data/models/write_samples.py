"""Writes one small model of each family, in the format of today, with what it predicts.

A released format stays readable for ever, so its folder is never written again: run this once after
``container.VERSION`` has gone up, and commit the new folder.

    python tests/data/models/write_samples.py

Until a format is released its samples may be written again:

    python tests/data/models/write_samples.py --again

Samples of what is new in a format are added beside those that are there:

    python tests/data/models/write_samples.py --new
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import perceptrons as pc
from perceptrons import kernels, rules
from perceptrons.models import container, save

HERE = Path(__file__).parent
#: 0/1 rows, so that Winnow and Elimination take them too
X = np.array([[i >> j & 1 for j in range(4)] for i in range(16)], float)
TWO = (X[:, 0] + X[:, 1] > X[:, 2]).astype(int)
THREE = np.asarray(["eggs", "ham", "spam"])[(X[:, 0] + X[:, 1]).astype(int)]
STRINGS = ["".join("ab"[int(bit)] for bit in row) + "ab" for row in X]
NAMED = [{f"feature {j}": float(x) for j, x in enumerate(row) if x} for row in X]
SUBSTRINGS = kernels.Normalized(kernels.Spectrum(2)) + kernels.Spectrum(1)


def samples() -> dict[str, Any]:
    """The models, by the names of their files."""
    plain: dict[str, Any] = {"shuffle": False, "max_iter": 2}
    words = {**plain, "rule": "perceptron", "tokens": "words", "ngram_range": (1, 1), "values": "count"}
    words["idf"] = False
    named = pc.Perceptron()
    for row, label in zip(NAMED, THREE):
        named.learn_one(row, str(label))
    return {
        "perceptron": pc.Perceptron(**plain).fit(X, TWO),
        "average_joint": pc.AveragedPerceptron(**plain).fit(sp.csr_array(X), THREE),
        "vote_rest": pc.OnlineClassifier(
            rule=rules.PA1(0.5), readout="vote", multiclass="ovr", **plain
        ).fit(X, THREE),
        "named": named,
        "text": pc.TextClassifier(**words, bits=6, keep_names=True).fit(STRINGS, TWO),
        "text_average": pc.TextClassifier(**words, bits=12).fit(STRINGS, THREE),
        "text_confidence": pc.TextClassifier(
            **{**words, "rule": rules.AROW()}, bits=12, readout="last"
        ).fit(STRINGS, THREE),
        "text_idf": pc.TextClassifier(**{**words, "idf": True}, bits=12).fit(STRINGS, TWO),
        "text_idf_rest": pc.TextClassifier(
            **{**words, "idf": True, "rule": rules.AROW()}, bits=12, readout="last"
        ).fit(STRINGS, THREE),
        "text_default": pc.TextClassifier(shuffle=False, bits=12).fit(STRINGS, THREE),
        "text_small": pc.shrink(
            pc.TextClassifier(bits=12, analyzer="char", **plain).fit(STRINGS, THREE), size_mb=0.003
        ),
        "margin": pc.MarginPerceptron(gamma=0.1, **plain).fit(X, TWO),
        "confidence": pc.AROW(covariance="full", **plain).fit(X, THREE),
        "winnow": pc.Winnow(**plain).fit(X, TWO),
        "elimination": pc.Elimination(literals="all", **plain).fit(X, TWO),
        "balanced_winnow": pc.BalancedWinnow(**plain).fit(X, THREE),
        "risk": pc.RiskDescent(max_steps=5).fit(X, TWO),
        "maximum_margin": pc.MaxMargin(C=1.0, kernel="gaussian").fit(X, THREE),
        "kernel": pc.KernelPerceptron(readout="vote", **plain).fit(sp.csr_array(X), TWO),
        "strings": pc.KernelClassifier(kernel=SUBSTRINGS, **plain).fit(STRINGS, TWO),
        "budget": pc.BudgetKernelPerceptron(budget=4, random_state=0, **plain).fit(X, TWO),
    }  # fmt: skip


def rows_of(name: str) -> Any:
    if name == "strings" or name.startswith("text"):
        return STRINGS
    return NAMED if name == "named" else X


def answers(model: Any, rows: Any) -> tuple[list[Any], list[Any]]:
    """(labels, scores), as JSON has them."""
    if isinstance(rows[0], dict):
        return [str(model.predict_one(x)) for x in rows], [model.score_one(x) for x in rows]
    return model.predict(rows).tolist(), model.decision_function(rows).tolist()


def main(argv: list[str]) -> None:
    folder = HERE / f"format{container.VERSION}"
    if argv == ["--again"] and folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(exist_ok=argv == ["--new"])  # raises where it is there already
    there = folder / "expected.json"
    expected = json.loads(there.read_text()) if there.exists() else {}
    for name, model in samples().items():
        if name in expected:
            continue
        save(model, folder / f"{name}.model")
        labels, scores = answers(model, rows_of(name))
        expected[name] = {"estimator": type(model).__name__, "labels": labels, "scores": scores}
    there.write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
