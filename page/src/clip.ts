// Lines and half-planes in a box: what of them can be seen.
import type { Pair } from "./protocol";
import type { Box } from "./state";

/** a x + b y ≥ c. */
export type HalfPlane = readonly [a: number, b: number, c: number];

/** The ends of the part of the line a x + b y = c in the box; null where it does not meet the inside. */
export function lineIn(a: number, b: number, c: number, box: Box): [number, number, number, number] | null {
  const size = Math.hypot(a, b);
  if (!(size > 0) || !Number.isFinite(size) || !Number.isFinite(c)) return null;
  const [na, nb, nc] = [a / size, b / size, c / size];
  // from the point of the line next to the middle of the box: numbers stay small where the box is far from 0
  const mx = (box[0] + box[1]) / 2;
  const my = (box[2] + box[3]) / 2;
  const off = nc - na * mx - nb * my;
  const [px, py] = [mx + na * off, my + nb * off];
  let [first, last] = [-Infinity, Infinity];
  for (const [p, d, low, high] of [
    [px, -nb, box[0], box[1]],
    [py, na, box[2], box[3]],
  ] as const) {
    if (d === 0) {
      if (!(low <= p && p <= high)) return null;
      continue;
    }
    const [s, t] = [(low - p) / d, (high - p) / d];
    first = Math.max(first, Math.min(s, t));
    last = Math.min(last, Math.max(s, t));
  }
  if (!(first < last)) return null;
  return [px - nb * first, py + na * first, px - nb * last, py + na * last];
}

export function corners(box: Box): Pair[] {
  return [
    [box[0], box[2]],
    [box[1], box[2]],
    [box[1], box[3]],
    [box[0], box[3]],
  ];
}

/** The corners of what all half-planes and the box have in common; none where that has no inside. */
export function halfPlanesIn(planes: Iterable<HalfPlane>, box: Box): Pair[] {
  let polygon = corners(box);
  for (const plane of planes) {
    polygon = cut(polygon, plane);
    if (!polygon.length) return [];
  }
  const size = Math.max(box[1] - box[0], box[3] - box[2]);
  return area(polygon) > 1e-12 * size * size ? polygon : [];
}

function cut(polygon: Pair[], [a, b, c]: HalfPlane): Pair[] {
  const kept: Pair[] = [];
  let p = polygon[polygon.length - 1]!;
  let s = a * p[0] + b * p[1] - c;
  for (const q of polygon) {
    const t = a * q[0] + b * q[1] - c;
    if ((s < 0 && t > 0) || (t < 0 && s > 0)) {
      const at = s / (s - t);
      kept.push([p[0] + (q[0] - p[0]) * at, p[1] + (q[1] - p[1]) * at]);
    }
    if (t >= 0) kept.push(q);
    [p, s] = [q, t];
  }
  return kept;
}

export function area(polygon: readonly Pair[]): number {
  let sum = 0;
  polygon.forEach(([x, y], i) => {
    const [u, v] = polygon[(i + 1) % polygon.length]!;
    sum += x * v - u * y;
  });
  return Math.abs(sum) / 2;
}

/** The box, larger by a share on each side. */
export function widened(box: Box, share: number): Box {
  const [dx, dy] = [(box[1] - box[0]) * share, (box[3] - box[2]) * share];
  return [box[0] - dx, box[1] + dx, box[2] - dy, box[3] + dy];
}

/** Round numbers between low and high, about `count` of them. */
export function ticks(low: number, high: number, count: number): number[] {
  const raw = (high - low) / Math.max(1, count);
  if (!(raw > 0) || !Number.isFinite(raw)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= raw * 0.999) ?? 10);
  const out: number[] = [];
  for (let k = Math.ceil(low / step); k * step <= high && out.length < 100; k++) out.push(Number((k * step).toPrecision(12)));
  return out;
}
