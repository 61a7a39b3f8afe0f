"""Texts to rows: words by Unicode, n-grams, values, encodings; judged by a few lines of Python."""

from __future__ import annotations

import pickle
import re
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from comparing import same_weights
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_texts import PLAIN
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import Perceptron as Peer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from perceptrons import (
    AROW,
    KernelClassifier,
    OnlineClassifier,
    TextClassifier,
    TextHasher,
    load,
    rules,
    save,
)
from perceptrons.io import Texts
from perceptrons.text import EncodingError, loops, tables

SAMPLES = Path(__file__).parents[2] / "data" / "models"
MAIL = ["cheap pills, buy now", "lunch at noon?", "buy cheap watches", "notes of the meeting at noon"]
LABELS = ["spam", "ham", "spam", "ham"]


def lowered(text: str) -> str:
    return "".join(c.lower() for c in text)  # character by character: no final sigma


def in_word(c: str) -> bool:
    return c == "_" or unicodedata.category(c)[0] in "LMN"


def words(text: str) -> list[str]:
    """Runs of two or more word characters, by the book."""
    marked = "".join(c if in_word(c) else "\0" for c in text)
    return [lowered(run) for run in marked.split("\0") if len(run) >= 2]


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", "".join(" " if c.isspace() else c for c in text))


def grams(items, low, high, join):
    return [join(items[i : i + n]) for n in range(low, high + 1) for i in range(len(items) - n + 1)]


def within_words(text: str, low: int, high: int) -> list[str]:
    found = []
    for word in squeezed(text).split(" "):
        if word:
            padded = f" {word} "
            for n in range(low, high + 1):
                found += [lowered(g) for g in grams(padded, n, n, "".join) or [padded]]
                if len(padded) <= n:
                    break
    return found


def counts(X) -> list[Counter]:
    """Values of each row, as a multiset: columns are hashes."""
    return [Counter(X[[i]].data.tolist()) for i in range(X.shape[0])]


def expected(features: list[str]) -> Counter:
    return Counter(float(n) for n in Counter(features).values())


plain = st.text(max_size=60)
rich = st.text(alphabet=st.sampled_from("aAbÉéßİıΣςσКк日本ा́_9٣ \t\n,.-\u2028\xa0𝒜😀\U000e0101"), max_size=40)


@given(st.one_of(plain, rich))
def test_words_are_runs_of_letters_marks_digits_and_underscores(text):
    X = TextHasher(bits=30, norm=None).transform([text])
    assert counts(X) == [expected(words(text))]


@given(st.one_of(plain, rich), st.integers(1, 3), st.integers(0, 2))
def test_runs_of_words(text, low, more):
    X = TextHasher(bits=30, norm=None, ngram_range=(low, low + more)).transform([text])
    assert counts(X) == [expected(grams(words(text), low, low + more, " ".join))]


@given(st.one_of(plain, rich), st.integers(1, 3), st.integers(0, 2))
def test_runs_of_characters(text, low, more):
    X = TextHasher(bits=30, norm=None, analyzer="char", ngram_range=(low, low + more)).transform([text])
    found = [lowered(g) for g in grams(squeezed(text), low, low + more, "".join)]
    assert counts(X) == [expected(found)]


@given(st.one_of(plain, rich), st.integers(1, 4), st.integers(0, 2))
def test_runs_of_characters_within_words(text, low, more):
    X = TextHasher(bits=30, norm=None, analyzer="char_wb", ngram_range=(low, low + more)).transform([text])
    assert counts(X) == [expected(within_words(text, low, low + more))]


@pytest.mark.parametrize("analyzer", ["word", "char", "char_wb"])
@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2), (2, 4)])
def test_ascii_as_scikit_learn_cuts_it(analyzer, ngram_range):
    texts = ["The quick brown_fox; jumps over the lazy dog!", "a bc  def ghi-jkl", "", "x"]
    ours = TextHasher(bits=30, norm=None, analyzer=analyzer, ngram_range=ngram_range).transform(texts)
    theirs = HashingVectorizer(
        n_features=2**30, norm=None, analyzer=analyzer, ngram_range=ngram_range, alternate_sign=False
    ).transform(texts)
    assert counts(ours) == counts(theirs)


