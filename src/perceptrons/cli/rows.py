"""From the options to rows: which stream, and how it is read."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import itertools
from collections.abc import Callable, Generator, Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from .errors import Failure, Misuse
from .options import Learning, Reading
from .signals import Signals

if TYPE_CHECKING:
    import numpy as np

    from .._types import JsonObject, Label, Matrix
    from ..core.classifier import Classifier
    from ..io.records import Batch, Limits, StreamRows
    from ..io.stream import Stream

_LEAST_SHARE = Fraction(1, 10**6)
_OF_ONE_RUN = ("on_bad_line", "batch_bytes", "limits")  # not part of the layout


# ------------------------------------------------------------------------------------------ streams


def layout(reading: Reading, learning: Learning) -> JsonObject:
    """How rows are read, in plain values that are stored with the model."""
    found = {name: value for name, value in dataclasses.asdict(reading).items() if value is not None}
    if learning.text:
        found.setdefault("text_column", "auto")
    elif learning.bits is not None:
        found["bits"] = learning.bits
    if not learning.text and learning.hash_seed is not None:
        found["hash_seed"] = learning.hash_seed
    return found


def remembered(kept: JsonObject, reading: Reading, data: list[str], unlabelled: bool) -> JsonObject:
    """The layout of the rows a model was trained on, changed by the options that were given."""
    from ..io.formats import FORMATS, by_name

    given = {name: value for name, value in dataclasses.asdict(reading).items() if value is not None}
    found = {name: value for name, value in kept.items() if name not in _OF_ONE_RUN}
    by_ending = by_name(data[0])
    if by_ending is not None:
        found["format"] = by_ending
    if found.get("format") != kept.get("format"):
        found.pop("delimiter", None)
        if found.get("labels") == "several":
            found.pop("labels")
    if found.get("format") in FORMATS and not FORMATS[found["format"]].columns:
        for name in ("columns", "missing", "means"):
            found.pop(name, None)
    if unlabelled and "label_column" not in given:
        found = _without_labels(found)
    if given.get("missing", "mean") != "mean" or "columns" in given:
        found.pop("means", None)
    return {**found, **given}


def _without_labels(found: JsonObject) -> JsonObject:
    """The same layout without the column of labels: the numbers of the columns after it are less by 1."""
    if found.get("format") == "libsvm":
        raise Misuse("libsvm rows begin with a label: put a 0 there, and drop --unlabelled.")
    if (found.get("categorical") or found.get("columns")) and found.get("header") is False:
        raise Misuse("Columns are known by their numbers: keep the column of labels, or add a header.")
    gone = column(found.get("label_column", "0"))
    out = {**found, "label_column": "none"}
    for name in ("text_column", "weight_column"):
        place = column(found.get(name))
        if isinstance(place, int) and isinstance(gone, int) and place > gone >= 0:
            out[name] = str(place - 1)
    return out


def column(text: str | int | None) -> int | str | None:
    """A column by number or by name.

    >>> column("2"), column("-1"), column("price"), column("none")
    (2, -1, 'price', None)
    """
    if text is None or text == "none":
        return None
    try:
        return int(text)
    except ValueError:
        return str(text)


def stream_options(found: JsonObject) -> JsonObject:
    """The layout as arguments of :func:`perceptrons.io.open_stream`."""
    return {
        "format": found.get("format", "auto"),
        "label_column": column(found.get("label_column", "auto")),
        "text_column": column(found.get("text_column")),
        "weight_column": column(found.get("weight_column")),
        "delimiter": _delimiter(found.get("delimiter")),
        "header": found.get("header", "auto"),
        "categorical": _columns(found.get("categorical", "auto")),
        "columns": None if found.get("columns") is None else _columns(found["columns"]),
        "missing": found.get("missing", "refuse"),
        "means": found.get("means"),
        "n_features": found.get("features"),
        "bits": found.get("bits", 18),
        "seed": found.get("hash_seed", 0),
        "zero_based": bool(found.get("zero_based", False)),
        "batch_bytes": found.get("batch_bytes", 1 << 21),
        "on_error": found.get("on_bad_line", "raise"),
        "encoding_errors": found.get("encoding_errors", "refuse"),
        "labels": found.get("labels", "auto"),
        "label_prefix": found.get("label_prefix", "__label__"),
        "limits": _limits(found.get("limits")),
    }


def open_rows(data: list[str], found: JsonObject) -> Stream:
    """The stream of the data in this layout."""
    from ..io.stream import open_stream

    sources = [_stdin() if name == "-" else name for name in data]
    if data.count("-") > 1:
        raise Misuse("'-' is standard input, which is there once; it was given twice.")
    stream = open_stream(sources, **stream_options(found))
    stream.prepare = None  # learners of the core read the arrays of CSR rows, and need no SciPy
    return stream


def _stdin() -> io.FileIO:
    """Standard input, unbuffered: at the end a waiting thread would hold the lock of a buffer."""
    file = io.FileIO(0, "rb", closefd=False)
    file.name = "<stdin>"
    return file


def _delimiter(text: str | None) -> str | None:
    r"""A delimiter; ``\t`` and ``tab``, which are easier to type, are a tab."""
    return "\t" if text in ("\\t", "tab") else text


def _limits(text: str | None) -> Limits:
    """Limits from ``name=value,name=value``; the others are the default ones."""
    from ..io.records import Limits

    given: dict[str, Any] = {}
    for part in (text or "").split(","):
        name, _, value = part.partition("=")
        if not part.strip():
            continue
        if name.strip() not in Limits._fields:
            raise Misuse(f"--limits takes {', '.join(Limits._fields)}; got {part.strip()!r}.")
        try:
            given[name.strip()] = float(value) if name.strip() == "ratio" else int(value)
        except ValueError:
            raise Misuse(
                f"--limits takes numbers, as in 'line_bytes=33554432'; got {part.strip()!r}."
            ) from None
    return Limits(**given)


def _columns(text: str | list[str]) -> str | list[int | str | None]:
    if text == "auto":
        return "auto"
    parts = text if isinstance(text, list) else str(text).split(",")
    return [column(part) for part in parts if str(part).strip()]


def settle_width(stream: Stream, model: Classifier | None = None) -> None:
    """libsvm rows have as many columns as the model; a new model takes the number from the data."""
    from ..io.fitting import settle_width

    known = stream.format != "libsvm" or stream.n_features or getattr(model, "n_features_in_", None)
    if not known and not stream.again:
        raise Misuse(
            f"{stream.names[0]} can be read once only, and the number of columns must be known before: "
            "give --features N, or save it to a file."
        )
    settle_width(stream, model)


def settled(stream: Stream, found: JsonObject) -> JsonObject:
    """The layout after the first rows were read, so that later data are read the same way."""
    settled = stream.layout
    for name in ("label_column", "text_column", "weight_column"):
        if name in settled:
            settled[name] = str(settled[name])
    return found | settled


# --------------------------------------------------------------------------------------------- rows


def share(text: str | None) -> Fraction | None:
    """The share of rows that is kept for testing."""
    if text is None:
        return None
    try:
        found = Fraction(text).limit_denominator(10**6)
    except (ValueError, ZeroDivisionError):
        raise Misuse(f"--holdout takes a share such as 0.1; got {text!r}.") from None
    if not _LEAST_SHARE <= found < 1:
        raise Misuse(f"--holdout must be between 0 and 1; got {text!r}.")
    return found


class Classes:
    """The different labels so far; more of them than a model should have are refused.

    A column of numbers or names that is taken for the label by mistake has one class for nearly every row.
    """

    def __init__(self, most: int | None, column: int | str | None = None, known: Iterable[Label] = ()):
        self.most, self.column = most, column
        self.seen = set(known)

    def add(self, y: np.ndarray) -> None:
        """Count labels of a batch before it is learned."""
        lists = y.dtype == object  # tuples of labels
        self.seen.update(itertools.chain.from_iterable(y) if lists else y.tolist())
        most = _MOST_CLASSES if self.most is None else self.most
        if len(self.seen) > most:
            raise self._refused(f"more than {most:,} different labels")

    def check(self, rows: int) -> None:
        """Refuse more than half as many classes as rows, once all are known."""
        n = len(self.seen)
        if self.most is None and n > _FEW_CLASSES and 2 * n > rows:
            raise self._refused(f"{n:,} different labels in {rows:,} rows")

    def _refused(self, found: str) -> Failure:
        number = isinstance(self.column, int)
        which = "" if self.column is None else f" It is {'column ' if number else ''}{self.column!r}."
        return Failure(
            f"The data have {found}. Is --label-column right?{which} --max-classes N allows up to N classes."
        )


_MOST_CLASSES = 1000
_FEW_CLASSES = 10  # few rows may have as many classes as rows


class Watched:
    """The rows of a stream, with signals held while a batch is being learned, and its labels counted."""

    def __init__(self, stream: Stream, signals: Signals, classes: Classes):
        self.stream, self.signals, self.classes = stream, signals, classes
        self.bad_lines = 0  #: lines that were skipped in the last pass

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    @property
    def prepare(self) -> Callable[[StreamRows], Any] | None:
        """A function that the thread that reads ahead applies to the rows."""
        return self.stream.prepare

    @prepare.setter
    def prepare(self, function: Callable[[StreamRows], Any] | None) -> None:
        self.stream.prepare = function

    def __iter__(self) -> Iterator[Batch]:
        skipped = self.stream.skipped
        passing = cast("Generator[Batch, None, None]", iter(self.stream))
        with contextlib.closing(passing) as batches:
            for batch in batches:
                if batch.y is not None:
                    self.classes.column = self.stream.layout.get("label_column")
                    self.classes.add(batch.y)
                try:
                    self.signals.hold()
                    yield batch
                finally:
                    self.signals.release()
                self.signals.check()
        self.bad_lines = self.stream.skipped - skipped


def whole(stream: Stream) -> tuple[Matrix | list[bytes], np.ndarray, np.ndarray | None]:
    """All rows, labels and weights at once."""
    import numpy as np

    batches = list(stream)
    if any(batch.y is None for batch in batches):
        raise Failure("The data have no labels; give --label-column.")
    if not batches:
        raise Failure("The data hold no rows.")
    y = np.concatenate([batch.y for batch in batches])
    weights = [batch.weights for batch in batches if batch.weights is not None]
    return _stacked([batch.X for batch in batches]), y, np.concatenate(weights) if weights else None


def _stacked(parts: list[StreamRows]) -> Matrix | list[bytes]:
    import numpy as np

    from ..io.records import Texts

    texts = [part for part in parts if isinstance(part, Texts)]
    if texts:
        return [text.raw(i) for text in texts for i in range(len(text))]
    dense = [part for part in parts if isinstance(part, np.ndarray)]
    if dense:
        return np.concatenate(dense)
    import scipy.sparse as sp

    from .._sparse import as_scipy

    stacked: Matrix = sp.vstack([as_scipy(part) for part in parts], format="csr")
    return stacked
