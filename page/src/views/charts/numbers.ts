// The numbers of a run that the charts draw, over all its segments; entry t is the state after t visits.

import { type OneRun, toNumber, type Written } from "../../protocol";
import { short } from "./scale";

export type Entries = (number | null)[];

/** Mistakes or updates after each number of visits. */
export function counts(run: OneRun, name: "n_mistakes" | "n_updates"): number[] {
  return [0, ...run.segments.flatMap(({ trace }) => trace[name])];
}

/** What a theorem allows after each number of visits. */
export function boundEntries(bound: OneRun["bounds"][number], T: number): Entries {
  const { value, per_visit } = bound;
  if (per_visit === null) return new Array<number | null>(T + 1).fill(finite(value));
  const found: Entries = [finite(per_visit[0])];
  for (let t = 0; t < T; t++) found.push(finite(per_visit[t] ?? per_visit[per_visit.length - 1]));
  return found;
}

/** The best ends of a bracket so far; null before the first. They begin anew where rows were changed.
 * "own": in the space of the learner; "free": with a free offset. */
export function bracket(run: OneRun, which: "own" | "free" = "own"): { low: Entries; up: Entries } {
  const low: Entries = [null];
  const up: Entries = [null];
  for (const { trace } of run.segments) {
    let [best, least]: [number | null, number | null] = [null, null];
    for (let t = 0; t < trace.row.length; t++) {
      const [lows, ups] = which === "own" ? [trace.gamma_low, trace.gamma_up] : [trace.gamma_low_free, trace.gamma_up_free];
      const [a, b] = [single(lows?.[t]), single(ups?.[t])];
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
  const epochs = run.segments.flatMap(({ trace }) => trace.epoch);
  const sizes = new Map<number, number>();
  for (const e of epochs) sizes.set(e, (sizes.get(e) ?? 0) + 1);
  const seen = new Map<number, number>();
  const places = epochs.map((e) => {
    const within = (seen.get(e) ?? 0) + 1;
    seen.set(e, within);
    return e + within / sizes.get(e)!;
  });
  return [0, ...places];
}

/** The proof beside a run; entry t is the state after t visits. */
export interface Proof {
  gamma: number | null;
  radius: number;
  /** The smallest k with kγ > √k·R. */
  crossing: number | null;
  k: number[];
  dot: number[];
  norm: number[];
  dotBound: Entries | null;
  normBound: Entries | null;
  /** How the bounds go on after the run, slope·k and root·√k; null where they have another shape. */
  plain: { slope: number; root: number; crossing: number } | null;
}

/** Null where there is no comparator: several classes, or a kernel. */
export function proofOf(run: OneRun): Proof | null {
  const proofs = run.segments.map(({ trace }) => trace.proof);
  const first = proofs[0];
  if (!first || !proofs.every((proof) => proof !== null)) return null;
  const joined = <T>(parts: T[][]): T[] => parts.flatMap((part, i) => (i === 0 ? part : part.slice(1)));
  const optional = (name: "dot_bound" | "norm_bound"): Entries | null => (first[name] ? joined(proofs.map((proof) => proof[name] ?? [])) : null);
  const found: Proof = {
    gamma: first.gamma,
    radius: first.radius,
    crossing: (first["crossing"] as number | null | undefined) ?? null,
    k: counts(run, "n_updates"),
    dot: joined(proofs.map(({ dot }) => dot)),
    norm: joined(proofs.map(({ norm }) => norm)),
    dotBound: optional("dot_bound"),
    normBound: optional("norm_bound"),
    plain: null,
  };
  return { ...found, plain: plainBounds(found) };
}

/** kγ and √k·R as far as they were reached, continued; null where bounds have another shape. */
function plainBounds({ k, dotBound, normBound, crossing }: Proof): Proof["plain"] {
  const made = k[k.length - 1]!;
  if (!dotBound || !normBound || crossing === null || made < 1) return null;
  const slope = (dotBound[dotBound.length - 1] ?? NaN) / made;
  const root = (normBound[normBound.length - 1] ?? NaN) / Math.sqrt(made);
  const near = (a: number | null | undefined, b: number): boolean => Math.abs((a ?? NaN) - b) <= 1e-6 * Math.abs(b) + 1e-12;
  const straight = k.every((n, t) => near(dotBound[t], slope * n) && near(normBound[t], root * Math.sqrt(n)));
  const meets = Math.abs((root / slope) ** 2 - crossing) <= 1 + 1e-6 * crossing;
  return straight && meets ? { slope, root, crossing } : null;
}

/** Several classes, or a kernel: the proof of one w of numbers is not about them. */
export function isOther(run: OneRun): boolean {
  const { classes, dual } = run.segments[0]?.trace ?? {};
  return Boolean(dual) || (classes?.length ?? 2) > 2;
}

/** The line of the comparator in the plane: its distance from the origin and from the nearest row.
 *
 * u = (v, c) of length 1 has margin γ on the rows (x, B), so y(v·x + cB)/‖v‖ is at least γ/‖v‖. */
export function lineOf(run: OneRun): { distance: number; nearest: number } | null {
  const { proof, bias, unit } = run.segments[run.segments.length - 1]?.trace ?? {};
  if (!proof || proof.gamma === null || !bias || unit) return null;
  const inPlane = Math.hypot(proof.u[0] ?? 0, proof.u[1] ?? 0);
  if (!(inPlane > 0)) return null;
  return { distance: Math.abs(proof.u[2] ?? 0) * (bias / inPlane), nearest: proof.gamma / inPlane };
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

export function largest(values: number[]): number {
  return values.reduce((a, b) => Math.max(a, b), -Infinity);
}

export function smallest(values: number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
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
  return `${short(n)} ${what}${n === 1 ? "" : "s"}`;
}

