"""Small copies of models of texts: which weights stay, what they predict, the size of the file."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_texts import PLAIN
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from perceptrons import Perceptron, SmallTextClassifier, TextClassifier, load, rules, save, shrink
from perceptrons.cli import main
from perceptrons.core import calibrating, curves
from perceptrons.models import shrinking
from perceptrons.models.shrinking import file_bytes
from perceptrons.text import pruning
from perceptrons.text.weight_table import Idf, WeightTable, gaps_of, keys_of

RNG = np.random.default_rng(5)
WORDS = [f"word{i}" for i in range(400)]
TEXTS = [" ".join(RNG.choice(WORDS, size=12)) for _ in range(150)]
TWO = np.where([t.count("1") > t.count("2") for t in TEXTS], "many", "few")
THREE = np.asarray(["a", "b", "c"])[[len(t) % 3 for t in TEXTS]]


def fitted(y, **params):
    return TextClassifier(**PLAIN | {"bits": 14, "max_iter": 2, "random_state": 0} | params).fit(TEXTS, y)


# ------------------------------------------------------------------------------ the table


@given(st.lists(st.integers(0, 2**40), unique=True, max_size=40))
def test_keys_come_back_from_their_differences(keys):
    keys = np.sort(np.asarray(keys, np.int64))
    assert keys_of(gaps_of(keys)).tolist() == keys.tolist()


@pytest.mark.parametrize(
    ("gaps", "message"),
    [([1, 200], "no end"), ([255] * 9 + [1], "more bytes"), ([255] * 8 + [127] * 2, "add")],
)
def test_bytes_that_are_no_differences(gaps, message):
    with pytest.raises(ValueError, match=message):
        keys_of(np.asarray(gaps, np.uint8))


@pytest.mark.parametrize("n_classes", [1, 3])
def test_a_table_is_a_matrix_with_most_entries_zero(n_classes):
    keys = np.unique(RNG.integers(0, 512 * n_classes, 200))
    columns, classes = keys // n_classes, keys % n_classes
    codes = RNG.integers(-127, 128, len(keys)).astype(np.int8)
    scales, bias = np.linspace(0.5, 2.0, n_classes), np.zeros(n_classes)
    kept = np.unique(columns)
    steps = RNG.integers(0, 256, len(kept)).astype(np.uint8)
    table = WeightTable(512, gaps_of(keys), codes, scales, bias, steps, Idf(9.0, 0.03, 7.5))
    W, idf = np.zeros((512, n_classes)), np.full(512, 7.5)
    W[columns, classes], idf[kept] = codes * scales[classes], 9.0 - 0.03 * steps
    asked = RNG.integers(0, 512, 90).astype(np.uint32)
    places = table.places(asked)
    values = table.values(np.ones(90, np.float32), places)
    np.testing.assert_allclose(values, idf[asked])
    np.testing.assert_array_equal(table.of_columns(asked), W[asked])
    rows = [(0, 40), (40, 40), (40, 90)]
    expected = [values[a:b] @ W[asked[a:b]] for a, b in rows]
    np.testing.assert_allclose(
        table.products(values, np.array([0, 40, 40, 90]), places), expected, atol=1e-12
    )


# ------------------------------------------------------------------------------ which weights stay


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "params", [{"rule": "perceptron"}, {"rule": rules.AROW()}], ids=["average", "confidence"]
)
def test_the_largest_weights_stay_rounded_to_a_byte(y, params):
    clf = fitted(y, **params)
    small = shrink(clf, size_mb=0.004)
    before, after = clf.coef_, small.coef_
    assert small.n_weights_ == np.count_nonzero(after) < np.count_nonzero(before)
    scales = np.abs(after).max(axis=1, keepdims=True) / 127
    kept = after != 0.0
    assert (np.abs(after - before) <= 0.5001 * scales)[kept].all()
    lost = np.where(kept, 0.0, np.abs(before))
    assert lost.max() <= np.abs(before)[kept].min() + 0.5001 * scales.max()
    np.testing.assert_array_equal(small.intercept_, clf.intercept_)
    assert small.predict(TEXTS).dtype == clf.predict(TEXTS).dtype


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_scores_are_those_of_the_weights_that_are_left(y):
    clf = fitted(y)
    small = shrink(clf, size_mb=0.004)
    X = clf.hash(TEXTS)
    lengths = np.sqrt(X.multiply(X).sum(axis=1) + clf.intercept_scaling_**2)
    expected = (X @ small.coef_.T + small.intercept_) / np.asarray(lengths).reshape(-1, 1)
    scores = small.decision_function(TEXTS)
    np.testing.assert_allclose(scores.reshape(len(TEXTS), -1), expected, atol=1e-12)
    np.testing.assert_allclose([small.score_one(t) for t in TEXTS[:5]], scores[:5])
    assert [small.predict_one(t) for t in TEXTS[:5]] == small.predict(TEXTS[:5]).tolist()


def test_all_weights_where_there_is_room_for_them():
    clf = fitted(TWO)
    small = shrink(clf, size_mb=1.0)
    assert small.n_weights_ >= 0.9 * np.count_nonzero(clf.coef_)  # a few are rounded to 0
    assert (small.predict(TEXTS) == clf.predict(TEXTS)).mean() > 0.98
    assert (clf.predict(TEXTS) == fitted(TWO).predict(TEXTS)).all()  # it is as it was


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_the_idf_of_what_stays_is_that_of_the_model(y):
    clf = fitted(y, idf=True, rule="arow", ngram_range=(1, 2))
    df, n = clf.document_counts_, clf.n_texts_
    idf = 1.0 + np.log((1.0 + n) / (1.0 + df))
    importance = np.abs(clf.coef_) * idf * np.sqrt(df)
    small = shrink(clf, size_mb=0.0035)
    kept, columns = small.coef_ != 0.0, small._table.columns
    scales = np.abs(small.coef_).max(axis=1, keepdims=True) / 127
    lost = ~kept & (np.abs(clf.coef_) > 0.5001 * scales)  # others are rounded to 0
    assert importance[lost].max() <= importance[kept].min()
    step = np.log(1.0 + n) / 255
    got = small._table.values(np.ones(len(columns)), small._table.places(columns.astype(np.uint32)))
    np.testing.assert_allclose(got, idf[columns], atol=0.51 * step)
    whole = shrink(clf, size_mb=1.0)
    np.testing.assert_allclose(whole.decision_function(TEXTS), clf.decision_function(TEXTS), atol=0.05)
    seen, left = np.flatnonzero(df), np.setdiff1d(np.flatnonzero(df), columns)
    new = df[seen].min() * np.count_nonzero(df == df[seen].min())
    squares = (df[left] * idf[left] ** 2).sum() + new * (1.0 + np.log(1.0 + n)) ** 2
    assert np.isclose(small._table.idf.rest**2, squares / (df[left].sum() + new))


# ------------------------------------------------------------------------------ files


@pytest.mark.parametrize("rule", ["perceptron", "arow"])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_the_file_is_as_small_as_asked_for_and_gives_the_same_bits(tmp_path, y, rule):
    clf = fitted(y, ngram_range=(1, 2), rule=rule)
    for size_mb in (0.003, 0.0035):
        small = shrink(clf, size_mb)
        save(small, tmp_path / "small.model")
        size = (tmp_path / "small.model").stat().st_size
        assert 0.97 * size_mb * 10**6 < size == file_bytes(small) <= size_mb * 10**6
        loaded = load(tmp_path / "small.model")
        assert type(loaded) is SmallTextClassifier
        assert np.array_equal(loaded.decision_function(TEXTS), small.decision_function(TEXTS))
        assert loaded.explain(TEXTS[0]) == small.explain(TEXTS[0])
        for other in (pickle.loads(pickle.dumps(small)), copy.deepcopy(loaded)):
            assert np.array_equal(other.decision_function(TEXTS), small.decision_function(TEXTS))


def test_the_search_for_the_number_of_weights_halves_what_is_left(monkeypatch):
    clf, calls = fitted(TWO, analyzer="char", ngram_range=(1, 4), bits=20), []

    def counted(ranked, n):
        calls.append(n)
        return pruning.table_of(ranked, n)

    monkeypatch.setattr(shrinking, "table_of", counted)
    assert shrink(clf, 0.0025).n_weights_ > 100 and len(calls) < 15


def test_one_size_that_is_too_small_for_anything():
    with pytest.raises(ValueError, match=r"size_mb=0.0001 is too small: without any weight this model takes"):
        shrink(fitted(TWO), size_mb=0.0001)


# ------------------------------------------------------------------------------ probabilities


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_probabilities_are_those_of_the_scores_that_are_left(tmp_path, y, calibration):
    clf = fitted(y, probability=True, calibration=calibration)
    whole, small = shrink(clf, size_mb=1.0), shrink(clf, size_mb=0.004)
    np.testing.assert_allclose(whole.predict_proba(TEXTS), clf.predict_proba(TEXTS), atol=0.15)
    found = small.predict_proba(TEXTS)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    settled = calibrating.settled(clf).curves
    odds = settled.log_odds(small.decision_function(TEXTS).reshape(len(TEXTS), -1))
    np.testing.assert_array_equal(found, np.exp(curves.log_probabilities(odds)))
    save(small, tmp_path / "small.model")
    assert np.array_equal(load(tmp_path / "small.model").predict_proba(TEXTS), found)
    assert not hasattr(shrink(fitted(y), size_mb=0.004), "predict_proba")


# ------------------------------------------------------------------------------ explained


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_an_explanation_adds_up_to_the_score(y):
    small = shrink(fitted(y, ngram_range=(1, 2)), size_mb=0.004)
    for text in [*TEXTS[:5], "", "unknown"]:
        told = small.explain(text)
        total = told.intercept + sum(c.contribution for c in told.contributions)
        assert np.isclose(told.score, total, atol=1e-12) and told.label == small.predict_one(text)


def test_names_stay_on_request():
    clf = fitted(TWO, keep_names=True)
    small = shrink(clf, size_mb=0.006, keep_names=True)
    assert 0 < len(small.names_) < len(clf.names_)
    strongest = small.strongest(3)
    assert strongest.keys() == {"few", "many"} and {w for w, _ in strongest["many"]} <= set(WORDS)
    for one, message in ((shrink(clf, size_mb=0.006), "keep_names=True"), (SmallTextClassifier(), "names_")):
        with pytest.raises(AttributeError, match=message):
            _ = one.names_
    with pytest.raises(ValueError, match="no names of its columns"):
        shrink(fitted(TWO), size_mb=0.006, keep_names=True)


# ------------------------------------------------------------------------------ refused


def test_what_is_refused():
    clf = fitted(TWO)
    small = shrink(clf, size_mb=0.004)
    learn = (
        lambda: small.fit(TEXTS, TWO),
        lambda: small.partial_fit(TEXTS, TWO),
        lambda: small.learn_one("a", "few"),
    )
    for call in learn:
        with pytest.raises((AttributeError, TypeError), match=r"only predicts.*Train the model that"):
            call()
    with pytest.raises(ValueError, match="no record of a run"):
        small.run_record()
    for other in (small, Perceptron()):
        with pytest.raises(TypeError, match=f"shrink takes a TextClassifier; got {type(other).__name__}"):
            shrink(other, size_mb=1.0)
    with pytest.raises(NotFittedError):
        shrink(TextClassifier(), size_mb=1.0)
    with pytest.raises(NotFittedError):
        clone(small).predict(TEXTS)
    with pytest.raises(ValueError, match="readout='vote'"):
        shrink(fitted(TWO, rule="perceptron", readout="vote"), size_mb=1.0)
    several = TextClassifier(bits=10, max_iter=1).fit(TEXTS, np.eye(3, dtype=int)[np.arange(len(TEXTS)) % 3])
    with pytest.raises(ValueError, match="one label a text; this one has several"):
        shrink(several, size_mb=1.0)
    with pytest.raises(ValueError, match="size_mb must be a positive number"):
        shrink(clf, size_mb=0)
    small.bits = 13
    with pytest.raises(ValueError, match="bits cannot change"):
        small.predict(TEXTS)


# ------------------------------------------------------------------------------ the command line


def test_the_command_shrinks_a_model_that_predicts_as_before(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{label}\t{text}\n" for label, text in zip(TWO, TEXTS, strict=True)]
    (tmp_path / "mail.tsv").write_text("".join(lines))
    assert main(["train", "mail.tsv", "--text", "--no-header", "--bits", "14", "-m", "big.model"]) == 0
    assert main(["shrink", "big.model", "-o", "small.model", "--size-mb", "0.005"]) == 0
    assert "SmallTextClassifier, 2 classes, " in capsys.readouterr().out
    assert (tmp_path / "small.model").stat().st_size <= 5000
    for command in ("evaluate", "predict"):
        assert main([command, "small.model", "mail.tsv"]) == 0
    assert main(["info", "small.model"]) == 0 and "weights" in capsys.readouterr().out
    assert main(["shrink", "big.model", "-o", "big.model", "--size-mb", "1"]) == 2
    assert main(["shrink", "small.model", "-o", "other.model", "--size-mb", "1"]) == 2
    assert not (tmp_path / "other.model").exists()
