"""The cutter of texts against a slow one: tokens, places, hashes and counts, in buffers that just fit."""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections import Counter

import boundscheck
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptrons import TextHasher, load, save
from perceptrons.engine.hashing import FINISH, MULTIPLIER, ORIGIN
from perceptrons.io import Texts
from perceptrons.text import EncodingError, hashing, loops, tables

M, F, ORIGIN_ = int(MULTIPLIER), int(FINISH), int(ORIGIN)
WORD, SIGN, BETWEEN = "word", "sign", "between"


# ------------------------------------------------------------------------------------------ the slow cutter


def characters(text: bytes):
    """(character or None where the bytes are no UTF-8, where it begins, where it ends)."""
    p = 0
    while p < len(text):
        for end in range(p + 1, min(len(text), p + 4) + 1):
            try:
                found = text[p:end].decode()
            except UnicodeDecodeError:
                continue
            break
        else:
            found, end = None, p + 1
        yield found, p, end
        p = end


def kind(c: str | None) -> str:
    if c is None or c.isspace() or unicodedata.category(c) in ("Cc", "Cf"):
        return BETWEEN
    return WORD if c == "_" or unicodedata.category(c)[0] in "LMN" else SIGN


def cut(text: bytes, tokens: str) -> list[tuple[str, int, int]]:
    """(token, where it begins, where it ends)."""
    found = []
    for what, run in itertools.groupby(characters(text), key=lambda one: kind(one[0])):
        run = list(run)
        if what == WORD and (tokens == "all" or len(run) > 1):
            found.append(("".join(c for c, _, _ in run), run[0][1], run[-1][2]))
        elif what == SIGN and tokens == "all":
            found += run
    return found


def hashed(token: str, seed: int, lowercase: bool) -> int:
    h = 0
    for c in token:
        shown = c.lower() if lowercase else c
        inside = ord(c) < tables.PLANES or 0xE0000 <= ord(c) < 0xE0200
        for byte in (
            shown if inside else "\U000e0000"
        ).encode():  # one token for all that is beyond the tables
            h = ((h ^ byte) * M) % 2**64
    return finished(h ^ ORIGIN_ ^ (seed * F) % 2**64)


def finished(h: int) -> int:
    h = ((h ^ (h >> 32)) * F) % 2**64
    return h ^ (h >> 32)


def features(text: bytes, how: TextHasher) -> list[tuple[int, int, int]]:
    """(hash, begin, end) of every run, short ones first."""
    known = [(hashed(t, how.seed, how.lowercase), a, b) for t, a, b in cut(text, how.tokens)]
    stop = {hashed(word, how.seed, how.lowercase) for word in how.stop_words or ()}
    known = [one for one in known if one[0] not in stop]
    found = []
    for size in range(how.ngram_range[0], how.ngram_range[1] + 1):
        for first in range(len(known) - size + 1):
            run = known[first : first + size]
            h = run[0][0]
            for other, _, _ in run[1:]:
                h = finished((((h ^ 0x20) * M) % 2**64) ^ other)
            found.append((h, run[0][1], run[-1][2]))
    return found


def row(text: bytes, how: TextHasher) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    """(columns, counts, places of the first of each)."""
    mask, counts, places = (1 << how.bits) - 1, Counter(), {}
    for h, begin, end in features(text, how):
        counts[h & mask] += 1
        places.setdefault(h & mask, (begin, end))
    return list(counts), list(counts.values()), list(places.values())


# ---------------------------------------------------------------------------------------------------- draws

PIECES = [
    *(
        b"a",
        b"B",
        b"_",
        b"9",
        b"ab",
        b"!",
        b"?",
        b",",
        b"...",
        b" ",
        b"  ",
        b"\t",
        b"\n",
        b"\0",
        b"\x1f",
        b"\x7f",
    ),
    *(s.encode() for s in "éßİıΣςК日١ा़—«»…¿€°Ⓐ😀🏽\u200d\ufe0f\u00ad\u00a0\u2028\ufffd\ue000\u0378"),
    *(s.encode() for s in "\U0001f469\U000e0101\U000e0020\U000f0000\U0010ffff\U0003ffff𝒜"),
    *(b"\xff", b"\xc3", b"\xe2\x80", b"\xed\xa0\x80", b"\xf0\x9f", b"\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80"),
]
texts = st.one_of(st.binary(max_size=40), st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join))
recipes = st.fixed_dictionaries(
    {
        "tokens": st.sampled_from(["all", "words"]),
        "ngram_range": st.tuples(st.integers(1, 4), st.integers(0, 3)).map(lambda r: (r[0], r[0] + r[1])),
        "lowercase": st.booleans(),
        "stop_words": st.sampled_from([None, ["a", "!", "ab", "😀"]]),
        "seed": st.integers(0, 2),
        "bits": st.sampled_from([4, 30]),
    }
)


