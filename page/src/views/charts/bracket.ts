// Both ends of the bracket around the best margin, visit by visit.

import type { OneRun } from "../../protocol";
import { type MakeView, type Shown, totalVisits } from "../../state";
import { chart } from "./chart";
import { bracket, edited, type Entries, largest, range } from "./numbers";
import type { Plot } from "./plot";
import { down, short, up } from "./scale";

export const bracketChart: MakeView = (actions) => chart("chart-bracket", "Best margin γ*", plotOf, actions);

function plotOf(shown: Shown): Plot | string {
  const run = shown.runs[shown.active];
  if (run === undefined) return "No run yet.";
  return bracketPlot(run, totalVisits(shown.runs));
}

export function bracketPlot(run: OneRun, T: number): Plot | string {
  const { low, up: upper } = bracket(run);
  const tops = upper.concat(low).filter((value): value is number => value !== null);
  if (tops.length === 0) return "No bracket of the best margin is computed along this run.";
  const last = Math.max(...[low[low.length - 1], upper[upper.length - 1]].map((value) => value ?? 0));
  const gamma = run.segments.length === 1 ? (run.best?.separable ? run.best.gamma : null) : null;
  const x = range(low.length);
  const entry = (step: number): number => Math.min(step, low.length - 1);
  const lines: Plot["lines"] = [
    { key: "gamma_up", label: "exceeded by none", look: "two", x, y: upper, stepped: true, entry },
    { key: "gamma_low", label: "reached by a w", look: "one", x, y: low, stepped: true, entry },
  ];
  if (gamma !== null) lines.unshift({ key: "gamma", label: "", look: "three-bound", x: [0, T], y: [gamma, gamma] });
  const space = run.segments[0]?.trace.space;
  return {
    title: "Best margin γ*",
    x: { label: "visits of rows", low: 0, high: Math.max(1, T), whole: true },
    y: { label: "margin", low: 0, high: 1.08 * Math.min(largest(tops), 4 * (last || Infinity)) },
    lines,
    band: ["gamma_low", "gamma_up"],
    rules: edited(run),
    at: range(T + 1),
    readout: (step) => said(low, upper, entry(step), space ? ` (${space})` : ""),
    spoken: (step) => `${words(low, upper, entry(step))} after ${step} visits`,
  };
}

function said(low: Entries, high: Entries, i: number, where: string): string {
  const [a, b] = [low[i], high[i]];
  if (a == null && b == null) return "nothing is known yet";
  return `${a == null ? "" : `${down(a)} ≤ `}γ*${b == null ? "" : ` ≤ ${up(b)}`}${where}`;
}

function words(low: Entries, high: Entries, i: number): string {
  const [a, b] = [low[i], high[i]];
  if (a == null && b == null) return "nothing is known about the best margin";
  if (a == null) return `the best margin is at most ${up(b)}, and no w so far separates the rows`;
  return b == null ? `the best margin is at least ${down(a)}` : `the best margin is between ${down(a)} and ${up(b)}; the ends differ by ${short(b - a)}`;
}
