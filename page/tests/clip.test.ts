import assert from "node:assert/strict";
import { test } from "node:test";
import type { HalfPlane } from "../src/clip";
import { area, halfPlanesIn, lineIn, ticks } from "../src/clip";
import { levelSets, risk } from "../src/levels";
import type { Pair } from "../src/protocol";
import type { Box } from "../src/state";

const BOX: Box = [-1, 3, -2, 2];
const near = (a: number, b: number, tolerance = 1e-9): void => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);

/** Numbers between −1 and 1 that are the same in every run. */
function drawn(seed: number): () => number {
  let state = seed;
  return () => ((state = (state * 1103515245 + 12345) % 2147483648) / 1073741824) - 1;
}

function whole<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

test("a line is cut where it leaves the box", () => {
  assert.deepEqual(lineIn(0, 2, 1, BOX), [3, 0.5, -1, 0.5]);
  assert.equal(lineIn(0, 1, 5, BOX), null);
  assert.equal(lineIn(0, 0, 1, BOX), null);
  assert.equal(lineIn(NaN, 1, 1, BOX), null);
});

test("the ends of any line are on the line and on the border", () => {
  const draw = drawn(1);
  let met = 0;
  for (let k = 0; k < 500; k++) {
    const scale = 10 ** (12 * draw());
    const [a, b, c] = [draw() * scale, draw() * scale, 2 * draw() * scale];
    const ends = lineIn(a, b, c, BOX);
    if (!ends) continue;
    met++;
    for (const [x, y] of [ends.slice(0, 2), ends.slice(2)] as Pair[]) {
      near((a * x + b * y - c) / Math.hypot(a, b), 0);
      near(Math.min(x + 1, 3 - x, y + 2, 2 - y), 0);
    }
  }
  assert.ok(met > 300);
});

test("half-planes leave the polygon that they have in common", () => {
  const cone = halfPlanesIn([[1, 0, 0], [0, 1, 0]], BOX);
  near(area(cone), 6);
  assert.deepEqual(halfPlanesIn([[1, 0, 0], [-1, 0, 0]], BOX), []); // a line has no inside
  assert.deepEqual(halfPlanesIn([[1, 0, 4]], BOX), []);
});

test("the area of a polygon is what drawing points at random gives", () => {
  const draw = drawn(7);
  const planes = Array.from({ length: 4 }, (): HalfPlane => [draw(), draw(), draw() / 2 - 0.6]);
  let inside = 0;
  for (let k = 0; k < 40000; k++) {
    const [x, y] = [1 + 2 * draw(), 2 * draw()];
    if (planes.every(([a, b, c]) => a * x + b * y >= c)) inside++;
  }
  near(area(halfPlanesIn(planes, BOX)), (16 * inside) / 40000, 0.25);
});

test("the corners of a level set of the risk have that risk, and lie on lines or the border", () => {
  const draw = drawn(3);
  const rows = Array.from({ length: 25 }, (): HalfPlane => [draw() * 3, draw() * 3, draw()]);
  const levels = [1.2, 0.8, 0.5];
  const sets = whole(levelSets(rows, BOX, levels));
  sets.forEach((polygon, k) => {
    assert.ok(polygon.length > 4);
    for (const [x, y] of polygon) {
      const border = Math.min(x + 1, 3 - x, y + 2, 2 - y) < 1e-9;
      const line = Math.min(...rows.map(([a, b, c]) => Math.abs(a * x + b * y - c))) < 1e-9;
      assert.ok(border || line);
      if (border) assert.ok(risk(rows, [x, y]) <= levels[k]! + 1e-9);
      else near(risk(rows, [x, y]), levels[k]!);
    }
  });
  let inside = 0;
  for (let k = 0; k < 20000; k++) if (risk(rows, [1 + 2 * draw(), 2 * draw()]) <= 0.8) inside++;
  near(area(sets[1]!), (16 * inside) / 20000, 0.3);
});

test("a level that the risk does not reach has no polygon", () => {
  const rows: HalfPlane[] = [[1, 0, 2], [-1, 0, 2]]; // the risk is 2 at least
  assert.deepEqual(whole(levelSets(rows, BOX, [1])), [[]]);
});

test("ticks are round and inside", () => {
  assert.deepEqual(ticks(-1, 1, 4), [-1, -0.5, 0, 0.5, 1]);
  assert.deepEqual(ticks(0, 0, 4), []);
  assert.deepEqual(ticks(0.1, 0.35, 3), [0.1, 0.2, 0.3]);
});
