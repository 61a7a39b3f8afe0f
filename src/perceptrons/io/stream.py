"""open_stream: rows of any format from any source, in batches, in bounded memory."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Generator, Iterable, Iterator
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._sparse import as_scipy
from .._types import JsonObject
from .ahead import ReadAhead
from .formats import FORMATS, FileParser, LineParser, StreamOptions, by_content, by_name
from .keeping import KeptRows
from .missing import Missing
from .records import (
    Batch,
    FormatError,
    Limits,
    LineBlock,
    Parsed,
    Place,
    Refusals,
    StreamRows,
    checked_limits,
)
from .roles import Column
from .selecting import Selection
from .sources import AnySource, OpenSource, Source, blocks, sources

_LEAST_BLOCK = 16  # bytes

#: Batches, each with the bytes that were read so far.
Items: TypeAlias = ReadAhead[tuple[Batch, int]] | Generator[tuple[Batch, int], None, None]


class Stream:
    """Batches of rows; see :func:`open_stream`. Iterate over it as often as its source can be read.

    Attributes
    ----------
    bytes_read, rows : int
        How far the present pass has come: bytes as they are stored, rows that have been yielded.
    bytes_total : int or None
        Size of all sources; None where one of them is a pipe.
    skipped : int
        Bad lines that were skipped, over all passes.
    first_error : FormatError or None
        What was wrong with the first of them.
    n_features : int or None
        Columns of each batch; None as long as it is not known. libsvm: what was given or measured.
    """

    def __init__(self, source: AnySource, format: str, options: StreamOptions):
        self._sources = sources(source)
        self._options = options
        self._refusals = Refusals(options["on_error"] == "skip")
        self._limits: Limits = options["limits"]
        self._batch_bytes: int = options["batch_bytes"]
        self._format = format if format != "auto" else by_name(self._sources[0].name)
        self._parser: Any = (
            None  # a LineParser or a FileParser, with more attributes where the format has them
        )
        self._begun: tuple[OpenSource, Iterator[LineBlock]] | None = None  # a pipe that was looked into
        self._used = False
        self._skip = self._pass = 0
        self._selection = Selection()
        self._running: Items | None = None
        self._place: Place | None = None  #: of the lines that are read
        self._kept: KeptRows | None = None
        #: applied to the rows of each batch, ahead; None: CSR rows of libsvm stay as :class:`CsrRows`
        self.prepare: Callable[[StreamRows], Any] | None = as_scipy
        self.prepares_in_any_order = False  # whether two threads may call it at the same time
        self.bytes_read = self.rows = 0
        sizes = [one.size for one in self._sources]
        self.bytes_total = None if None in sizes else sum(size or 0 for size in sizes)

    # -------------------------------------------------------------------------------- what it is

    @property
    def format(self) -> str:
        """The format: by the name, otherwise by the first lines."""
        if self._format is None:
            self._format = self._looked()
        return self._format

    @property
    def again(self) -> bool:
        """Whether there can be another pass."""
        return all(source.again for source in self._sources)

    @property
    def skipped(self) -> int:
        return self._refusals.count

    @property
    def first_error(self) -> FormatError | None:
        return self._refusals.first

    @property
    def names(self) -> list[str]:
        """The names of the sources."""
        return [source.name for source in self._sources]

    @property
    def n_features(self) -> int | None:
        if self._options["n_features"] is not None:
            return self._options["n_features"]
        return None if self.format == "libsvm" else getattr(self._parser, "n_features", None)

    @n_features.setter
    def n_features(self, n: int) -> None:
        _whole("n_features", n, 1, 2**31 - 1)
        self._options["n_features"] = int(n)
        if self._parser is not None:
            self._parser.n_features = n

    @property
    def layout(self) -> JsonObject:
        """How the rows are read, as far as it is settled: the format, which column is what, what the first
        rows of a table have decided, and, after a whole pass with ``missing="mean"``, the means. Other data
        with the same layout are read the same way."""
        found: JsonObject = {"format": self.format}
        if self._text_column() is not None:
            found["text_column"] = self._text_column()
        found |= getattr(self._parser, "layout", {})
        return found

    def _text_column(self) -> Column | None:
        column = self._options["text_column"]
        return "text" if column == "auto" and self.format == "jsonl" else column

    @property
    def missing(self) -> tuple[int, int]:
        """Numbers that were missing and replaced, and rows left out because of them, in the present pass."""
        found = getattr(self._parser, "missing", None)
        return (0, 0) if found is None else (found.numbers, found.rows)

    def freeze_means(self) -> None:
        """Replace missing numbers in further passes by the means of the pass that has ended."""
        found = getattr(self._parser, "missing", None)
        if found is not None:
            found.given = found.means

    def measure(self) -> int:
        """Read a libsvm stream once for its largest index, which sets ``n_features``."""
        if self._options["n_features"] is None:
            if not self.again:
                raise ValueError(
                    f"{self.names[0]} can be read once only, and the number of columns must be known before: "
                    "give n_features."
                )
            self.close()
            for _ in self._produced():
                pass
            self.n_features = max(1, self._parser.width)
            self._refusals.count, self._refusals.first = 0, None
        n_features = self._options["n_features"]
        assert n_features is not None
        return n_features

    def skip(self, rows: int) -> None:
        """Let the next pass begin after this many rows."""
        if rows < 0:
            raise ValueError(f"rows must be at least 0; got rows={rows}.")
        self._skip = rows

    def select(
        self,
        *,
        holdout: Fraction | None = None,
        tested: bool = False,
        seed: int | None = None,
        passes: int = 0,
    ) -> None:
        """Let the next passes yield some of the rows, or shuffle them; without arguments, all in order.

        Parameters
        ----------
        holdout : fractions.Fraction, optional
            The share of the rows that is held out: with 1/10 the rows of number 9, 19, 29 …
        tested : bool, default=False
            Yield these rows, and not the others.
        seed : int, optional
            Shuffle the rows within their batch, in another order in each pass.
        passes : int, default=0
            Passes that have been made before, by a run that is resumed.
        """
        self._selection = Selection(holdout, tested, seed)
        self._pass = passes
        if self._kept is not None:
            self.keep_prepared(self._kept.room)

    def keep_prepared(self, n_bytes: float) -> None:
        """Let passes after the next one yield its batches, as they were prepared: the source is read once.

        It is read in every pass where rows are shuffled, and where batches take more than ``n_bytes``.
        0: nothing is kept.
        """
        self._kept = KeptRows(n_bytes, self._refusals) if n_bytes else None

    # ------------------------------------------------------------------------------------ passes

    def __iter__(self) -> Iterator[Batch]:
        self.close()
        if self._used and not self.again:
            raise ValueError(
                f"{next(s.name for s in self._sources if not s.again)} can be read once only; "
                "save it to a file for another pass."
            )
        if self._format is None:
            self._format = self._looked()
        self._used = True
        self.bytes_read = 0
        self.rows, self._skip = self._skip, 0
        number, self._pass = self._pass, self._pass + 1
        return self._taken(self.rows, number)

    def _taken(self, skip: int, number: int) -> Iterator[Batch]:
        """The batches of a pass; its thread runs from the first to the last."""
        kept = None if skip or self._selection.seed is not None or self.prepare is None else self._kept
        items: Items
        if kept is not None and kept.whole:
            items, kept = kept.again(), None
        else:
            if kept is not None:
                kept.begin()  # before a thread reads, and counts bad lines
            items = self._from_source(skip, number)
        self._running = items
        try:
            for batch, self.bytes_read in items:
                self.rows = batch.first_row + batch.n_rows
                if kept is not None:
                    kept.add(batch, self.bytes_read)
                yield batch
                del batch  # or two would be in memory while the next is made
            if kept is not None:
                kept.end()
        finally:
            items.close()

    def _from_source(self, skip: int, number: int) -> Items:
        """The batches as they are read, and prepared."""
        items, room = self._after(skip, self._selection, number), self._options["read_ahead"]
        if not room:
            return self._prepared_one_by_one(items)
        pipe = any(source.pipe for source in self._sources)
        shared = self.prepare is not None and self.prepares_in_any_order
        return ReadAhead(items, room, pipe, lambda item: item[0].nbytes, self._with_rows, shared)

    def _with_rows(self, item: tuple[Batch, int]) -> tuple[Batch, int]:
        """The item, with rows as the learner wants them."""
        batch, n_bytes = item
        return item if self.prepare is None else (batch._replace(X=self.prepare(batch.X)), n_bytes)

    def _prepared_one_by_one(
        self, items: Generator[tuple[Batch, int], None, None]
    ) -> Generator[tuple[Batch, int], None, None]:
        with contextlib.closing(items):
            for item in items:
                yield self._with_rows(item)
                del item

    def _after(
        self, skip: int, selection: Selection, number: int
    ) -> Generator[tuple[Batch, int], None, None]:
        for batch, n_bytes in self._produced():
            if batch.first_row + batch.n_rows <= skip:
                continue
            if batch.first_row < skip:
                batch = batch.after(skip - batch.first_row)
            batch = selection.of(batch, number)
            if not batch.n_rows:
                continue
            yield batch, n_bytes
            del batch

    def _produced(self) -> Iterator[tuple[Batch, int]]:
        row = before = 0
        getattr(self._parser, "begin_pass", lambda: None)()
        for source in self._sources:
            for part, taken in self._of_source(source):
                X, y, weights = part
                batch = Batch(X, y, weights, row, self._place)
                del part, X, y, weights
                if batch.n_rows:
                    row += batch.n_rows
                    yield batch, before + taken
                del batch
            before += source.size or 0

    def _of_source(self, source: Source) -> Iterator[tuple[Parsed, int]]:
        if self._parser is None:
            options: StreamOptions = {**self._options, "text_column": self._text_column()}
            self._parser = _parser(self.format, options, self._refusals)
        self._place = None
        if not FORMATS[self.format].by_lines:
            yield from self._parser.batches(source)
            return
        opened, found = self._begun or self._opened(source)
        self._begun = None
        getattr(self._parser, "next_file", lambda: None)()
        with contextlib.closing(opened), self._placing(source):
            whole = source.placed is None and getattr(self._parser, "in_lines", False)
            for block in found:
                self._place = Place(block.file, block.line) if whole else None
                for part in self._parser.parts(block):
                    yield part, opened.file.taken
                    del part
                del block

    @contextlib.contextmanager
    def _placing(self, source: Source) -> Iterator[None]:
        """Let errors in a part of a file name the line of the file."""
        self._refusals.placed = source.placed
        try:
            yield
        except FormatError as error:
            raise error if source.placed is None else source.placed(error) from error.__cause__

    def _opened(self, source: Source) -> tuple[OpenSource, Iterator[LineBlock]]:
        opened = OpenSource(source, self._limits)
        return opened, blocks(opened, self._batch_bytes, self._limits, self._refusals)

    def _looked(self) -> str:
        """The format by the first lines; bytes that were read from a pipe are kept."""
        source = self._sources[0]
        opened, found = self._opened(source)
        try:
            if opened.file.peek(4) == b"PAR1":
                return "parquet"
            first = next(found, None)
            if not source.again:
                self._begun = opened, itertools.chain([] if first is None else [first], found)
            head = b"" if first is None else first.buffer[: first.size].tobytes()
            return by_content(head, source.name)
        finally:
            if source.again:
                opened.close()

    # --------------------------------------------------------------------------------- closing

    def close(self) -> None:
        """End the present pass: its thread, and its file."""
        running, self._running = self._running, None
        if running is not None:
            running.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _parser(format: str, options: StreamOptions, refusals: Refusals) -> LineParser | FileParser:
    """The reader of a format."""
    if options["missing"] != "refuse" and not FORMATS[format].columns:
        raise ValueError(
            f"missing is for columns of csv, tsv and parquet; in {format} what is absent is 0. "
            f"Leave it out; got missing={options['missing']!r}."
        )
    return FORMATS[format].parser(options, refusals)


def open_stream(
    source: AnySource,
    format: str = "auto",
    *,
    label_column: int | str | None = "auto",
    text_column: int | str | None = None,
    weight_column: int | str | None = None,
    delimiter: str | None = None,
    header: bool | str = "auto",
    categorical: Iterable[int | str] | str = "auto",
    columns: Iterable[int | str] | None = None,
    missing: str = "refuse",
    means: Iterable[float] | None = None,
    n_features: int | None = None,
    bits: int = 18,
    seed: int = 0,
    zero_based: bool = False,
    batch_bytes: int = 1 << 21,
    on_error: str = "raise",
    encoding_errors: str = "refuse",
    limits: Limits | None = None,
    labels: str = "auto",
    label_prefix: str = "__label__",
    dtype: npt.DTypeLike = np.float64,
    read_ahead: int = 2,
) -> Stream:
    """Rows in batches, whatever the size of the source.

    Batches are cut by the bytes of the source alone: the same content gives the same batches, from a file or
    from a pipe.

    Parameters
    ----------
    source : path, list of paths, "-" (standard input), open binary file or bytes
        Plain, gz, bz2, xz or zst, told by the first bytes.
    format : {"auto", "libsvm", "vw", "fasttext", "csv", "tsv", "jsonl", "parquet"}, default="auto"
        ``"auto"``: by the name, or else by the first lines. ``"fasttext"``: a text on each line, with its
        labels as words that begin with ``label_prefix``, wherever they stand; batches hold :class:`Texts`,
        and lines without a label are left out, as fastText does.
    label_column : int, str or None, default="auto"
        A column of csv, tsv or parquet, by number (-1 is the last) or name; a key of jsonl. ``"auto"``: the
        one column named label, target, class or y; the first one where there is no header; in jsonl
        ``label``. None: the rows have no labels.
    text_column, weight_column : int, str or None, default=None
        Likewise. With a text column batches hold :class:`Texts`; ``"auto"``: the column named text, or else
        the second.
    delimiter : str, optional
        Default: a comma, and a tab for tsv.
    header : bool or "auto", default="auto"
        Whether the first line of a table names the columns.
    categorical : "auto" or list of columns, default="auto"
        Columns of a table that hold words; ``"auto"``: those that do in most rows of the first batch.
    columns : list of columns, optional
        The columns of a table that are features, in this order. Default: all that have no other role.
    missing : {"refuse", "zero", "mean", "skip"}, default="refuse"
        What becomes of a number that is missing in a column of numbers (nothing, NA, N/A, NaN, null, None
        or ?; in parquet null or NaN): an error, 0, the mean of the column's numbers in the rows of this pass
        that came before (0 if there are none), or the row is left out.
    means : list of float, optional
        With ``missing="mean"``: a number per column of features that takes the place of the running mean;
        what ``layout["means"]`` holds after a pass over other data.
    n_features : int, optional
        Columns of libsvm rows; an index beyond them is refused. Default: as many as have been seen so far.
    bits : int, default=18
        Names of vw, of jsonl and of tables with words are hashed to :math:`2^{bits}` columns.
    seed : int, default=0
        Of the hash.
    zero_based : bool, default=False
        Whether libsvm indices start at 0; else at 1.
    batch_bytes : int, default=2**21
        How many bytes of content make a batch.
    on_error : {"raise", "skip"}, default="raise"
        What becomes of a bad line; ``"skip"`` counts it in ``skipped``.
    encoding_errors : {"refuse", "replace"}, default="refuse"
        What becomes of bytes that are not UTF-8.
    limits : Limits, optional
        What is refused, so that memory stays bounded; see :class:`Limits`.
    labels : {"auto", "text", "number", "several", "ignore"}, default="auto"
        Kind of the labels in tables, jsonl and parquet; ``"auto"``: integers, numbers or words, by the first
        batch. ``"ignore"``: they are not read, and may be missing. ``"several"`` is for format fasttext: a
        line may have any number of labels, and each row has a tuple of them; with ``"auto"`` that is so if
        a line of the first batch has more than one.
    label_prefix : str, default="__label__"
        How the labels of format fasttext begin; it is no part of them.
    dtype : dtype, default=float64
        Of the values.
    read_ahead : int, default=2
        Batches made ahead in a thread; 0: no thread.

    Examples
    --------
    >>> stream = open_stream(b"spam\\tbuy now\\nham\\tsee you\\n", text_column=1)
    >>> [(batch.X.text(1), batch.y) for batch in stream]
    [('see you', array(['spam', 'ham'], dtype='<U4'))]
    >>> stream.format, stream.rows
    ('tsv', 2)
    """
    if format not in ("auto", *FORMATS):
        raise ValueError(f"format must be 'auto' or one of {', '.join(FORMATS)}; got format={format!r}.")
    _one_of("on_error", on_error, ("raise", "skip"))
    means = None if means is None else list(means)
    Missing(missing, means)  # refuses what it cannot do
    _one_of("encoding_errors", encoding_errors, ("refuse", "replace"))
    _whole("bits", bits, 1, 31)
    _whole("seed", seed, 0, 2**63 - 1)
    _whole("batch_bytes", batch_bytes, _LEAST_BLOCK, 2**31 - 1)
    _whole("read_ahead", read_ahead, 0, 1024)
    limits = checked_limits(limits)
    if n_features is not None:
        _whole("n_features", n_features, 1, 2**31 - 1)
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64; got dtype={dtype!r}.")
    if not isinstance(zero_based, bool):
        raise ValueError(f"zero_based must be True or False; got zero_based={zero_based!r}.")
    options: StreamOptions = {
        "label_column": label_column,
        "text_column": text_column,
        "weight_column": weight_column,
        "delimiter": delimiter,
        "header": header,
        "categorical": categorical,
        "columns": None if columns is None else list(columns),
        "missing": missing,
        "means": means,
        "n_features": n_features,
        "bits": bits,
        "seed": seed,
        "zero_based": zero_based,
        "batch_bytes": batch_bytes,
        "on_error": on_error,
        "encoding_errors": encoding_errors,
        "limits": limits,
        "labels": labels,
        "label_prefix": label_prefix,
        "dtype": dtype,
        "read_ahead": read_ahead,
    }
    return Stream(source, format, options)


def _one_of(name: str, value: object, words: tuple[str, ...]) -> None:
    if value not in words:
        raise ValueError(f"{name} must be {' or '.join(map(repr, words))}; got {name}={value!r}.")


def _whole(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        raise ValueError(f"{name} must be an integer from {least} to {most}; got {name}={value!r}.")
