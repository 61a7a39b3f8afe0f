// What the library sends and takes, version 1. NaN is null; infinities are the texts "inf" and "-inf".

export type Pair = [number, number];
/** A number as JSON has it: null is NaN. */
export type Written = number | null | "inf" | "-inf";
export type Value = number | string | boolean | null | Choice;

export interface Choice {
  name: string;
  params: Record<string, Value>;
}

export interface Edit {
  at: number;
  X: Pair[];
  y: number[];
}

export interface Scene {
  format: "perceptrons lab scene";
  schema: 1;
  X: Pair[];
  y: number[];
  classes: string[];
  learner: Choice;
  second: Choice | null;
  shuffle: boolean;
  seed: number;
  max_iter: number;
  max_steps: number;
  noise: number;
  /** The share of the mean that is subtracted from the rows, 0 to 1. */
  center: number;
  edits: Edit[];
}

export interface ProofTrace {
  u: number[];
  gamma: number | null;
  radius: number;
  /** The first number of updates at which the two sides of the proof would cross. */
  crossing: number | null;
  dot: number[];
  dot_bound: (number | null)[] | null;
  norm: number[];
  norm_bound: (number | null)[] | null;
  distance: (number | null)[] | null;
  [name: string]: unknown;
}

/** `Trace.to_json()`: T visits; of several classes w is k rows of numbers, and so are scores. */
export interface Trace {
  epoch: number[];
  row: number[];
  label: (number | string)[];
  score: (Written | Written[])[];
  margin: (Written | Written[])[];
  kind: ("none" | "margin" | "mistake")[];
  keep: (number | number[])[];
  step: (number | number[])[];
  norm2: (number | number[])[];
  step_sum: (Written | Written[])[] | null;
  gamma_low: (Written | Written[])[] | null;
  gamma_up: (Written | Written[])[] | null;
  space: string | null;
  /** The same with a free offset; null where nothing is claimed. */
  gamma_low_free: (Written | Written[])[] | null;
  gamma_up_free: (Written | Written[])[] | null;
  n_mistakes: number[];
  n_updates: number[];
  w: number[][] | number[][][] | null;
  dual: number[][] | number[][][] | null;
  average: number[][] | number[][][] | null;
  threshold: (Written | Written[])[] | null;
  X: { shape: number[]; values: number[][] } | null;
  y: (number | string)[];
  bias: number;
  unit: boolean;
  radius: number;
  classes: (number | string)[];
  learner: string;
  seed: number | null;
  stop_reason: string;
  truncated: boolean;
  proof: ProofTrace | null;
}

export interface KernelGrid {
  name: string;
  columns: number;
  rows: number;
  box: [number, number, number, number];
  values: string;
}

export interface Segment {
  X: Pair[];
  y: number[];
  turned: number[];
  first: number;
  trace: Trace;
  best?: Best | null;
  kernel?: KernelGrid | null;
}

export interface Bound {
  name: string;
  text: string;
  value: number | null;
  per_visit: (number | null)[] | null;
}

export interface Best {
  w: number[];
  gamma: number;
  support: number[];
  separable: boolean;
}

export interface Advice {
  text: string;
  numbers: Record<string, number | null>;
  [name: string]: unknown;
}

export interface OneRun {
  segments: Segment[];
  sentences: string[];
  errors: { epoch: number; at: number; last: number; average: number | null; vote: number | null }[];
  bounds: Bound[];
  certificate: { text: string; json: string } | null;
  best: Best | null;
  advice: Advice | null;
  kernel: KernelGrid | null;
  reason: string;
  /** The script of "copy as Python". */
  code?: string;
}

export interface Answer {
  format: "perceptrons lab run";
  schema: 1;
  scene: Scene;
  runs: OneRun[];
}

export interface Param {
  name: string;
  kind: "number" | "whole" | "choice" | "flag" | "kernel";
  default: Value;
  low: number | null;
  high: number | null;
  /** Of a choice, all values; of a number, texts that may stand in its place. */
  choices: Value[] | null;
  /** Whether null is a value. */
  optional?: boolean;
  group?: string;
  text: string;
}

export interface LearnerInfo {
  name: string;
  title: string;
  text: string;
  lecture: string | null;
  family?: string;
  kernel: boolean;
  params: Param[];
}

export interface KernelInfo {
  name: string;
  title?: string;
  text: string;
  params: Param[];
}

export interface ToySet {
  name: string;
  text: string;
  X: Pair[];
  y: number[];
  classes: string[];
}

export interface Recorded {
  set: string;
  learner: string;
  params: Record<string, Value>;
  file: string;
}

export interface Catalog {
  format: "perceptrons lab catalog";
  schema: 1;
  sets: ToySet[];
  learners: LearnerInfo[];
  kernels: KernelInfo[];
  limits: Record<string, number>;
  recorded?: Recorded[];
}

/** A table that was read: `POST /api/table`. */
export interface Table {
  X: Pair[];
  y: number[];
  classes: string[];
  columns?: string[];
}

/** The object if it is of this format and version; an Error with one sentence otherwise. */
export function checked<T extends { format: string; schema: number }>(found: unknown, format: T["format"]): T {
  if (typeof found !== "object" || found === null || (found as T).format !== format) {
    throw new Error(`The answer is no “${format}”.`);
  }
  if ((found as T).schema !== 1) {
    throw new Error(`This page reads “${format}” of version 1; the answer has version ${String((found as T).schema)}.`);
  }
  return found as T;
}

/** The value of a parameter: scenes have only those that are not the default. */
export function valueOf(params: Record<string, Value>, param: Param): Value {
  const value = params[param.name];
  return value === undefined ? param.default : value;
}

/** A number of the protocol as a number. */
export function toNumber(value: Written | undefined): number {
  if (value === null || value === undefined) return NaN;
  return typeof value === "number" ? value : value === "inf" ? Infinity : -Infinity;
}
