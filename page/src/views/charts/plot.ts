// What a chart shows.

/** Colour and dash of a line; charts.css has them. */
export type Look = "one" | "two" | "three" | "one-bound" | "two-bound" | "three-bound" | "other";

export interface Line {
  key: string;
  label: string;
  look: Look;
  x: number[];
  y: (number | null)[];
  stepped?: boolean;
  /** The entry beside which the label is; else the last. */
  labelAt?: number;
  below?: boolean;
  /** Of which entry the dot is when `step` visits are made; without it the line has no dot. */
  entry?: (step: number) => number;
}

export interface Axis {
  label: string;
  low: number;
  high: number;
  log?: boolean;
  whole?: boolean;
}

/** All that a chart shows of one run. */
export interface Plot {
  title: string;
  x: Axis;
  y: Axis;
  lines: Line[];
  /** Between two lines, by their keys, the plane is shaded. */
  bands?: [string, string][];
  /** The looks of the lines that each line of `readout` is about, from top to bottom; without it `readout` is one line. */
  samples?: Look[][];
  marks?: { key: string; x: number; y: number; label: string }[];
  /** Vertical lines, such as edits of the rows. */
  rules?: { x: number; label: string }[];
  /** Where on the x-axis each number of visits 0..T is; not falling. */
  at: number[];
  /** The numbers of the moment in a few characters, line by line, and in words. */
  readout(step: number): string;
  spoken(step: number): string;
}
