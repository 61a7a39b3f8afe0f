"""``perceptrons certify``."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from . import printing, rows
from .errors import Misuse
from .options import Reading
from .stored import open_data, open_model

if TYPE_CHECKING:
    from .._types import JsonObject
    from ..certificates import Verification


def certify(
    path: str,
    data: list[str],
    reading: Reading,
    exact: bool,
    comparators: str,
    delta: float,
    output: str | None,
    html: bool,
    as_json: bool,
) -> int:
    """Make the certificate, and check it from the rows alone; 1 where a claim does not hold."""
    from .. import kernels
    from ..proofs import certify as certified

    if html and as_json:
        raise Misuse("--html and --json do not go together; give one of them.")
    opened = open_model(path, scikit_learn=True)
    with open_data(opened, data, reading, learned=True) as stream:
        stream.select(holdout=rows.share(opened.holdout))
        X, y, _ = rows.whole(stream)
    if hasattr(opened.model, "hash"):
        X = opened.model.hash(X)
    certificate = certified(opened.model, X, y, delta=delta, comparators=comparators)
    own = kernels.function_of(getattr(opened.model, "kernel_", None))
    verification = certificate.verify(X, y, exact=exact, kernel=own)
    if output is not None:
        with printing.whole_file(output) as file:
            file.write(certificate.to_json() + "\n")
    if as_json:
        found = {"certificate": json.loads(certificate.to_json()), "verification": _as_dict(verification)}
        sys.stdout.write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    elif html:
        print(certificate._repr_html_())
    else:
        print(certificate)
        print(f"{'checked':<14}{_as_text(verification, exact)}")
    return 0 if verification and certificate.holds else 1


def _as_dict(verification: Verification) -> JsonObject:
    return {
        "holds": bool(verification),
        "failed": verification.failed,
        "why": verification.why,
        "checked": list(verification.checked),
    }


def _as_text(verification: Verification, exact: bool) -> str:
    if not verification:
        return f"FAILED: {verification.failed}: {verification.why}"
    how = "in fractions" if exact else "in floating point"
    return f"{len(verification.checked)} claims hold, checked from the rows {how}"
