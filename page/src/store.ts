// The store: one state, changed by actions; views are told once per frame.
import type { Answer, Catalog, OneRun, Pair, Scene, ToySet } from "./protocol";
import type { Source } from "./source";
import type { Actions, Shown, Theme, View } from "./state";
import { givenRows, mistakeAfter, shownRows, totalVisits, wBox, withRows, xBox } from "./state";

const MOST_UNDO = 100;
const PATIENCE = 400; // milliseconds after which an answer that no longer counts is given up

/** What an answer does beyond its runs: show all of both planes, or of w-space; go to a step (null: stay). */
interface Then {
  whole: boolean;
  paths: boolean;
  step: number | null;
  undoing?: boolean;
}

const NOTHING_MORE: Then = { whole: false, paths: false, step: null };

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function firstScene(catalog: Catalog, set: ToySet): Scene {
  return {
    format: "perceptrons lab scene",
    schema: 1,
    X: set.X,
    y: set.y,
    classes: set.classes,
    learner: { name: (catalog.learners.find((one) => one.name === "Perceptron") ?? catalog.learners[0]!).name, params: {} },
    second: null,
    shuffle: false,
    seed: 0,
    max_iter: 100,
    max_steps: Math.min(2000, catalog.limits["steps"] ?? 2000),
    noise: 0,
    center: 0,
    edits: [],
  };
}

/** All of the paths in w-space. */
function wholeW(runs: OneRun[]): Partial<Shown["view"]> {
  return { w: wBox(runs.slice(0, 1)), w2: wBox(runs.slice(1)), slice: null };
}

export class Store implements Actions {
  shown: Shown;
  private drawn: Shown | null = null;
  private views: View[] = [];
  private undone: { scene: Scene; step: number }[] = [];
  private frame = 0;
  private clock = 0;
  private due = 0; // visits that are due, as a fraction
  private asked: { stop: AbortController; at: number } | null = null;
  private patience: ReturnType<typeof setTimeout> | undefined;
  private then: Then = NOTHING_MORE;
  private mark: string | null = null;
  private stopped = false;

  constructor(private readonly source: Source, catalog: Catalog, scene: Scene) {
    this.shown = {
      scene,
      ran: scene,
      runs: [],
      catalog,
      readOnly: source.readOnly,
      step: 0,
      active: 0,
      selected: null,
      view: { x: xBox(scene, []), w: [-1, 1, -1, 1], w2: [-1, 1, -1, 1], slice: null },
      options: { average: true, best: false, contours: true, slab: false, online: false },
      pointer: null,
      playing: false,
      speed: 8,
      newClass: 0,
      busy: false,
      error: null,
      theme: "auto",
      canUndo: false,
    };
  }

  // ---------------------------------------------------------- drawing

  attach(views: View[]): void {
    this.views = views;
    this.drawn = null;
    this.draw();
  }

  stop(): void {
    this.stopped = true;
    cancelAnimationFrame(this.frame);
    clearTimeout(this.patience);
    this.asked?.stop.abort();
  }

