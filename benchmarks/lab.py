"""How the page of the lab draws, in a Chromium: frames while a run plays, the first paint, its size.

    python benchmarks/lab.py [--seconds 10] [--points 500]

A server of the lab is started on this machine. The frames are those of ``requestAnimationFrame``: the time
from each to the next, while a run on the points plays with the given number of visits per second. Of pages,
the median of several loads counts; the browser has no cache of them.
"""

from __future__ import annotations

import argparse
import gzip
import os
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page

import perceptrons

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from lab_browser import MISSING, browser, browser_path, lab_server, ready

STATIC = Path(perceptrons.__file__).parent / "lab" / "static"
GOOD = 20.0  # milliseconds
LOADS = 5

FRAMES = """seconds => new Promise(done => {
  const times = [], start = performance.now();
  const next = now => {
    times.push(now);
    if (now - start < 1000 * seconds) requestAnimationFrame(next); else done(times);
  };
  requestAnimationFrame(next);
})"""
PAINT = """() => new Promise(done => {
  const found = performance.getEntriesByName('first-contentful-paint');
  if (found.length) done(found[0].startTime);
  else new PerformanceObserver((list, observer) => {
    const [entry] = list.getEntriesByName('first-contentful-paint');
    if (entry) { observer.disconnect(); done(entry.startTime); }
  }).observe({type: 'paint', buffered: true});
})"""


def table(points: int) -> bytes:
    """Two clouds that overlap, so that the run goes on, as CSV."""
    draw = np.random.default_rng(0)
    codes = draw.integers(0, 2, points)
    X = draw.normal(size=(points, 2)) + 1.5 * codes[:, None]
    return "".join(f"{a:.4f},{b:.4f},{c}\n" for (a, b), c in zip(X, codes)).encode()


def opened(started: Browser, address: str) -> tuple[Page, float, float]:
    """The page; its first paint and the first drawn run, in milliseconds from the start of the load."""
    page = started.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto(address)
    ready(page)
    drawn: float = page.evaluate("() => performance.now()")
    return page, page.evaluate(PAINT), drawn


def played(page: Page, seconds: float, speed: float) -> np.ndarray:
    """Milliseconds between frames while the run plays."""
    page.get_by_test_id("xspace").focus()
    page.keyboard.press("Home")
    set_speed = """(input, speed) => {
      input.value = Math.log(speed);
      input.dispatchEvent(new Event('input', {bubbles: true}));
    }"""
    page.get_by_test_id("speed").evaluate(set_speed, speed)
    page.get_by_test_id("play").click()
    page.wait_for_timeout(500)
    before = page.get_by_test_id("position").inner_text()
    times = np.array(page.evaluate(FRAMES, seconds))
    after = page.get_by_test_id("position").inner_text()
    print(f"  {before} -> {after}")
    page.get_by_test_id("play").click()
    return np.diff(times)


def said(name: str, gaps: np.ndarray) -> None:
    share = 100.0 * np.mean(gaps <= GOOD)
    low, middle, high = np.percentile(gaps, [50, 95, 99])
    print(
        f"{name}: {share:.1f} % of {len(gaps)} frames within {GOOD:.0f} ms; "
        f"median {low:.1f}, 95 % {middle:.1f}, 99 % {high:.1f}, longest {gaps.max():.1f} ms"
    )


def sizes() -> None:
    files: dict[str, Any] = {
        path.name: path.read_bytes() for path in sorted(STATIC.iterdir()) if path.is_file()
    }
    for name, body in files.items():
        print(f"{name}: {len(body) / 1000:.1f} kB, {len(gzip.compress(body)) / 1000:.1f} kB compressed")
    print(f"all: {sum(map(len, files.values())) / 1000:.1f} kB")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="of playing, for each speed")
    parser.add_argument("--points", type=int, default=500)
    parser.add_argument("--speeds", default="8,60,200", help="visits per second")
    asked = parser.parse_args()
    if browser_path() is None:
        print(f"lab: NOT RUN ({MISSING})")
        return 0
    sizes()
    with lab_server() as address, browser() as started:
        print(f"Chromium {started.version}, {os.cpu_count()} cores, no GPU")
        opened(started, address)[0].close()  # loops are compiled, files are read
        loads = [opened(started, address) for _ in range(LOADS)]
        print(
            f"first paint: {statistics.median(load[1] for load in loads):.0f} ms; "
            f"first run drawn: {statistics.median(load[2] for load in loads):.0f} ms (median of {LOADS})"
        )
        for page, _, _ in loads[1:]:
            page.context.close()
        page = loads[0][0]
        file = {"name": "rows.csv", "mimeType": "text/csv", "buffer": table(asked.points)}
        page.get_by_test_id("load-csv").set_input_files(file)
        page.get_by_test_id(f"point-{asked.points - 1}").wait_for()
        for speed in map(float, asked.speeds.split(",")):
            said(f"{asked.points} points, {speed:g} visits/s", played(page, asked.seconds, speed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