def test_the_tables_hold_every_character_of_a_word():
    known = tables.unicode_tables()
    for c in [*range(0x3000), *range(0x1F000, 0x20010), *range(0xE0000, 0xE0300), 0x3FFFF, 0x10FFFF]:
        at = int(loops.place(c))
        assert (known.kind[at] == tables.WORD) == in_word(chr(c)), hex(c)
        if known.kind[at] == tables.WORD:
            assert int(known.lower[at]) == int.from_bytes(chr(c).lower().encode(), "little"), hex(c)


def test_no_word_character_lies_beyond_the_tables():
    beyond = (c for c in range(tables.PLANES, 0x110000) if not 0xE0000 <= c < 0xE0200)
    assert not any(in_word(chr(c)) or chr(c).isspace() for c in beyond)


def test_rows_list_each_column_once_in_the_order_of_the_text():
    hasher = TextHasher(norm=None)
    X = hasher.transform(["to be or not to be"])
    single = [int(hasher.transform([word]).indices[0]) for word in ("to", "be", "or", "not")]
    assert X.indices.tolist() == single
    assert X.data.tolist() == [2, 2, 1, 1]


@given(st.lists(st.one_of(plain, rich), max_size=8))
def test_str_bytes_and_texts_give_the_same_rows(texts):
    hasher = TextHasher(bits=12)
    rows = [
        hasher.transform(given)
        for given in (
            texts,
            [t.encode() for t in texts],
            Texts.of(texts),
            np.asarray(texts, object),
            iter(texts),
        )
    ]
    for other in rows[1:]:
        assert np.array_equal(rows[0].indices, other.indices)
        assert np.array_equal(rows[0].data, other.data)
        assert np.array_equal(rows[0].indptr, other.indptr)


def test_values():
    text = ["to be or not to be to"]
    assert TextHasher(norm=None, values="binary").transform(text).data.tolist() == [1, 1, 1, 1]
    sublinear = TextHasher(norm=None, values="sublinear").transform(text).data
    np.testing.assert_allclose(sublinear, 1 + np.log([3, 2, 1, 1]))
    unit = TextHasher().transform(text).data
    np.testing.assert_allclose(unit, np.asarray([3, 2, 1, 1]) / np.sqrt(15))


def test_the_sign_is_another_bit_of_the_hash():
    text = [" ".join(f"word{i}" for i in range(400))]
    plain, signed = (TextHasher(norm=None, signed=s).transform(text) for s in (False, True))
    assert np.array_equal(plain.indices, signed.indices)
    assert np.array_equal(np.abs(signed.data), plain.data)
    assert 120 < (signed.data < 0).sum() < 280


def test_a_seed_is_another_hash():
    one, two = (TextHasher(seed=s).transform(["a few words"]).indices for s in (0, 1))
    assert not set(one) & set(two)


def test_columns_are_spread_evenly():
    X = TextHasher(bits=10, norm=None).transform([" ".join(f"w{i}" for i in range(100_000))])
    load = np.zeros(1024)
    load[X.indices] = X.data
    assert load.sum() == 100_000
    chi2 = ((load - load.mean()) ** 2 / load.mean()).sum()
    assert 800 < chi2 < 1250  # 1023 degrees of freedom, 5 standard deviations


def test_the_columns_never_change():
    """They are part of every saved model."""
    X = TextHasher(bits=22, ngram_range=(1, 2)).transform(["To be, или НЕ быть"])
    assert X.indices.tolist() == COLUMNS


COLUMNS = [1064360, 3969927, 2648578, 2059110, 3107757, 2083949, 2931026, 880292, 1374637]


