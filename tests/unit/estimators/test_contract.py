"""Learners of the core refuse what scikit-learn's checks refuse, without scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons.models import registry

X = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]])
y = np.array([1, 0, 1])


def learner():
    return registry.learner("Perceptron")(shuffle=False)


@pytest.mark.parametrize(
    "rows, labels, said",
    [
        (X[0], y[:1], "matrix with at least one row"),
        (X[:0], y[:0], "matrix with at least one row"),
        (X, y[:, None], "one label per row"),
        (X, y[:2], "X has 3 rows, y has 2 labels"),
        (X, [0.5, 1.0, 1.5], "such as 0.5"),
        (X, [0.0, np.nan, 1.0], "NaN"),
        (X * np.nan, y, "NaN"),
        (sp.csr_array(X * 1e200), y, "too large"),
    ],
)
def test_refused(rows, labels, said):
    model = learner()
    with pytest.raises(ValueError, match=said):
        model.fit(rows, labels)
    with pytest.raises(ValueError, match="has learned nothing yet"):
        model.predict(X)


def test_rows_of_another_width():
    model = learner().fit(X, y)
    assert model.predict(X.astype(int).tolist()).tolist() == y.tolist()
    with pytest.raises(ValueError, match="has 3 features, but Perceptron is expecting 2 features"):
        model.predict(np.ones((1, 3)))
    with pytest.raises(AttributeError, match="no estimator of scikit-learn's"):
        model.set_callbacks()
