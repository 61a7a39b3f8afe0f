// The convergence proof as it happens: kγ ≤ u·w ≤ ‖w‖ ≤ √k·R, update by update.

import type { OneRun } from "../../protocol";
import { type MakeView, type Shown, updatesUpTo } from "../../state";
import { chart, type Line, type Plot } from "./chart";
import { counted, type Proof, proofAt } from "./numbers";
import { down, short, up } from "./scale";

const MANY_TIMES = 15;

export const proofChart: MakeView = (actions) => {
  let drawnFor: unknown = null; // the segment that the chart was drawn for
  const view = chart("chart-proof", "The proof as it happens", plotOf, actions);
  return {
    element: view.element,
    update(shown, before) {
      const run = shown.runs[shown.active];
      const segment = run ? (proofAt(run, shown.step)?.segment ?? null) : null;
      view.update(shown, segment === drawnFor ? before : null);
      drawnFor = segment;
    },
  };
};

function plotOf(shown: Shown): Plot | string {
  const run = shown.runs[shown.active];
  if (run === undefined) return "No run yet.";
  const found = proofAt(run, shown.step);
  return found === null ? "This proof is about two classes and a w of numbers: there is none to draw here." : proofPlot(run, found);
}

export function proofPlot(run: OneRun, found: Proof): Plot | string {
  const { proof, k, plain, segment } = found;
  if (proof.gamma === null) return "No line separates these rows: there is no u with a margin γ > 0, and nothing is claimed.";
  const made = k[k.length - 1]!;
  const log = plain !== null && plain.crossing > MANY_TIMES * Math.max(1, made);
  const end = plain ? Math.max((log ? 2 : 1.15) * plain.crossing, made + 1) : Math.max(1, made);
  const entry = (step: number): number => Math.max(0, Math.min(step - segment.first, k.length - 1));
  const lines = [...boundLines(found, end), ...measuredLines(found, entry)];
  if (log) for (const line of lines) line.y = line.y.map((value, i) => (line.x[i]! > 0 ? value : null));
  const values = lines.flatMap((line) => line.y.filter((value): value is number => value !== null && Number.isFinite(value)));
  const positive = values.filter((value) => value > 0);
  return {
    title: "kγ ≤ u·w ≤ ‖w‖ ≤ √k·R",
    x: { label: log ? "updates k, logarithmic" : "updates k", low: log ? 1 : 0, high: end, log, whole: true },
    y: { label: "length", low: log ? 0.8 * Math.min(1, ...positive) : Math.min(0, ...values), high: Math.max(1e-12, ...values) * (log ? 1.5 : 1.08), log },
    lines,
    marks: plain ? [{ key: "crossing", x: (plain.root / plain.slope) ** 2, y: plain.root ** 2 / plain.slope, label: `(R/γ)² = ${short((plain.root / plain.slope) ** 2)}` }] : [],
    at: places(run, found),
    readout: (step) => readout(found, entry(step)),
    spoken: (step) => spoken(run, found, entry(step), step),
  };
}

function measuredLines({ proof, k }: Proof, entry: (step: number) => number): Line[] {
  return [
    { key: "norm", label: "‖w‖", look: "two", x: k, y: proof.norm, entry },
    { key: "dot", label: "u·w", look: "one", x: k, y: proof.dot, entry, below: true },
  ];
}

function boundLines({ proof, k, plain }: Proof, end: number): Line[] {
  const lines: Line[] = [];
  const beside = { labelAt: k.length + BEYOND / 3 };
  if (proof.norm_bound) {
    const drawn = plain ? { ...further(k, proof.norm_bound, (n) => plain.root * Math.sqrt(n), end), ...beside } : { x: k, y: proof.norm_bound };
    lines.push({ key: "norm_bound", label: plain ? "√k·R" : "bound on ‖w‖", look: "two-bound", ...drawn });
  }
  if (proof.dot_bound) {
    const drawn = plain ? { ...further(k, proof.dot_bound, (n) => plain.slope * n, end), ...beside } : { x: k, y: proof.dot_bound };
    lines.push({ key: "dot_bound", label: plain ? "kγ" : "γ·Στ", look: "one-bound", below: true, ...drawn });
  }
  return lines;
}

/** How many points a bound has after the run. */
const BEYOND = 60;

/** A bound up to the end of the run, and from there by its formula to `end`. */
function further(k: number[], y: (number | null)[], formula: (n: number) => number, end: number): { x: number[]; y: (number | null)[] } {
  const from = Math.max(1, k[k.length - 1]!);
  const x = Array.from({ length: BEYOND }, (_, i) => from * (end / from) ** ((i + 1) / BEYOND));
  return { x: [...k, ...x], y: [...y, ...x.map(formula)] };
}

/** The number of updates after each number of visits; other segments are at the ends. */
function places(run: OneRun, { k, segment }: Proof): number[] {
  const after = run.segments.filter((later) => later.first > segment.first);
  const rest = after.reduce((sum, { trace }) => sum + trace.row.length, 0);
  return [...new Array<number>(segment.first).fill(0), ...k, ...new Array<number>(rest).fill(k[k.length - 1]!)];
}

function readout({ proof, k }: Proof, i: number): string {
  const parts = [proof.dot_bound?.[i], proof.dot[i], proof.norm[i], proof.norm_bound?.[i]];
  return `k = ${k[i]}: ${parts.map((value) => (value === undefined ? "?" : short(value))).join(" ≤ ")}`;
}

function spoken(run: OneRun, { proof, k }: Proof, i: number, step: number): string {
  const parts = [`after ${counted(updatesUpTo(run, step), "update")}`, `u·w is ${short(proof.dot[i])}`];
  if (proof.dot_bound) parts.push(`at least k gamma = ${down(proof.dot_bound[i])}`);
  parts.push(`the length of w is ${short(proof.norm[i])}`);
  if (proof.norm_bound) parts.push(`at most ${up(proof.norm_bound[i])}`);
  if (proof.crossing !== null) parts.push(`the bounds cross at k = ${up(proof.crossing)}, so at most ${up(proof.crossing - 1)} updates are possible; ${k[k.length - 1]} are made in all`);
  return parts.join(", ");
}