def test_stop_words():
    X = TextHasher(norm=None, stop_words=["the", "Of"]).transform(["the end of The world"])
    assert len(X.indices) == 2  # a stop word is read as a text is
    bigrams = TextHasher(norm=None, stop_words=["of"], ngram_range=(2, 2)).transform(
        ["end of days", "end days"]
    )
    assert np.array_equal(bigrams[[0]].indices, bigrams[[1]].indices)  # left out before runs are made
    english = TextHasher(norm=None, stop_words="english").transform(["the and of"])
    assert english.nnz == 0


def test_invalid_utf8_is_refused_and_named():
    with pytest.raises(EncodingError, match=r"text 1 is not valid UTF-8: byte 0xff at position 3"):
        TextHasher().transform([b"fine", b"bad\xffbad"])
    with pytest.raises(EncodingError, match="text 0 holds a lone surrogate"):
        TextHasher().transform(["bad \ud800"])


@given(st.lists(st.binary(max_size=30), max_size=5))
def test_replaced_bytes_separate_words_as_python_would(texts):
    hasher = TextHasher(bits=30, norm=None, errors="replace")
    X = hasher.transform(texts)
    decoded = [t.decode("utf-8", "replace") for t in texts]
    assert counts(X) == [expected(words(t)) for t in decoded]
    assert (hasher.n_invalid_ > 0) == any(
        "\ufffd" in d and b"\xef\xbf\xbd" not in t for d, t in zip(decoded, texts)
    )


def test_names():
    hasher = TextHasher(keep_names=True, ngram_range=(1, 2))
    X = hasher.transform(["Straße, nach   Norden"])
    assert {hasher.names_[j] for j in X.indices} == {
        "straße",
        "nach",
        "norden",
        "straße, nach",
        "nach norden",
    }


def test_large_texts_are_hashed_in_pieces_and_threads():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, 5000, size)) for size in rng.integers(0, 4000, 400)]
    one, two = (TextHasher(n_jobs=n).transform(texts) for n in (1, 2))
    assert (one != two).nnz == 0
    i = 123
    assert (one[[i]] != TextHasher().transform([texts[i]])).nnz == 0


@pytest.mark.parametrize(
    "bad",
    [
        {"bits": 0},
        {"bits": 31},
        {"analyzer": "sentence"},
        {"ngram_range": (2, 1)},
        {"ngram_range": 3},
        {"values": "tfidf"},
        {"seed": -1},
        {"errors": "ignore"},
        {"stop_words": "klingon"},
        {"stop_words": [1]},
        {"norm": "l3"},
        {"dtype": int},
    ],
    ids=str,
)
def test_bad_parameters(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        TextHasher(**bad).fit()


@pytest.mark.parametrize("X", ["one text", [1, 2], [None], 5, [["a", "b"], ["c", "d"]]], ids=str)
def test_what_is_no_text(X):
    with pytest.raises(ValueError, match="text"):
        TextHasher().transform(X)
    with pytest.raises(ValueError, match="text"):
        TextClassifier().fit(X, LABELS[: len(X)] if isinstance(X, list) else ["spam"])


def test_texts_that_lie_outside_their_buffer():
    buffer = np.zeros(4, np.uint8)
    for starts, stops in (([0], [5]), ([-1], [2]), ([3], [2])):
        with pytest.raises(ValueError, match="within their buffer"):
            TextHasher().transform(Texts(buffer, np.asarray(starts), np.asarray(stops)))


# ---------------------------------------------------------------- the learner


sentences = st.lists(st.sampled_from(["ab", "cd", "ef", "gh", "éé"]), max_size=6).map(" ".join)
corpus = st.lists(st.tuples(sentences, st.sampled_from("xy")), min_size=2, max_size=20).filter(
    lambda rows: len({label for _, label in rows}) == 2
)


@pytest.mark.parametrize(
    ("readout", "rule"),
    [
        ("last", rules.Perceptron()),
        ("average", rules.Perceptron()),
        pytest.param("last", rules.PA1(C=0.5), marks=pytest.mark.exhaustive),
        pytest.param("average", rules.ROMMA(), marks=pytest.mark.exhaustive),
    ],
    ids=str,
)
@settings(max_examples=20)
@given(rows=corpus)
def test_all_at_once_in_pieces_and_one_at_a_time(rule, readout, rows):
    texts, labels = [t for t, _ in rows], [label for _, label in rows]
    made = {"rule": rule, "readout": readout, "bits": 10}
    whole = TextClassifier(max_iter=1, shuffle=False, **made).fit(texts, labels)
    pieces, single = TextClassifier(**made), TextClassifier(**made)
    pieces.partial_fit(texts[:1], labels[:1], classes=["x", "y"]).partial_fit(texts[1:], labels[1:])
    single.partial_fit(texts[:1], labels[:1], classes=["x", "y"])
    for text, label in rows[1:]:
        single.learn_one(text, label)
    same_weights(whole, pieces)
    same_weights(whole, single)
    assert [single.score_one(t) for t in texts] == pytest.approx(whole.decision_function(texts))
    assert [single.predict_one(t) for t in texts] == whole.predict(texts).tolist()


@pytest.mark.compiled_later
def test_it_learns_what_hasher_and_learner_learn():
    rng = np.random.default_rng(1)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, 60, 20)) for _ in range(200)]
    labels = ["yes" if "w1 " in t or "w2 " in t else "no" for t in texts]
    made = {"rule": rules.PA1(), "readout": "average", "row_norm": "l2", "max_iter": 3, "random_state": 0}
    fused = TextClassifier(**{**PLAIN, **made}, bits=12, precision="float64").fit(texts, labels)
    apart = make_pipeline(TextHasher(bits=12, norm=None), OnlineClassifier(**made)).fit(texts, labels)
    np.testing.assert_allclose(fused.coef_, apart[-1].coef_, rtol=1e-9, atol=1e-12)
    assert fused.n_updates_ == apart[-1].n_updates_
    assert fused.n_features_in_ == 2**12


