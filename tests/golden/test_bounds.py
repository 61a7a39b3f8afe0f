"""Every bound of section 4 on the golden runs, from rows, updates and comparator; the adversary's numbers."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from comparing import near
from golden.cases import GOLDEN

from perceptrons import theory

FILE = json.loads((GOLDEN / "bounds.json").read_text())
CASES = {case["name"]: case for case in FILE["cases"]}


@pytest.mark.parametrize("name", CASES)
def test_bounds(name):
    case = CASES[name]
    data = FILE["datasets"][case["dataset"]]
    X, y = np.asarray(data["X"], float), np.asarray(data["y"], float)
    params, expected = case["params"], case["expected"]
    updates, sequence = params["update_indices"], params["sequence"]
    u, gamma = np.asarray(params["comparator"], float), params["gamma"]
    R = theory.radius(X[sequence])
    assert near(expected["radius"]) == R and len(updates) == expected["mistakes"]

    hinge = np.maximum(0.0, 1.0 - y * (X @ u))
    H, all_visits, length = hinge[updates].sum(), hinge[sequence].sum(), float(np.linalg.norm(u))
    assert near(expected["hinge_on_mistakes"]) == H
    assert near(expected["hinge_on_sequence"]) == all_visits
    assert theory.hinge(R, length, H) == near(expected["bound_hinge"])
    assert theory.hinge_tight(R, length, H) == near(expected["bound_hinge_tight"])
    assert theory.hinge(R, length, all_visits) == near(expected["bound_hinge_sequence"])

    lacking = np.maximum(0.0, gamma - y * (X @ u) / length)[updates]
    TD, D = lacking.sum(), math.sqrt((lacking**2).sum())
    assert near(expected["td"]) == TD and near(expected["d_squared_root"]) == D
    assert theory.total_distance(R, gamma, TD) == near(expected["bound_td"])
    assert theory.total_distance_tight(R, gamma, TD) == near(expected["bound_td_tight"])
    assert theory.squared(R, gamma, D) == near(expected["bound_squared"])

    w = (y[updates, None] * X[updates]).sum(axis=0)
    assert w.tolist() == near(expected["w"])
    assert float((X[updates] ** 2).sum()) == near(expected["sum_sq_norms"])
    assert theory.gamma_up(float(np.linalg.norm(w)), len(updates)) == near(expected["margin_upper_from_run"])


@pytest.mark.parametrize("case", FILE["lower_bound_adversary"], ids=lambda case: str(case["gamma"]))
def test_forced_mistakes(case):
    assert theory.forced_mistakes(case["gamma"]) == case["n"] == case["forced_mistakes"]
    assert case["target_margin"] == near(1.0 / math.sqrt(case["n"]))
    assert len(case["labels_against_perceptron"]) == case["n"]
