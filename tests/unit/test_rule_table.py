"""The rule table: every row is whole, names what exists, and says of its rule what its function does."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import zoo
from ways import fitted

import perceptrons as pc
from perceptrons import rule_table, rules
from perceptrons.certificates import log_replay
from perceptrons.certificates.claims import CLAIMS
from perceptrons.rule_table import Facts, LearnerFacts, Step, Theory
from perceptrons.rules import State, ask
from perceptrons.theory import debugging

ROWS = list(rules.TABLE.values())
RULES = [row for row in ROWS if row.function is not None]
NUMBERS = (0.25, 1.0, 3.0)


def records(row):
    """The record as the command line names it, and under the values that its facts mention."""
    standard = row.learner.standard
    if standard is None:
        standard = row.record(phi=1.0) if "phi" in row.record._fields else row.record()
    asked = row.step.conservative
    return [standard] if not asked else [standard, standard._replace(**asked)]


def steps(row, margins=(-2.0, -0.5, 0.0, 0.25, 1.0, 2.0), q=NUMBERS, c=(1.0,)):
    """(record, m, c, answer) over a grid of what a rule may see."""
    for record, m, one, N, k, weight in product(records(row), margins, q, NUMBERS, (0, 3), c):
        yield record, m, weight, ask(record, m, one, State(N, k, k + 2, weight, rules.LOSS_TOL))


def moves(answer):
    """Whether the answer is an update: second-order rules return (0, 0) where there is none."""
    return answer[1] != 0.0


# ------------------------------------------------------------------------------------------- rows


def test_a_row_that_leaves_a_fact_out_is_an_error():
    for kind, given in (
        (Step, {"weighted": True}),
        (Theory, {"two": ()}),
        (LearnerFacts, {"class_name": "MIRA"}),
    ):
        with pytest.raises(TypeError, match="missing"):
            kind(**given)
    assert not any(kind._field_defaults for kind in (Facts, LearnerFacts, Step, Theory))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_names_what_exists(row):
    made = getattr(pc, row.learner.class_name)(**row.learner.fixed)
    assert {*row.learner.stated, *row.learner.renamed.values()} <= set(made.get_params())
    assert set(row.learner.renamed) <= set(getattr(row.record, "_fields", ()))
    assert {*row.theory.two, *row.theory.several} <= set(CLAIMS)
    assert set(row.theory.invariants) <= set(debugging.INVARIANTS)
    assert row.step.pair is not None or not row.theory.several
    if row.name == "UserRule":
        return
    found = rules.facts_of(made)
    assert found is row or found.learner.class_name == row.learner.class_name  # SCW1 stands for SCW
    if row.family == "first order":
        assert found is row and rules.facts(made._rule()) is row


@pytest.mark.parametrize(
    ("rule", "stated"),
    [
        (rules.Perceptron(0.5), {"learning_rate": 0.5}),
        (rules.RateByUpdates(), {"learning_rate": "updates"}),
        (rules.RateByExamples(), {"learning_rate": "examples"}),
        (rules.GeometricMIRA(0.25), {"p": 0.25}),
        (rules.PA(), {"variant": "hard"}),
        (rules.PA1(0.5), {"C": 0.5, "variant": "I"}),
        (rules.PA2(0.5), {"C": 0.5, "variant": "II"}),
        (rules.ROMMA(), {"aggressive": False}),
        (rules.AggressiveROMMA(0.1), {"delta": 0.1, "aggressive": True}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_a_certificate_states_of_a_rule(rule, stated):
    """By the table alone, whichever class learns by the rule; what is stated, and in which order."""
    X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, 0])
    model = pc.OnlineClassifier(rule=rule, shuffle=False, max_iter=1).fit(X, y)
    found = pc.certify(model, X, y).model["parameters"]
    expected = {"rule": type(rule).__name__, **stated, "mistake": "margin", "readout": "last"}
    assert list(found.items()) == list(expected.items())


def test_names_are_taken_once():
    row = rules.TABLE["PA1"]
    with pytest.raises(ValueError, match="PA1 is in the table already"):
        rule_table.enter(row)
    with pytest.raises(ValueError, match="--rule pa1 is in the table already"):
        rule_table.enter(row._replace(name="PA3"))
    with pytest.raises(ValueError, match="family of PA3 must be one of first order"):
        rule_table.enter(row._replace(name="PA3", family="third order"))


def test_every_learner_has_a_row():
    for name in pc.__all__:
        made = getattr(pc, name)
        if isinstance(made, type) and hasattr(made, "predict"):
            # what mixes runs of a learner has no row: that of its learner is about one run; what was shrunk
            # has not learned
            without = name in ("ParameterMixing", "SmallTextClassifier")
            assert (rules.facts_of(made()) is None) == without, name
    assert rules.facts_of(object()) is None
    with pytest.raises(KeyError, match="no rule of the table"):
        rules.facts(object())


# ------------------------------------------------------------------------------------------ facts


@pytest.mark.parametrize("row", RULES, ids=lambda row: row.name)
def test_weights_of_rows(row):
    light = [answer for *_, answer in steps(row, c=(1.0,))]
    heavy = [answer for *_, answer in steps(row, c=(0.01,))]
    assert (light != heavy) == row.step.weighted


@pytest.mark.parametrize("row", RULES, ids=lambda row: row.name)
def test_conservative_rules_update_on_mistakes_alone(row):
    hasty = {record for record, m, _, answer in steps(row) if moves(answer) and m > 0.0}
    for record in records(row):
        assert row.conservative(record._asdict()) == (record not in hasty), record


@pytest.mark.parametrize(
    "row", [row for row in RULES if row.family == "first order"], ids=lambda row: row.name
)
def test_scale(row):
    keeps = {answer[0] for *_, answer in steps(row) if answer not in (rules.NO_STEP, rules.REFUSED)}
    assert (keeps == {1.0}) == row.step.keeps_scale


def test_the_checker_of_certificates_says_the_same():
    """It knows the rules by their names alone, and has lists of its own."""
    first = [row for row in RULES if row.family == "first order"]
    assert {*log_replay.ADDITIVE} == {row.name for row in first if row.step.keeps_scale}
    conservative = {row.name: row.step.conservative for row in first if row.step.conservative is not None}
    assert conservative == log_replay.CONSERVATIVE


@pytest.mark.parametrize("row", RULES, ids=lambda row: row.name)
def test_zero_rows(row):
    assert all(moves(answer) == row.step.zero_row for *_, answer in steps(row, margins=(0.0,), q=(0.0,)))


@pytest.mark.parametrize("row", [row for row in ROWS if row.record is None], ids=lambda row: row.name)
def test_learners_without_a_rule(row):
    model = fitted(row.name, {})
    if row.step.conservative is not None:
        assert model.n_updates_ <= model.n_mistakes_
    if hasattr(model, "partial_fit"):
        with pytest.raises(ValueError, match="weights"):
            getattr(pc, row.name)().fit(zoo.X, zoo.y, sample_weight=[2.0] * len(zoo.y))


@pytest.mark.parametrize("name", ["Perceptron", "PA1", "AROW", "SCW1"])
def test_a_zero_row_ends_a_run_that_can_have_no_clean_pass(name):
    row = rules.TABLE[name]
    make = getattr(pc, row.learner.class_name)
    model = make(max_iter=None, fit_intercept=False, shuffle=False, **row.learner.fixed)
    reason = model.fit([[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]], [1, 0, 0]).stop_reason_
    assert reason == ("not separable: row 1 is the zero vector" if row.step.zero_row else "clean pass")
