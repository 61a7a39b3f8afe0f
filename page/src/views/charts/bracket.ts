// Both ends of the brackets around the best margin, visit by visit: that of the learner's own space, and that of the
// rows as given with a free offset.

import type { OneRun } from "../../protocol";
import { type MakeView, type Shown, totalVisits } from "../../state";
import { chart } from "./chart";
import { bracket, edited, type Entries, largest, range, smallest } from "./numbers";
import { known, lastKnown } from "./paths";
import type { Axis, Line, Look, Plot } from "./plot";
import { down, short, up } from "./scale";

/** On a linear axis the smaller of two margins that differ by more would be flat. */
const FAR_APART = 20;
/** After this share of the run the ends are in the picture; the first ones may be far above. */
const EARLY = 0.1;

interface Bracket {
  low: Entries;
  up: Entries;
  /** The margin in a formula, and in words. */
  symbol: string;
  words: string;
  where: string;
  looks: [upper: Look, lower: Look];
}

export const bracketChart: MakeView = (actions) => chart("chart-bracket", "Best margin γ*", plotOf, actions);

function plotOf(shown: Shown): Plot | string {
  const run = shown.runs[shown.active];
  if (run === undefined) return "No run yet.";
  return bracketPlot(run, totalVisits(shown.runs));
}

export function bracketPlot(run: OneRun, T: number): Plot | string {
  const brackets = bracketsOf(run);
  const own = brackets[0];
  if (own === undefined) return "No bracket of the best margin is computed along this run.";
  const gamma = run.segments.length === 1 ? (run.best?.separable ? run.best.gamma : null) : null;
  const entry = (step: number): number => Math.min(step, own.low.length - 1);
  const x = range(own.low.length);
  const labels = brackets.length > 1 ? ["", ""] : ["exceeded by none", "reached by a w"]; // of two brackets, samples tell which is which
  const lines = brackets.flatMap(({ low, up: upper, looks }, k): Line[] => [
    { key: k ? "gamma_up_free" : "gamma_up", label: labels[0]!, look: looks[0], x, y: upper, stepped: true, entry },
    { key: k ? "gamma_low_free" : "gamma_low", label: labels[1]!, look: looks[1], x, y: low, stepped: true, entry },
  ]);
  const y = axisOf(lines);
  if (gamma !== null) lines.unshift({ key: "gamma", label: "", look: "three-bound", x: [0, T], y: [gamma, gamma] });
  return {
    title: "Best margin γ*",
    x: { label: "visits of rows", low: 0, high: Math.max(1, T), whole: true },
    y,
    lines,
    bands: brackets.map((_, k) => (k ? ["gamma_low_free", "gamma_up_free"] : ["gamma_low", "gamma_up"])),
    ...(brackets.length > 1 ? { samples: brackets.map(({ looks }) => looks) } : {}),
    rules: edited(run),
    at: range(T + 1),
    readout: (step) => brackets.map((one) => said(one, entry(step))).join("\n"),
    spoken: (step) => `${brackets.map((one, k) => words(one, k, entry(step))).join("; ")}, after ${step} visits`,
  };
}

/** That of the learner, and the other where it is known; none where no end is known. */
function bracketsOf(run: OneRun): Bracket[] {
  const space = run.segments[0]?.trace.space;
  const own: Bracket = { ...bracket(run), symbol: "γ*", words: "the best margin", where: space ? ` (${space})` : "", looks: ["two", "one"] };
  const free: Bracket = { ...bracket(run, "free"), symbol: "γ free", words: "the best margin with a free offset", where: "", looks: ["two-bound", "one-bound"] };
  return hasEnds(own) ? [own, free].filter(hasEnds) : [];
}

function hasEnds({ low, up: upper }: Bracket): boolean {
  return low.some(known) || upper.some(known);
}

/** By powers of ten where ends are far apart; else from 0 on, and the first ends may be cut off. */
function axisOf(lines: Line[]): Axis {
  const later = lines.flatMap((line) => line.y.slice(Math.floor(EARLY * (line.y.length - 1))).filter((value): value is number => known(value) && value > 0));
  const values = lines.flatMap((line) => line.y).filter(known);
  const [least, most] = later.length ? [smallest(later), largest(later)] : [0, largest(values)];
  if (least > 0 && most > FAR_APART * least) return { label: "margin", low: least / 2, high: 1.3 * largest(values), log: true };
  const last = largest(lines.map((line) => line.y[lastKnown(line.y)] ?? 0));
  return { label: "margin", low: 0, high: 1.08 * Math.min(largest(values), Math.max(most, 4 * last)) };
}

function said({ low, up: upper, symbol, where }: Bracket, i: number): string {
  const [a, b] = [low[i], upper[i]];
  if (a == null && b == null) return `${symbol}: not known yet`;
  return `${a == null ? "" : `${down(a)} ≤ `}${symbol}${b == null ? "" : ` ≤ ${up(b)}`}${where}`;
}

function words({ low, up: upper, words: what }: Bracket, k: number, i: number): string {
  const [a, b] = [low[i], upper[i]];
  if (a == null && b == null) return `nothing is known about ${what}`;
  if (a == null) return `${what} is at most ${up(b)}${k ? "" : ", and no w so far separates the rows"}`;
  return b == null ? `${what} is at least ${down(a)}` : `${what} is between ${down(a)} and ${up(b)}; the ends differ by ${short(b - a)}`;
}
