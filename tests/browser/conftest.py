"""A Chromium, a server of the lab, and a page that looks at it. ``make test-browser`` runs these tests.

Plain pytest does not collect them. A page that logs an error, or asks for anything beyond this machine, fails
its test, whatever the test looks at.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import re
import shutil
import signal
import subprocess
import sys
import threading

import pytest
from lab_page import LabPage
from playwright.sync_api import sync_playwright
from processes import path_for_tests

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HERE = ("127.0.0.1", "localhost")


def browser_path():
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="session")
def browser():
    path = browser_path()
    if path is None:
        pytest.fail(
            f"These tests need a browser: one of {', '.join(BROWSERS)}. On Debian: apt install chromium."
        )
    sandbox = [] if os.geteuid() else ["--no-sandbox"]  # Chromium has none for root
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=sandbox)
        yield browser
        browser.close()


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


@pytest.fixture(scope="session")
def address():
    """Where the lab is served, with its token."""
    with process("-m", "perceptrons", "lab", "--no-browser", "--port", "0", says=r"http://127\S+") as found:
        yield found


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


@pytest.fixture
def open_page(browser):
    """Open an address, in a window of its own size; what is wrong with a page is told at the end."""
    contexts, wrong = [], []

    def opened(address, width=1280, height=800, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda said: said.type == "error" and wrong.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("request", lambda asked: _outside(asked.url) and wrong.append(f"request: {asked.url}"))
        page.wrong = wrong
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def _outside(url):
    return re.match(r"(https?|wss?)://", url) and re.match(r"\w+://([^/:]+)", url)[1] not in HERE


@pytest.fixture
def lab(open_page, address):
    """The lab on the server, with its first run drawn."""
    return LabPage(open_page(address)).ready()