@pytest.mark.parametrize("y", [LABELS, ["a", "b", "c", "a"]], ids=["two", "three"])
def test_rules_with_a_confidence_per_column(y):
    texts, labels = MAIL * 5, y * 5
    made = {"row_norm": "l2", "shuffle": False, "max_iter": 2}
    plain = {**PLAIN, **made, "rule": rules.AROW(r=0.5)}
    fused = TextClassifier(readout="last", bits=12, precision="float64", **plain)
    apart = AROW(r=0.5, **made).fit(TextHasher(bits=12, norm=None).transform(texts), labels)
    fused.fit(texts, labels)
    np.testing.assert_allclose(fused.coef_, apart.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fused.covariance_, apart.covariance_)
    assert fused.predict(MAIL).tolist() == y
    assert fused.predict_one(MAIL[0]) == y[0]
    told = fused.explain(MAIL[0])
    assert told.score == pytest.approx(told.intercept + sum(c.contribution for c in told.contributions))
    fused.learn_one("another one", labels[0])
    with pytest.raises(ValueError, match="readout='last'"):
        TextClassifier(rule=rules.SCW1(phi=1.0), readout="average").fit(texts, labels)
    with pytest.raises(ValueError, match="AROW predicts with its last weights"):
        TextClassifier(readout="average").fit(texts, labels)  # the default rule
    with pytest.raises(rules.RuleError, match="first-order"):
        OnlineClassifier(rule=rules.AROW()).fit([[0.0], [1.0]], [0, 1])


def test_every_rule_that_has_a_name_fits_the_default_readout(tmp_path):
    for name, record in rules.NAMES.items():
        with_confidence = isinstance(record, (rules.AROW, rules.SCW1))
        model = TextClassifier(rule=name, bits=8)
        model._check_params()
        assert model._rule() == record and model._readout == ("last" if with_confidence else "average")
        TextClassifier(rule=record, bits=8)._check_params()
    made = {"bits": 12, "precision": "float64", "row_norm": "l2", "shuffle": False, "max_iter": 2}
    by_name = TextClassifier(rule="arow", **made).fit(MAIL, LABELS)
    by_record = TextClassifier(rule=rules.AROW(), **made).fit(MAIL, LABELS)
    assert np.array_equal(by_name.coef_, by_record.coef_) and by_name.predict(MAIL).tolist() == LABELS
    save(by_name, tmp_path / "model")
    assert load(tmp_path / "model").partial_fit(MAIL, LABELS).rule == "arow"


