// Mistakes so far, visit by visit, under the bounds of theorems.

import type { Bound, OneRun } from "../../protocol";
import { type MakeView, type Shown, totalVisits, visits } from "../../state";
import { chart, type Line, type Look, type Plot } from "./chart";
import { boundEntries, counted, counts, edited, largest, learnerOf, range, smallest } from "./numbers";
import { up } from "./scale";

/** A bound this many times beyond the run makes the axis logarithmic. */
const MANY_TIMES = 15;
const CONVERGENCE = "novikoff"; // updates ≤ R²/γ²
const BOUND_LOOKS: Look[] = ["two-bound", "three-bound", "one-bound"];

export const mistakesChart: MakeView = (actions) => chart("chart-mistakes", "Mistakes", plotOf, actions);

function plotOf(shown: Shown): Plot | string {
  const run = shown.runs[shown.active];
  if (run === undefined) return "No run yet.";
  return mistakesPlot(run, shown.runs[1 - shown.active], totalVisits(shown.runs));
}

export function mistakesPlot(run: OneRun, other: OneRun | undefined, T: number): Plot {
  const mistakes = counts(run, "n_mistakes");
  const [most, bounds] = [mistakes[mistakes.length - 1]!, boundLines(run, T)];
  const lines: Line[] = [...bounds.map(({ line }) => line)];
  if (other !== undefined) lines.push(otherLine(other));
  lines.push({ key: "mistakes", label: "mistakes", look: "one", x: range(mistakes.length), y: mistakes, stepped: true, entry: (step) => Math.min(step, mistakes.length - 1) });
  const allowed = bounds.map(({ last }) => last);
  const least = smallest(allowed);
  const log = largest(allowed) > MANY_TIMES * Math.max(1, most);
  const tops = [1, most, ...(other ? [counts(other, "n_mistakes")[visits(other)]!] : []), ...allowed];
  const said = (step: number): number => mistakes[Math.min(step, mistakes.length - 1)]!;
  return {
    title: "Mistakes and bounds",
    x: { label: "visits of rows", low: 0, high: Math.max(1, T), whole: true },
    y: { label: "mistakes", low: log ? 0.7 : 0, high: largest(tops) * (log ? 3 : 1.25), log, whole: true },
    lines,
    rules: edited(run),
    at: range(T + 1),
    readout: (step) => `${said(step)}${Number.isFinite(least) ? ` ≤ ${up(Math.floor(least))}` : ""} at visit ${step}`,
    spoken: (step) => [`${counted(said(step), "mistake")} in ${counted(step, "visit")}`, ...bounds.map((bound) => bound.spoken)].join("; "),
  };
}

/** What is on the right of "updates ≤ R²/γ²" where that is short, else the name of the theorem. */
export function nameOf({ name, text }: Bound): string {
  const right = text.split("≤")[1]?.trim() ?? "";
  return right !== "" && right.length <= 12 ? right : name.replace(/_/g, " ");
}

/** The bound of the convergence proof, and those of other theorems that allow less than a mistake per visit. */
function boundLines(run: OneRun, T: number): { line: Line; last: number; spoken: string }[] {
  const known = run.bounds
    .map((bound) => ({ bound, y: boundEntries(bound, T) }))
    .filter(({ y }) => y[T] != null)
    .sort((a, b) => a.y[T]! - b.y[T]!)
    .map((one, rank) => ({ ...one, rank }));
  const telling = known.filter(({ bound, y }) => bound.name === CONVERGENCE || y[T]! < T);
  return (telling.length > 0 ? telling : known).slice(0, BOUND_LOOKS.length).map(({ bound, y, rank }, i) => ({
    line: { key: `bound-${rank}`, label: `${nameOf(bound)}: ${up(y[T]!)}`, look: BOUND_LOOKS[i]!, x: range(T + 1), y },
    last: y[T]!,
    spoken: `at most ${up(y[T]!)} by the theorem that ${bound.text || bound.name}`,
  }));
}

function otherLine(other: OneRun): Line {
  const mistakes = counts(other, "n_mistakes");
  return { key: "other", label: learnerOf(other), look: "other", x: range(visits(other) + 1), y: mistakes, stepped: true };
}
