// What the tours show and say.

import type { OneRun, Pair, Scene, Value } from "../protocol";
import type { Shown } from "../state";
import { visits } from "../state";
import { counted, counts, lineOf, proofOf } from "./charts/numbers";
import { down, short, up } from "./charts/scale";

export interface Stop {
  title: string;
  scene(shown: Shown): Scene;
  /** How many visits are made. */
  visit(run: OneRun): number;
  text(run: OneRun): string;
  /** Test id of the part that it is about. */
  target: string | null;
  /** Where the panel is, so that it does not cover that part. */
  side: "left" | "right";
  options?: Partial<Shown["options"]>;
  /** Needs a run that an exported site does not have. */
  live?: boolean;
}

export interface Tour {
  testid: string;
  name: string;
  stops: Stop[];
}

/** A perceptron on rows of the catalog, in their order. */
function perceptronOn(set: string, change: Partial<Scene> = {}, params: Record<string, Value> = {}): (shown: Shown) => Scene {
  return ({ scene, catalog }) => {
    const { X, y, classes } = catalog.sets.find(({ name }) => name === set) ?? catalog.sets[0]!;
    const known = catalog.learners.find(({ name }) => name === "Perceptron")?.params ?? [];
    const defaults = Object.fromEntries(known.map((param) => [param.name, param.default]));
    const learner = { name: "Perceptron", params: { ...defaults, ...params } };
    return { ...scene, X, y, classes, learner, second: null, shuffle: false, seed: 0, noise: 0, center: 0, edits: [], ...change };
  };
}

/** The rows of a set with one more. */
function oneMore(set: string, x: Pair, y: number): (shown: Shown) => Scene {
  return (shown) => {
    const scene = perceptronOn(set)(shown);
    return { ...scene, X: [...scene.X, x], y: [...scene.y, y] };
  };
}

function made(run: OneRun): number {
  return counts(run, "n_updates")[visits(run)]!;
}

function margin(run: OneRun): string {
  return down(proofOf(run)?.gamma, 4);
}

function radius(run: OneRun): string {
  return up(proofOf(run)?.radius, 4);
}

function most(run: OneRun): string {
  const crossing = proofOf(run)?.crossing;
  return crossing == null ? "an unknown number of updates" : counted(crossing - 1, "update");
}

/** R, γ, what they allow and what was needed. */
function account(run: OneRun): string {
  return `R = ${radius(run)} and γ = ${margin(run)} allow ${most(run)}; the run made ${made(run)}.`;
}

const start = (): number => 0;
const end = (run: OneRun): number => visits(run);

const CONVERGES: Stop[] = [
  {
    title: "Points here, lines there",
    scene: perceptronOn("four_points"),
    visit: start,
    text: () => "Each point is a row x with its class y. In w-space, w is a point, and each row is a line: on one side of it w gets the row right. Where the shaded sides meet, all rows are right. The run begins at w = 0.",
    target: "wspace",
    side: "left",
    options: { best: false },
  },
  {
    title: "A mistake moves w",
    scene: perceptronOn("four_points"),
    visit: () => 1,
    text: (run) => `${run.sentences[0] ?? ""} A row on the wrong side, or on the line itself, is added to w with its sign. Nothing else ever moves w.`,
    target: "wspace",
    side: "left",
  },
  {
    title: "Each mistake is a step towards u",
    scene: perceptronOn("four_points"),
    visit: (run) => afterUpdates(run, 1),
    text: (run) => `Take a separator u of length 1 that has y u·x ≥ γ on every row; the best one has γ = ${margin(run)}. A mistake adds y u·x to u·w, so u·w grows by at least γ. After k mistakes it is at least kγ: the dotted line.`,
    target: "chart-proof",
    side: "right",
    options: { best: true },
  },
  {
    title: "But w hardly gets longer",
    scene: perceptronOn("four_points"),
    visit: (run) => afterUpdates(run, 2),
    text: (run) => `A mistake has y w·x ≤ 0, so ‖w + yx‖² = ‖w‖² + 2y w·x + ‖x‖² ≤ ‖w‖² + R², where R = ${radius(run)} is the length of the longest row. After k mistakes ‖w‖ ≤ √k·R: the dashed line.`,
    target: "chart-proof",
    side: "right",
  },
  {
    title: "A line passes a root",
    scene: perceptronOn("four_points"),
    visit: end,
    text: (run) => `kγ ≤ u·w ≤ ‖w‖ ≤ √k·R can hold only while k ≤ (R/γ)². ${account(run)} Then every row was right in a whole pass.`,
    target: "chart-proof",
    side: "right",
  },
  {
    title: "Any rows, any order",
    scene: perceptronOn("clouds_far"),
    visit: end,
    text: (run) => `Nothing in the proof asks which row comes next. On these ${run.segments[0]!.X.length} rows ${account(run)} The axes are logarithmic here: the bound holds for every order, and this one stays far below it.`,
    target: "chart-proof",
    side: "right",
  },
];

