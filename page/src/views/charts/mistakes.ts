// Mistakes so far, visit by visit, under the bounds of theorems.

import type { OneRun } from "../../protocol";
import { type MakeView, type Shown, totalVisits, visits } from "../../state";
import { chart, type Line, type Look, type Plot } from "./chart";
import { boundEntries, counted, counts, edited, learnerOf, range } from "./numbers";
import { up } from "./scale";

/** A bound this many times beyond the run makes the axis logarithmic. */
const MANY_TIMES = 15;
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
  const least = Math.min(...bounds.map(({ last }) => last));
  const log = Number.isFinite(least) && least > MANY_TIMES * Math.max(1, most);
  const tops = [1, most, ...(other ? [Math.max(...counts(other, "n_mistakes"))] : []), ...(Number.isFinite(least) ? [least] : [])];
  const said = (step: number): number => mistakes[Math.min(step, mistakes.length - 1)]!;
  return {
    title: "Mistakes, and what theorems allow",
    x: { label: "visits of rows", low: 0, high: Math.max(1, T), whole: true },
    y: { label: "mistakes", low: log ? 0.7 : 0, high: Math.max(...tops) * (log ? 2 : 1.12), log, whole: true },
    lines,
    rules: edited(run),
    at: range(T + 1),
    readout: (step) => `${said(step)}${Number.isFinite(least) ? ` ≤ ${up(Math.floor(least))}` : ""} at visit ${step}`,
    spoken: (step) => [`${counted(said(step), "mistake")} in ${counted(step, "visit")}`, ...bounds.map((bound) => bound.spoken)].join("; "),
  };
}

/** The smallest bounds that are drawn; one that allows more than the run has visits is drawn, too. */
function boundLines(run: OneRun, T: number): { line: Line; last: number; spoken: string }[] {
  return run.bounds
    .map((bound) => ({ bound, y: boundEntries(bound, T) }))
    .filter(({ y }) => y[T] !== null && y[T] !== undefined)
    .sort((a, b) => a.y[T]! - b.y[T]!)
    .slice(0, BOUND_LOOKS.length)
    .map(({ bound, y }, i) => ({
      line: { key: `bound-${i}`, label: `${bound.name}: ${up(y[T]!)}`, look: BOUND_LOOKS[i]!, x: range(T + 1), y },
      last: y[T]!,
      spoken: `at most ${up(y[T]!)} by ${bound.name}`,
    }));
}

function otherLine(other: OneRun): Line {
  const mistakes = counts(other, "n_mistakes");
  return { key: "other", label: learnerOf(other), look: "other", x: range(visits(other) + 1), y: mistakes, stepped: true };
}
