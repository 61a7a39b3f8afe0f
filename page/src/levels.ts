// Where the risk, the mean of max(0, −y<w, x>), is at most a level: it is convex and linear between the lines
// y<w, x> = 0, so each of these regions is a polygon with its corners on the lines (and on the border of the box).
import type { HalfPlane } from "./clip";
import { area, corners, lineIn } from "./clip";
import type { Pair } from "./protocol";
import type { Box } from "./state";

/** The risk of w where row i has y<w, x> = a w_1 + b w_2 − c. */
export function risk(rows: readonly HalfPlane[], w: Pair): number {
  let sum = 0;
  for (const [a, b, c] of rows) sum += Math.max(0, c - a * w[0] - b * w[1]);
  return rows.length ? sum / rows.length : 0;
}

/** Polygons of the levels, in the order of these, which falls. A step of the work per line: `yield` lets others in. */
export function* levelSets(rows: readonly HalfPlane[], box: Box, levels: readonly number[]): Generator<void, Pair[][]> {
  const found: Pair[][] = levels.map(() => []);
  const slopes = new Float64Array(rows.length);
  const values = new Float64Array(rows.length);
  const ring = corners(box);
  const lines = ring.map(([x, y], i): number[] => [x, y, ...ring[(i + 1) % 4]!]);
  for (const [a, b, c] of rows) {
    const ends = lineIn(a, b, c, box);
    if (ends) lines.push(ends);
  }
  for (const [x0, y0, x1, y1] of lines as [number, number, number, number][]) {
    const [dx, dy] = [x1 - x0, y1 - y0];
    rows.forEach(([a, b, c], i) => {
      slopes[i] = a * dx + b * dy;
      values[i] = a * x0 + b * y0 - c;
    });
    const firsts = crossings(slopes, values, levels);
    rows.forEach((_, i) => {
      values[i] = values[i]! + slopes[i]!;
      slopes[i] = -slopes[i]!;
    });
    const lasts = crossings(slopes, values, levels);
    levels.forEach((_, k) => {
      for (const t of [firsts[k]!, 1 - lasts[k]!]) if (t >= 0 && t <= 1) found[k]!.push([x0 + t * dx, y0 + t * dy]);
    });
    yield;
  }
  const size = Math.max(box[1] - box[0], box[3] - box[2]);
  return found.map((points) => around(points)).map((polygon) => (area(polygon) > 1e-10 * size * size ? polygon : []));
}

/** For each level, the first t in [0, 1] at which the mean of max(0, −(slope t + value)) is at most it; NaN: there is none.
 * Newton's method: tangents of a convex function lie below it, so no step goes too far, and the last one is exact. */
function crossings(slopes: Float64Array, values: Float64Array, levels: readonly number[]): number[] {
  const n = slopes.length || 1;
  let t = 0;
  return levels.map((level) => {
    for (let round = 0; round < 100 && t <= 1; round++) {
      let [sum, slope] = [0, 0];
      for (let i = 0; i < slopes.length; i++) {
        const m = slopes[i]! * t + values[i]!;
        if (m < 0 || (m === 0 && slopes[i]! < 0)) {
          sum -= m;
          slope -= slopes[i]!;
        }
      }
      const over = sum / n - level;
      if (over <= 1e-12 * Math.max(level, sum / n)) return t;
      if (slope >= 0) t = Infinity;
      else t += over / (-slope / n);
    }
    return NaN;
  });
}

/** Points on the border of a convex polygon, in order. */
function around(points: Pair[]): Pair[] {
  if (points.length < 3) return [];
  const [mx, my] = points.reduce(([a, b], [x, y]) => [a + x / points.length, b + y / points.length], [0, 0]) as Pair;
  const keyed = points.map((p): [number, Pair] => [Math.atan2(p[1] - my, p[0] - mx), p]);
  return keyed.sort((p, q) => p[0] - q[0]).map(([, p]) => p);
}
