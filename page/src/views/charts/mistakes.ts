// Mistakes so far, visit by visit, under the bounds of theorems.

import type { OneRun } from "../../protocol";
import { type MakeView, type Shown, totalVisits } from "../../state";
import { drawnBounds, fullName, mistakesAreUpdates, type Ranked, shortName } from "./bounds";
import { chart } from "./chart";
import { counted, counts, edited, largest, learnerOf, range, smallest } from "./numbers";
import type { Line, Look, Plot } from "./plot";
import { short, up } from "./scale";

/** A bound this many times beyond the run makes the axis logarithmic. */
const MANY_TIMES = 15;
const BOUND_LOOKS: Look[] = ["two-bound", "three-bound", "one-bound"];

export const mistakesChart: MakeView = (actions) => chart("chart-mistakes", "Mistakes", plotOf, actions);

function plotOf(shown: Shown): Plot | string {
  const run = shown.runs[shown.active];
  if (run === undefined) return "No run yet.";
  return mistakesPlot(run, shown.runs[1 - shown.active], totalVisits(shown.runs), shown.active);
}

export function mistakesPlot(run: OneRun, other: OneRun | undefined, T: number, active = 0): Plot {
  const [mistakes, updates, same] = [counts(run, "n_mistakes"), counts(run, "n_updates"), mistakesAreUpdates(run)];
  const bounds = drawnBounds(run, T).slice(0, BOUND_LOOKS.length);
  const at = (step: number): number => Math.min(step, mistakes.length - 1);
  const lines: Line[] = bounds.map((bound, i) => boundLine(bound, BOUND_LOOKS[i]!, same, T));
  if (other !== undefined) lines.push(countLine("other", labelled(other, 1 - active), "other", counts(other, "n_mistakes")));
  if (!same && bounds.some(({ of }) => of === "updates")) lines.push(countLine("updates", "updates", "three", updates));
  lines.push({ ...countLine("mistakes", other === undefined ? "mistakes" : labelled(run, active), "one", mistakes), entry: at });
  const made = largest([1, ...lines.flatMap(({ key, y }) => (key.startsWith("bound") ? [] : [y[y.length - 1] ?? 0]))]);
  const top = largest([made, ...bounds.map(({ last }) => last)]);
  const log = top > MANY_TIMES * made;
  const comparable = bounds.filter(({ of }) => of === "mistakes" || (of === "updates" && same));
  const least = (step: number): number => smallest(comparable.map(({ y }) => y[Math.min(step, T)] ?? Infinity));
  return {
    title: "Mistakes and bounds",
    x: { label: "visits of rows", low: 0, high: Math.max(1, T), whole: true },
    y: { label: "mistakes", low: log ? 0.7 : 0, high: top * (log ? 3 : 1.25), log, whole: true },
    lines,
    rules: edited(run),
    at: range(T + 1),
    readout: (step) => {
      const most = Number.isFinite(least(step)) ? ` ≤ ${short(Math.floor(least(step)))}` : "";
      return same ? `${short(mistakes[at(step)])}${most} at visit ${short(step)}` : `${counted(mistakes[at(step)]!, "mistake")}${most}, ${counted(updates[at(step)]!, "update")}`;
    },
    spoken: (step) =>
      [`${counted(mistakes[at(step)]!, "mistake")} and ${counted(updates[at(step)]!, "update")} in ${counted(step, "visit")}`, ...bounds.map(({ of, last, bound }) => `at most ${short(Math.floor(last))} ${of}, by ${fullName(bound)}`)].join("; "),
  };
}

/** A bound is on mistakes where each mistake is an update; else its label says what it is on. */
function boundLine({ bound, of, y, last, rank }: Ranked, look: Look, same: boolean, T: number): Line {
  const what = of === "mistakes" || (of === "updates" && same) ? "" : of;
  const label = [what, shortName(bound)].filter((part) => part !== "").join(" ≤ ");
  return { key: `bound-${rank}`, label: label === what ? `${of} ≤ ${up(last)}` : `${label}: ${up(last)}`, look, x: range(T + 1), y };
}

function countLine(key: string, label: string, look: Look, y: number[]): Line {
  return { key, label, look, x: range(y.length), y, stepped: true };
}

/** A for the first learner, B for the second. */
function labelled(run: OneRun, which: number): string {
  return `${"AB"[which]} ${learnerOf(run)}`;
}
