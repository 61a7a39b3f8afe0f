"""Temporary folders that outlive forked children."""

from __future__ import annotations

import os
import weakref


class TemporaryFolder:
    """A folder for the user alone (mode 0700), removed with this object or at the end of the process.

    Only the process that made it removes it. :class:`tempfile.TemporaryDirectory` is also removed by a forked
    child that ends, under the eyes of its parent.
    """

    def __init__(self, prefix: str):
        import tempfile  # not when the library is imported: it takes milliseconds

        self.name = tempfile.mkdtemp(prefix=prefix)
        self._finalizer = weakref.finalize(self, _remove, self.name, os.getpid())

    def cleanup(self) -> None:
        """Remove the folder now."""
        self._finalizer()


def _remove(name: str, process: int) -> None:
    import shutil

    if os.getpid() == process:
        shutil.rmtree(name, ignore_errors=True)
