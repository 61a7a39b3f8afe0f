"""The public data sets as arrays and lists of texts, in their published order and split.

Each loader fetches what is not on this machine yet (see `fetch`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._types import Matrix
from .archives import ArchiveError, members, read_one
from .fetching import fetch
from .registry import SOURCES
from .reuters import stories

Folder: TypeAlias = str | os.PathLike[str] | None
Side: TypeAlias = tuple[list[str], list[int]]  # texts and labels of the training set, or of the test set


class Public(NamedTuple):
    """A public data set; unpacks as ``X, y, X_test, y_test, *_ = load_mnist()``."""

    X: Matrix | list[str]  #: training rows: an array, a CSR array, or a list of texts
    y: np.ndarray  #: their labels, which `target_names` names in order
    X_test: Matrix | list[str] | None  #: test rows; None when there is no published split
    y_test: np.ndarray | None  #: their labels, or None
    feature_names: list[str] | None  #: one per column; None for texts
    target_names: list[str]  #: one per label
    DESCR: str  #: one sentence

    def __repr__(self) -> str:
        rows = " / ".join(f"{_length(X):,}" for X in (self.X, self.X_test) if X is not None)
        return f"<Public {rows} rows, {len(self.target_names)} classes: {self.DESCR}>"


class Mails(NamedTuple):
    """Mails in order; unpacks as ``X, y, *_ = load_enron()``."""

    X: list[str]  #: the texts; the first line is the subject
    y: np.ndarray  #: 1 for spam, 0 for ham
    dates: np.ndarray  #: day of each, datetime64[D]
    mailboxes: np.ndarray  #: 1 to 6
    target_names: list[str]
    DESCR: str

    def __repr__(self) -> str:
        return f"<Mails {len(self.X):,} from {self.dates.min()} to {self.dates.max()}: {self.DESCR}>"


def _length(X: Matrix | list[str]) -> int:
    return len(X) if isinstance(X, list) else int(X.shape[0])


# ------------------------------------------------------------------------------------------ tables

ADULT_COLUMNS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
]
ADULT_NUMBERS = [0, 2, 4, 10, 11, 12]

COVER = [
    "Spruce/Fir",
    "Lodgepole Pine",
    "Ponderosa Pine",
    "Cottonwood/Willow",
    "Aspen",
    "Douglas-fir",
    "Krummholz",
]


def load_adult(folder: Folder = None) -> Public:
    """Adult: the census of 1994, raw; 32,561 training and 16,281 test rows, in 14 columns.

    X is an array of objects: numbers as float, names as str, None where the file has ``?``. y is 1 for an
    income of more than 50,000 dollars.

    Parameters
    ----------
    folder : path, default=None
        As in `fetch`.

    Returns
    -------
    Public
    """
    paths = fetch("adult", folder)
    X, y = _adult_rows(paths["adult.data"], "adult.data")
    X_test, y_test = _adult_rows(paths["adult.test"], "adult.test")
    return Public(X, y, X_test, y_test, list(ADULT_COLUMNS), ["<=50K", ">50K"], SOURCES["adult"].about)


def _adult_rows(path: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    rows: list[list[str | None]] = []
    labels = []
    for number, line in enumerate(read_one(path, name).decode("ascii").split("\n"), 1):
        line = line.strip()
        if not line or line.startswith("|"):  # the test file begins with |1x3 Cross validator
            continue
        *values, label = line.split(", ")
        if len(values) != len(ADULT_COLUMNS) or label.rstrip(".") not in ("<=50K", ">50K"):
            raise ValueError(f"{path}, line {number}: expected 14 values and <=50K or >50K, found {line!r}.")
        rows.append([None if value == "?" else value for value in values])
        labels.append(label.startswith(">"))
    X = np.array(rows, dtype=object).reshape(len(rows), len(ADULT_COLUMNS))
    for column in ADULT_NUMBERS:
        X[:, column] = X[:, column].astype(np.float64)  # None becomes NaN; the files have none there
    return X, np.array(labels, dtype=np.int64)


def load_covtype(folder: Folder = None) -> Public:
    """Forest cover: 581,012 rows of 54 numbers, labels 1 to 7, no split.

    The numbers are whole and small: float32 holds them exactly.
    """
    raw = read_one(fetch("covtype", folder)["covtype.data"], "covtype.data")
    numbers = np.fromstring(raw.decode("ascii").strip().replace("\n", ","), dtype=np.float32, sep=",")
    if numbers.size % 55:
        raise ValueError(f"covtype.data holds {numbers.size} numbers: expected 55 in each row.")
    table = numbers.reshape(-1, 55)
    y = table[:, 54].astype(np.int64)
    X = np.ascontiguousarray(table[:, :54])
    return Public(X, y, None, None, _covtype_columns(), list(COVER), SOURCES["covtype"].about)


def _covtype_columns() -> list[str]:
    measured = ["Elevation", "Aspect", "Slope", "To_Water", "Above_Water", "To_Road"]
    measured += ["Shade_9am", "Shade_Noon", "Shade_3pm", "To_Fire"]
    return measured + [f"Wilderness_{k}" for k in range(1, 5)] + [f"Soil_{k}" for k in range(1, 41)]


def load_libsvm(name: str, folder: Folder = None) -> Public:
    """A set of the LIBSVM page as CSR: a9a, w8a, ijcnn1, splice, mushrooms, phishing, sector or letter.

    Labels are those of the file; ``target_names`` are the same as text. The sector and letter files are the
    scaled ones.
    """
    known = [source for source in SOURCES if SOURCES[source].folder == "libsvm"]
    if name not in known:
        raise ValueError(f"load_libsvm reads {', '.join(known)}; got name={name!r}.")
    from ..io.libsvm import read_libsvm

    parts = [read_libsvm(path) for path in fetch(name, folder).values()]
    n_features = max(X.shape[1] for X, _ in parts)  # the last columns may be empty in one of the two
    for rows, _ in parts:
        resized: Any = rows  # SciPy's types do not have this call
        resized.resize(rows.shape[0], n_features)
    (X, y), (X_test, y_test) = parts[0], parts[1] if len(parts) > 1 else (None, None)
    labels = np.unique(y).astype(np.int64)
    return Public(
        X,
        y.astype(np.int64),
        X_test,
        None if y_test is None else y_test.astype(np.int64),
        [f"x{j}" for j in range(1, n_features + 1)],
        [str(label) for label in labels],
        SOURCES[name].about,
    )


# ------------------------------------------------------------------------------------------ images


def load_mnist(folder: Folder = None) -> Public:
    """MNIST: 60,000 training and 10,000 test images as rows of 784 bytes, labels 0 to 9."""
    paths = fetch("mnist", folder)
    images, labels, test_images, test_labels = (
        read_idx(read_one(paths[name], name), name) for name in (part.name for part in SOURCES["mnist"].parts)
    )
    return Public(
        images.reshape(len(images), -1),
        labels.astype(np.int64),
        test_images.reshape(len(test_images), -1),
        test_labels.astype(np.int64),
        [f"pixel_{row}_{column}" for row in range(28) for column in range(28)],
        [str(digit) for digit in range(10)],
        SOURCES["mnist"].about,
    )


def read_idx(raw: bytes, name: str) -> np.ndarray:
    """An array of bytes in Yann LeCun's IDX format: 0, 0, 8, the number of axes, their lengths, the bytes."""
    if raw[:3] != b"\x00\x00\x08" or len(raw) < 4 + 4 * raw[3]:
        raise ValueError(f"{name}: expected an IDX file of bytes, got magic number {raw[:4].hex()}.")
    shape = tuple(int(length) for length in np.frombuffer(raw, ">u4", raw[3], 4))
    values = np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3])
    if len(values) != np.prod(shape, dtype=object):
        raise ValueError(f"{name}: expected {shape} bytes, found {len(values)}.")
    return values.reshape(shape)


