"""Every format of files with its parser; and which one a file has: by its name, or by its first lines."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

from .._sparse import is_sparse
from .._types import Matrix
from .records import Limits, LineBlock, Parsed, Refusals
from .roles import Column
from .sources import CODECS, Source

if TYPE_CHECKING:
    from .tables import TableOptions


class LineParser(Protocol):
    """Reads blocks of whole lines."""

    def parts(self, block: LineBlock) -> Iterator[Parsed]: ...


class FileParser(Protocol):
    """Reads a whole source by itself; with the bytes of the source that were read so far."""

    def batches(self, source: Source) -> Iterator[tuple[Parsed, int]]: ...


class StreamOptions(TypedDict):
    """The arguments of :func:`perceptrons.io.open_stream`, checked."""

    label_column: Column | None
    text_column: Column | None
    weight_column: Column | None
    delimiter: str | None
    header: bool | str
    categorical: Iterable[Column] | str
    columns: list[Column] | None
    missing: str
    means: list[float] | None
    n_features: int | None
    bits: int
    seed: int
    zero_based: bool
    batch_bytes: int
    on_error: str
    encoding_errors: str
    limits: Limits
    labels: str
    label_prefix: str
    dtype: npt.DTypeLike
    read_ahead: int


NewParser: TypeAlias = Callable[[StreamOptions, Refusals], LineParser | FileParser]
#: ``(X, y)`` or ``(X, y, weights)`` of some lines.
ReadLines: TypeAlias = Callable[[bytes], tuple[Any, ...]]


class Format(NamedTuple):
    """A format: how its files are named, and what reads them."""

    name: str
    endings: tuple[str, ...]  #: of names of files
    parser: NewParser  #: of the options of a stream; it has ``parts(block)``, or ``batches(source)``
    columns: bool  #: all rows have the same columns, so that a number can be missing
    by_lines: bool  #: read in blocks of whole lines; else by the parser itself, source by source


def _libsvm(options: StreamOptions, refusals: Refusals) -> LineParser:
    from .libsvm import Libsvm

    limits, n_features = options["limits"], options["n_features"]
    return Libsvm(refusals, limits, n_features, options["zero_based"], options["dtype"])


def _vw(options: StreamOptions, refusals: Refusals) -> LineParser:
    from .vw import VowpalWabbit

    limits = options["limits"]
    replace = limits if options["encoding_errors"] == "replace" else None
    return VowpalWabbit(refusals, limits, options["bits"], options["seed"], options["dtype"], replace)


def _fasttext(options: StreamOptions, refusals: Refusals) -> LineParser:
    from .fasttext import FastText

    limits = options["limits"]
    replace = limits if options["encoding_errors"] == "replace" else None
    labels = "ignore" if options["label_column"] is None else options["labels"]
    return FastText(refusals, limits, options["label_prefix"], labels, replace)


def _columns(options: StreamOptions, delimiter: str) -> TableOptions:
    from .tables import TableOptions

    shared: dict[str, Any] = {name: value for name, value in options.items() if name in TableOptions._fields}
    shared["replace"] = options["encoding_errors"] == "replace"
    shared["delimiter"] = options["delimiter"] or delimiter
    return TableOptions(**shared)


def _csv(options: StreamOptions, refusals: Refusals, delimiter: str = ",") -> LineParser:
    from .tables import TableParser

    return TableParser(_columns(options, delimiter), refusals, options["limits"])


def _tsv(options: StreamOptions, refusals: Refusals) -> LineParser:
    return _csv(options, refusals, "\t")


def _jsonl(options: StreamOptions, refusals: Refusals) -> LineParser:
    from .jsonl import JsonLines

    return JsonLines(_columns(options, ","), refusals, options["limits"])


def _parquet(options: StreamOptions, refusals: Refusals) -> FileParser:
    from .parquet import Parquet

    return Parquet(_columns(options, ","), refusals, options["limits"], options["batch_bytes"])


#: Every format: one line here, and a parser.
FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        Format("libsvm", (".svm", ".svmlight", ".libsvm"), _libsvm, columns=False, by_lines=True),
        Format("vw", (".vw",), _vw, columns=False, by_lines=True),
        Format("fasttext", (".ft", ".fasttext"), _fasttext, columns=False, by_lines=True),
        Format("csv", (".csv",), _csv, columns=True, by_lines=True),
        Format("tsv", (".tsv", ".tab"), _tsv, columns=True, by_lines=True),
        Format("jsonl", (".jsonl", ".ndjson"), _jsonl, columns=False, by_lines=True),
        Format("parquet", (".parquet",), _parquet, columns=True, by_lines=False),
    )
}
_OURS = frozenset(FORMATS)


_NUMBER = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"  # one way to match, so that failing is quick
_HEAD = 1 << 16  # bytes that are looked at
_LIBSVM = re.compile(rb"\s*" + _NUMBER + rb"(?:\s+\d+:\S+)*\s*(?:#.*)?$")
_PAIR = re.compile(rb"\s\d+:")
_VW = re.compile(rb"\s*(?:" + _NUMBER + rb"\s+){0,2}[^\s|]*\|")


def cuttable(name: str) -> bool:
    """Whether a file of this format can be cut between any two lines; errors then name lines of the file."""
    return name in _OURS and FORMATS[name].by_lines


def by_name(name: str) -> str | None:
    """The format by the ending of a file's name; None if the ending is of no format."""
    stem, ending = os.path.splitext(name.lower())
    if ending in {codec.suffix for codec in CODECS}:
        ending = os.path.splitext(stem)[1]
    return next((form.name for form in FORMATS.values() if ending in form.endings), None)


