"""The parameters that say how a text becomes a row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import numpy as np
import numpy.typing as npt

from ..core import checks
from ..core.parameters import spec
from ..io import Texts
from .hashing import ANALYZERS, TOKENS, VALUES, AnyTexts, Hasher, as_texts

MOST_BITS = 30  # columns are signed 32-bit numbers in scipy
LONGEST_GRAM = 32


@spec
class TextParameters:
    r"""What :class:`~perceptrons.TextHasher` and :class:`~perceptrons.TextClassifier` share.

    Parameters
    ----------
    bits : int, default=22
        The rows have :math:`2^{bits}` columns.
    analyzer : {"word", "char", "char_wb"}, default="word"
        Features are runs of words, of characters (white space counts as one space), or of the characters of
        each word with a space on either side.
    tokens : {"words", "all"}, default="words"
        What runs of words are made of: words of two or more letters, marks, digits and underscores; or all
        that one sees: words of a single letter too, and each other character (punctuation, symbols, emoji)
        as a token of its own. White space, control and format characters separate. For ``"word"`` only.
    ngram_range : (int, int), default=(1, 1)
        Shortest and longest run.
    lowercase : bool, default=True
        Capitals count as small letters.
    stop_words : "english", list of str or None, default=None
        Words that are left out before runs are made.
    values : {"count", "binary", "sublinear"}, default="count"
        How often a feature occurs, 1, or one plus the logarithm of how often.
    signed : bool, default=False
        Half of the features, by another bit of the hash, count negatively.
    seed : int, default=0
        Another seed is another hash.
    errors : {"refuse", "replace"}, default="refuse"
        Invalid UTF-8 is an error, or separates words and is counted in ``n_invalid_``.
    keep_names : bool, default=False
        Keep the first feature that occurs in each column, for ``names_``.
    """

    bits: int = 22
    analyzer: str = "word"
    tokens: str = "words"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    stop_words: str | Iterable[str] | None = None
    values: str = "count"
    signed: bool = False
    seed: int = 0
    errors: str = "refuse"
    keep_names: bool = False

    def _check_text_params(self) -> None:
        checks.whole("bits", self.bits)
        if self.bits > MOST_BITS:
            raise ValueError(f"bits must be at most {MOST_BITS}, for 2^bits columns; got bits={self.bits!r}.")
        checks.one_of("analyzer", self.analyzer, tuple(ANALYZERS))
        checks.one_of("tokens", self.tokens, TOKENS)
        _check_range(self.ngram_range)
        checks.flag("lowercase", self.lowercase)
        checks.one_of("values", self.values, tuple(VALUES))
        checks.flag("signed", self.signed)
        checks.whole("seed", self.seed, least=0)
        if self.seed >= 2**64:
            raise ValueError(f"seed must be below 2^64; got seed={self.seed!r}.")
        checks.one_of("errors", self.errors, ("refuse", "replace"))
        checks.flag("keep_names", self.keep_names)
        self._stop_list()

    def _stop_list(self) -> list[str]:
        words = self.stop_words
        if words is None:
            return []
        if isinstance(words, str):
            if words != "english":
                raise ValueError(f"stop_words must be 'english', a list of words or None; got {words!r}.")
            from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

            return sorted(ENGLISH_STOP_WORDS)
        if not isinstance(words, Iterable) or not all(isinstance(word, str) for word in words):
            raise ValueError(f"stop_words must be 'english', a list of words or None; got {words!r}.")
        return sorted(words)

    def _stop_key(self) -> str | tuple[str, ...] | None:
        """The stop words as a part of a recipe, which is compared with others."""
        words = self.stop_words
        return words if isinstance(words, (str, type(None))) else tuple(self._stop_list())

    def _texts(self, X: AnyTexts) -> Texts:
        return as_texts(X, self.errors == "replace")

    def _new_hasher(self, unit: bool, dtype: npt.DTypeLike) -> Hasher:
        self._check_text_params()
        return Hasher(self, self._stop_list(), unit, dtype)


def _check_range(value: object) -> None:
    try:
        low, high = cast(tuple[int, int], value)
        fine = all(type(n) is int or isinstance(n, np.integer) for n in (low, high))
        fine = fine and 1 <= low <= high <= LONGEST_GRAM
    except (TypeError, ValueError):
        fine = False
    if not fine:
        raise ValueError(
            f"ngram_range must be a pair (shortest, longest) of integers from 1 to {LONGEST_GRAM}; "
            f"got ngram_range={value!r}."
        )
