"""Kernel mode: regions, support vectors, and the sum that is the score at the pointer."""

from __future__ import annotations

import base64

import numpy as np
import pytest
import runs_again


def test_regions_and_support_vectors(lab):
    lab.choose("set", "rings")
    answer = lab.choose("learner", "KernelPerceptron")
    (run,) = answer["runs"]
    lab.page.keyboard.press("End")
    lab.settle()
    assert lab["kernel"].is_visible()
    model = runs_again.fit(answer["scene"])
    dual = np.array(run["segments"][-1]["trace"]["dual"][-1])
    assert np.flatnonzero(dual).tolist() == sorted(model.support_.tolist())
    rings = (
        lab["kernel"]
        .locator(".kernel-points > *")
        .evaluate_all(
            "all => all.map(one => one.querySelector('[data-coefficient]')?.dataset.coefficient ?? null)"
        )
    )
    assert len(rings) == len(dual)
    for size, coefficient in zip(rings, dual):
        assert (size is None) == (coefficient == 0)
        assert size is None or float(size) == pytest.approx(abs(coefficient))


def test_the_grid_is_the_kernel_of_the_library(lab):
    lab.choose("set", "rings")
    answer = lab.choose("learner", "KernelPerceptron")
    kernel, scene = answer["runs"][0]["kernel"], answer["scene"]
    values = np.frombuffer(base64.b64decode(kernel["values"]), "<f4")
    values = values.reshape(kernel["rows"], kernel["columns"], -1)
    model = runs_again.fit(scene)
    dual = np.array(answer["runs"][0]["segments"][-1]["trace"]["dual"][-1])
    x0, x1, y0, y1 = kernel["box"]
    across, up = np.linspace(x0, x1, kernel["columns"]), np.linspace(y0, y1, kernel["rows"])
    grid = np.stack(np.meshgrid(across, up), axis=-1)
    scores = model.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    np.testing.assert_allclose(values @ dual, scores, atol=1e-4 * np.abs(scores).max())


def test_the_sum_at_the_pointer(lab):
    lab.choose("set", "rings")
    answer = lab.choose("learner", "KernelPerceptron")
    lab.page.keyboard.press("End")
    lab.settle()
    model = runs_again.fit(answer["scene"])
    kernel = answer["runs"][0]["kernel"]
    x0, x1, y0, y1 = kernel["box"]
    across, up = np.linspace(x0, x1, kernel["columns"]), np.linspace(y0, y1, kernel["rows"])
    for place in ([0.25, -0.5], [-1.0, 1.5]):
        lab.page.mouse.move(*lab.axes("kernel").pixels(place))
        lab.settle()
        nearest = [across[np.abs(across - place[0]).argmin()], up[np.abs(up - place[1]).argmin()]]
        exact = model.decision_function([nearest])[0]
        said = lab["kernel-score"]
        assert float(said.get_attribute("data-score")) == pytest.approx(exact, rel=1e-4, abs=1e-4)
        assert f"{abs(exact):.3g}" in said.inner_text()
