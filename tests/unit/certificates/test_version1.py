"""Certificates that the first version of the format wrote: read, and marked as checked by the old rules."""

from __future__ import annotations

import json
import math

import pytest
import zoo
from leaves import resealed
from places import DATA

from perceptrons import datasets
from perceptrons.certificates.certificate import Certificate, CertificateError

FOLDER = DATA / "certificates"
TOY, XOR = datasets.four_points(), datasets.xor()
STORED = {
    "toy_logged": (TOY.X, TOY.y),
    "toy_plain": (TOY.X, TOY.y),
    "joint_logged": (zoo.X, zoo.y3),
    "ovr_winnow": (zoo.X, zoo.y3),
    "kernel": (zoo.X, zoo.y),
    "max_margin": (zoo.X, zoo.y),
    "xor": (XOR.X, XOR.y),
}


def text(name):
    return (FOLDER / f"{name}.json").read_text()


@pytest.mark.parametrize("name", STORED)
def test_it_is_read_and_marked(name):
    X, y = STORED[name]
    certificate = Certificate.from_json(text(name))
    assert certificate.version == 1 and "checked by the old rules" in str(certificate)
    for exact in (False, True):
        found = certificate.verify(X, y, exact=exact).or_raise()
        assert "checked by the old rules" in found.rules and "checked by the old rules" in str(found)
    assert certificate.to_json() == text(name).strip()  # written as it was read


def test_an_end_that_only_the_run_vouched_for_is_left_out():
    body = json.loads(text("toy_plain"))
    assert body["brackets"][0]["source"] == "run"
    assert Certificate.from_json(text("toy_plain")).brackets[0].up == math.inf
    assert math.isfinite(Certificate.from_json(text("toy_logged")).brackets[0].up)


def test_a_proof_up_to_a_residual_leaves_it_undecided():
    body = json.loads(text("xor"))
    assert Certificate.from_json(text("xor")).verdict.verdict == "not separable"
    body["verdict"] |= {"exact": False, "residual": 1e-9}
    assert Certificate.from_json(json.dumps(resealed(body))).verdict.verdict == "undecided"


def test_forgeries_of_version_1_are_refused():
    def verifies(name, change):
        body = json.loads(text(name))
        change(body)
        try:
            return bool(Certificate.from_json(json.dumps(resealed(body))).verify(*STORED[name]))
        except CertificateError:
            return False

    def third_class(body):
        body["model"]["classes"].append(["int", "7"])
        body["model"]["problem"] = "joint"

    for name, change in (
        ("xor", third_class),
        ("toy_plain", lambda b: b["brackets"][0].update(low=0.6)),
        ("toy_logged", lambda b: b["brackets"][0].update(up=0.2)),
        (
            "toy_logged",
            lambda b: b["run"].update(replays=False) or b["updates"]["alpha"].__setitem__(0, [2.0]),
        ),
        ("toy_plain", lambda b: b["space"].update(bias="inf", free=True)),
        ("kernel", lambda b: b["vectors"]["w"].update(offset=[100.0]) or b["brackets"][0].update(low=9.0)),
        ("xor", lambda b: b["verdict"].update(weights=["1e100000000"] * len(b["verdict"]["rows"]))),
        ("xor", lambda b: b["verdict"]["weights"].__setitem__(0, 2.5)),
        ("toy_plain", lambda b: b.pop("run")),
        ("toy_plain", lambda b: b.update(vectors=3)),
    ):
        assert not verifies(name, change)