def tight(hasher: hashing.Hasher, given: list[bytes]) -> hashing.HashedRows:
    """Hashed in scratch arrays that have no entry too many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "_LEAST_TEXT", 0)
        patch.setattr(hashing, "_PIECE", 0)
        return hasher.hash(Texts.of(given), spans=True)


def scored(hasher: hashing.Hasher, given: list[bytes], rows: hashing.HashedRows) -> None:
    """The scores of the rows that are not made are those of the rows."""
    w = np.cos(np.arange(hasher.shape[1] + 1.0))
    df = np.arange(len(w), dtype=np.uint32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "_LEAST_TEXT", 0)
        patch.setattr(hashing, "_PIECE", 0)
        found = hasher.scores_under(Texts.of(given), w, df, 2.0, True)
    x = rows.data * (1.0 + np.log(1.0 + df[-1]) - np.log(1.0 + df[rows.indices]))
    for i, score in enumerate(found):
        own = slice(rows.indptr[i], rows.indptr[i + 1])
        length = np.sqrt(np.sum(x[own] ** 2) + 4.0)
        assert score == pytest.approx((x[own] @ w[rows.indices[own]] + 2.0 * w[-1]) / length, abs=1e-12)


def check(given: list[bytes], made: dict) -> None:
    how = TextHasher(norm=None, errors="replace", **made)
    rows = tight(how._hasher(), given)
    if given and how.bits < 10:
        scored(how._hasher(), given, rows)
    plain = how.transform(given)  # without places: in loops of their own
    assert np.array_equal(plain.indices, rows.indices) and np.array_equal(plain.data, rows.data)
    begin = 0
    for i, text in enumerate(given):
        a, b = rows.indptr[i], rows.indptr[i + 1]
        places = [(int(x) - begin, int(y) - begin) for x, y in zip(rows.first[a:b], rows.last[a:b])]
        assert (rows.indices[a:b].tolist(), rows.data[a:b].tolist(), places) == row(text, how)
        begin += len(text)
    single = TextHasher(norm=None, errors="replace", **{**made, "ngram_range": (1, 1), "stop_words": None})
    assert rows.n_invalid == sum(c is None for text in given for c, _, _ in characters(text))
    assert single.transform(given).sum() == sum(len(cut(text, how.tokens)) for text in given)


@given(st.lists(texts, max_size=4), recipes)
def test_tokens_places_hashes_and_counts(given, made):
    check(given, made)


@pytest.mark.uncompiled
@given(st.lists(texts, max_size=3), recipes)
def test_tokens_in_plain_python(given, made):
    check(given, made)


FUZZ = """
import sys
import numpy as np
from unit.text.test_tokens import PIECES, check
rng = np.random.default_rng(int(sys.argv[1]))
for turn in range(int(sys.argv[2])):
    given = []
    for n in rng.integers(0, 60, 3):
        random = rng.integers(0, 256, n, dtype=np.uint8).tobytes()
        few = [PIECES[k] for k in rng.integers(0, len(PIECES), 3)]
        drawn = b"".join(few[k] for k in rng.integers(0, 3, n))
        given += [random, drawn, b"".join(PIECES[k] for k in rng.integers(0, len(PIECES), n))]
    low, more = rng.integers(1, 5), rng.integers(0, 4)
    check(given, {
        "tokens": ("all", "words")[turn % 2], "ngram_range": (int(low), int(low + more)), "seed": turn % 3,
        "lowercase": bool(rng.integers(2)), "stop_words": [None, ["a", "!", "ab"]][rng.integers(2)],
        "bits": (4, 30)[rng.integers(2)],
    })
