"""What a user does with the page of the lab, and what it shows, by the ids that it has for tests."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import numpy as np
from playwright.sync_api import expect

#: Lines of an SVG element in pixels of the window: a list of points for each part of it.
_DRAWN = """element => {
  const matrix = element.getScreenCTM(), points = [];
  const add = (x, y) => { const p = new DOMPoint(x, y).matrixTransform(matrix); points.push([p.x, p.y]); };
  const number = name => element[name].baseVal.value;
  if (element.tagName === 'line') {
    add(number('x1'), number('y1'));
    add(number('x2'), number('y2'));
  } else if (element.points) {
    for (const point of element.points) add(point.x, point.y);
  } else {
    let [x, y] = [0, 0];
    for (const [, letter, rest] of (element.getAttribute('d') ?? '').matchAll(/([MLHV])([^MLHVZz]*)/g)) {
      const given = (rest.match(/[-+]?[0-9.]+(?:e[-+]?[0-9]+)?/gi) ?? []).map(Number);
      while (given.length) {
        if (letter !== 'V') x = given.shift();
        if (letter !== 'H') y = given.shift();
        add(x, y);
      }
    }
  }
  return points;
}"""
#: The place of a point, which its marker is drawn around, in pixels of the window.
_PLACE = """element => {
  const [x, y] = element.querySelector('path').getAttribute('d').match(/[-.0-9]+/g).map(Number);
  const place = new DOMPoint(x, y).matrixTransform(element.getScreenCTM());
  return [place.x, place.y];
}"""


class Axes(NamedTuple):
    """From the coordinates of a plane or chart to pixels of the window."""

    box: list[float]  #: x0, x1, y0, y1
    corners: list[float]  #: left, top, right, bottom, in pixels of the window
    log: bool = False  #: of y

    def pixels(self, points):
        (x0, x1, y0, y1), (left, top, right, bottom) = self.box, self.corners
        points = np.array(points, float)
        if self.log:
            y0, y1, points[..., 1] = np.log(y0), np.log(y1), np.log(points[..., 1])
        across = left + (points[..., 0] - x0) / (x1 - x0) * (right - left)
        down = bottom + (points[..., 1] - y0) / (y1 - y0) * (top - bottom)
        return np.stack([across, down], axis=-1)


class LabPage:
    """A page of the lab, and the answers that it got."""

    def __init__(self, page):
        self.page = page
        self.answers = []
        page.on("response", self._keep)

    def _keep(self, response):
        if response.url.endswith("/api/run") and response.ok:
            self.answers.append(response)

    # ------------------------------------------------------------------------------ what is there

    def __getitem__(self, name):
        """The element with this id for tests."""
        return self.page.get_by_test_id(name)

    def ready(self):
        expect(self["position"]).to_contain_text(re.compile("of [1-9]"), timeout=60_000)  # loops are compiled
        self.settle()
        return self

    @property
    def position(self):
        """Visits made, visits of the run."""
        return tuple(map(int, re.search(r"visit (\d+) of (\d+)", self["position"].inner_text()).groups()))

    @property
    def sentence(self):
        return self["sentence"].inner_text()

    @property
    def n_points(self):
        return self["xspace"].locator("[data-testid^=point-]").count()

    def point(self, i):
        """The middle of a point, in pixels of the window."""
        return np.array(self[f"point-{i}"].evaluate(_PLACE))

    def drawn(self, name, line=None):
        """The corners of an element, or of a line of a chart, in pixels of the window."""
        element = self[name] if line is None else self[name].locator(f"[data-line={line}]")
        return np.array(element.evaluate(_DRAWN)).reshape(-1, 2)

    def weights(self):
        """The w of the boundary that is drawn."""
        return np.array([float(part) for part in self["boundary"].get_attribute("data-w").split(",")])

    def axes(self, name):
        """The axes of a plane or a chart."""
        element = self.page.locator(
            f"[data-testid={name}][data-scale], [data-testid={name}] [data-scale]"
        ).first
        numbers = [float(part) for part in element.get_attribute("data-scale").split(",")]
        (left, right, top, bottom) = numbers[4:]
        corners = element.evaluate(
            """(element, [left, top, right, bottom]) => {
              const matrix = element.getScreenCTM();
              const a = new DOMPoint(left, top).matrixTransform(matrix);
              const b = new DOMPoint(right, bottom).matrixTransform(matrix);
              return [a.x, a.y, b.x, b.y];
            }""",
            [left, top, right, bottom],
        )
        return Axes(numbers[:4], corners, element.get_attribute("data-log") == "y")

    # ------------------------------------------------------------------------------ what is done

    def changed(self, action):
        """Do something that asks for a run, and return the answer, once it is drawn."""
        with self.page.expect_response(lambda response: response.url.endswith("/api/run")) as got:
            action()
        found = got.value.json()
        self.settle()
        return found

    def settle(self):
        """Wait for two frames, until no answer is awaited, and until that is drawn."""
        frames = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.page.evaluate(frames)
        expect(self.page.locator(".plab")).not_to_have_attribute("data-busy", "true", timeout=60_000)
        self.page.evaluate(frames)

    def played_to(self, step):
        """Wait until this many visits are made."""
        expect(self["position"]).to_contain_text(re.compile(f"visit {step} of"), timeout=30_000)
        self.settle()

    def answer(self):
        """The last answer to a request for a run."""
        return json.loads(self.answers[-1].body())

    def choose(self, what, name):
        """Choose a set or a learner by its name; returns the answer."""
        return self.changed(lambda: self[what].select_option(name))

    def go_to(self, step):
        """Make this many visits, by the buttons."""
        now, _ = self.position
        for _ in range(abs(step - now)):
            self["step" if step > now else "back"].click()
        self.settle()
        assert self.position[0] == step

    def click_at(self, plane, x, **options):
        """Click on a place of a plane, by its coordinates."""
        self.page.mouse.click(*self.axes(plane).pixels(x), **options)

    def open(self, panel):
        """Open a panel, such as "share", where it is not open."""
        button = self[f"open-{panel}"]
        if button.get_attribute("aria-expanded") != "true":
            button.click()
            self.settle()

    def close(self, panel):
        if self[f"open-{panel}"].get_attribute("aria-expanded") == "true":
            self.page.keyboard.press("Escape")
            self.settle()