const MARGIN: Stop[] = [
  {
    title: "Two clouds and the gap between them",
    scene: perceptronOn("clouds_near"),
    visit: end,
    text: (run) => `The learner sees the rows (x, 1). γ is how far the nearest of them is from the best separator, R the length of the longest. ${account(run)}`,
    target: "xspace",
    side: "right",
    options: { best: true },
  },
  {
    title: "One row more can only shrink it",
    scene: oneMore("clouds_near", [0.05, 0.05], 1),
    visit: end,
    text: (run) => `A point in the gap: γ is a minimum over the rows, so another row leaves it as it was or makes it smaller. Now ${account(run)}`,
    target: "xspace",
    side: "right",
    live: true,
  },
  {
    title: "The same clouds, moved away",
    scene: perceptronOn("clouds_far"),
    visit: end,
    text: (run) => `Every row is moved by 25, and the gap is as wide as before. But ${account(run)}`,
    target: "chart-mistakes",
    side: "right",
    options: { best: true },
  },
  {
    title: "Where the margin went",
    scene: perceptronOn("clouds_far"),
    visit: end,
    text: (run) => {
      const line = lineOf(run);
      const found = line === null ? "" : `So the best u takes another line, at distance ${short(line.distance)} from the origin and only ${short(line.nearest)} from the nearest row: γ = ${margin(run)}.`;
      return `The learner sees (x, 1). There, a line at distance d from the origin has its margin multiplied by 1/√(1 + d²). The gap runs along x₁ + x₂ = 25, at distance ${short(25 / Math.SQRT2)}: a factor of ${short(1 / Math.hypot(1, 25 / Math.SQRT2))}. ${found}`;
    },
    target: "chart-bracket",
    side: "right",
  },
  {
    title: "A larger constant coordinate",
    scene: perceptronOn("clouds_far", {}, { intercept_scaling: 25 }),
    visit: end,
    text: (run) => `With (x, 25) in place of (x, 1), intercept_scaling=25, a smaller weight makes the same offset. Rows get longer, but the margin grows by more: ${account(run)}`,
    target: "chart-mistakes",
    side: "right",
    live: true,
  },
  {
    title: "Or no offset at all",
    scene: perceptronOn("clouds_far", { center: 1 }),
    visit: end,
    text: (run) => `Subtract the mean of the rows first, and the best line passes near the origin: ${account(run)} “Why is it slow?” tries this on your own points.`,
    target: "xspace",
    side: "right",
    live: true,
  },
];

function afterUpdates(run: OneRun, n: number): number {
  const found = counts(run, "n_updates").indexOf(n);
  return found < 0 ? visits(run) : found;
}

export const TOURS: Tour[] = [
  { testid: "tour-converges", name: "Why it converges", stops: CONVERGES },
  { testid: "tour-margin", name: "Why the margin shrinks", stops: MARGIN },
];