def test_names_of_rules_elsewhere():
    X, y = [[1.0, 0.0], [0.0, 2.0]], [1, 0]
    for learner in (OnlineClassifier, KernelClassifier):
        assert learner(rule="pa1").fit(X, y).predict(X).tolist() == y
        with pytest.raises(rules.RuleError, match=r"one of perceptron, .*, scw; got rule='arrow'"):
            learner(rule="arrow").fit(X, y)
        with pytest.raises(rules.RuleError, match=r"got AROW\(r=1\.0\)\. Use perceptrons\.AROW"):
            learner(rule="arow").fit(X, y)


def test_the_hasher_takes_the_place_of_scikit_learns():
    for vectorizer in (HashingVectorizer(n_features=2**18), TextHasher(bits=18)):
        pipe = make_pipeline(vectorizer, Peer(random_state=0)).fit(MAIL, LABELS)
        assert pipe.predict(MAIL).tolist() == LABELS


@pytest.mark.compiled_later
def test_many_classes_that_appear_on_the_way():
    clf = TextClassifier(bits=12)
    for text, label in zip(["alpha beta", "gamma delta", "epsilon zeta"] * 4, [0, 1, 2] * 4):
        clf.learn_one(text, label)
    assert clf.predict(["alpha", "gamma", "zeta"]).tolist() == [0, 1, 2]
    assert [type(score) for score in clf.score_one("alpha")] == [float] * 3
    assert [type(part) for part in (clf.predict_one("alpha"), clf.explain("alpha").label)] == [int, int]


def test_an_explanation_adds_up():
    clf = TextClassifier(**PLAIN, bits=16, random_state=0).fit(MAIL, LABELS)
    for text in ("Cheap cheap lunch", "", "unheard of"):
        told = clf.explain(text)
        total = told.intercept + sum(c.contribution for c in told.contributions)
        assert total == pytest.approx(clf.decision_function([text])[0], abs=1e-6)
        assert told.score == pytest.approx(total, abs=1e-6)
        assert told.label == clf.predict([text])[0]
    names = [c.feature for c in clf.explain("Cheap CHEAP lunch").contributions]
    assert sorted(names) == ["cheap", "lunch"]
    assert "cheap" in str(clf.explain("cheap"))
    with pytest.raises(ValueError, match="vote"):
        TextClassifier(**PLAIN, bits=8, readout="vote").fit(MAIL, LABELS).explain("x")


def test_an_explanation_for_many_classes():
    clf = TextClassifier(**PLAIN, bits=14, random_state=0, include_initial=True).fit(
        ["ab ab", "cd", "ef gh"], [0, 1, 2]
    )
    told = clf.explain("ab cd")
    column = clf.classes_.tolist().index(told.label)
    assert told.score == pytest.approx(clf.decision_function(["ab cd"])[0, column])
    assert told.score == pytest.approx(told.intercept + sum(c.contribution for c in told.contributions))


def test_rows_beyond_the_cache_lie_on_disk_and_change_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    rng = np.random.default_rng(2)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, 3000, 300)) for _ in range(2000)]
    labels = rng.integers(0, 2, 2000)
    seen = []
    fits = [
        TextClassifier(
            bits=12,
            max_iter=2,
            random_state=0,
            cache_mb=mb,
            callback=lambda _: seen.append(len([*tmp_path.iterdir()])),
        ).fit(texts, labels)
        for mb in (0.01, None)
    ]
    assert seen == [1, 1, 0, 0]
    same_weights(*fits)
    assert not [*tmp_path.iterdir()]


def test_prepared_batches_are_the_texts():
    one, two = TextClassifier(bits=12), TextClassifier(bits=12)
    one.partial_fit(MAIL, LABELS)
    two.partial_fit(two.prepare_batch(MAIL), LABELS)
    same_weights(one, two)
    with pytest.raises(ValueError, match="other parameters"):
        TextClassifier(bits=12, seed=1).partial_fit(two.prepare_batch(MAIL), LABELS)


