"""What a space promises, whatever its weights look like.

An estimator is written against these types. It never tests which space it has: what depends on that is a
method here. A result that every learner has one of is a list, also where there is one learner only.

What the rows are depends on the space (records of rows, kernel values, prepared objects): they have no type
here.

A *learner* is a space with one w, or with prototypes that are learned together. A space of several learners,
one against the rest, has a list of them; every other space is its own only learner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .base import Bracket, Counts, Frame, Kept, SingleSpace

if TYPE_CHECKING:
    from ..._types import AnyMatrix, Collection, Floats, UpdateColumns
    from ...rows import Csr
    from ..blocks import Support
    from ..loops.confidence import Covariance
    from ..predictions import Predictions
    from ..renumbering import SlottedRows
    from .additive import Joint


class Readable(Protocol):
    """What predictions and statements about a model need."""

    @property
    def frame(self) -> Frame:
        """How rows are understood."""

    @property
    def n_features(self) -> int: ...

    @property
    def n_classes(self) -> int: ...

    @property
    def columns(self) -> int:
        """How many scores a row has: 1 for two classes, else one per class."""

    @property
    def learners(self) -> list[SingleSpace]:
        """Those that are fed the rows: one, or one per class."""

    @property
    def joint(self) -> bool:
        """Whether the classes have prototypes that are learned together."""

    @property
    def several(self) -> bool:
        """Whether a row may have several labels, or none: codes are an indicator matrix."""

    @property
    def ties(self) -> bool:
        """Whether a score of 0 predicts the larger of two labels."""

    @property
    def device(self) -> str:
        """Where rows are learned: "cpu", or the name of a device of torch."""

    def offset(self) -> np.ndarray:
        """(columns,): what is subtracted from <w, x>."""

    def scores(self, rows: Any, readout: str) -> np.ndarray:
        """(rows, columns): <w, x> under the last w or its average."""

    def bracket(self) -> list[Bracket] | None:
        """What is known about the best margin of each learner; None: nothing is claimed."""


class Space(Readable, Protocol):
    """What learning needs as well."""

    #: length of the vector that predicts, kept by the readout until the next row is learned
    length: Kept

    @property
    def df(self) -> np.ndarray | None:
        """How many texts each column has occurred in, all texts last: :mod:`perceptrons.engine.running_idf`.

        None where texts are not counted. :meth:`run` knows nothing of it.
        """

    @property
    def of_texts(self) -> bool:
        """Whether texts are counted."""

    @property
    def made_ahead(self) -> bool:
        """Whether the rows of texts are made for each part of a pass before it is learned."""

    def count_texts(self) -> None:
        """Begin to count texts, for a space that has learned nothing."""

    def run_texts(
        self,
        rows: Csr,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        predictions: Predictions | None,
        note: Callable[[float], None],
    ) -> list[UpdateColumns]:
        """:meth:`run` where texts are counted: ``rows`` have the values before they are weighed.

        ``note`` gets the squared length of the longest row, unless :meth:`longest` has it.
        """

    # -- a pass over rows

    def targets(self, codes: np.ndarray) -> np.ndarray:
        """Class codes as the loop takes them."""

    def row_cost(self, entries: float | Floats) -> float | Floats:
        """About how many products of numbers and weights a row with so many entries takes."""

    def open(self, rows: Any, again: bool, tell: Callable[[float], None] | None = None) -> None:
        """These rows are read now, and perhaps ``again``; ``tell`` gets the share of a pass that is done."""

    def close(self) -> None:
        """The rows that were open do not come again."""

    def takes_packed_rows(self) -> bool:
        """Whether :meth:`renumber` is of use now, and takes rows that are in one piece each."""

    def renumber(self, slotted: SlottedRows) -> None:
        """Learn these rows, while they are open, on a copy of the weights by slot, where the space can."""

    def run(
        self,
        rows: Any,
        y: np.ndarray,
        c: np.ndarray,
        order: np.ndarray,
        keep_log: bool,
        predictions: Predictions | None = None,
    ) -> list[UpdateColumns]:
        """Learn the rows in ``order``; the updates of each learner.

        An error that ends the pass has the updates made before it as ``log``, a list as well.
        """

    # -- what was counted

    def counts(self) -> Counts:
        """The counts of all learners together."""

    def sum_sq_norms(self) -> float:
        """The squared lengths of the rows that were updated on, summed over the updates."""

    def longest(self) -> float:
        """Length of the longest row that the space has noted itself: those of the fast path, and of a budget.

        The estimator notes the others, and takes this note when the fast path ends.
        """

    def forget_longest(self) -> None:
        """The longest row is noted elsewhere."""

    def lowest(self) -> list[float]:
        """The smallest signed margin that each learner has met since :meth:`reset_lowest`."""

    def reset_lowest(self) -> None: ...

    # -- where learning started, and the steps since

    @property
    def from_zero(self) -> bool:
        """Whether every w started at 0."""

    def forget_start(self) -> None:
        """Training resumes from the w that is here: bounds for a start from 0 no longer apply."""

    def keep_steps(self, n_rows: int) -> None:
        """Keep the sum of the steps on each row from here on, where a bracket needs them."""

    def take_steps(self) -> list[np.ndarray | None]:
        """The steps that were kept, up to a common factor; none are kept any more."""

    def bounds(self, rows: Any, y: np.ndarray, c: np.ndarray, clean: bool) -> list[Bracket] | None:
        """The bracket of each learner, true statements about the rows; None: nothing is claimed.

        ``clean``: the last pass has read all rows and changed nothing.
        """

    def renew(self, fresh: SingleSpace) -> None:
        """Make every further step as ``fresh`` would."""

    # -- features and classes that appear

    def grow(self, n_features: int) -> None:
        """Make room for more features; their weights start as those of a fresh learner."""

    def shrink(self, n_features: int) -> None:
        """Undo :meth:`grow`, where nothing was learned since."""

    def negate(self) -> None:
        """Exchange the two classes, or start again where w has no negation."""

    def add_class(self, code: int, fresh: Callable[[], SingleSpace]) -> None:
        """A further class, with w = 0, that moves the codes from ``code`` on up by one.

        ``fresh`` makes a learner of two classes, for a space that has one per class.
        """

    def spread(self, code: int, fresh: Callable[[], SingleSpace], n_threads: int) -> Space:
        """From two classes to three, one learner each; ``code`` is the new class."""

    def spread_jointly(self, code: int, prototypes: Joint, factor: float) -> Space:
        """From w to the prototypes (-f w, f w), and 0 for the new class ``code``.

        ``prototypes`` is a fresh joint space of two classes.
        """

    # -- single rows

    def fast_path_after(self, form: type) -> int | None:
        """The number of single rows of this type after which the fast path pays; None: there is none."""

    # -- copies

    def moves_columns_alone(self) -> bool:
        """Whether learning a row changes nothing but its own columns, the constant's, and the scalars."""

    def copy(self) -> Space:
        """A space of its own with the same weights; what does not change is shared."""

    def copy_for_class(self, logged: bool) -> Space:
        """A space of its own to which a class is added, while this one may have to come back.

        ``logged``: the updates are logged, and so a pass is undone by putting its columns back.
        """

    def make_writable(self) -> None:
        """Copy the arrays that cannot be written to: those of a file mapped to memory.

        ``joblib.load(..., mmap_mode="r")`` and the workers of ``joblib.Parallel`` have such models.
        """

    def restorer(self, columns: np.ndarray | None) -> Callable[[], None]:
        """A function that puts the weights back as they are now, if only rows with these columns come."""

    def stored(self) -> dict[str, Any]:
        """The attributes that are the model: nothing that belongs to a pass under way."""


class LinearSpace(Space, Protocol):
    """A space whose w can be written down."""

    def weights(self, readout: str, columns: np.ndarray | None = None) -> np.ndarray:
        """(columns, n_features + 1), or the weights of these features and of the constant."""


class SupportSpace(Space, Protocol):
    """A space whose w is a combination of rows that are compared by a kernel."""

    support: Support  #: the rows, and their numbers

    def coefficients(self, readout: str) -> np.ndarray:
        """(support rows, columns): w, or its average, as a combination of the support rows."""

    def values(self, collection: Collection, mask: np.ndarray) -> Iterator[tuple[slice, AnyMatrix]]:
        """Kernel values with the support rows under ``mask``, some rows at a time: (slice, matrix)."""


class ConfidentSpace(LinearSpace, Protocol):
    """A space that has a covariance."""

    def covariance(self) -> Covariance:
        """Sigma as the loops take it."""

    def variances(self, rows: Any, n: int) -> np.ndarray:
        """x' Sigma x of each row."""
