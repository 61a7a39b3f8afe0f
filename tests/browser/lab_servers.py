"""Servers that tests start, and stop at their end."""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import re
import signal
import subprocess
import sys
import threading

import pytest
from processes import path_for_tests


@contextlib.contextmanager
def process(*words, says, **env):
    """A process that is stopped at the end; yields what ``says`` matches in what it prints."""
    env = {**os.environ, "PYTHONPATH": path_for_tests(), "PYTHONUNBUFFERED": "1", **env}
    started = subprocess.Popen(
        [sys.executable, *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    printed = []
    try:
        for line in started.stdout:
            printed.append(line)
            if found := re.search(says, line):
                break
        else:
            pytest.fail(f"{' '.join(words)} ended without {says!r}:\n{''.join(printed)}")
        reader = threading.Thread(
            target=lambda: printed.extend(started.stdout)
        )  # so that its pipe is never full
        reader.start()
        yield found[0]
    finally:
        started.send_signal(signal.SIGINT)
        try:
            started.wait(20)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()
        if "reader" in locals():
            reader.join()
        started.stdout.close()


@contextlib.contextmanager
def served(folder):
    """A folder on a plain web server, which knows nothing of the lab."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words):
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
