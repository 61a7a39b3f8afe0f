"""theory.margins near the ends of the range of floats: the same margins as of rows of ordinary size."""

import numpy as np
import pytest
from scipy import sparse

from perceptrons import KernelPerceptron, MaxMargin, Perceptron, theory

X = np.array([[3.0, 4.0], [1.0, 0.5], [-2.0, -1.0], [-4.0, 3.0], [0.0, -1.0]])
Y = np.array([1, 1, 0, 0, 0])
THREE = np.array([2, 2, 0, 1, 0])


class Planes:
    """Weights given by hand."""

    fit_intercept, multiclass = True, "ovr"

    def __init__(self, coef, intercept, n_classes=2, **parameters):
        self.coef_, self.intercept_ = np.atleast_2d(coef), np.ravel(intercept)
        self.classes_ = np.arange(n_classes)
        self.parameters = parameters
        vars(self).update(parameters)

    def get_params(self, deep=True):
        return {"fit_intercept": True, **self.parameters}


@pytest.mark.parametrize("power", [-560, -1000, 520, 900])
@pytest.mark.parametrize("kind", ["geometric", "normalized"])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("parameters", [{}, {"intercept_scaling": 1.0}, {"row_norm": "l2"}])
@pytest.mark.parametrize("y", [Y, THREE])
def test_powers_of_two_change_nothing(power, kind, storage, parameters, y):
    n = len(np.unique(y))
    W = np.array([[2.0, 1.0], [-3.0, 0.5], [0.25, -2.0]])[: 1 if n == 2 else 3]
    b = np.array([0.5, -1.0, 0.25])[: len(W)]
    near = theory.margins(Planes(W, b, n, **parameters), storage(X), y, kind)
    scaling = {"intercept_scaling": 2.0**power} if "intercept_scaling" in parameters else {}
    far = Planes(W, np.ldexp(b, power), n, **{**parameters, **scaling})
    found = theory.margins(far, storage(np.ldexp(X, power)), y, kind)
    shift = 0 if kind == "normalized" or "row_norm" in parameters else power
    assert np.array_equal(found.values, np.ldexp(near.values, shift))
    assert np.array_equal(found.distances, np.ldexp(near.distances, power))
    assert found.minimum == found.values.min()


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_long_weights(multiclass):
    """Weights of 1e300 and rows of 1e-300: every product and quotient is an ordinary number."""
    W, b = np.array([[2.0, 1.0], [-3.0, 0.5], [0.25, -2.0]]), np.zeros(3)
    near = theory.margins(Planes(W, b, 3, multiclass=multiclass), X, THREE, "geometric")
    far = theory.margins(
        Planes(np.ldexp(W, 1000), b, 3, multiclass=multiclass), np.ldexp(X, -1000), THREE, "geometric"
    )
    assert np.array_equal(far.values, np.ldexp(near.values, -1000))
    plain = theory.margins(Planes(np.ldexp(W, 1000), b, 3, multiclass=multiclass), np.ldexp(X, -1000), THREE)
    assert np.array_equal(
        plain.values, theory.margins(Planes(W, b, 3, multiclass=multiclass), X, THREE).values
    )


def test_margins_that_are_no_floats():
    found = theory.margins(
        Planes([[2.0**1000, 0.0]], [0.0]), np.array([[2.0**900, 0.0], [-(2.0**900), 0.0]]), [1, 1]
    )
    assert found.values.tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize("model", [KernelPerceptron(kernel="linear"), MaxMargin(kernel="linear")])
@pytest.mark.parametrize("scale", [1e-170, 5e-324])
def test_objects_whose_self_value_vanishes_are_refused(model, scale):
    with pytest.raises(
        ValueError, match=r"^k\(x, x\) of row 0 is too small: it underflows \(0\)\. Scale the data\.$"
    ):
        type(model)(kernel="linear", fit_intercept=False).fit([[scale], [-scale]], [1, 0])


def test_a_zero_row_is_no_row_that_vanishes():
    model = KernelPerceptron(kernel="linear", fit_intercept=False).fit([[0.0], [1.0]], [1, 0])
    assert model.n_updates_ >= 1
    assert Perceptron(max_iter=2).fit([[0.0], [1.0]], [1, 0]).n_iter_ >= 1


@pytest.mark.parametrize("scale", [2.0**-500, 2.0**-400, 2.0**400, 2.0**480])
def test_kernel_values_near_the_ends_of_the_range(scale):
    """1e-320 or 1e300 beside the dual coefficients: the same problem in another unit."""
    rows, y = np.array([[3.0, 4.0], [-1.0, 0.5], [-2.0, -1.0], [1.0, 3.0]]), [1, 0, 0, 1]
    near = MaxMargin(kernel="linear").fit(rows, y)
    far = MaxMargin(kernel="linear").fit(scale * rows, y)
    assert far.margin_bounds_ == pytest.approx(tuple(scale * np.array(near.margin_bounds_)), rel=1e-9)
    assert far.predict(scale * rows).tolist() == y