def by_content(head: bytes, name: str) -> str:
    """The format of a file that starts like this."""
    if head.startswith(b"PAR1"):
        return "parquet"
    whole = head[:_HEAD].rfind(b"\n") if len(head) > _HEAD else -1
    head = head[: whole if whole > 0 else _HEAD]
    lines = [line for line in head.split(b"\n", 20)[:20] if line.strip()]
    lines = [line for line in lines if not line.lstrip().startswith(b"#")] or lines
    if lines and all(line.lstrip().startswith(b"{") for line in lines):
        return "jsonl"
    if lines and all(map(_LIBSVM.match, lines)) and any(map(_PAIR.search, lines)):
        return "libsvm"
    if lines and 2 * sum(line.lstrip().startswith(b"__label__") for line in lines) >= len(lines):
        return "fasttext"
    if lines and all(map(_VW.match, lines)):
        return "vw"
    for format_, delimiter in (("tsv", b"\t"), ("csv", b",")):
        if lines and all(delimiter in line for line in lines):
            return format_
    raise ValueError(
        f"The format of {name} cannot be told from its name or its first lines; "
        f"give format=, one of {', '.join(FORMATS)}."
    )


# -------------------------------------------------------------------------------------- the user's own


def register(name: str, read: ReadLines, endings: tuple[str, ...] = ()) -> None:
    """Add a format of one's own, for ``open_stream(format=name)`` and ``--format``.

    A module that does this is read by ``perceptrons train --plugin MODULE``.

    Parameters
    ----------
    name : str
        A word of lower-case letters and digits. Names and endings of the package cannot be taken; a name of
        one's own can be given again.
    read : callable
        ``read(text)`` takes some whole lines as bytes and returns ``(X, y)`` or ``(X, y, weights)``: a row of
        the array or CSR matrix X for each label. It is called for one batch after the other, and all of
        them have the same columns. A ValueError says what is wrong with the lines.
    endings : tuple of str, default=()
        Files whose names end so have this format, such as ``(".pairs",)``.

    Examples
    --------
    >>> from perceptrons import io
    >>> def read(text):
    ...     rows = [line.split(b";") for line in text.splitlines()]
    ...     return [[float(x) for x in row[1:]] for row in rows], [row[0].decode() for row in rows]
    >>> io.register("semicolons", read)
    >>> [(batch.X, batch.y) for batch in io.open_stream(b"ham;1;2\\n", "semicolons")]
    [(array([[1., 2.]]), array(['ham'], dtype='<U3'))]
    >>> del io.formats.FORMATS["semicolons"]  # takes the name back
    """
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9]*", name):
        raise ValueError(f"name must be a word of lower-case letters and digits; got name={name!r}.")
    if not callable(read):
        raise TypeError(f"read must be a function of some lines; got read={read!r}.")
    endings = tuple(endings)
    wrong = next((end for end in endings if not re.fullmatch(r"\.[a-z0-9]+", str(end))), None)
    if wrong is not None:
        raise ValueError(f"endings must be such as '.pairs'; got {wrong!r}.")
    ours = {end for form in FORMATS.values() if form.name in _OURS for end in form.endings}
    taken = [name] if name in _OURS or name == "auto" else sorted(ours & set(endings))
    if taken:
        raise ValueError(f"{taken[0]!r} is of a format of the package; take another.")
    FORMATS[name] = Format(
        name, endings, functools.partial(_RegisteredParser, name, read), columns=False, by_lines=True
    )


def _converted(X: Any, dtype: npt.DTypeLike) -> Matrix:
    if not is_sparse(X):
        return np.asarray(X, dtype)
    rows: Any = X.tocsr()  # SciPy's types do not say what astype returns
    converted: Matrix = rows.astype(dtype)
    return converted


class _RegisteredParser:
    """The parser of a format that was registered."""

    def __init__(self, name: str, read: ReadLines, options: StreamOptions, refusals: Refusals):
        if refusals.skip:
            raise ValueError(f"on_error='skip' is not for format {name!r}, which reads many lines at a time.")
        self.name, self.read, self.dtype = name, read, options["dtype"]

    def parts(self, block: LineBlock) -> Iterator[Parsed]:
        """Rows, labels and weights of a block."""
        try:
            X, y, *rest = self.read(block.buffer[: block.size].tobytes())
            X = _converted(X, self.dtype)
            y, weights = np.asarray(y), np.asarray(rest[0], np.float64) if rest else None
            if X.ndim != 2 or len(y) != X.shape[0] or (weights is not None and weights.shape != y.shape):
                raise ValueError("read must return one row, one label and perhaps one weight for each line")
        except ValueError as error:
            where = f"{block.file}, lines {block.line} to {block.line + block.n_lines - 1}"
            raise ValueError(f"{where}, as {self.name}: {error}") from error
        yield X, y, weights
