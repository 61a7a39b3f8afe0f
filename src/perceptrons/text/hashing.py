"""From parameters to a recipe, and from texts to rows."""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from .._sparse import CsrRows
from .._types import SparseMatrix
from ..engine.hashing import FINISH, ORIGIN
from ..engine.intake import frozen
from ..engine.running_idf import NO_COUNTS, logarithms
from ..engine.temporary import TemporaryFolder
from ..io import Texts
from ..rows import Near
from . import loops, scoring, tables
from .names import Names

if TYPE_CHECKING:
    from .parameters import TextParameters

R = TypeVar("R")
AnyTexts: TypeAlias = Any  # a collection of str and bytes, or Texts; checked by as_texts
ANALYZERS = {"word": loops.WORDS, "char": loops.CHARACTERS, "char_wb": loops.WITHIN_WORDS}
VALUES = {"count": loops.COUNT, "binary": loops.BINARY, "sublinear": loops.SUBLINEAR}
TOKENS = ("words", "all")
_TABLE = 256  # counts whose values come from a table
_PIECE = 1 << 21  # bytes of text hashed at a time
_SCORED = 1 << 19  # bytes of text hashed and scored at a time
_SIDE_BY_SIDE = 2  # bytes of text for each column from which on weights and counts are put side by side
_LEAST_TEXT = 1 << 14  # bytes that there is always room for
_U = np.uint64
_NONE = np.empty(0, np.uint64)


class EncodingError(ValueError):
    """A text that is not UTF-8, where that is refused."""


class HashedRows(NamedTuple):
    """Hashed texts."""

    indices: np.ndarray  #: uint32
    data: np.ndarray
    indptr: np.ndarray  #: int64, from 0
    first: np.ndarray  #: where in the buffer each feature first begins; empty without ``spans``
    last: np.ndarray
    n_invalid: int  #: bytes that are no UTF-8


def as_texts(X: AnyTexts, replace: bool) -> Texts:
    """Any collection of str and bytes in one buffer; raises where X is something else."""
    if isinstance(X, Texts):
        return _checked(X)
    if isinstance(X, (str, bytes)):
        raise ValueError("Iterable over raw texts expected, one str or bytes per text; got a single text.")
    if hasattr(X, "ndim") and X.ndim != 1:
        raise ValueError(f"X must hold one text per row, in one dimension; got shape {X.shape}.")
    if not isinstance(X, Iterable):
        raise ValueError(f"X must hold texts, str or bytes; got {type(X).__name__}.")
    given = list(X)
    try:
        return Texts.of(list(map(str.encode, given)))
    except (TypeError, UnicodeEncodeError):  # not all are strings, or not all are valid: one by one
        return Texts.of([_encoded(text, i, replace) for i, text in enumerate(given)])


def _encoded(text: object, i: int, replace: bool) -> bytes:
    if isinstance(text, str):
        try:
            return text.encode()
        except UnicodeEncodeError as error:
            if replace:
                return text.encode("utf-8", "surrogatepass")  # counted where it is read
            raise EncodingError(
                f"text {i} holds a lone surrogate, {text[error.start]!r}, at position {error.start}: no "
                "valid Unicode. Give errors='replace' to read over such places."
            ) from None
    if isinstance(text, (bytes, bytearray, memoryview)):
        return bytes(text)
    raise ValueError(f"X must hold texts, str or bytes; text {i} is {text!r}, a {type(text).__name__}.")


def _checked(texts: Texts) -> Texts:
    """Check that the texts lie within their buffer; the loops rely on it."""
    starts = np.ascontiguousarray(texts.starts, np.int64)
    stops = np.ascontiguousarray(texts.stops, np.int64)
    buffer = np.ascontiguousarray(texts.buffer)
    if buffer.dtype != np.uint8 or buffer.ndim != 1 or starts.shape != stops.shape or starts.ndim != 1:
        raise ValueError("Texts need a buffer of bytes, and as many starts as stops.")
    if len(starts) and not ((starts >= 0) & (starts <= stops) & (stops <= len(buffer))).all():
        raise ValueError("Texts must lie within their buffer: 0 <= start <= stop <= its length.")
    return Texts(buffer, starts, stops)


