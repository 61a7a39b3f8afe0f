// The convergence proof as it happens: kγ ≤ u·w ≤ ‖w‖ ≤ √k·R, update by update.

import type { OneRun } from "../../protocol";
import type { MakeView, Shown } from "../../state";
import { chart } from "./chart";
import { counted, isOther, largest, type Proof, proofOf, smallest } from "./numbers";
import type { Line, Plot } from "./plot";
import { down, short, up } from "./scale";

const MANY_TIMES = 15;

export const proofChart: MakeView = (actions) => chart("chart-proof", "The proof as it happens", plotOf, actions);

function plotOf(shown: Shown): Plot | string {
  const run = shown.runs[shown.active];
  return run === undefined ? "No run yet." : proofPlot(run);
}

export function proofPlot(run: OneRun): Plot | string {
  const proof = proofOf(run);
  if (proof === null) return noProof(run);
  if (proof.gamma === null) return "No u with a margin γ > 0 on all rows is known: nothing is claimed.";
  const { k, plain } = proof;
  const made = k[k.length - 1]!;
  const log = plain !== null && plain.crossing > MANY_TIMES * Math.max(1, made);
  const end = plain ? Math.max((log ? 2 : 1.15) * plain.crossing, made + 1) : Math.max(1, made);
  const entry = (step: number): number => Math.min(step, k.length - 1);
  const lines = [...boundLines(proof, end), ...measuredLines(proof, entry)];
  if (log) for (const line of lines) line.y = line.y.map((value, i) => (line.x[i]! > 0 ? value : null));
  const values = lines.flatMap((line) => line.y.filter((value): value is number => value !== null && Number.isFinite(value)));
  const positive = values.filter((value) => value > 0);
  return {
    title: [...(proof.dotBound ? [plain ? "kγ" : "γ·Στ"] : []), "u·w", "‖w‖", ...(proof.normBound ? [plain ? "√k·R" : "bound"] : [])].join(" ≤ "),
    x: { label: log ? "updates k, logarithmic" : "updates k", low: log ? 1 : 0, high: end, log, whole: true },
    y: { label: "length", low: log ? 0.8 * smallest(positive) : Math.min(0, smallest(values)), high: Math.max(1e-12, largest(values)) * (log ? 1.5 : 1.08), log },
    lines,
    marks: plain ? [crossing(plain)] : [],
    at: k,
    readout: (step) => readout(proof, entry(step)),
    spoken: (step) => spoken(proof, entry(step)),
  };
}

function noProof(run: OneRun): string {
  if (isOther(run)) return "This proof is about two classes and a w of numbers: there is none to draw here.";
  return "No separator of these rows is known, so there is no u to follow.";
}

function crossing({ slope, root }: { slope: number; root: number }): NonNullable<Plot["marks"]>[number] {
  const at = (root / slope) ** 2;
  return { key: "crossing", x: at, y: slope * at, label: `(R/γ)² = ${short(at)}` };
}

function measuredLines({ k, dot, norm }: Proof, entry: (step: number) => number): Line[] {
  return [
    { key: "norm", label: "‖w‖", look: "two", x: k, y: norm, entry },
    { key: "dot", label: "u·w", look: "one", x: k, y: dot, entry, below: true },
  ];
}

function boundLines({ k, plain, dotBound, normBound }: Proof, end: number): Line[] {
  const lines: Line[] = [];
  if (normBound) {
    const drawn = plain ? { ...further(k, normBound, (n) => plain.root * Math.sqrt(n), end), labelAt: k.length + 0.35 * BEYOND, below: true } : { x: k, y: normBound };
    lines.push({ key: "norm_bound", label: plain ? "√k·R" : "bound on ‖w‖", look: "two-bound", ...drawn });
  }
  if (dotBound) {
    const drawn = plain ? { ...further(k, dotBound, (n) => plain.slope * n, end), labelAt: k.length + 0.5 * BEYOND } : { x: k, y: dotBound };
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

function readout({ k, dotBound, dot, norm, normBound }: Proof, i: number): string {
  const parts = [dotBound?.[i], dot[i], norm[i], normBound?.[i]].filter((value) => value != null);
  return `k=${k[i]}: ${parts.map((value) => short(value)).join("\u2009≤\u2009")}`;
}

function spoken({ k, dotBound, dot, norm, normBound, crossing }: Proof, i: number): string {
  const parts = [`after ${counted(k[i]!, "update")}`, `u·w is ${short(dot[i])}`];
  if (dotBound) parts.push(`at least ${down(dotBound[i])}, which is k gamma`);
  parts.push(`the length of w is ${short(norm[i])}`);
  if (normBound) parts.push(`at most ${up(normBound[i])}`);
  if (crossing !== null) parts.push(`more than ${counted(crossing - 1, "update")} are impossible; the run makes ${k[k.length - 1]}`);
  return parts.join(", ");
}
