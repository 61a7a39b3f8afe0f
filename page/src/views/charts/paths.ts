// Lines of a chart as the `d` of paths, and where they are: pure functions.

import type { Line } from "./plot";
import type { Scale } from "./scale";

/** The `d` of a path; null breaks the line; a stepped line is level until the next entry. */
export function pathOf(line: Pick<Line, "x" | "y" | "stepped">, x: Scale, y: Scale): string {
  const parts: string[] = [];
  let [lastX, lastY, open] = [0, 0, false];
  line.y.forEach((value, i) => {
    if (!known(value)) {
      open = false;
      return;
    }
    const [px, py] = [fixed(x.of(line.x[i])), fixed(y.of(value))];
    if (!open) parts.push(`M${px} ${py}`);
    else if (px === lastX && py === lastY) return;
    else if (line.stepped) parts.push(px === lastX ? `V${py}` : py === lastY ? `H${px}` : `H${px}V${py}`);
    else parts.push(`L${px} ${py}`);
    [lastX, lastY, open] = [px, py, true];
  });
  return parts.join("");
}

/** The area between two lines over the same x, where both have a number. */
export function bandOf(low: Line, high: Line, x: Scale, y: Scale): string {
  const parts: string[] = [];
  let run: number[] = [];
  const close = (): void => {
    const around = [...corners(low, run, x, y), ...corners(high, run, x, y).reverse()];
    if (run.length > 1) parts.push(`M${around.join("L")}Z`);
    run = [];
  };
  low.y.forEach((value, i) => (known(value) && known(high.y[i]) ? run.push(i) : close()));
  close();
  return parts.join("");
}

/** The corners of a part of a line, from left to right. */
function corners(line: Line, entries: number[], x: Scale, y: Scale): string[] {
  let level = 0;
  return entries.flatMap((i, j) => {
    const [px, before] = [fixed(x.of(line.x[i]!)), level];
    level = fixed(y.of(line.y[i]!));
    return line.stepped && j > 0 ? [`${px} ${before}`, `${px} ${level}`] : [`${px} ${level}`];
  });
}

export function known(value: number | null | undefined): value is number {
  return value !== null && value !== undefined && Number.isFinite(value);
}

/** The lowest and the highest pixel of a line between two pixels of the x-axis; null where it is not there. */
export function spanOf(line: Line, x: Scale, y: Scale, from: number, to: number): [number, number] | null {
  const found: number[] = [];
  for (let i = 0; i < line.y.length; i++) {
    const [value, next] = [line.y[i], line.y[i + 1]];
    if (!known(value)) continue;
    const [px, py] = [x.of(line.x[i]!), y.of(value)];
    if (px >= from && px <= to) found.push(py);
    if (!known(next)) continue;
    const [nx, ny] = [x.of(line.x[i + 1]!), y.of(next)];
    if (nx < from || px > to || nx === px) continue;
    const at = (edge: number): number => (line.stepped ? py : py + ((edge - px) / (nx - px)) * (ny - py));
    for (const edge of [from, to]) if (edge >= px && edge <= nx) found.push(at(edge));
  }
  return found.length ? [Math.min(...found), Math.max(...found)] : null;
}

export function fixed(value: number): number {
  return Math.round(value * 100) / 100;
}

/** The last entry that is a number; -1: there is none. */
export function lastKnown(values: (number | null)[]): number {
  for (let i = values.length - 1; i >= 0; i--) if (known(values[i])) return i;
  return -1;
}
