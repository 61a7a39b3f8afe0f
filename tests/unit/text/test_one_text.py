"""One text at a time by one compiled call: the weights, variances and counts of a batch."""

from __future__ import annotations

import numpy as np
import pytest

from perceptrons import TextClassifier, rules
from perceptrons.engine import running_idf
from perceptrons.text import hashing

WORDS = [f"w{i}" for i in range(300)]
FIRST, SECOND = {"rule": "perceptron"}, {"rule": rules.AROW(r=0.1)}


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, 12)) + " !, é" for _ in range(n)]
    return texts, ["b" if len(set(t) & set("123")) > 2 and rng.random() < 0.8 else "a" for t in texts]


def model(**params):
    given = {"bits": 12, "tokens": "all", "ngram_range": (1, 2), "values": "sublinear", **params}
    return TextClassifier(precision="float64", **given)


@pytest.mark.parametrize("params", [FIRST, SECOND, {**FIRST, "idf": True}, {**SECOND, "idf": True}], ids=str)
def test_single_texts_are_a_batch(params):
    params = {"idf": False, **params}
    texts, labels = drawn(120)
    one = model(**params)
    for text, label in zip(texts, labels, strict=True):
        one.learn_one(text, label)
    assert "_fast_path" in vars(one)
    batch = model(**params).partial_fit(texts, labels, classes=["a", "b"])
    np.testing.assert_array_equal(one.coef_, batch.coef_)
    if "AROW" in str(params):
        np.testing.assert_array_equal(one.covariance_, batch.covariance_)
        assert [one.score_one(t) for t in texts[:20]] == batch.decision_function(texts[:20]).tolist()
    if params["idf"]:
        assert one.n_texts_ == batch.n_texts_ == len(texts)
        np.testing.assert_array_equal(one.document_counts_, batch.document_counts_)
    assert one.n_updates_ == batch.n_updates_ > 0
    assert one.radius_ == batch.radius_


@pytest.fixture
def learned():
    texts, labels = drawn(40)
    made = model(idf=True, **SECOND)
    for text, label in zip(texts, labels, strict=True):
        made.learn_one(text, label)
    assert "_fast_path" in vars(made)
    return made


def test_scoring_counts_nothing(learned):
    before = learned.document_counts_.copy()
    learned.score_one("w1 w2 never-seen")
    assert learned.n_texts_ == 40
    np.testing.assert_array_equal(learned.document_counts_, before)


def test_what_the_call_refuses_is_learned_and_counted_once(learned):
    fast = learned._fast_path
    learned.learn_one("w1 " * 40_000, "a")  # too long for its buffers
    assert learned.n_texts_ == 41
    learned.learn_one("w1 w2", "a")
    assert learned.n_texts_ == 42 and fast is not None


def test_no_more_texts_than_can_be_counted(learned):
    learned._fast_path.one.df[-1] = running_idf.MOST_TEXTS
    with pytest.raises(OverflowError, match="counts at most"):
        learned.learn_one("w1 w2", "a")
    assert learned._space.df[-1] == running_idf.MOST_TEXTS


def test_a_failed_text_is_not_counted(learned):
    learned._space.v[:] = np.inf
    with pytest.raises(ValueError):
        learned.learn_one("w1 w2", "a")
    assert learned.n_texts_ == 40


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_many_texts_get_the_scores_of_each(precision, monkeypatch):
    """Weights and counts lie side by side for many texts of float32 weights, and apart for others."""
    texts, labels = drawn(60)
    made = model(idf=True, **SECOND).set_params(precision=precision).partial_fit(texts, labels)
    asked = [*texts, "", "never seen é", "w1"]
    monkeypatch.setattr(hashing, "_SIDE_BY_SIDE", 0)
    steps = []
    side_by_side = hashing._side_by_side
    monkeypatch.setattr(
        hashing, "_side_by_side", lambda w, df: steps.append(side_by_side(w, df)) or steps[-1]
    )
    found = made.decision_function(asked).tolist()
    assert [int(step) for *_, step in steps] == [2 if precision == "float32" else 1]
    monkeypatch.setattr(hashing, "_SIDE_BY_SIDE", np.inf)
    assert made.decision_function(asked).tolist() == found
    assert [made.decision_function([text])[0] for text in asked] == found
    rows = made._intake.rows(made._intake.checked(asked, reset=False))
    np.testing.assert_array_equal(made._space.scores(rows, "last")[:, 0], found)
