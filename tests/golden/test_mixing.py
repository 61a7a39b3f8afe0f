"""Parameter mixing against the golden traces, through the public class: dense and CSR, threads and serial."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from golden.cases import close, files, load

from perceptrons import ParameterMixing, Perceptron

CASES = load("ipm") if "ipm" in files() else []


def weight_of_each_row(case) -> np.ndarray:
    """The updates on each row, by the weight that their shard had in their epoch."""
    alpha = np.zeros(len(case.y))
    epochs = zip(case.expected["updates_per_epoch_per_shard"], case.expected["mu"], strict=True)
    for rows_of_shards, mu in epochs:
        for rows, share in zip(rows_of_shards, mu, strict=True):
            alpha[rows] += share
    return alpha


@pytest.mark.parametrize("backend", ["serial", "threads"])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_parameter_mixing(case, storage, backend):
    weights = []
    learner = Perceptron(shuffle=False, fit_intercept=False, max_iter=case.params["epochs"])
    clf = ParameterMixing(
        learner,
        shards=case.params["shards"],
        mixing=case.params["mix"],
        backend=backend,
        callback=lambda model: weights.append(model.coef_[0]),
    )
    clf.fit(storage(case.X), case.y)
    expected = case.expected
    updates = expected["updates_per_epoch_per_shard"]
    counted = [[[len(rows) for rows in epoch]] for epoch in updates]
    assert [record["shard_updates"] for record in clf.history_] == counted
    assert close(clf.estimator_.run_record().learners[0].steps, weight_of_each_row(case))
    assert close(np.array(weights), expected["w_per_epoch"])
    assert close(clf.coef_[0], expected["w"])
    assert close(clf.weighted_updates_, expected["weighted_mistakes"])
    assert close(clf.decision_function(storage(case.X_test)), expected["test_scores"])
    assert clf.stop_reason_ == ("max_iter" if any(updates[-1]) else "clean pass")
