// The bounds of a run: what each one counts, and what it is called.

import type { Bound, OneRun } from "../../protocol";
import { boundEntries, counts, type Entries, finite } from "./numbers";

/** Names that are more than letters of a formula. */
const FULL_NAMES: [RegExp, string, string][] = [
  [/hinge_tight on the mistakes/, "hinge loss, mistakes", "the tight hinge-loss bound over the mistakes"],
  [/hinge_tight/, "hinge loss", "the tight hinge-loss bound"],
];
const COUNTS = ["mistakes", "updates", "errors"];
/** The bound of the convergence proof. */
const CONVERGENCE = "novikoff";

/** What is counted on the left of "updates ≤ R²/γ²". */
export function countedBy({ text }: Bound): string {
  return text.split("≤")[0]!.trim();
}

/** A name for a label: what is on the right of "updates ≤ R²/γ²" where that is short, else nothing. */
export function shortName(bound: Bound): string {
  const [, brief] = FULL_NAMES.find(([pattern]) => pattern.test(bound.name)) ?? [];
  const right = bound.text.split("≤")[1]?.trim() ?? "";
  return brief ?? (right.length <= 14 ? right : "");
}

/** A name for a sentence. */
export function fullName(bound: Bound): string {
  const [, , full] = FULL_NAMES.find(([pattern]) => pattern.test(bound.name)) ?? [];
  return full ?? (bound.text.split("≤")[1]?.trim() || bound.name.replace(/_/g, " "));
}

export interface Ranked {
  bound: Bound;
  of: "mistakes" | "updates" | "errors";
  y: Entries;
  last: number;
  /** Its place among all bounds of the run, the least first. */
  rank: number;
}

/** The bounds on mistakes, updates or errors that are worth drawing, the least first.
 *
 * One that allows a mistake at every visit says nothing; that of the convergence proof is drawn nevertheless. */
export function drawnBounds(run: OneRun, T: number): Ranked[] {
  const ranked = run.bounds
    .map((bound) => ({ bound, of: countedBy(bound), y: boundEntries(bound, T) }))
    .flatMap((one) => (one.y[T] == null ? [] : [{ ...one, last: one.y[T]! }]))
    .sort((a, b) => a.last - b.last)
    .map((one, rank) => ({ ...one, rank }))
    .filter((one): one is Ranked => COUNTS.includes(one.of));
  const telling = ranked.filter(({ bound, last }) => bound.name === CONVERGENCE || last < T);
  return telling.length > 0 ? telling : ranked;
}

/** The least bound of the whole run in a sentence; null where there is none. */
export function leastBound(run: OneRun): string | null {
  const known = run.bounds
    .flatMap((bound) => (finite(bound.value) === null || bound.text.includes(":") ? [] : [{ bound, of: countedBy(bound), value: bound.value! }]))
    .sort((a, b) => a.value - b.value);
  const least = known.find(({ of }) => of === "mistakes" || of === "updates") ?? known[0];
  if (least === undefined) return null;
  if (!COUNTS.includes(least.of)) return `In the whole run ${least.bound.text}, which is ${upTo(least.value)}.`;
  const most = Math.floor(least.value);
  const what = most === 1 ? least.of.slice(0, -1) : least.of;
  return `In the whole run at most ${most} ${what}: ${fullName(least.bound)} is ${upTo(least.value)}.`;
}

function upTo(value: number): string {
  return String(Math.ceil(value * 100) / 100);
}

/** Every mistake of the run was an update, and no other visit was. */
export function mistakesAreUpdates(run: OneRun): boolean {
  const updates = counts(run, "n_updates");
  return counts(run, "n_mistakes").every((n, t) => n === updates[t]);
}
