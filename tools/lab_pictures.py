"""Make the screenshots of the lab in docs/img: ``make pictures``.

A server of the lab and a Chromium of the system are started; nothing is asked for beyond this machine.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

from perceptrons import datasets

FOLDER = Path(__file__).parents[1] / "docs" / "img"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def _settled(page: Page) -> None:
    """No answer is awaited."""
    page.wait_for_timeout(50)
    expect(page.locator(".plab")).not_to_have_attribute("data-busy", "true", timeout=60_000)


def _to_mistake(page: Page, k: int) -> None:
    _settled(page)
    page.get_by_test_id("xspace").focus()
    for _ in range(k):
        page.keyboard.press("m")
    page.locator("body").evaluate("() => document.activeElement.blur()")


def _moved_clouds(page: Page) -> None:
    """Two clouds, some way from the origin, so that a run has several mistakes: as a file that is loaded."""
    toy = datasets.clouds_near()
    lines = [f"{a + 0.75},{b + 1.5},{'positive' if y > 0 else 'negative'}" for (a, b), y in zip(toy.X, toy.y)]
    order = [i for pair in zip(range(20), range(20, 40)) for i in pair]
    text = "\n".join(lines[i] for i in order)
    file = {"name": "clouds.csv", "mimeType": "text/csv", "buffer": text.encode()}
    page.get_by_test_id("load-csv").set_input_files(file)  # type: ignore[arg-type]  # a dict is one, too


def _first(page: Page) -> None:
    """The perceptron in the middle of a run, with its path and its bounds."""
    _moved_clouds(page)
    _to_mistake(page, 4)


def _kernel(page: Page) -> None:
    page.get_by_test_id("set").select_option("rings")
    page.get_by_test_id("learner").select_option("KernelPerceptron")
    _settled(page)
    page.get_by_test_id("xspace").focus()
    page.keyboard.press("End")
    page.locator("body").evaluate("() => document.activeElement.blur()")
    page.mouse.move(900, 300)


def _two(page: Page) -> None:
    _moved_clouds(page)
    page.get_by_test_id("second").select_option("PassiveAggressive")
    _to_mistake(page, 3)


#: Name, settings of the window, what is done first.
PICTURES: list[tuple[str, dict[str, Any], Callable[[Page], None]]] = [
    ("lab", {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"}, _first),
    ("lab_dark", {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"}, _first),
    ("lab_kernel", {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"}, _kernel),
    ("lab_compare", {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"}, _two),
    ("lab_tablet", {"viewport": {"width": 820, "height": 1180}, "color_scheme": "light"}, _first),
]


def main() -> int:
    """Make the pictures that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="which pictures; all without names")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    asked = parser.parse_args()
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        print(f"There is no browser: one of {', '.join(BROWSERS)} is needed.", file=sys.stderr)
        return 1
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "perceptrons", "lab", "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        address = next(found[0] for line in server.stdout if (found := re.search(r"http://127\S+", line)))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
            for name, window, prepare in PICTURES:
                if not asked.names or name in asked.names:
                    print(_taken(browser, address, window, prepare, asked.folder / f"{name}.png"))
            browser.close()
    finally:
        server.terminate()
        server.wait()
    return 0


def _taken(
    browser: Any, address: str, window: dict[str, Any], prepare: Callable[[Page], None], to: Path
) -> str:
    page = browser.new_page(**window, reduced_motion="reduce")
    page.goto(address)
    expect(page.get_by_test_id("position")).to_contain_text(re.compile("of [1-9]"), timeout=60_000)
    prepare(page)
    _settled(page)
    page.wait_for_timeout(500)
    page.screenshot(path=to, animations="disabled")
    page.close()
    return f"{to}: {to.stat().st_size / 1000:.0f} kB"


if __name__ == "__main__":
    sys.exit(main())
