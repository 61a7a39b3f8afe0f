// The share of rows that the last w, the average and the vote get wrong, epoch by epoch.

import type { OneRun } from "../../protocol";
import { type MakeView, type Shown } from "../../state";
import { chart } from "./chart";
import { epochPlaces, largest, learnerOf } from "./numbers";
import type { Line, Look, Plot } from "./plot";

const READOUTS: ["last" | "average" | "vote", string, Look, string][] = [
  ["last", "last w", "one", "last"],
  ["average", "average", "two", "avg"],
  ["vote", "vote", "three", "vote"],
];

export const errorsChart: MakeView = (actions) => chart("chart-errors", "Rows wrong per epoch", plotOf, actions);

function plotOf(shown: Shown): Plot | string {
  const run = shown.runs[shown.active];
  if (run === undefined) return "No run yet.";
  return errorsPlot(run, shown.runs[1 - shown.active]);
}

export function errorsPlot(run: OneRun, other: OneRun | undefined): Plot | string {
  if (run.errors.length === 0) return "There is an error to draw when the first epoch is over.";
  const [x, at] = [ends(run), epochPlaces(run)];
  const entry = (step: number): number => lastEpoch(x, at[Math.min(step, at.length - 1)]!);
  const drawn = READOUTS.filter(([name]) => run.errors.some((error) => error[name] !== null));
  const lines: Line[] = drawn.map(([name, label, look]) => ({ key: name, label, look, x, y: run.errors.map((error) => error[name]), stepped: true, entry }));
  if (other !== undefined && other.errors.length > 0) {
    lines.unshift({ key: "other", label: learnerOf(other), look: "other", x: ends(other), y: other.errors.map(({ last }) => last), stepped: true });
  }
  const top = largest(lines.flatMap((line) => line.y.map((value) => value ?? 0)));
  const value = (name: "last" | "average" | "vote", step: number): number | null => run.errors[entry(step)]?.[name] ?? null;
  return {
    title: "Rows wrong per epoch",
    x: { label: "epochs", low: 0, high: Math.max(1, largest(at), largest(lines.flatMap((line) => line.x))), whole: true },
    y: { label: "% of rows wrong", low: 0, high: 100 * Math.max(0.05, Math.min(1, 1.12 * top)) },
    lines: lines.map((line) => ({ ...line, y: line.y.map((share) => (share === null ? null : 100 * share)) })),
    at,
    readout: (step) => (entry(step) < 0 ? "first epoch" : drawn.map(([name, , , brief]) => `${brief} ${Math.round(100 * (value(name, step) ?? 0))}`).join(", ") + " %"),
    spoken: (step) =>
      entry(step) < 0
        ? "the first epoch is not over"
        : `after epoch ${entry(step) + 1}, rows wrong: ${drawn.map(([name, label]) => `${label} ${percent(value(name, step))}`).join(", ")}`,
  };
}

/** The ends of the epochs on the axis. */
function ends(run: OneRun): number[] {
  return run.errors.map(({ epoch }) => epoch + 1);
}

/** The last epoch that is over at this place; -1 before the first. */
function lastEpoch(x: number[], place: number): number {
  let found = -1;
  for (let i = 0; i < x.length && x[i]! <= place + 1e-9; i++) found = i;
  return found;
}

export function percent(share: number | null): string {
  return share === null ? "–" : `${Math.round(1000 * share) / 10} %`;
}
