// The numbers of a run that the charts draw, over all its segments; entry t is the state after t visits.

import { type OneRun, type ProofTrace, type Segment, toNumber, type Written } from "../../protocol";
import { segmentAt } from "../../state";

export type Entries = (number | null)[];

/** Mistakes or updates after each number of visits; counts of a segment begin at 0. */
export function counts(run: OneRun, name: "n_mistakes" | "n_updates"): number[] {
  const found = [0];
  for (const { trace } of run.segments) {
    const before = found[found.length - 1]!;
    for (const count of trace[name]) found.push(before + count);
  }
  return found;
}

/** The largest bound of every theorem, or what it allows after each number of visits. */
export function boundEntries(bound: OneRun["bounds"][number], T: number): Entries {
  const { value, per_visit } = bound;
  if (per_visit === null) return new Array<number | null>(T + 1).fill(finite(value));
  const found: Entries = [finite(per_visit[0])];
  for (let t = 0; t < T; t++) found.push(finite(per_visit[t] ?? per_visit[per_visit.length - 1]));
  return found;
}

/** The best ends of the bracket so far; null before the first. They begin anew where rows were changed. */
export function bracket(run: OneRun): { low: Entries; up: Entries } {
  const low: Entries = [null];
  const up: Entries = [null];
  for (const { trace } of run.segments) {
    let [best, least]: [number | null, number | null] = [null, null];
    for (let t = 0; t < trace.row.length; t++) {
      const [a, b] = [single(trace.gamma_low?.[t]), single(trace.gamma_up?.[t])];
      if (a !== null && a > 0 && (best === null || a > best)) best = a;
      if (b !== null && (least === null || b < least)) least = b;
      low.push(best);
      up.push(least);
    }
  }
  return { low, up };
}

/** Where each number of visits is on an axis of epochs: 2.5 is half way through the third. */
export function epochPlaces(run: OneRun): number[] {
  const found = [0];
  let done = 0;
  for (const { trace } of run.segments) {
    const lengths = new Map<number, number>();
    for (const e of trace.epoch) lengths.set(e, (lengths.get(e) ?? 0) + 1);
    let [epoch, within] = [-1, 0];
    for (const e of trace.epoch) {
      if (e !== epoch) {
        if (epoch >= 0) done++;
        [epoch, within] = [e, 0];
      }
      within++;
      found.push(done + within / lengths.get(e)!);
    }
    if (epoch >= 0) done++;
  }
  return found;
}

/** The proof beside the visits of one segment, by updates. */
export interface Proof {
  segment: Segment;
  proof: ProofTrace & { crossing: number | null };
  /** Updates after each visit of the segment, from 0. */
  k: number[];
  /** Beyond the run: what an update adds to the line, and the factor of the root; null where bounds are others. */
  plain: { slope: number; root: number; crossing: number } | null;
}

export function proofAt(run: OneRun, step: number): Proof | null {
  const segment = segmentAt(run, step);
  const proof = segment?.trace.proof as Proof["proof"] | null | undefined;
  if (!segment || !proof) return null;
  const k = [0, ...segment.trace.n_updates];
  return { segment, proof, k, plain: plainBounds(proof, k) };
}

/** kγ and √k·R as far as they were reached, continued; null where bounds have another shape. */
export function plainBounds(proof: Proof["proof"], k: number[]): Proof["plain"] {
  const made = k[k.length - 1] ?? 0;
  const { dot_bound, norm_bound, crossing } = proof;
  if (!dot_bound || !norm_bound || typeof crossing !== "number" || made < 1) return null;
  const slope = (dot_bound[dot_bound.length - 1] ?? NaN) / made;
  const root = (norm_bound[norm_bound.length - 1] ?? NaN) / Math.sqrt(made);
  const near = (a: number | null | undefined, b: number) => Math.abs((a ?? NaN) - b) <= 1e-6 * Math.abs(b) + 1e-12;
  const straight = k.every((n, t) => near(dot_bound[t], slope * n) && near(norm_bound[t], root * Math.sqrt(n)));
  const meets = Math.abs((root / slope) ** 2 - crossing) <= 1 + 1e-6 * crossing;
  return straight && meets ? { slope, root, crossing } : null;
}

/** A number of the protocol, null where it is not finite. */
export function finite(value: Written | undefined): number | null {
  const found = toNumber(value);
  return Number.isFinite(found) ? found : null;
}

/** As `finite`; of several learners there is no single number. */
function single(value: Written | Written[] | undefined): number | null {
  return Array.isArray(value) ? null : finite(value);
}

export function range(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i);
}

/** Visits at which the rows were changed. */
export function edited(run: OneRun): { x: number; label: string }[] {
  return run.segments.slice(1).map(({ first }) => ({ x: first, label: `rows changed after visit ${first}` }));
}

/** "Perceptron(max_iter=100)" -> "Perceptron". */
export function learnerOf(run: OneRun): string {
  return (run.segments[0]?.trace.learner ?? "").split("(")[0]!;
}

export function counted(n: number, what: string): string {
  return `${n.toLocaleString("en").replace(/,/g, " ")} ${what}${n === 1 ? "" : "s"}`;
}

