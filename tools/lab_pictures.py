"""Make the screenshots of the lab in docs/img: ``make pictures``.

A server of the lab and a Chromium of the system are started; nothing is asked for beyond this machine.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lab_browser import MISSING, browser, browser_path, lab_server, ready
from playwright.sync_api import Page, expect

from perceptrons import datasets

FOLDER = Path(__file__).parents[1] / "docs" / "img"


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
    if browser_path() is None:
        print(f"lab_pictures: {MISSING}", file=sys.stderr)
        return 1
    with lab_server() as address, browser() as started:
        for name, window, prepare in PICTURES:
            if not asked.names or name in asked.names:
                print(_taken(started, address, window, prepare, asked.folder / f"{name}.png"))
    return 0


def _taken(
    started: Any, address: str, window: dict[str, Any], prepare: Callable[[Page], None], to: Path
) -> str:
    page = started.new_page(**window, reduced_motion="reduce")
    page.goto(address)
    ready(page)
    prepare(page)
    _settled(page)
    page.wait_for_timeout(500)
    page.screenshot(path=to, animations="disabled")
    page.close()
    return f"{to}: {to.stat().st_size / 1000:.0f} kB"


if __name__ == "__main__":
    sys.exit(main())
