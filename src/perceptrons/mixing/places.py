"""Where shards are learned, by the parameter ``backend``."""

from __future__ import annotations

import os
from typing import Any

LOCAL = ("threads", "serial")


def is_dask(backend: Any) -> bool:
    """Whether the backend is a Dask cluster."""
    return not isinstance(backend, str) or backend == "dask"


def check(backend: Any) -> None:
    """Refuse what is no backend."""
    known = backend in (*LOCAL, "dask") if isinstance(backend, str) else _is_client(backend)
    if not known:
        raise ValueError(
            "backend must be one of 'threads', 'serial', 'dask', or a client of Dask; got "
            f"backend={backend!r}."
        )


def path_for(backend: Any, path: str | os.PathLike[str]) -> str:
    """A path as the backend can open it: workers of a cluster may be in other folders."""
    found = os.fspath(path)
    return os.path.abspath(found) if is_dask(backend) else found


def _is_client(backend: Any) -> bool:
    return type(backend).__module__.split(".")[0] == "distributed" and hasattr(backend, "scheduler")


def client_of(backend: Any) -> Any:
    """The client: the one given, or else the one that this process has made last."""
    try:
        import dask  # noqa: F401  # is it there?
        import distributed
    except ImportError as error:
        raise ImportError("backend='dask' needs extra packages: pip install 'perceptrons[dask]'.") from error
    if not isinstance(backend, str):
        return backend
    try:
        return distributed.default_client()
    except ValueError as error:
        raise ValueError(
            "backend='dask' needs a client: make one, client = distributed.Client('tcp://HOST:PORT'), or "
            "distributed.Client() for workers on this machine."
        ) from error
