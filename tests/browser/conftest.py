"""A Chromium, a server of the lab, and a page that looks at it. ``make test-browser`` runs these tests.

Plain pytest does not collect them. A page that logs an error, or asks for anything beyond this machine, fails
its test, whatever the test looks at.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from lab_page import LabPage
from lab_servers import process

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import lab_browser

HERE = ("127.0.0.1", "localhost")


@pytest.fixture(scope="session")
def browser():
    if lab_browser.browser_path() is None:
        pytest.fail(f"These tests need a browser, and {lab_browser.MISSING}")
    with lab_browser.browser() as started:
        yield started


@pytest.fixture(scope="session")
def address():
    """Where the lab is served, with its token."""
    with process("-m", "perceptrons", "lab", "--no-browser", "--port", "0", says=r"http://127\S+") as found:
        yield found


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