class Hasher:
    """Texts to rows of 2^bits columns; changes of ``how`` after this call have no effect."""

    def __init__(self, how: TextParameters, stop_words: Iterable[str], unit: bool, dtype: npt.DTypeLike):
        bits, lowercase = how.bits, how.lowercase
        self.lowercase = lowercase
        self.dtype = np.dtype(dtype)
        self.shape = (1, 1 << bits)
        self.invalid = np.zeros(1, np.int64)  #: bytes that were read over
        self._scratch = threading.local()
        known = tables.ascii_tables()
        shown = known.lower if lowercase else known.same
        single = how.tokens == "all"
        within = np.where(known.kind == tables.WORD, loops.IN_WORD | loops.IN_TOKEN, _U(0))
        if single:
            within[known.kind == tables.SIGN] = loops.IN_TOKEN
        self.recipe = loops.Recipe(
            ANALYZERS[how.analyzer],
            int(how.ngram_range[0]),
            int(how.ngram_range[1]),
            ORIGIN ^ _seed_state(how.seed),
            _U((1 << bits) - 1),
            bool(how.signed),
            VALUES[how.values],
            _worth(how.values),
            bool(unit),
            how.errors == "replace",
            _U(single),
            np.where(within > 0, shown, 0).astype(np.uint64),
            within,
            known.kind,
            shown,
            _NONE,
        )
        stop = self._hashes_of(stop_words)
        if len(stop):
            self.recipe = self.recipe._replace(stop=_open_table(stop))

    def _hashes_of(self, words: Iterable[str]) -> np.ndarray:
        """Hashes of single tokens, as the loops compute them."""
        whole = self.recipe._replace(cut=loops.WORDS, shortest=1, longest=1)
        found = []
        for word in words:
            texts = as_texts([word], False)
            workspace = workspace_for(whole, len(texts.buffer))
            ending, _, n = _cut(self._for(whole, texts), workspace, texts)
            if ending == loops.DONE and n == 1:
                found.append(workspace.hashes[0])
        return np.asarray(found, np.uint64)

    # ------------------------------------------------------------ tables of characters

    def _load_unicode(self) -> None:
        known = tables.unicode_tables()
        self.recipe = self._with(self.recipe, known)

    def _with(self, recipe: loops.Recipe, known: tables.Tables) -> loops.Recipe:
        return recipe._replace(kind=known.kind, bytes=known.lower if self.lowercase else known.same)

    def _for(self, recipe: loops.Recipe, texts: Texts) -> loops.Recipe:
        """The recipe, with the tables that these texts need."""
        return self._with(recipe, tables.unicode_tables()) if (texts.buffer >= 128).any() else recipe

    # ------------------------------------------------------------ hashing

    def pieces(self, texts: Texts, spans: bool = False, n_threads: int = 1) -> Iterator[HashedRows]:
        """Rows of some texts at a time, all in order."""

        def work(a: int, b: int) -> HashedRows:
            return self.hash(texts.some(slice(a, b)), spans, a)

        return _in_order(work, _cuts(texts, _PIECE), n_threads)

    def scores(
        self, texts: Texts, score: Callable[[SparseMatrix], np.ndarray], n_threads: int = 1
    ) -> np.ndarray:
        """What ``score`` makes of the rows, some at a time: each is scored by the thread that hashed it.

        A piece is small enough to stay in the cache of a core, and is not kept.
        """

        def work(a: int, b: int) -> tuple[np.ndarray, int]:
            rows = self.hash(texts.some(slice(a, b)), first_text=a, keep=False)
            return score(csr(rows.indices, rows.data, rows.indptr, self.shape[1])), rows.n_invalid

        found = list(_in_order(work, _cuts(texts, _SCORED), n_threads))
        self.invalid += sum(n_invalid for _, n_invalid in found)
        return np.concatenate([scores for scores, _ in found])

    def scores_under(
        self, texts: Texts, w: np.ndarray, df: np.ndarray, bias: float, unit: bool, n_threads: int = 1
    ) -> np.ndarray:
        """<w, x> of texts weighed by the counts ``df``: the scores of the rows, which are not made."""
        size = int(np.sum(texts.stops - texts.starts))
        w, df, step = (_side_by_side if size >= _SIDE_BY_SIDE * len(w) else _apart)(w, df)
        scores = np.empty(len(texts))

        def work(a: int, b: int) -> int:
            some = texts.some(slice(a, b))
            workspace, out = self._room(self.recipe, some, spans=False)
            out = out._replace(df=df, w=w, step=step)
            row, weights = Near(out.data, np.zeros(1), bias, unit), np.empty(len(workspace.counts), w.dtype)
            rest = frozen(some.buffer), some.starts, some.stops, logarithms(), row, weights, scores[a:b]
            workspace.invalid[0] = 0
            self._through(some, lambda recipe, i: scoring.score_rows(recipe, workspace, out, *rest, i), a)
            return int(workspace.invalid[0])

        self.invalid += sum(_in_order(work, _cuts(texts, _SCORED), n_threads))
        return scores

    def hash(self, texts: Texts, spans: bool = False, first_text: int = 0, keep: bool = True) -> HashedRows:
        """Rows of texts whose places have been checked; errors count from ``first_text``.

        With ``keep=False`` they are views of scratch arrays, until this thread hashes again.
        """
        recipe = self.recipe
        texts = Texts(frozen(texts.buffer), texts.starts, texts.stops)
        workspace, out = self._room(recipe, texts, spans)
        workspace.invalid[0] = 0
        indptr = np.zeros(len(texts) + 1, np.int64)

        def work(recipe: loops.Recipe, i: int) -> tuple[int, int, np.uint64]:
            return loops.hash_rows(recipe, workspace, out, *texts, indptr, i)

        self._through(texts, work, first_text)
        indices, data, first, last = (part[: indptr[-1]] for part in out[:4])
        if keep:
            indices, data, first, last = indices.copy(), data.copy(), first.copy(), last.copy()
        return HashedRows(indices, data, indptr, first, last, int(workspace.invalid[0]))

    def _through(
        self, texts: Texts, work: Callable[[loops.Recipe, int], tuple[int, int, np.uint64]], first_text: int
    ) -> None:
        """Let a loop go through all texts, from text i on by ``work(recipe, i)``, with the tables needed."""
        ending, i, at = work(self.recipe, 0)
        if ending == loops.NEEDS_UNICODE:
            self._load_unicode()
            ending, i, at = work(self.recipe, i)
        if ending == loops.INVALID:
            raise EncodingError(
                f"text {first_text + i} is not valid UTF-8: byte 0x{texts.buffer[at]:02x} at position "
                f"{int(at) - int(texts.starts[i])}. Give errors='replace' to read over such places."
            )
        assert i == len(texts), "there is room for every text"

    def _room(self, recipe: loops.Recipe, texts: Texts, spans: bool) -> tuple[loops.Workspace, loops.Out]:
        """Scratch arrays to hash these texts; this thread's last ones, if they are large enough."""
        longest = int((texts.stops - texts.starts).max()) if len(texts) else 0
        entries = sum_of_entries(recipe, texts)
        kept = vars(self._scratch).get("room")
        if kept is None or kept[0] < longest or kept[1] < entries or kept[2] != spans:
            longest, entries = max(longest, _LEAST_TEXT), max(entries, _PIECE // 2)
            out = loops.Out(
                np.empty(entries, np.uint32),
                np.empty(entries, self.dtype),
                np.empty(entries if spans else 0, np.uint64),
                np.empty(entries if spans else 0, np.uint64),
                NO_COUNTS,
                np.empty(0, self.dtype),
            )
            kept = self._scratch.room = (longest, entries, spans, workspace_for(recipe, longest), out)
        return kept[3], kept[4]

    def matrix(
        self, texts: Texts, cache_mb: float | None = None, n_threads: int = 1, names: Names | None = None
    ) -> SparseMatrix:
        """All texts as rows, on disk beyond ``cache_mb``; their features are added to ``names``."""
        store = Store(self.dtype, cache_mb)
        for rows in self.pieces(texts, spans=names is not None, n_threads=n_threads):
            store.append(rows)
            self.invalid += rows.n_invalid
            if names is not None:
                names.add(texts, rows, self.lowercase)
        return store.matrix(self.shape[1])


def _apart(w: np.ndarray, df: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.uint64]:
    """Weights and counts as they are; how :class:`loops.Out` has them."""
    return frozen(w), frozen(df), _U(1)


def _side_by_side(w: np.ndarray, df: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.uint64]:
    """The same in one array: a column that is not in the cache is fetched once, not twice."""
    if w.dtype.itemsize != df.dtype.itemsize:
        return _apart(w, df)
    both = np.empty((len(w), 2), df.dtype)
    both[:, 0], both[:, 1] = frozen(w).view(df.dtype), df
    both = frozen(both.reshape(-1))
    return both.view(w.dtype), both, _U(2)


@functools.cache
def _worth(values: str) -> np.ndarray:
    """The values of the first counts, as :func:`loops.computed_worth` has them."""
    with np.errstate(all="raise"):
        return frozen([loops.computed_worth(VALUES[values], float(count)) for count in range(_TABLE)])


def _seed_state(seed: int) -> np.uint64:
    with np.errstate(over="ignore"):
        return np.uint64(_U(seed) * FINISH)


def _cut(recipe: loops.Recipe, workspace: loops.Workspace, texts: Texts) -> loops.Ended:
    """(how it ended, where, tokens): see :func:`loops.cut_tokens`."""
    return loops.cut_one(recipe, workspace, texts.buffer, _U(texts.starts[0]), _U(texts.stops[0]))


def _open_table(hashes: np.ndarray) -> np.ndarray:
    """A table of at least twice as many places, 0 where there is none."""
    size = 1 << max(4, int(2 * len(hashes)).bit_length())
    table = np.zeros(size, np.uint64)
    for f in hashes:
        t = int(f) & (size - 1)
        while table[t] and table[t] != f:
            t = (t + 1) & (size - 1)
        table[t] = f
    return table


def most_entries(recipe: loops.Recipe, size: npt.ArrayLike) -> np.ndarray:
    """How many entries texts of so many bytes can have."""
    return np.asarray(loops.most_entries(recipe, np.asarray(size, np.uint64)))


def sum_of_entries(recipe: loops.Recipe, texts: Texts) -> int:
    return int(np.sum(most_entries(recipe, texts.stops - texts.starts)))


def workspace_for(recipe: loops.Recipe, longest: int) -> loops.Workspace:
    """Scratch arrays for texts of up to so many bytes."""
    entries = int(most_entries(recipe, longest)) + 1
    keys = 64
    while keys < 2 * entries:
        keys *= 2
    tokens = int(loops.most_tokens(recipe, _U(longest))) if recipe.cut == loops.WORDS else 0
    letters = 0 if recipe.cut == loops.WORDS else longest + 1
    return loops.Workspace(
        np.zeros(keys, np.uint64),
        np.empty(keys, np.uint32),
        np.empty(entries, np.int32),
        np.zeros(1, np.int64),
        np.empty(tokens, np.uint64),
        np.empty(tokens, np.uint64),
        np.empty(letters, np.uint32),
        np.empty(letters + 1, np.uint64),
        np.zeros(1, np.int64),
    )


def _in_order(work: Callable[[int, int], R], cuts: list[int], n_threads: int) -> Iterator[R]:
    """work(a, b) of each piece from a to b, in order."""
    if n_threads == 1 or len(cuts) < 3:
        yield from itertools.starmap(work, itertools.pairwise(cuts))
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(work, cuts[:-1], cuts[1:])


def _cuts(texts: Texts, piece: int) -> list[int]:
    """Text numbers that cut the texts into pieces of about so many bytes."""
    if not len(texts):
        return [0, 0]
    sizes = np.cumsum(texts.stops - texts.starts)
    cuts = [0]
    while cuts[-1] < len(texts):
        before = sizes[cuts[-1] - 1] if cuts[-1] else 0
        cuts.append(max(cuts[-1] + 1, int(np.searchsorted(sizes, before + piece, side="right"))))
    return cuts


class Store:
    """Rows piece by piece, in memory; once they are too many, in a folder that is deleted with them."""

    def __init__(self, dtype: np.dtype[Any], cache_mb: float | None):
        self.dtype = dtype
        self.limit = None if cache_mb is None else cache_mb * 2**20
        self.pieces: list[tuple[np.ndarray, np.ndarray]] = []
        self.lengths: list[np.ndarray] = []
        self.n_bytes = 0
        self.folder: TemporaryFolder | None = None

    def append(self, rows: HashedRows) -> None:
        self.lengths.append(np.diff(rows.indptr))
        self.pieces.append((rows.indices, rows.data))
        self.n_bytes += rows.indices.nbytes + rows.data.nbytes
        if self.folder is not None or (self.limit is not None and self.n_bytes > self.limit):
            self._spill()

    def _spill(self) -> None:
        if self.folder is None:
            self.folder = TemporaryFolder(prefix="perceptrons-rows-")
        for part, name in enumerate(("indices", "data")):
            with open(Path(self.folder.name) / name, "ab") as file:
                for piece in self.pieces:
                    file.write(piece[part].data)
        self.pieces.clear()

    def matrix(self, n_columns: int) -> SparseMatrix:
        """Everything in one piece."""
        lengths = np.concatenate(self.lengths) if self.lengths else np.empty(0, np.int64)
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        indices, data = self._arrays(int(indptr[-1]))
        return csr(indices, data, indptr, n_columns)

    def _arrays(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        if self.folder is None:
            if len(self.pieces) == 1:
                return self.pieces[0]
            parts = [[piece[part] for piece in self.pieces] for part in (0, 1)]
            return (
                np.concatenate([np.empty(0, np.uint32), *parts[0]]),
                np.concatenate([np.empty(0, self.dtype), *parts[1]]),
            )
        folder = Path(self.folder.name)
        indices = np.memmap(folder / "indices", np.uint32, "r", shape=(n,))
        data = np.memmap(folder / "data", self.dtype, "r", shape=(n,))
        weakref.finalize(data, self.folder.cleanup)  # the files stay as long as the array
        return indices, data


def csr(indices: np.ndarray, data: np.ndarray, indptr: np.ndarray, n_columns: int) -> SparseMatrix:
    """Rows as the loops write them, for a learner."""
    rows = CsrRows(data, indices.view(np.int32), indptr, (len(indptr) - 1, n_columns))
    return cast("SparseMatrix", rows)


def csr_array(rows: SparseMatrix) -> SparseMatrix:
    """The same rows for a user: a CSR array of unsorted rows without duplicates."""
    import scipy.sparse as sp

    indptr = rows.indptr.astype(np.int32) if rows.nnz < 2**31 else rows.indptr
    X = sp.csr_array((rows.data, rows.indices, indptr), shape=rows.shape)
    X.has_sorted_indices = False
    return X
