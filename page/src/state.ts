// What is shown, and the functions that read it. Views get it whole; only the store changes it.
import type { Best, Catalog, Edit, OneRun, Pair, Scene, Segment, Trace } from "./protocol";
import { toNumber } from "./protocol";
import type { Source } from "./source";

/** x_low, x_high, y_low, y_high. */
export type Box = [number, number, number, number];
export type Theme = "light" | "dark" | "auto";

export interface Shown {
  scene: Scene;
  runs: OneRun[];
  /** The scene that `runs` are of; not `scene` while the next answer is awaited. */
  ran: Scene;
  catalog: Catalog;
  readOnly: boolean;
  /** 0..T of the longest run: visits made. */
  step: number;
  active: 0 | 1;
  selected: number | null;
  /** Zoom of the planes (`w2`: w-space of the second learner); `slice`: weight of the constant coordinate in w-space, null: that of the current w. */
  view: { x: Box; w: Box; w2: Box; slice: number | null };
  options: { average: boolean; best: boolean; contours: boolean; slab: boolean; online: boolean };
  pointer: Pair | null;
  playing: boolean;
  /** Visits per second. */
  speed: number;
  /** The class of points that are added. */
  newClass: number;
  busy: boolean;
  error: string | null;
  theme: Theme;
  canUndo: boolean;
}

export interface Actions {
  /** The state now; what a view has drawn may be a frame older. */
  readonly shown: Shown;
  setScene(change: Partial<Scene>): void;
  /** Adds a point of the class that new points have. */
  addPoint(x: Pair): void;
  movePoint(i: number, x: Pair): void;
  removePoint(i: number): void;
  /** Gives a point the class after its own; after the last comes the first. */
  turnPoint(i: number): void;
  goTo(step: number): void;
  play(on: boolean): void;
  setSpeed(visitsPerSecond: number): void;
  nextMistake(): void;
  select(i: number | null): void;
  setView(change: Partial<Shown["view"]>): void;
  setOptions(change: Partial<Shown["options"]>): void;
  setPointer(x: Pair | null): void;
  setTheme(theme: Theme): void;
  setActive(which: 0 | 1): void;
  setNewClass(code: number): void;
  /** One class more, which new points have from now on. */
  addClass(): void;
  /** Takes the points of a CSV text; the names of its columns of numbers. */
  loadTable(text: string, columns?: string[]): Promise<string[]>;
  restore(scene: Scene, step: number): void;
  /** Begins again with the rows that are shown. */
  restart(): void;
  undo(): void;
  fit(): void;
  fail(sentence: string | null): void;
}

export interface View {
  element: HTMLElement | SVGElement;
  update(shown: Shown, before: Shown | null): void;
}

export type MakeView = (actions: Actions, source: Source) => View;

// ------------------------------------------------------------ reading runs

export interface Visit {
  segment: Segment;
  trace: Trace;
  /** Its place in the trace. */
  i: number;
}

/** The number of visits of a run. */
export function visits(run: OneRun): number {
  const last = run.segments[run.segments.length - 1];
  return last ? last.first + last.trace.row.length : 0;
}

/** The number of visits of the longest run. */
export function totalVisits(runs: OneRun[]): number {
  return runs.reduce((most, run) => Math.max(most, visits(run)), 0);
}

/** The segment whose rows are there after `step` visits. */
export function segmentAt(run: OneRun, step: number): Segment | null {
  let found: Segment | null = null;
  for (const segment of run.segments) if (segment.first <= step || !found) found = segment;
  return found;
}

/** Visit t, from 0; null where there is none. */
export function visit(run: OneRun, t: number): Visit | null {
  if (t < 0) return null;
  for (const segment of run.segments) {
    const i = t - segment.first;
    if (i >= 0 && i < segment.trace.row.length) return { segment, trace: segment.trace, i };
  }
  return null;
}

/** The segment, and the place in its w (or dual) after `step` visits; a shorter run stays at its end. */
export function placeAt(run: OneRun, step: number): { segment: Segment; i: number } | null {
  const segment = segmentAt(run, step);
  if (!segment) return null;
  return { segment, i: Math.max(0, Math.min(step - segment.first, segment.trace.row.length)) };
}

/** w after `step` visits; null of a kernel learner. Of several classes, a vector each. */
export function weights(run: OneRun, step: number): number[] | number[][] | null {
  const place = placeAt(run, step);
  return place?.segment.trace.w?.[place.i] ?? null;
}

export function averageWeights(run: OneRun, step: number): number[] | number[][] | null {
  const place = placeAt(run, step);
  const { w, average } = place?.segment.trace ?? {};
  return place && w && average ? (average[place.i] ?? null) : null;
}

/** What <w, x> is compared with after `step` visits; null: with 0. At a threshold the second class is predicted. */
export function thresholdAt(run: OneRun, step: number): number | null {
  const place = placeAt(run, step);
  const found = place?.segment.trace.threshold?.[place.i];
  return found === undefined || Array.isArray(found) ? null : toNumber(found);
}

export function mistakesUpTo(run: OneRun, step: number): number {
  return counted(run, step, "n_mistakes");
}

export function updatesUpTo(run: OneRun, step: number): number {
  return counted(run, step, "n_updates");
}