"""


@pytest.mark.exhaustive
def test_no_index_leaves_an_array():
    boundscheck.run_code(FUZZ, "0", "400")


# ---------------------------------------------------------------------------------------------- single cases


def names(text: str, **made) -> list[str]:
    hasher = TextHasher(tokens="all", norm=None, keep_names=True, **made)
    columns = hasher.transform([text]).indices
    return [hasher.names_[int(j)] for j in columns]


def test_every_word_and_every_sign_is_a_token():
    assert names("I can't — really?! ❤ 日本。") == [
        *("i", "can", "'", "t", "—", "really", "?", "!", "❤", "日本", "。"),
    ]
    assert names("a\x00b\u200dc\u00add\x1fe") == ["a", "b", "c", "d", "e"]  # these only separate
    assert names("x, y", ngram_range=(2, 2)) == ["x,", ", y"]


def test_a_sign_has_a_hash_of_its_own():
    """No other character, and no short word, has the column of a sign."""
    hasher = TextHasher(tokens="all", lowercase=False)._hasher()
    every = [chr(c) for c in range(0x3000) if kind(chr(c)) != BETWEEN]
    pairs = ["".join(two) for two in itertools.product("abcdefghijklmnopqrstuvwxyz0123456789_", repeat=2)]
    found = []
    for token in every + pairs:
        texts_ = Texts.of([token])
        workspace = hashing.workspace_for(hasher.recipe, len(texts_.buffer))
        assert hashing._cut(hasher._for(hasher.recipe, texts_), workspace, texts_)[2] == 1
        found.append(int(workspace.hashes[0]))
    assert len(set(found)) == len(found)


def test_no_character_is_forgotten():
    """Every character that Python has is part of a word, a sign, or one that separates."""
    known = tables.unicode_tables()
    of = {tables.WORD: WORD, tables.SIGN: SIGN}
    for c in range(0, 0x110000, 7):
        if not 0xD800 <= c < 0xE000:
            assert of.get(known.kind[int(loops.place(c))], BETWEEN) == kind(chr(c)), hex(c)


def test_the_columns_of_all_tokens_never_change():
    """They are part of every saved model."""
    X = TextHasher(tokens="all", ngram_range=(1, 2), values="sublinear", norm=None).transform(
        ["To be, to БЫТЬ — 😀!"]
    )
    assert X.indices.tolist() == COLUMNS


COLUMNS = [
    1064360,
    3969927,
    143224,
    3107757,
    2838795,
    1023184,
    956165,
    2083949,
    1002920,
    2419635,
    3117894,
    1369591,
    3367808,
    765792,
]


def test_stop_words_may_be_signs():
    X = TextHasher(tokens="all", norm=None, stop_words=["a", ",", "don't"]).transform(["a, b"])
    assert X.nnz == 1  # what is no single token is no stop word
    assert TextHasher(norm=None, stop_words=["a", ","]).transform(["a, bc"]).nnz == 1


def test_invalid_bytes_are_refused_or_separate():
    with pytest.raises(EncodingError, match="byte 0xff at position 1"):
        TextHasher(tokens="all").transform([b"a\xffb"])
    assert names("a\ufffdb") == ["a", "\ufffd", "b"]  # the character itself is valid
    X = TextHasher(tokens="all", norm=None, errors="replace").transform([b"a\xffb", b"a b"])
    assert X[[0]].indices.tolist() == X[[1]].indices.tolist()


@pytest.mark.parametrize("count", [1, 2, 3, 100, 255, 256, 300])
def test_logarithms_of_small_counts_come_from_a_table(count):
    how = TextHasher(values="sublinear", norm=None)
    assert how.transform(["ab " * count]).data.tolist() == [1.0 + math.log(count)]
    without = how._hasher()
    without.recipe = without.recipe._replace(worth=without.recipe.worth[:1])
    assert without.hash(Texts.of(["ab " * count])).data.tolist() == [1.0 + math.log(count)]
    minus = TextHasher(values="sublinear", norm=None, signed=True, seed=2).transform(["cd " * count])
    assert abs(minus.data[0]) == 1.0 + math.log(count)


def test_a_hasher_of_words_is_stored_as_before(tmp_path):
    """Files of earlier versions have no ``tokens``, and mean words."""
    for model in (TextHasher(), TextHasher(tokens="all")):
        save(model, tmp_path / "m")
        assert (b"tokens" in (tmp_path / "m").read_bytes()) == (model.tokens == "all")
        assert load(tmp_path / "m").tokens == model.tokens