# ------------------------------------------------------------------------------------------- texts


def load_sms(folder: Folder = None) -> Public:
    """The SMS Spam Collection: 5,574 messages, 1 for spam and 0 for ham, no split."""
    raw = read_one(fetch("sms_spam", folder)["SMSSpamCollection"], "SMSSpamCollection")
    pairs = [line.rstrip("\r").split("\t", 1) for line in raw.decode("utf-8").split("\n") if line.strip()]
    for number, pair in enumerate(pairs, 1):
        if len(pair) != 2 or pair[0] not in ("ham", "spam"):
            raise ValueError(
                f"SMSSpamCollection, line {number}: expected ham or spam, a tab and a text, "
                f"found {pair[0][:40]!r}."
            )
    y = np.array([label == "spam" for label, _ in pairs], dtype=np.int64)
    texts = [text for _, text in pairs]
    return Public(texts, y, None, None, None, ["ham", "spam"], SOURCES["sms_spam"].about)


def load_20newsgroups(folder: Folder = None) -> Public:
    """20 newsgroups, split by date: 11,314 and 7,532 posts, whole, labels 0 to 19 in the order of the names.

    Posts are sorted by group and number; shuffle before a single pass.
    """
    found = _texts("20newsgroups", folder, "latin-1")
    groups = sorted({name.split("/")[1] for name in found})
    index = {group: label for label, group in enumerate(groups)}
    sides: list[Side] = []
    for side in ("train", "test"):
        names = [name for name in found if name.startswith(f"20news-bydate-{side}/")]
        names.sort(key=lambda name: (name.split("/")[1], int(name.split("/")[2])))
        sides.append(([found[name] for name in names], [index[name.split("/")[1]] for name in names]))
    return _split_texts(sides, groups, "20newsgroups")