def test_names_of_what_was_learned():
    clf = TextClassifier(bits=16, keep_names=True, random_state=0).fit(MAIL, LABELS)
    clf.learn_one("a new word", "ham")
    assert {"cheap", "pills", "noon", "new", "word"} <= set(clf.names_.values())
    with pytest.raises(AttributeError, match="keep_names"):
        _ = TextClassifier().fit(MAIL, LABELS).names_


@pytest.mark.parametrize("y", [LABELS, ["a", "b", "c", "b"]], ids=["two", "three"])
def test_the_strongest_words_of_each_label(y):
    clf = TextClassifier(**PLAIN, bits=18, keep_names=True, random_state=0, readout="last").fit(MAIL, y)
    told = clf.strongest(3)
    assert set(told) == set(y)
    alone = clf.decision_function([word for pairs in told.values() for word, _ in pairs])
    sides = [label for label, pairs in told.items() for _ in pairs]
    assert all(weight > 0 for pairs in told.values() for _, weight in pairs)
    if len(set(y)) == 2:
        bias = clf.intercept_[0]
        assert all((score > bias / np.sqrt(2)) == (side == "spam") for score, side in zip(alone, sides))
    assert {word for word, _ in told[y[0]]} <= {"cheap", "pills", "buy", "now", "watches"}
    with pytest.raises(AttributeError, match="keep_names"):
        TextClassifier(bits=8).fit(MAIL, y).strongest()


def test_invalid_bytes_are_counted():
    clf = TextClassifier(bits=10, errors="replace").fit([b"good\xff\xfe text", b"other"], [0, 1])
    assert clf.n_invalid_ == 2
    with pytest.raises(EncodingError):
        TextClassifier(bits=10).fit([b"good\xff\xfe text", b"other"], [0, 1])


def test_the_fast_path_takes_unicode_long_texts_and_errors():
    clf = TextClassifier(bits=12)
    clf.learn_one("one two", "a")
    clf.learn_one("three", "b")
    slow = TextClassifier(bits=12).partial_fit(["one two", "three"], ["a", "b"])
    for text in ("eins zwei", "äöü ßß", "x" * 200_000 + " yy", "", "日本語 テスト"):
        clf.learn_one(text, "a")
        slow.partial_fit([text], ["a"])
        same_weights(clf, slow)
    before = clf.coef_
    for bad in (b"\xff\xff", 5, None, "\ud800"):
        with pytest.raises(ValueError):
            clf.learn_one(bad, "a")
    assert np.array_equal(before, clf.coef_)


def test_bits_may_not_change_under_a_model():
    clf = TextClassifier(bits=10).fit(MAIL, LABELS)
    with pytest.raises(ValueError, match="bits=11 does not fit"):
        clf.set_params(bits=11).predict(MAIL)


# ---------------------------------------------------------------- as a scikit-learn estimator


@pytest.mark.parametrize("model", [TextHasher(bits=10, stop_words=["a"]), TextClassifier(bits=10)], ids=repr)
def test_cloning_pickling_and_tags(model):
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    tags = get_tags(model)
    assert tags.input_tags.string and not tags.input_tags.two_d_array
    if isinstance(model, TextClassifier):
        model.fit(MAIL, LABELS)
        model.learn_one("one more", "ham")
        again = pickle.loads(pickle.dumps(model))
        assert again.predict(MAIL).tolist() == model.predict(MAIL).tolist()
        again.learn_one("and more", "spam")
        model.learn_one("and more", "spam")
        same_weights(again, model)
    else:
        again = pickle.loads(pickle.dumps(model))
        assert (again.transform(MAIL) != model.transform(MAIL)).nnz == 0


def test_a_grid_search_and_data_frames():
    texts, labels = MAIL * 5, LABELS * 5
    search = GridSearchCV(TextClassifier(bits=10, random_state=0), {"ngram_range": [(1, 1), (1, 2)]}, cv=2)
    assert search.fit(texts, labels).score(texts, labels) == 1.0
    frame = pd.DataFrame({"text": texts, "label": labels})
    assert (
        TextClassifier(bits=10).fit(frame["text"], frame["label"]).score(frame["text"], frame["label"]) == 1.0
    )


