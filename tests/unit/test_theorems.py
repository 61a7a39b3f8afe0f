"""One table of rule and theorem, for certificates, the demonstration, streams and the command line."""

from __future__ import annotations

import math

import numpy as np
import pytest

from perceptrons import rules, theory
from perceptrons.certificates.claims import CLAIMS
from perceptrons.proofs._lines import LINES
from perceptrons.theorems import THEOREMS, theorem

RECORDS = {rules.Margin: rules.Margin(gamma=0.1), rules.GeometricMIRA: rules.GeometricMIRA(p=0.1)}


@pytest.mark.parametrize("rule", THEOREMS, ids=lambda rule: rule.__name__)
def test_certificates_have_the_theorems_of_the_table(rule):
    for several in (False, True):
        found = theorem(rule, several)
        if found is not None:
            assert found.name in CLAIMS
            assert found.name in [line.name for line in LINES[rule][several]]


@pytest.mark.parametrize("rule", THEOREMS, ids=lambda rule: rule.__name__)
def test_a_larger_margin_allows_fewer_mistakes(rule):
    record = RECORDS.get(rule) or rule()
    for found in filter(None, THEOREMS[rule]):
        allowed = [found.allowed(2.0, gamma, record) for gamma in np.linspace(0.3, 2.0, 18)]
        assert all(math.isfinite(a) for a in allowed) and sorted(allowed, reverse=True) == allowed


def test_pairs_of_classes_have_rows_longer_by_the_root_of_2():
    for rule in (rules.Perceptron, rules.MIRA, rules.PA, rules.ROMMA, rules.Margin):
        record = RECORDS.get(rule) or rule()
        two, several = THEOREMS[rule]
        assert several.allowed(1.0, 0.5, record) == pytest.approx(two.allowed(math.sqrt(2.0), 0.5, record))
    assert theorem(rules.Perceptron).allowed(1.0, 0.5, None) == theory.novikoff(1.0, 0.5)
    assert theorem(rules.RateByExamples) is None and theorem(rules.UserRule, several=True) is None
