"""main: runs one command, prints its error in one line, returns its exit code.

0: done. 1: the work failed: bad data, an unreadable model, a claim that does not hold. 2: the command was
given wrongly. 128 + n: ended by signal n.
"""

from __future__ import annotations

import atexit
import gc
import os
import re
import shlex
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Sequence

from .errors import Failure, Misuse
from .signals import Interrupted, Signals

FAILED, MISUSED = 1, 2
#: name of the threads of the lab
LAB = "lab"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    argv : list of str, optional
        The arguments after the name of the program; default: ``sys.argv[1:]``.

    Returns
    -------
    code : int
    """
    if argv is not None:
        return _done(list(argv))
    given = sys.argv[1:]
    _start_quickly(given)
    code = _done(given)
    _end_at_once(code)
    return code


def _done(given: list[str]) -> int:
    try:
        with Signals():
            code = _run(given or ["--help"])
            sys.stdout.flush()
            return code
    except BrokenPipeError:
        return _broken_pipe()
    except Interrupted as stop:
        _say(given, str(stop))
        return 128 + stop.signum
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BaseException as error:
        if isinstance(error, SystemExit):  # raised by shell completion
            return error.code if isinstance(error.code, int) else FAILED
        if not isinstance(error, Exception):
            raise
        if "--debug" in given:
            traceback.print_exc()
        code = _code(error)
        _say(given, _message(error), usage=code == MISUSED)
        return code


def _start_quickly(given: list[str]) -> None:
    """Settings of a process of its own: modules take less time to load, and the process ends sooner."""
    gc.set_threshold(20_000)  # thousands of classes and functions stay, and are searched for garbage
    atexit.register(gc.freeze)  # or the interpreter searches them again, several times, when it ends
    from ..engine.compiler import load_for_good, skip_blas

    load_for_good()
    if not any(word.startswith("--plugin") for word in given):  # loops of a plugin may multiply matrices
        skip_blas()


def _end_at_once(code: int) -> None:
    """End the process here, where a thread of the lab is still at work for nobody.

    The interpreter ends such threads where they stand, and a compiler that is ended so aborts the process.
    """
    if any(thread.daemon and thread.name == LAB for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _run(given: list[str]) -> int:
    """Parse, then work: the work is done outside the parser, which would handle its errors."""
    import typer

    from .commands import app

    job: object = typer.main.get_command(app)(given, prog_name="perceptrons", standalone_mode=False)
    if not callable(job):
        return job if isinstance(job, int) else 0
    with warnings.catch_warnings():
        # scikit-learn sees one batch: it takes many classes among few rows for numbers, not labels
        warnings.filterwarnings("ignore", message="The number of unique classes is greater")
        done = job()
    return done if isinstance(done, int) else 0


def _code(error: Exception) -> int:
    """2 for a mistake in the command; the parser's own errors have that code, too. Else 1."""
    return MISUSED if isinstance(error, Misuse) else int(getattr(error, "exit_code", FAILED))


def _broken_pipe() -> int:
    """The program that reads standard output has ended, as in ``| head``: no error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())  # or the interpreter would print an error at its end
    os.close(nowhere)
    return 141  # 128 + SIGPIPE, as of a program that does not catch it


# ---------------------------------------------------------------------------------------- messages


def _say(given: list[str], message: str, usage: bool = False) -> None:
    from .commands import COMMANDS

    command = next((word for word in given if word in COMMANDS), None)
    name = "perceptrons" if command is None else f"perceptrons {command}"
    help_ = f" See '{name} --help'." if usage else ""
    line = " ".join(f"{name}: {message}{help_}".split())
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:  # standard error is closed
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # until the process ends


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename is not None else ""
        return f"{where}{error.strerror}.{_way_out(error)}"
    if isinstance(error, MemoryError):
        return "Not enough memory. Fewer --bits make a smaller model; --batch-bytes makes smaller batches."
    text: str = getattr(error, "format_message", error.__str__)()
    known = isinstance(error, (Failure, Misuse, ValueError, ImportError, OSError, RuntimeError, TypeError))
    if hasattr(error, "exit_code"):
        return _sentence(text)
    if not known or not text:
        return (
            f"{type(error).__name__}: {_sentence(text)} This should not happen; --debug shows where it did."
        )
    return _as_flags(_sentence(text))


def _way_out(error: OSError) -> str:
    import errno

    if error.errno == errno.ENOSPC:
        return " The old file, if there was one, is as it was."
    return ""


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


_FLAGS = {
    "n_features": "--features",
    "seed": "--seed",
    "on_error": "--on-bad-line",
    "errors": "--encoding-errors",
}
_LIMITS = re.compile(r"limits=Limits\((\w+=…)\)")
_PYTHON = re.compile(
    r"\b(n_features|labels|zero_based|label_column|text_column|weight_column|delimiter|format|header|bits|"
    r"encoding_errors|errors|on_error|idf|categorical|columns|missing|readout|passes)\b(?:=(?:'([^']*)'|\"([^\"]*)\"|(\[…\]|[^\s,.;:)]*)))?"
)


def _as_flags(message: str) -> str:
    """The message with options in place of parameters of :func:`perceptrons.io.open_stream`."""

    def flag(match: re.Match[str]) -> str:
        name, *values = match.groups()
        value = next((value for value in values if value is not None), None)
        if value is None and "_" not in name:
            return match.group()  # an ordinary word
        option = _FLAGS.get(name, "--" + name.replace("_", "-"))
        if value in (None, "", "True"):
            return option
        if value == "False":
            return f"--no-{name}"
        return f"{option} {'…' if value in ('…', '[…]') else shlex.quote(value)}"

    return _PYTHON.sub(flag, _LIMITS.sub(r"--limits \1", message))
