// Sums of kernel values on a grid, with the coefficients of a moment. The kernel values are the library's.

import type { KernelGrid, Pair } from "../protocol";

export interface Grid {
  name: string;
  columns: number;
  rows: number;
  box: [number, number, number, number];
  /** k(grid point (r, c), row i) at (r * columns + c) * n + i; r = 0 is the lowest y. */
  values: Float32Array;
  n: number;
}

/** The grid of an answer; null where its numbers do not fit its shape. */
export function gridFrom(found: KernelGrid | null | undefined): Grid | null {
  if (!found) return null;
  const { name, columns, rows, box } = found;
  const bytes = Uint8Array.from(atob(found.values), (c) => c.charCodeAt(0));
  const n = bytes.length / (4 * columns * rows);
  if (!Number.isInteger(n) || n < 1) return null;
  return { name, columns, rows, box, values: new Float32Array(bytes.buffer), n };
}

/** The score at every grid point: sum over i of coefficient i times k(grid point, row i). */
export function gridScores({ values, n, columns, rows }: Grid, coefficients: number[]): Float64Array {
  const used = coefficients.flatMap((a, i) => (a !== 0 && i < n ? [i] : []));
  const scores = new Float64Array(columns * rows);
  for (let g = 0; g < scores.length; g++) {
    let sum = 0;
    for (const i of used) sum += coefficients[i]! * values[g * n + i]!;
    scores[g] = sum;
  }
  return scores;
}

/** For each class, its score minus the largest of the others; of one vector of scores, that and its negative. */
export function leads(scores: Float64Array[]): Float64Array[] {
  if (scores.length === 1) return [scores[0]!.map((value) => -value), scores[0]!];
  return scores.map((own, c) =>
    own.map((value, g) => {
      let best = -Infinity;
      scores.forEach((other, d) => (best = d === c ? best : Math.max(best, other[g]!)));
      return value - best;
    }),
  );
}

/** Whether the border at a place between grid points is to be drawn with a class: that of two classes is drawn with the
 * first of them only, since either one's is interpolated, and they may differ by less than a cell. */
export function borderOf(all: Float64Array[], { columns }: Grid, code: number): (c: number, r: number) => boolean {
  const winner = (c: number, r: number): number => {
    const at = r * columns + c;
    return all.reduce((best, lead, d) => (lead[at]! > all[best]![at]! ? d : best), 0);
  };
  return (c, r) => {
    const around = [winner(Math.floor(c), Math.floor(r)), winner(Math.ceil(c), Math.ceil(r))];
    return code <= Math.min(...around);
  };
}

export interface Cell {
  index: number;
  at: Pair;
}

/** The grid point nearest to a point; null outside the grid. */
export function snap(grid: Grid, [x, y]: Pair): Cell | null {
  const [x0, x1, y0, y1] = grid.box;
  const c = Math.round(((x - x0) / (x1 - x0)) * (grid.columns - 1));
  const r = Math.round(((y - y0) / (y1 - y0)) * (grid.rows - 1));
  if (!(c >= 0 && c < grid.columns && r >= 0 && r < grid.rows)) return null;
  return { index: r * grid.columns + c, at: pointOf(grid, c, r) };
}

/** The point of column c and row r, which may be fractions. */
export function pointOf({ box: [x0, x1, y0, y1], columns, rows }: Grid, c: number, r: number): Pair {
  return [x0 + (c / (columns - 1)) * (x1 - x0), y0 + (r / (rows - 1)) * (y1 - y0)];
}

export interface Term {
  row: number;
  coefficient: number;
  value: number;
  product: number;
}

/** The terms of the score at a grid point that are not 0, the largest first. */
export function termsAt({ values, n }: Grid, coefficients: number[], index: number): Term[] {
  const terms: Term[] = [];
  coefficients.forEach((coefficient, row) => {
    if (coefficient === 0 || row >= n) return;
    const value = values[index * n + row]!;
    terms.push({ row, coefficient, value, product: coefficient * value });
  });
  return terms.sort((a, b) => Math.abs(b.product) - Math.abs(a.product));
}
