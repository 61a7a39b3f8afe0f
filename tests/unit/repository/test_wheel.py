"""What a wheel has: the built page of the lab, so that users need no node; and nothing of the tests."""

from __future__ import annotations

from hatchling.builders.wheel import WheelBuilder
from places import ROOT


def included():
    return {found.distribution_path for found in WheelBuilder(str(ROOT)).recurse_included_files()}


def test_a_wheel_has_the_page():
    paths = included()
    assert {f"perceptrons/lab/static/{name}" for name in ("index.html", "lab.css", "lab.js")} <= paths
    assert {"perceptrons/__init__.py", "perceptrons/py.typed", "perceptrons/lab/server.py"} <= paths


def test_a_wheel_has_the_package_only():
    assert all(path.startswith("perceptrons/") for path in included())
    assert not any(path.endswith((".ts", ".map", ".lock")) for path in included())
