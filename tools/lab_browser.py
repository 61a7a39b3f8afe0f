"""A Chromium of the system and a server of the lab, for tests, pictures and benchmarks of the page."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator

from playwright.sync_api import Browser, Page, expect, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MISSING = f"there is no browser: one of {', '.join(BROWSERS)} is needed. On Debian: apt install chromium."


def browser_path() -> str | None:
    """The browser of the system; None where there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A browser without windows."""
    path = browser_path()
    if path is None:
        raise FileNotFoundError(MISSING)
    sandbox = [] if os.geteuid() else ["--no-sandbox"]  # Chromium has none for root
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=sandbox)
        try:
            yield started
        finally:
            started.close()


@contextlib.contextmanager
def lab_server() -> Iterator[str]:
    """A server of the lab on a free port; yields its address, with the token."""
    words = [sys.executable, "-u", "-m", "perceptrons", "lab", "--no-browser", "--port", "0"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        found = (re.search(r"http://127\S+", line) for line in server.stdout)
        address = next((one[0] for one in found if one), None)
        if address is None:
            raise RuntimeError("The server of the lab ended without an address.")
        yield address
    finally:
        server.terminate()
        server.wait()


def ready(page: Page) -> None:
    """Wait until a run is drawn; the loops are compiled before the first one."""
    expect(page.get_by_test_id("position")).to_contain_text(re.compile("of [1-9]"), timeout=60_000)
