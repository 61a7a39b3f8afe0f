"""save and load: one model, one file."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from .._version import __version__
from ..core.classifier import Classifier
from ..core.writing import held_still
from . import container, files, registry
from .errors import ModelError
from .writer import Writer

if TYPE_CHECKING:
    from .._types import Json, JsonObject
    from .registry import Model


class Stored(NamedTuple):
    """A model of a file, with its position in a stream."""

    model: Model
    position: Json


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Store an estimator, fitted or not, in one file.

    The file is a safetensors file: arrays, and a JSON text that says what they are. It is written beside its
    final name and renamed when it has reached the disk, so there is the old file or the new one, never
    half of either. A second writer of the same file is refused. No other file of the folder is touched.

    It has all that learning, voting and replaying need: a model that is loaded learns further to the same
    bits as one that was never stored. It has no functions of your own (a rule, a kernel): give them to
    :func:`load` again. Nor has it callbacks and scikit-learn's metadata requests.

    A model that another thread trains is stored as it is between two calls, or two epochs of ``fit``: save
    waits for that, and the other thread for the copy that save makes. The file is read back before it is
    renamed.

    Parameters
    ----------
    model : estimator of perceptrons
    path : path
        Any name; ``.model`` is a good ending. A link is followed: the file it points at is replaced. A pipe,
        a device or a folder is refused. A new file has the mode that the umask leaves; one that replaces
        another keeps the mode of that one.

    Raises
    ------
    ModelError
        The model holds something that no file can, or another process is writing the file.
    OSError
        The file could not be written: a full disk, for example. The old one is still there.

    See Also
    --------
    load : the way back.
    Checkpoint : for runs that may be interrupted.

    Examples
    --------
    >>> import tempfile, os
    >>> from perceptrons import Perceptron
    >>> from perceptrons import load, save
    >>> clf = Perceptron(shuffle=False).fit([[1, 1], [-1, -1], [2, 1]], ["ham", "spam", "ham"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(clf, os.path.join(folder, "mail.model"))
    ...     load(os.path.join(folder, "mail.model")).predict([[3, 2]])
    array(['ham'], dtype='<U4')
    """
    whole = pieces(model)
    with files.Lock(path) as lock:
        write(lock, whole)


def load(
    path: str | os.PathLike[str],
    *,
    objects: Mapping[str, object] | None = None,
    max_bytes: int | None = None,
) -> Any:
    """Read an estimator that :func:`save` has stored.

    No code can run but yours: a file holds data only, what it names is looked up in a fixed list or among the
    rules and kernels that you have registered, and all that compiled loops rely on is checked first. A file
    that is damaged, cut short, of a later version or no model at all is refused.

    Parameters
    ----------
    path : path
    objects : dict, optional
        What only you have, by the name of the parameter: ``{"rule": my_rule}``, ``{"kernel": my_function}``.
        What is registered by :func:`perceptrons.rules.register` or :func:`perceptrons.kernels.register` under
        the same name is found without it.
        The error message of a file that needs one has its name.
    max_bytes : int, optional
        Larger files are refused, and files whose sparse arrays take more memory. Without it: files of more
        than 16 GiB, and sparse arrays that take more than 4 GiB and more than 64 times the file's bytes.

    Returns
    -------
    model : estimator

    Raises
    ------
    ModelError
        The file is not a model that can be trusted.
    """
    return read(path, objects, max_bytes).model


def describe(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> JsonObject:
    """The description in a model file, without making the model: class, parameters, versions, sizes.

    Parameters
    ----------
    path : path
    max_bytes : int, optional

    Returns
    -------
    facts : dict
        ``estimator``, ``parameters`` (as text), ``library`` (the version that wrote it), ``format`` (its
        version), ``n_arrays``, ``n_bytes``, ``checkpoint`` (whether it holds a position).
    """
    contents = container.read(path, max_bytes)
    table = _parsed(path, contents.text)
    return {
        "estimator": str(table.get("estimator")),
        "parameters": table.get("parameters"),
        "library": str(table.get("library")),
        "format": contents.version,
        "n_arrays": len(contents.arrays),
        "n_bytes": contents.n_bytes,
        "checkpoint": table.get("position") is not None,
    }


# ---------------------------------------------------------------- the contents of a file


def pieces(model: Model, position: Json = None) -> Iterator[bytes | memoryview]:
    """The file of a model, piece by piece; all that can be refused is refused before the first.

    The pieces are copies: later changes of the model do not change them.
    """
    name = registry.estimator_name(model)
    writer = Writer()
    learner = vars(model).get("estimator_", model)  # what is mixed is in the state of the learner
    with held_still(learner) if isinstance(learner, Classifier) else contextlib.nullcontext():
        root = writer.value(model)
        table = {
            "library": __version__,
            "estimator": name,
            "parameters": {p: _shown(getattr(model, p)) for p in registry.stored_parameters(model)},
            "root": root,
            "position": writer.value(position),
            "nodes": writer.nodes,
        }
    text = json.dumps(table, separators=(",", ":"), allow_nan=False)
    made = container.pieces(container.Contents(text, writer.arrays))
    first = next(made)

    def whole() -> Iterator[bytes | memoryview]:
        yield first
        yield from made

    return whole()


def write(lock: files.Lock, whole: Iterator[bytes | memoryview]) -> None:
    """Replace a file by these pieces, once they have been read back and match their digest."""
    lock.write(whole, lambda handle: container.verify(handle, lock.path))


def _shown(parameter: object) -> str:
    """A parameter as text: equal parameters give equal texts, so without the address of an object."""
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(parameter))[:200]


def read(
    path: str | os.PathLike[str],
    objects: Mapping[str, object] | None = None,
    max_bytes: int | None = None,
    classes: Callable[[str], type] = registry.estimator,
) -> Stored:
    """The model of a file, and the position stored with it. ``classes`` returns the class of a name."""
    from .reader import UNFOLDED_FACTOR, UNFOLDED_LIMIT, Reader  # they import every kind of learner
    from .upgrades import upgraded

    name = os.fspath(path)
    contents = container.read(path, max_bytes)
    table = _parsed(path, contents.text)
    given = dict(objects or {})
    try:
        upgraded(contents.version, table, contents.arrays)
        most = max_bytes
        if most is None:
            most = min(container.BYTES_LIMIT, max(UNFOLDED_LIMIT, UNFOLDED_FACTOR * contents.n_bytes))
        reader = Reader(table.get("nodes"), contents.arrays, given, most, classes)
        reader.read()
        model, position = reader.value(table.get("root")), reader.value(table.get("position"))
        registry.estimator_name(model)
    except ModelError as error:
        raise ModelError(f"{name}: {error}") from error.__cause__
    useless = given.keys() - reader.needed
    if useless:
        wanted = ", ".join(map(repr, sorted(reader.needed))) or "nothing"
        raise ModelError(f"{name} has no use for objects[{min(useless)!r}]; it asks for {wanted}.")
    return Stored(model, position)


def _parsed(path: str | os.PathLike[str], text: str) -> JsonObject:
    try:
        table = json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{os.fspath(path)}: its description is no JSON text: {error!s:.100}") from None
    if not isinstance(table, dict):
        raise ModelError(f"{os.fspath(path)}: its description is no table.")
    return table


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