/** Counts go on over the segments. */
function counted(run: OneRun, step: number, name: "n_mistakes" | "n_updates"): number {
  const last = visit(run, Math.min(step, visits(run)) - 1);
  return last ? last.trace[name][last.i]! : 0;
}

/** The maximum margin on the rows after `step` visits. */
export function bestAt(run: OneRun, step: number): Best | null {
  const segment = segmentAt(run, step);
  return segment?.best === undefined ? run.best : segment.best;
}

/** The rows as they are learned after `step` visits. */
export function rowsAt(run: OneRun, step: number): { X: Pair[]; y: number[]; turned: number[] } | null {
  return segmentAt(run, step);
}

/** The first visit at or after `step` that is a mistake, as the step that has made it; null: there is none. */
export function mistakeAfter(run: OneRun, step: number): number | null {
  for (const { first, trace } of run.segments) {
    for (let i = Math.max(0, step - first); i < trace.kind.length; i++) {
      if (trace.kind[i] === "mistake") return first + i + 1;
    }
  }
  return null;
}

/** How many classes have a vector of their own; 1: two classes share one. */
export function vectors(w: number[] | number[][] | null): number[][] {
  if (!w || !w.length) return [];
  return Array.isArray(w[0]) ? (w as number[][]) : [w as number[]];
}

// ------------------------------------------------------------ rows of a scene

/** The number of edits in force after `step` visits: the rows are those of the last of them. */
export function editsAt(scene: Scene, step: number): number {
  return scene.edits.filter((edit) => edit.at <= step).length;
}

/** The rows as they were given, after `step` visits. */
export function givenRows(scene: Scene, step: number): { X: Pair[]; y: number[] } {
  const n = editsAt(scene, step);
  return n ? scene.edits[n - 1]! : scene;
}

export interface ShownRows {
  X: Pair[];
  y: number[];
  turned: Set<number>;
  /** Given rows minus shown rows: the share of the mean that was subtracted. */
  offset: Pair;
}

/** The rows as x-space draws them: those of the run, or, before its answer is there, the given ones moved as its were. */
export function shownRows(shown: Shown, which: number): ShownRows {
  const given = givenRows(shown.scene, shown.step);
  const run = shown.runs[which];
  const segment = run ? segmentAt(run, shown.step) : null;
  if (!segment || !segment.X.length) return { ...given, turned: new Set(), offset: [0, 0] };
  if (shown.ran === shown.scene && segment.X.length === given.X.length) {
    const first = given.X[0]!;
    const moved: Pair = [first[0] - segment.X[0]![0], first[1] - segment.X[0]![1]];
    return { X: segment.X, y: segment.y, turned: new Set(segment.turned), offset: shown.scene.center ? moved : [0, 0] };
  }
  const before = givenRows(shown.ran, shown.step).X[0] ?? segment.X[0]!;
  const offset: Pair = shown.ran.center ? [before[0] - segment.X[0]![0], before[1] - segment.X[0]![1]] : [0, 0];
  const X = given.X.map(([a, b]): Pair => [a - offset[0], b - offset[1]]);
  return { X, y: given.y, turned: new Set(), offset };
}

/** The scene with other rows: from `step` on where the run is to go on, else in place of those that are shown. */
export function withRows(scene: Scene, step: number, goOn: boolean, X: Pair[], y: number[]): Scene {
  const n = editsAt(scene, step);
  const before = scene.edits.slice(0, n);
  if (goOn && step > 0) {
    const kept = before.filter((edit) => edit.at < step);
    return { ...scene, edits: [...kept, { at: step, X, y } satisfies Edit] };
  }
  if (!n) return { ...scene, X, y, edits: [] };
  return { ...scene, edits: [...before.slice(0, n - 1), { at: before[n - 1]!.at, X, y }] };
}

// ------------------------------------------------------------ boxes

/** The box around points, larger by a share of its size; at least `least` wide. */
export function boxAround(points: Iterable<readonly number[]>, share: number, least = 1e-9): Box {
  let [a, b, c, d] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [x, y] of points) {
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    a = Math.min(a, x!);
    b = Math.max(b, x!);
    c = Math.min(c, y!);
    d = Math.max(d, y!);
  }
  if (!(a <= b)) return [-1, 1, -1, 1];
  const half = Math.max(b - a, d - c, least) / 2 || 1;
  const more = half * (1 + 2 * share);
  return [(a + b) / 2 - more, (a + b) / 2 + more, (c + d) / 2 - more, (c + d) / 2 + more];
}

/** The box in which x-space shows all rows of the runs. */
export function xBox(scene: Scene, runs: OneRun[]): Box {
  const learned = runs.flatMap((run) => run.segments.flatMap((segment) => segment.X));
  const points = learned.length ? learned : scene.X;
  return points.length ? boxAround(points, 0.12) : [-3, 3, -3, 3];
}

/** The box in which w-space shows the paths of the runs, and 0. */
export function wBox(runs: OneRun[]): Box {
  const points: number[][] = [[0, 0]];
  for (const run of runs) {
    for (const { trace } of run.segments) for (const w of trace.w ?? []) points.push(...vectors(w));
  }
  const box = boxAround(points, 0.3);
  return points.every(([a, b]) => !a && !b) ? [-1, 1, -1, 1] : box;
}
