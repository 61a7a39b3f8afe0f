"""Certificates of mixed models: the bound on weighted updates, and no bound on a single run."""

from __future__ import annotations

import json

import numpy as np
import pytest
from comparing import near
from ways import sealed

import perceptrons as pc
from perceptrons import ParameterMixing, theory
from perceptrons.certificates.certificate import Certificate, CertificateError

pytestmark = pytest.mark.uncompiled

_rng = np.random.default_rng(4)
CENTRES = np.array([[5.0, 0.0], [-4.0, 4.0], [-4.0, -4.0]])
Y3 = np.arange(60) % 3
X = CENTRES[Y3] + _rng.uniform(-1.0, 1.0, (60, 2))
Y2 = (Y3 == 0).astype(int)


def mixed(learner, y, **how):
    return ParameterMixing(learner.set_params(random_state=1, max_iter=40), n_shards=4, **how).fit(X, y)


def bounds(model, y):
    certificate = pc.certify(model, X, y)
    assert certificate.verify(X, y, exact=True)
    assert Certificate.from_json(certificate.to_json()).verify(X, y)
    return {bound.name: bound for bound in certificate.bounds}


@pytest.mark.parametrize("learner", [pc.Perceptron(learning_rate=0.25), pc.AveragedPerceptron()])
@pytest.mark.parametrize("how", ["uniform", "mistakes"])
def test_the_weighted_updates_are_bounded_with_both_sides(learner, how):
    model = mixed(learner, Y2, mixing=how)
    found = bounds(model, Y2)
    assert set(found) == ({"ipm", "ipm_total"} if how == "uniform" else {"ipm"})
    low = max(pc.certify(model, X, Y2).brackets[0].low, 0.0)
    assert found["ipm"].measured[0] == near(model.weighted_updates_)
    assert found["ipm"].allowed[0] == near(theory.ipm(model.radius_, low))
    if how == "uniform":
        assert found["ipm_total"].measured == (model.n_updates_,)
        assert found["ipm_total"].allowed[0] == near(theory.ipm_total(model.radius_, low, 4))


@pytest.mark.parametrize("scheme", ["top", "uniform", "proportional"])
def test_prototypes_are_allowed_twice_as_much(scheme):
    model = mixed(pc.Perceptron(scheme=scheme), Y3)
    found = bounds(model, Y3)
    assert set(found) == {"multiclass_ipm", "multiclass_ipm_total"}
    delta = found["multiclass_ipm"].symbols[0]["delta"]
    assert found["multiclass_ipm"].allowed[0] == near(2.0 * model.radius_**2 / delta**2)
    assert found["multiclass_ipm_total"].allowed[0] == near(8.0 * model.radius_**2 / delta**2)


def test_every_class_against_the_rest_has_its_own_bound():
    model = mixed(pc.Perceptron(multiclass="ovr"), Y3, mixing="mistakes")
    assert bounds(model, Y3)["ipm"].measured == near(tuple(model.weighted_updates_))


@pytest.mark.parametrize("learner", [pc.MIRA(), pc.PassiveAggressive(variant="hard"), pc.AROW(), pc.SCW()])
def test_other_learners_claim_no_bound(learner):
    model = mixed(learner, Y2)
    assert bounds(model, Y2) == {}
    assert "No bound on this run is claimed" in str(pc.certify(model, X, Y2))


def test_one_shard_is_certified_as_a_plain_fit():
    learner = pc.Perceptron(random_state=1)
    model = ParameterMixing(learner, n_shards=1).fit(X, Y2)
    assert str(pc.certify(model, X, Y2)) == str(pc.certify(learner.fit(X, Y2), X, Y2))


def test_the_learner_inside_is_certified_as_the_whole():
    model = mixed(pc.Perceptron(), Y2)
    assert str(pc.certify(model.estimator_, X, Y2)) == str(pc.certify(model, X, Y2))
    model.estimator_.partial_fit(X, Y2)  # a run that is neither one nor mixed
    assert bounds(model.estimator_, Y2) == {}


def test_weights_of_rows_and_rows_in_two_shards_claim_no_bound():
    twice = [list(range(40)), list(range(20, 60))]
    for model in (
        ParameterMixing(pc.Perceptron(), n_shards=2).fit(X, Y2, sample_weight=np.linspace(1, 2, 60)),
        ParameterMixing(pc.Perceptron(), shards=twice).fit(X, Y2),
    ):
        assert bounds(model, Y2) == {}


# ------------------------------------------------------------------------------------ forged certificates


def more_in_a_shard(body):
    body["run"]["shards"]["updates"][0][0][1] += 1


def less_weight(body):
    body["bounds"][0]["measured"][0] *= 0.5


def fewer_shards(body):
    body["model"]["parameters"]["n_shards"] = 2


def by_mistakes(body):
    body["run"]["shards"]["mixing"] = "mistakes"


def novikoff(body):
    """The bound on one run, with the numbers of the other: it would allow less than there were updates."""
    body["bounds"][0]["name"] = "novikoff"
    body["bounds"][0]["measured"] = [body["run"]["updates"]]


def no_shards(body):
    del body["run"]["shards"]


def another_class(body):
    body["model"]["class"] = "Perceptron"


@pytest.mark.parametrize(
    "change", [more_in_a_shard, less_weight, fewer_shards, by_mistakes, novikoff, no_shards, another_class]
)
def test_forged_certificates_are_refused(change):
    certificate = pc.certify(mixed(pc.Perceptron(), Y2), X, Y2)
    assert certificate.verify(X, Y2)
    try:
        found = sealed(certificate, change).verify(X, Y2)
    except CertificateError:
        return
    assert not found, json.dumps(change.__name__)
