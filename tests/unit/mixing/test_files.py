"""Mixed models in files: they come back as they were, and forged ones are refused."""

from __future__ import annotations

import json

import pytest
from comparing import same_weights
from mixed import LEARNERS, X, Y, learner

import perceptrons as pc
from perceptrons import ParameterMixing, load, save
from perceptrons.models import ModelError, container

pytestmark = pytest.mark.uncompiled


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_mixed_model_comes_back(name, classes, tmp_path):
    model = ParameterMixing(learner(name, random_state=1, max_iter=3), n_shards=3).fit(X, Y[classes])
    save(model, tmp_path / "a.model")
    back = load(tmp_path / "a.model")
    same_weights(model, back)
    assert (model.predict(X) == back.predict(X)).all()
    assert back.history_ == model.history_ and back.seed_ == model.seed_
    assert back.margin_bounds_ == model.margin_bounds_
    assert repr(back) == repr(model)
    certificate = pc.certify(back, X, Y[classes])
    assert certificate.verify(X, Y[classes])
    assert str(certificate) == str(pc.certify(model, X, Y[classes]))
    save(model.estimator_, tmp_path / "b.model")
    assert str(pc.certify(load(tmp_path / "b.model"), X, Y[classes])) == str(certificate)


def test_settings_come_back(tmp_path):
    for model in (
        ParameterMixing(),
        ParameterMixing(pc.AROW(r=0.5), shards=[[0, 1], [2]], callback=print, max_time=2.0),
    ):
        save(model, tmp_path / "a.model")
        back = load(tmp_path / "a.model")
        assert repr(back.get_params()) == repr(model.set_params(callback=None).get_params())


def test_a_callback_may_save(tmp_path):
    def store(model):
        save(model, tmp_path / f"{model.n_iter_}.model")

    model = ParameterMixing(pc.Perceptron(random_state=0, max_iter=3), callback=store).fit(X, Y[2])
    same_weights(model, load(tmp_path / "3.model"))


# ------------------------------------------------------------------------------------ forged files


def nodes(table, kind, of):
    return [node for node in table["nodes"] if node["k"] == kind and node["of"] == of]


def no_shards(table):
    nodes(table, "record", "run.Mixing")[0]["v"]["n_shards"] = 0


def one_run(table):
    nodes(table, "estimator", "Perceptron")[1]["v"]["_plain"] = True


def other_weights(table):
    nodes(table, "record", "run.Mixing")[0]["v"]["how"] = "best"


def not_the_weights_of_the_parameter(table):
    nodes(table, "record", "run.Mixing")[0]["v"]["how"] = "mistakes"


def more_shards(table):
    nodes(table, "record", "run.Mixing")[0]["v"]["n_shards"] = 4


def no_learner(table):
    (mixer,) = nodes(table, "estimator", "ParameterMixing")
    mixer["v"]["estimator_"] = 3


def another_learner(table):
    (mixer,) = nodes(table, "estimator", "ParameterMixing")
    mixer["params"]["estimator"] = None


def no_seed(table):
    (mixer,) = nodes(table, "estimator", "ParameterMixing")
    del mixer["v"]["seed_"]


def other_counts(table):
    """The updates of a round no longer add up."""
    lists = [node for node in table["nodes"] if node["k"] == "list" and len(node["v"]) == 3]
    own = next(node for node in lists if all(type(k) is int for k in node["v"]) and sum(node["v"]))
    own["v"][0] += 1


@pytest.mark.parametrize(
    "change",
    [
        no_shards,
        one_run,
        other_weights,
        not_the_weights_of_the_parameter,
        more_shards,
        no_learner,
        another_learner,
        no_seed,
        other_counts,
    ],
)
def test_forged_files_are_refused(change, tmp_path):
    model = ParameterMixing(pc.Perceptron(random_state=1, max_iter=2), n_shards=3).fit(X, Y[2])
    path = tmp_path / "a.model"
    save(model, path)
    contents = container.read(path)
    table = json.loads(contents.text)

    def write():
        pieces = container.pieces(container.Contents(json.dumps(table), contents.arrays))
        path.write_bytes(b"".join(bytes(piece) for piece in pieces))

    write()
    same_weights(model, load(path))
    change(table)
    write()
    with pytest.raises(ModelError):
        load(path)
