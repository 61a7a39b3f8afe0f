"""Theorems of the rules, for certificates, the demonstration, streams and the command line."""

from __future__ import annotations

import math

import numpy as np
import pytest

from perceptrons import rules, theory
from perceptrons.certificates.claims import CLAIMS
from perceptrons.demo import CLAIMS as SHOWN
from perceptrons.theorems import THEOREMS, theorem

RECORDS = {rules.Margin: rules.Margin(gamma=0.1), rules.GeometricMIRA: rules.GeometricMIRA(p=0.1)}
COVERED = [record for record in rules.FIRST_ORDER if theorem(record) is not None]


def test_every_theorem_is_a_claim_that_some_rule_has():
    found = {theorem(record, several) for record in rules.FIRST_ORDER for several in (False, True)} - {None}
    assert {one.name for one in found} == set(THEOREMS) <= set(CLAIMS)
    assert set(THEOREMS) <= set(SHOWN)


@pytest.mark.parametrize("rule", COVERED, ids=lambda rule: rule.__name__)
def test_a_larger_margin_allows_fewer_mistakes(rule):
    record = RECORDS.get(rule) or rule()
    for found in filter(None, (theorem(rule), theorem(rule, several=True))):
        allowed = [found.allowed(2.0, gamma, record) for gamma in np.linspace(0.3, 2.0, 18)]
        assert all(math.isfinite(a) for a in allowed) and sorted(allowed, reverse=True) == allowed


def test_pairs_of_classes_have_rows_longer_by_the_root_of_2():
    for rule in (rules.Perceptron, rules.MIRA, rules.PA, rules.ROMMA, rules.Margin):
        record = RECORDS.get(rule) or rule()
        two, several = theorem(rule), theorem(rule, several=True)
        assert several.allowed(1.0, 0.5, record) == pytest.approx(two.allowed(math.sqrt(2.0), 0.5, record))
    assert theorem(rules.Perceptron).allowed(1.0, 0.5, None) == theory.novikoff(1.0, 0.5)
    assert theorem(rules.RateByExamples) is None and theorem(rules.UserRule, several=True) is None
