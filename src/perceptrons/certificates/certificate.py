r"""The certificate of a fit: what was counted, what the theorems allow, and the proof.

A :class:`Certificate` is plain data. It prints as text and as HTML, goes to JSON and comes back, and
checks itself against rows and labels without the engine and without any solver.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from .._types import Json, JsonObject, Objects, PairFunction
from . import as_json, digests
from .as_json import MAX_BYTES
from .as_text import lines
from .evidence import RowSpace, Vector
from .facts import LoggedUpdates
from .parts import Bound, Bracket, CertificateError, Verdict

if TYPE_CHECKING:
    from .verification import Verification

__all__ = ["Bound", "Bracket", "Certificate", "CertificateError", "Verdict"]


@dataclass(frozen=True, repr=False, eq=False)
class Certificate:
    r"""What a fit has counted and proved, with all that is needed to check it again.

    Made by :func:`perceptrons.certify`. ``str()`` gives one readable block, a notebook shows a table,
    :meth:`to_json` and :meth:`from_json` store it, :meth:`verify` checks it.

    Attributes
    ----------
    model : dict
        Class, parameters that matter, labels, kind of problem.
    data : dict
        Shape and SHA-256 of the rows and of the labels.
    space : RowSpace
        How the rows are seen: constant coordinate, unit length, kernel.
    run : dict
        Counts, as reported by the run: examples, epochs, mistakes, updates, errors, and per learner; the
        lengths of the vectors.
    radius : float
        R, the length of the longest row in that space, rounded up.
    brackets : tuple of Bracket
        One per learner, each with the vector that proves its lower end and the weights on rows that prove the
        upper one.
    vectors : dict of Vector
        w, its average, where the run began, and other comparators.
    bounds : tuple of Bound
    verdict : Verdict
    updates : LoggedUpdates or None
        The log of the run, where it was kept; :meth:`verify` replays it.
    notes : tuple of str
    sha256 : str
        Of everything above.
    version : int
        1: the text was written by an older version of the package. It is read as what of it is proved, and a
        check of it is marked as one by the old rules.
    """

    model: Mapping[str, Json]
    data: Mapping[str, Json]
    space: RowSpace
    run: Mapping[str, Json]
    radius: float
    brackets: tuple[Bracket, ...]
    vectors: Mapping[str, Vector]
    bounds: tuple[Bound, ...]
    verdict: Verdict
    updates: LoggedUpdates | None = None
    notes: tuple[str, ...] = ()
    sha256: str = field(default="")
    version: int = 2
    original: JsonObject | None = None

    def sealed(self) -> Certificate:
        """The certificate with the digest of its own content."""
        return replace(self, sha256=digests.body_digest(as_json.body(self)))

    @property
    def holds(self) -> bool:
        """Whether every bound holds; a bound that does not is a bug, in the library or in its input."""
        return all(bound.holds for bound in self.bounds)

    @property
    def classes(self) -> list[Any]:
        """The labels."""
        return [digests.decode_label(pair) for pair in self.model["classes"]]

    # ------------------------------------------------------------ JSON

    def to_json(self) -> str:
        """The certificate as text. Numbers come back to the last bit."""
        return digests.canonical_json({**as_json.body(self), "sha256": self.sha256})

    @classmethod
    def from_json(cls, text: str | bytes, max_bytes: int = MAX_BYTES) -> Certificate:
        """The certificate that a text describes; nothing in the text is ever executed.

        Raises
        ------
        CertificateError
            The text is longer than ``max_bytes``, no JSON, or no certificate: a field is missing, unknown, of
            another type or out of its range, or fields contradict each other.
        """
        return cls(**as_json.parsed(text, max_bytes))

    # ------------------------------------------------------------ checking

    def verify(
        self, X: Objects, y: npt.ArrayLike, exact: bool = False, kernel: PairFunction | None = None
    ) -> Verification:
        """Check every claim against rows and labels, without the engine and without a solver.

        First the digests, then the classes, radius, lengths, brackets, counts, the log, each bound, the
        verdict. It stops at the first claim that fails. Ends of brackets and verdicts must be true whatever
        rounding does: where floats leave a doubt, rows are looked at again in fractions. "Not separable" is
        always checked in fractions.

        Parameters
        ----------
        X, y : the data the certificate is about
        exact : bool, default=False
            Check separation, radius, lengths and brackets in fractions alone, as every float is one; it
            takes time for large data. Where values are irrational (Gaussian and normalised kernels,
            p-norms) they are enclosed between fractions, and a claim must hold at the worse end: such checks
            are listed as ``outward``, and ``limit`` says why. Both sides of a bound are compared in floats,
            up to 10⁻⁹ of their size. Nothing is known of the rounding within a kernel function of one's own.
        kernel : callable, optional
            The kernel, where it is a function of two objects, or a kernel of a class of one's own.

        Returns
        -------
        verification : Verification
            True as a condition when every claim holds; ``failed`` names the first that does not, ``why`` says
            what was found, ``checked`` lists those that hold, ``exact`` and ``outward`` how strictly, and
            ``reported`` the fields taken as the run reported them, such as ``run.updates`` without a log. No
            content of a certificate makes it raise; ``verification.or_raise()`` raises
            :class:`CertificateError` for a claim that fails.
        """
        from .verification import verify

        return verify(self, X, y, exact=exact, kernel=kernel)

    # ------------------------------------------------------------ text

    def __str__(self) -> str:
        return "\n".join(f"{head:<14}{text}" if head else text for head, text in lines(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = []
        for head, text in lines(self):
            cells = (
                f"<th style='text-align:left'>{html.escape(head)}</th><td>{html.escape(text.strip())}</td>"
            )
            rows.append(f"<tr>{cells}</tr>")
        return f"<table>{''.join(rows)}</table>"
