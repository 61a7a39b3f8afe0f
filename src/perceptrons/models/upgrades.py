"""Files of earlier formats, brought to the present format before they are read.

One function per step, from a version to the next. It is given the table of a file (a dict, as described by
:mod:`perceptrons.models.writer`) and its arrays by name, and changes both in place. Nothing has been checked
yet: what does not look as expected is left as it is, and the reader refuses it.

Format 2 differs from format 1 in this:

* Arrays may be stored by their unusual entries (a node ``sparse``). Format 1 has none; nothing to do.
* Both ends of a bracket are true whatever rounding did (``_bounds``), and the steps on each row may be kept
  (``_steps``). The smallest margins of format 1 (``_low``) were rounded; they are left out.
* The scalars of a space that were added since are infinite: they bound errors of rounding, which
  a file of format 1 does not have. No upper end of a margin bracket can be derived from such a model (``up``
  is infinite).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.loops import scalars
from .container import VERSION

if TYPE_CHECKING:
    from .._types import JsonObject

#: spaces whose scalars bound the best margin from above
_WITH_A_BRACKET = ("space.Linear", "space.Joint")
_SCALARS_OF_1 = 14  # numbers in the scalars of a space, in format 1


def upgraded(version: int, table: JsonObject, arrays: dict[str, np.ndarray]) -> None:
    """Bring the table and the arrays of a file of this version to the present format."""
    for step in range(version, VERSION):
        _STEPS[step](table, arrays)
    for node in nodes(table, "TextClassifier"):
        _with_tokens(node.get("params"))


def _with_tokens(params: Any) -> None:
    """A learner of texts without ``tokens`` in its file, of any format: words, and another default rule."""
    if isinstance(params, dict) and "tokens" not in params:
        params["tokens"] = "words"
        if params.get("rule", "") is None:
            params["rule"] = "perceptron"


def _from_1(table: JsonObject, arrays: dict[str, np.ndarray]) -> None:
    for node in nodes(table, ""):
        if node.get("k") == "estimator":
            node["v"].pop("_low", None)
    for node in nodes(table, "space."):
        name = tensor(table, node, "state")
        state = arrays.get(name) if name is not None else None
        if state is None or state.shape != (_SCALARS_OF_1,) or state.dtype != np.float64:
            continue
        state = np.concatenate([state, np.full(scalars.SIZE - _SCALARS_OF_1, np.inf)])
        if node["of"] in _WITH_A_BRACKET:
            state[scalars.TAU] = np.nan  # no bound above the best margin, now or after further steps
        arrays[str(name)] = state


_STEPS: dict[int, Callable[[JsonObject, dict[str, np.ndarray]], None]] = {1: _from_1}


# ---------------------------------------------------------------- the nodes of a table


def nodes(table: JsonObject, prefix: str) -> Iterator[JsonObject]:
    """The nodes of records, objects and estimators whose name begins so; ``node["v"]`` has the attributes.

    An attribute that is new in a format can be given a plain value: ``node["v"].setdefault("_steps", None)``.
    """
    found = table.get("nodes")
    for node in found if isinstance(found, list) else []:
        named = isinstance(node, dict) and isinstance(node.get("of"), str) and isinstance(node.get("v"), dict)
        if named and node["of"].startswith(prefix):
            yield node


def tensor(table: JsonObject, node: JsonObject, attribute: str) -> str | None:
    """The name of the array that is stored for an attribute of a node."""
    place = node["v"].get(attribute)
    ok = type(place) is list and len(place) == 1 and type(place[0]) is int
    if not ok or not 0 <= place[0] < len(table["nodes"]):
        return None
    array = table["nodes"][place[0]]
    name = array.get("v") if isinstance(array, dict) and array.get("k") == "array" else None
    return name if type(name) is str else None