def load_imdb(folder: Folder = None) -> Public:
    """IMDB: 25,000 training and 25,000 test reviews, 1 for and 0 against.

    Reviews are sorted by label and number; shuffle before a single pass.
    """
    found = _texts("imdb", folder, "utf-8")
    sides: list[Side] = []
    for side in ("train", "test"):
        names = [name for name in found if name.split("/")[1] == side]
        names.sort(key=lambda name: (name.split("/")[2], int(name.split("/")[3].split("_")[0])))
        sides.append(([found[name] for name in names], [name.split("/")[2] == "pos" for name in names]))
    return _split_texts(sides, ["against", "for"], "imdb")


def load_reuters(folder: Folder = None) -> Public:
    """Reuters-21578, split ModApte: 9,603 and 3,299 stories, title and body.

    A story may have several topics, or none: y has a column per topic, in the order of ``target_names``, True
    where a story has it.
    """
    path = fetch("reuters21578", folder)["reuters21578"]
    pattern = SOURCES["reuters21578"].parts[0].members
    assert pattern is not None
    files = dict(members(path, pattern))
    found = [story for name in sorted(files) for story in stories(files[name].decode("latin-1"))]
    sides = [[story for story in found if story.split == side] for side in ("train", "test")]
    topics = sorted({topic for side in sides for story in side for topic in story.topics})
    X, X_test = ([story.text for story in side] for side in sides)
    y, y_test = (_indicators([story.topics for story in side], topics) for side in sides)
    return Public(X, y, X_test, y_test, None, topics, SOURCES["reuters21578"].about)


def _indicators(given: Iterable[tuple[str, ...]], topics: list[str]) -> np.ndarray:
    """One row per story, one column per topic: True where it is given."""
    index = {topic: column for column, topic in enumerate(topics)}
    rows = list(given)
    y = np.zeros((len(rows), len(topics)), dtype=bool)
    for i, names in enumerate(rows):
        y[i, [index[name] for name in names]] = True
    return y


_MAIL = r"(enron\d/(?:ham|spam)/[^/]+\.txt)"
_MAIL_NAME = re.compile(r"enron(\d)/(ham|spam)/(\d+)\.(\d{4}-\d\d-\d\d)\..*")


def load_enron(folder: Folder = None, *, order: str = "number") -> Mails:
    """Enron-Spam: six mailboxes, 16,545 ham and 17,171 spam, in the order of time.

    The ham is from December 1999 to March 2002; the spam came to others, most of it from 2003 to 2005. So the
    authors have numbered the mails of each mailbox such that ham and spam are each in the order of their
    dates, well mixed. By date alone nearly all ham comes before nearly all spam, and who repeats the last
    label errs on 3 mails in 1,000: no test of a learner.

    Parameters
    ----------
    folder : path, default=None
        As in `fetch`.
    order : {"number", "date"}, default="number"
        As the authors have numbered them, one mailbox after the other; or by the date in the file's name,
        over all mailboxes.

    Returns
    -------
    Mails
    """
    if order not in ("number", "date"):
        raise ValueError(f"order must be one of 'number', 'date'; got order={order!r}.")
    mails = []
    for path in dict.fromkeys(fetch("enron_spam", folder).values()):  # they may lie in one archive
        for name, raw in members(path, _MAIL):
            match = _MAIL_NAME.fullmatch(name)
            if match is None:
                raise ArchiveError(f"{path}: {name} does not begin with a number and a date.")
            box, kind, number, date = match.groups()
            mails.append((date if order == "date" else "", int(box), int(number), date, kind, raw))
    mails.sort(key=lambda mail: mail[:5])
    return Mails(
        X=[mail[5].decode("latin-1") for mail in mails],
        y=np.array([mail[4] == "spam" for mail in mails], dtype=np.int64),
        dates=np.array([mail[3] for mail in mails], dtype="datetime64[D]"),
        mailboxes=np.array([mail[1] for mail in mails], dtype=np.int64),
        target_names=["ham", "spam"],
        DESCR=SOURCES["enron_spam"].about,
    )


def _texts(name: str, folder: Folder, encoding: str) -> dict[str, str]:
    """The texts of an archive by their names."""
    part = SOURCES[name].parts[0]
    assert part.members is not None
    path = fetch(name, folder)[part.name]
    return {member: raw.decode(encoding) for member, raw in members(path, part.members)}


def _split_texts(sides: list[Side], target_names: list[str], name: str) -> Public:
    (X, y), (X_test, y_test) = sides
    labels, test_labels = np.array(y, dtype=np.int64), np.array(y_test, dtype=np.int64)
    return Public(X, labels, X_test, test_labels, None, target_names, SOURCES[name].about)