def test_an_unfitted_model_says_so():
    for ask in (lambda m: m.predict(MAIL), lambda m: m.predict_one("x"), lambda m: m.explain("x")):
        with pytest.raises(NotFittedError):
            ask(TextClassifier())


@pytest.mark.parametrize("default", [True, False])
def test_texts_are_scored_in_pieces_and_threads(default, monkeypatch):
    """The same bits as all at once, and the bytes that were read over are counted once."""
    monkeypatch.setattr("perceptrons.text.hashing._SCORED", 64)
    texts = [f"{t} {i % 7} and more" for i, t in enumerate(MAIL * 10)]
    made = {} if default else PLAIN  # by default texts are scored without rows
    clf = TextClassifier(bits=12, errors="replace", **made).fit(texts, LABELS * 10)
    one = clf.decision_function(texts)
    assert np.array_equal(one, clf.set_params(n_jobs=2).decision_function(iter(texts)))
    assert np.array_equal(one, clf.decision_function(clf.prepare_batch(texts)))
    assert np.array_equal(one, [clf.decision_function([t])[0] for t in texts])
    before = clf.n_invalid_
    clf.predict([b"ab\xff", *texts, b"\xfe"])
    assert clf.n_invalid_ == before + 2
    with pytest.raises(EncodingError, match="text 40 is not valid"):
        clf.set_params(errors="refuse").predict([*texts, b"\xfe"])
    with pytest.raises(ValueError, match="text 40 is 5"):
        clf.predict([*texts, 5])
    with pytest.raises(ValueError, match="0 sample"):
        clf.predict([])


def test_the_default_is_what_it_says():
    """Every part by its name, and the learner of before by its parameters."""
    texts = [f"{t} {'!' * (i % 3)} {i % 5}" for i, t in enumerate(MAIL * 4)]
    made = {"bits": 12, "precision": "float64", "random_state": 0}
    clf = TextClassifier(**made).fit(texts, LABELS * 4)
    rest = {key: value for key, value in DEFAULTS.items() if key != "rule"}
    named = TextClassifier(**made, **rest, rule=rules.AROW(r=0.1)).fit(texts, LABELS * 4)
    same_weights(clf, named)
    clf.set_params(idf=False).fit(texts, LABELS * 4)
    hasher = TextHasher(tokens="all", ngram_range=(1, 2), values="sublinear", norm=None, bits=12)
    apart = AROW(r=0.1, row_norm="l2", max_iter=3, random_state=0).fit(hasher.transform(texts), LABELS * 4)
    np.testing.assert_allclose(clf.coef_, apart.coef_, rtol=1e-9, atol=1e-12)
    clf.set_params(idf=True)
    assert clf.n_iter_ == 3 and {key: clf.get_params()[key] for key in DEFAULTS} == DEFAULTS


DEFAULTS = {
    "rule": None,
    "tokens": "all",
    "ngram_range": (1, 2),
    "values": "sublinear",
    "idf": True,
    "row_norm": "l2",
    "max_iter": 3,
    "readout": "auto",
}


@pytest.mark.parametrize(
    "name", ["format1/text", "format2/text", "format2/text_confidence", "format2/text_average"]
)
def test_files_of_before_load_as_what_they_were(name, tmp_path):
    """They have no ``tokens``: then words were meant, and no rule was the perceptron."""
    old = load(SAMPLES / f"{name}.model")
    assert old.tokens == "words" and (old.rule == "perceptron" or isinstance(old.rule, rules.AROW))
    save(old, tmp_path / "again")
    again = load(tmp_path / "again")
    assert again.get_params() == old.get_params()
    assert again.predict(MAIL).tolist() == old.predict(MAIL).tolist()
    again.learn_one("one more text", old.classes_[0])
    assert type(again._space.learners[0].rule) is type(again._rule())