  private change(change: Partial<Shown>): void {
    this.shown = { ...this.shown, ...change };
    if (!this.frame && !this.stopped) this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  private tick(now: number): void {
    this.frame = 0;
    if (this.shown.playing) this.advance(now);
    this.draw();
    if (this.shown.playing && !this.frame && !this.stopped) {
      this.frame = requestAnimationFrame((next) => this.tick(next));
    }
  }

  private draw(): void {
    const { drawn, shown } = this;
    if (drawn === shown) return;
    this.drawn = shown;
    for (const view of this.views) view.update(shown, drawn);
  }

  private advance(now: number): void {
    const elapsed = this.clock ? Math.min((now - this.clock) / 1000, 0.25) : 0;
    this.clock = now;
    if (this.shown.ran !== this.shown.scene) return; // the run goes on when its answer is there
    this.due += elapsed * this.shown.speed;
    const whole = Math.floor(this.due);
    if (!whole) return;
    this.due -= whole;
    const last = totalVisits(this.shown.runs);
    const step = Math.min(this.shown.step + whole, last);
    this.shown = { ...this.shown, step, playing: step < last };
  }

  // ---------------------------------------------------------- asking for runs

  /** Makes the scene the one that is shown, and asks for its runs. `mark`: changes with the same mark are undone together. */
  private ask(scene: Scene, then: Partial<Then> = {}, mark: string | null = null): void {
    if (scene !== this.shown.scene && then.undoing !== true) this.remember(mark);
    this.then = { whole: this.then.whole || Boolean(then.whole), paths: this.then.paths || Boolean(then.paths), step: then.step ?? this.then.step };
    this.change({ scene, busy: true, error: null, canUndo: this.undone.length > 0 });
    if (!this.asked) return this.send();
    const waited = performance.now() - this.asked.at;
    clearTimeout(this.patience); // one request at a time: the next one leaves with its answer, or when it takes too long
    this.patience = setTimeout(() => this.send(), Math.max(0, PATIENCE - waited));
  }

  private remember(mark: string | null): void {
    if (mark === null || mark !== this.mark) {
      this.undone.push({ scene: this.shown.scene, step: this.shown.step });
      if (this.undone.length > MOST_UNDO) this.undone.shift();
    }
    this.mark = mark;
  }

  private send(): void {
    clearTimeout(this.patience);
    this.asked?.stop.abort();
    const { scene } = this.shown;
    const asked = (this.asked = { stop: new AbortController(), at: performance.now() });
    const settle = (act: () => void): void => {
      if (asked !== this.asked || this.stopped) return;
      this.asked = null;
      act();
      if (this.shown.busy) this.send();
    };
    this.source.run(scene, asked.stop.signal).then(
      (answer) => settle(() => this.take(scene, answer)),
      (error: unknown) => settle(() => this.refused(scene, error)),
    );
  }

  private take(asked: Scene, answer: Answer): void {
    // recorded runs have the order and the limits that they were recorded with
    const scene = this.source.readOnly ? answer.scene : asked;
    if (scene !== asked && this.shown.scene === asked) this.change({ scene });
    const { step: before, runs, view, playing, active } = this.shown;
    const current = this.shown.scene === scene; // an answer to an earlier question leaves zoom and step as they are
    const { whole, paths, step: wanted } = current ? this.then : NOTHING_MORE;
    const last = totalVisits(answer.runs);
    const atEnd = before > 0 && before >= totalVisits(runs) && !playing;
    const step = Math.min(wanted ?? (atEnd ? last : before), last);
    if (current) this.then = NOTHING_MORE;
    this.change({
      runs: answer.runs,
      ran: scene,
      busy: !current,
      step,
      active: answer.runs.length > 1 ? active : 0,
      view: { ...view, ...(whole ? { x: xBox(scene, answer.runs) } : {}), ...(whole || paths ? wholeW(answer.runs) : {}) },
    });
  }

  /** What was drawn is not of this scene: nothing is drawn, and a sentence says why. */
  private refused(scene: Scene, error: unknown): void {
    const current = this.shown.scene === scene;
    const view = this.then.whole ? { ...this.shown.view, x: xBox(scene, []) } : this.shown.view;
    if (current) this.then = { whole: false, paths: true, step: this.then.step ?? this.shown.step };
    this.change({ view, runs: [], ran: scene, step: 0, busy: !current, playing: false, error: sentence(error) });
  }

  start(step = 0): void {
    this.ask(this.shown.scene, { whole: true, step });
  }

  // ---------------------------------------------------------- actions

  setScene(change: Partial<Scene>): void {
    const rows = "X" in change || "y" in change || "classes" in change;
    const scene: Scene = { ...this.shown.scene, ...change };
    if (rows && !("edits" in change)) scene.edits = [];
    if (rows) {
      this.change({ playing: false, selected: null, newClass: Math.min(this.shown.newClass, scene.classes.length - 1) });
    }
    const whole = (rows && scene.X.length > 0) || "center" in change; // an empty plane keeps its scale, for the points to come
    this.ask(scene, { whole, paths: true, step: 0 }, rows ? null : Object.keys(change).join());
  }

  private setRows(X: Pair[], y: number[], mark: string | null = null): void {
    const { scene, step, playing, options } = this.shown;
    this.ask(withRows(scene, step, playing || options.online, X, y), {}, mark);
  }

  addPoint(x: Pair): void {
    const given = givenRows(this.shown.scene, this.shown.step);
    const most = this.shown.catalog.limits["points"] ?? Infinity;
    if (given.X.length >= most) return this.fail(`There are at most ${most} points.`);
    const { offset } = shownRows(this.shown, this.shown.active);
    this.setRows([...given.X, [x[0] + offset[0], x[1] + offset[1]]], [...given.y, this.shown.newClass]);
    this.change({ selected: given.X.length });
  }

  movePoint(i: number, x: Pair): void {
    const given = givenRows(this.shown.scene, this.shown.step);
    const { offset } = shownRows(this.shown, this.shown.active);
    this.setRows(given.X.map((old, j): Pair => (j === i ? [x[0] + offset[0], x[1] + offset[1]] : old)), given.y, `move ${i}`);
  }

  removePoint(i: number): void {
    const given = givenRows(this.shown.scene, this.shown.step);
    const n = given.X.length - 1;
    this.setRows(given.X.filter((_, j) => j !== i), given.y.filter((_, j) => j !== i));
    this.change({ selected: n ? Math.min(i, n - 1) : null });
  }

  turnPoint(i: number): void {
    const given = givenRows(this.shown.scene, this.shown.step);
    const n = this.shown.scene.classes.length;
    this.setRows(given.X, given.y.map((code, j) => (j === i ? (code + 1) % n : code)));
    this.change({ selected: i });
  }

  goTo(step: number): void {
    const last = totalVisits(this.shown.runs);
    this.change({ step: Math.max(0, Math.min(Math.round(step), last)), playing: false });
  }

  play(on: boolean): void {
    this.clock = this.due = 0;
    const last = totalVisits(this.shown.runs);
    const step = on && this.shown.step >= last ? 0 : this.shown.step;
    this.change({ playing: on && last > 0, step });
  }

  setSpeed(speed: number): void {
    this.change({ speed: Math.max(0.5, Math.min(speed, 2000)) });
  }

  nextMistake(): void {
    const found = this.shown.runs.map((run) => mistakeAfter(run, this.shown.step)).filter((t) => t !== null);
    this.goTo(found.length ? Math.min(...found) : totalVisits(this.shown.runs));
  }

  select(selected: number | null): void {
    if (selected !== this.shown.selected) this.change({ selected });
  }

  setView(change: Partial<Shown["view"]>): void {
    this.change({ view: { ...this.shown.view, ...change } });
  }

  setOptions(change: Partial<Shown["options"]>): void {
    this.change({ options: { ...this.shown.options, ...change } });
  }

  setPointer(pointer: Pair | null): void {
    if (pointer !== this.shown.pointer) this.change({ pointer });
  }

  setTheme(theme: Theme): void {
    this.change({ theme });
  }

  setActive(active: 0 | 1): void {
    this.change({ active });
  }

  setNewClass(newClass: number): void {
    if (newClass < this.shown.scene.classes.length) this.change({ newClass });
  }

  addClass(): void {
    const { scene, step } = this.shown;
    const { X, y } = givenRows(scene, step);
    const n = scene.classes.length;
    let k = n + 1;
    while (scene.classes.includes(`class ${k}`)) k++;
    this.setScene({ classes: [...scene.classes, `class ${k}`], X, y });
    this.setNewClass(n);
  }

  async loadTable(text: string, columns?: string[]): Promise<string[]> {
    try {
      const table = await this.source.table(text, columns);
      this.setScene({ X: table.X, y: table.y, classes: table.classes });
      return table.columns ?? [];
    } catch (error) {
      this.fail(sentence(error));
      throw error;
    }
  }

  restore(scene: Scene, step: number): void {
    this.change({ playing: false, selected: null });
    this.ask(scene, { whole: true, step });
  }

  restart(): void {
    const { X, y } = givenRows(this.shown.scene, this.shown.step);
    this.change({ playing: false });
    this.ask({ ...this.shown.scene, X, y, edits: [] }, { paths: true, step: 0 });
  }

  undo(): void {
    const before = this.undone.pop();
    if (!before) return;
    this.mark = null;
    this.change({ playing: false, selected: null });
    this.ask(before.scene, { undoing: true, step: before.step });
  }

  fit(): void {
    const { scene, runs } = this.shown;
    this.setView({ x: xBox(scene, runs), ...wholeW(runs) });
  }

  fail(error: string | null): void {
    this.change({ error });
  }
}
