"""Explanations: every feature by name, every piece of the text with its share, and HTML that is safe."""

from __future__ import annotations

import functools
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from perceptrons import TextClassifier, shrink
from perceptrons.text.explaining import Contribution, Explanation, TextPart
from perceptrons.text.showing import MOST_LETTERS

MAIL = [
    "Cheap pills, buy now!",
    "lunch at noon?",
    "buy cheap watches — now",
    "notes of the meeting at noon",
] * 2
LABELS = ["spam", "ham"] * 4
WAYS = {
    "1-2-grams of all tokens": {},
    "1-3-grams of words": {"tokens": "words", "ngram_range": (1, 3)},
    "2-grams without stop words": {"ngram_range": (2, 2), "stop_words": ["at", "the", ","]},
    "characters": {"analyzer": "char", "ngram_range": (1, 3)},
    "characters of words": {"analyzer": "char_wb", "ngram_range": (2, 4)},
    "signed": {"signed": True, "bits": 4},
}
SOME = st.one_of(
    st.text(max_size=40), st.lists(st.sampled_from(" ".join(MAIL).split()), max_size=9).map(" ".join)
)


@functools.cache
def model(name: str):
    usual = {"bits": 14, "random_state": 0, "errors": "replace", "max_iter": 2}
    return TextClassifier(**usual | WAYS[name]).fit(MAIL, LABELS)


@pytest.mark.parametrize("name", WAYS)
@settings(max_examples=40, deadline=None)
@given(
    text=st.one_of(
        st.text(max_size=40), st.lists(st.sampled_from(" ".join(MAIL).split()), max_size=9).map(" ".join)
    )
)
@example(text="buy buy, buy now! now now\n\n now")
@example(text="ΑΣ ǅ ſ\u0301 \ud800 🙂🙂 a\x1cb")
@example(text="")
def test_pieces_of_the_text_add_up_to_the_score(name, text):
    told = model(name).explain(text)
    whole = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    assert "".join(part.text for part in told.parts) == whole
    total = told.intercept + sum(part.contribution for part in told.parts)
    assert np.isclose(total, told.score, atol=1e-6)


def test_n_grams_have_names():
    told = model("1-2-grams of all tokens").explain("Buy PILLS, now")
    assert {c.feature for c in told.contributions} == {
        *("buy", "pills", ",", "now"),
        *("buy pills", "pills,", ", now"),
    }
    told = model("characters").explain("A \n b")
    assert {c.feature for c in told.contributions} == {"a", "b", " ", "a b"}
    named = TextClassifier(bits=14, keep_names=True, random_state=0).fit(MAIL, LABELS)
    words = {word for pairs in named.strongest(20).values() for word, _ in pairs}
    assert {"cheap", "at noon", "buy cheap"} <= words


def test_every_occurrence_has_its_share():
    clf = TextClassifier(bits=14, random_state=0, ngram_range=(1, 1)).fit(MAIL, LABELS)
    told = clf.explain("buy lunch buy")
    assert [part.text for part in told.parts] == ["buy", " ", "lunch", " ", "buy"]
    by_name = {c.feature: c.contribution for c in told.contributions}
    shares = [part.contribution for part in told.parts]
    assert np.allclose(shares, [by_name["buy"] / 2, 0.0, by_name["lunch"], 0.0, by_name["buy"] / 2])


def test_a_pair_of_words_is_shared_by_both():
    clf = TextClassifier(bits=14, random_state=0, ngram_range=(2, 2)).fit(MAIL, LABELS)
    told = clf.explain("buy cheap")
    (only,) = told.contributions
    assert np.allclose(
        [part.contribution for part in told.parts], [only.contribution / 2, 0.0, only.contribution / 2]
    )


def test_small_models_show_the_same():
    small = shrink(model("1-2-grams of all tokens"), size_mb=0.1)
    told = small.explain("buy cheap lunch")
    assert np.isclose(told.intercept + sum(part.contribution for part in told.parts), told.score)
    assert "<span" in told._repr_html_()


# ------------------------------------------------------------------------------ HTML


class Reader(HTMLParser):
    """The tags, the attributes and the text of a page."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], set(), set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return reader


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=60), label=st.text(max_size=8))
@example(text="<script>alert(1)</script> \"'&amp; <b onclick=x>", label="<img src=x onerror=y>")
@example(text="\u202eabc\x00\x1b[0m", label="a")
def test_no_text_becomes_markup(text, label):
    parts = tuple(TextPart(word, float(k) - 3.0) for k, word in enumerate(text.split(" ")))
    found = Explanation(label, label, 1.0, 0.5, [Contribution(text, 1.0, 2.0, 2.0)], parts)
    seen = read(found._repr_html_())
    assert seen.tags <= {"div", "p", "b", "span", "sup", "details", "summary", "table", "tr", "td"}
    assert seen.attributes <= {"style", "title"}
    plain = "".join(seen.text)
    assert not any(ord(c) < 32 and c not in "\n\t\x0b\x0c\r\x1c\x1d\x1e\x1f" for c in plain)


def test_signs_beside_colours_and_long_texts():
    parts = (TextPart("good", 1.0), TextPart(" ", 0.0), TextPart("bad", -0.5), TextPart(" dull", 0.001))
    html = Explanation("yes", "yes", 0.501, 0.0, [], parts)._repr_html_()
    assert 'title="+1">good<sup>+</sup></span> <span' in html and "bad<sup>−</sup>" in html
    assert "dull<sup>" not in html and "score +0.501" in html
    long = Explanation(
        "yes", "yes", 1.0, 0.0, [], (TextPart("a" * (MOST_LETTERS + 7), 1.0), TextPart("b", 1.0))
    )
    assert "8 more characters" in long._repr_html_() and len(long._repr_html_()) < MOST_LETTERS + 2000
