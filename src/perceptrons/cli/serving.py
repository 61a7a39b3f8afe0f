"""``perceptrons lab``: the page on this machine, or in a folder."""

from __future__ import annotations

import secrets
import signal
import threading
import webbrowser

import typer

from .errors import Failure, Misuse
from .signals import Interrupted


def lab(port: int | None, browser: bool, folder: str | None) -> int:
    """Serve the page until Ctrl-C, or write it to a folder."""
    if folder is not None:
        if port is not None:
            raise Misuse("--export writes files and serves nothing: drop --port.")
        return _export(folder)
    try:
        from ..lab import server
    except ImportError as error:
        raise _missing(error) from error
    at = server.listening(port)

    def ready(url: str) -> None:
        typer.echo(f"The lab is at {url} (Ctrl-C ends it)")
        if browser:
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    try:
        server.serve(at, secrets.token_urlsafe(24), ready)
    except Interrupted as stop:
        if stop.signum != signal.SIGINT:
            raise
    return 0


def _export(folder: str) -> int:
    from ..lab import export

    export.show(folder)
    return 0


def _missing(error: ImportError) -> Exception:
    """What to tell where an import of the lab has failed."""
    if error.name is not None and error.name.startswith("perceptrons"):
        return error
    return Failure(f"lab needs extra packages: pip install 'perceptrons[lab]'. ({error})")
