"""How many threads a parameter ``n_jobs`` means."""

from __future__ import annotations

import sys


def n_threads(n_jobs: int | None) -> int:
    """The threads of ``n_jobs``, as joblib counts them."""
    if n_jobs is None and "joblib" not in sys.modules:
        return 1  # joblib is not imported, so there is no other setting
    from joblib import effective_n_jobs  # type: ignore[import-untyped]  # it has no stubs

    return int(effective_n_jobs(n_jobs))
