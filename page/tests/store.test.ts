import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer, Catalog, OneRun, Pair, Scene } from "../src/protocol";
import type { Source } from "../src/source";
import { firstScene, Store } from "../src/store";

let frames: ((now: number) => void)[] = [];
Object.assign(globalThis, {
  requestAnimationFrame: (act: (now: number) => void) => frames.push(act),
  cancelAnimationFrame: () => undefined,
});
const nextFrame = (now: number): void => {
  const due = frames;
  frames = [];
  due.forEach((act) => act(now));
};
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

const CATALOG = {
  sets: [{ name: "two", text: "", X: [[1, 0], [-1, 0]], y: [1, 0], classes: ["a", "b"] }],
  learners: [{ name: "Perceptron", params: [] }],
  kernels: [],
  limits: { points: 3, steps: 100 },
} as unknown as Catalog;

/** A run of ten visits on the rows of the scene. */
function run(scene: Scene): OneRun {
  const rows = scene.edits.at(-1) ?? scene;
  const w = Array.from({ length: 11 }, (_, i) => [i, 0, 0]);
  const counts = Array.from({ length: 10 }, (_, i) => i + 1);
  const trace = { row: counts.map(() => 0), kind: counts.map((i) => (i === 4 ? "mistake" : "none")), w, n_mistakes: counts, n_updates: counts, bias: 1 };
  return { segments: [{ X: rows.X, y: rows.y, turned: [], first: 0, trace }] } as unknown as OneRun;
}

class Slow implements Source {
  readonly readOnly = false;
  readonly asked: { scene: Scene; signal: AbortSignal; answer(): void; refuse(sentence: string): void }[] = [];

  catalog(): Promise<Catalog> {
    return Promise.resolve(CATALOG);
  }

  run(scene: Scene, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const answer = (): void => resolve({ format: "perceptrons lab run", schema: 1, scene, runs: [run(scene)] });
      this.asked.push({ scene, signal, answer, refuse: (sentence) => reject(new Error(sentence)) });
    });
  }

  table(): Promise<never> {
    return Promise.reject(new Error("The table is empty."));
  }
}

async function started(): Promise<{ store: Store; source: Slow }> {
  const source = new Slow();
  const store = new Store(source, CATALOG, firstScene(CATALOG, CATALOG.sets[0]!));
  store.start();
  source.asked[0]!.answer();
  await later();
  return { store, source };
}

test("an answer brings its runs", async () => {
  const { store } = await started();
  assert.equal(store.shown.busy, false);
  assert.equal(store.shown.runs.length, 1);
  store.goTo(99);
  assert.equal(store.shown.step, 10);
  store.goTo(-1);
  assert.equal(store.shown.step, 0);
  store.nextMistake();
  assert.equal(store.shown.step, 4);
});

test("while a point is dragged one request is under way, and the last place is asked for", async () => {
  const { store, source } = await started();
  for (let k = 1; k <= 5; k++) store.movePoint(0, [1, k]);
  assert.equal(source.asked.length, 2);
  source.asked[1]!.answer();
  await later();
  assert.equal(source.asked.length, 3);
  assert.equal(store.shown.busy, true);
  assert.deepEqual(source.asked[2]!.scene.X[0], [1, 5]);
  source.asked[2]!.answer();
  await later();
  assert.equal(store.shown.busy, false);
  assert.equal(store.shown.ran, store.shown.scene);
  store.undo(); // all moves of a point together
  assert.deepEqual(store.shown.scene.X[0], [1, 0]);
});

test("what is chosen while an answer is awaited is not lost with it", async () => {
  const { store, source } = await started();
  store.goTo(7);
  store.movePoint(0, [1, 1]);
  store.setScene({ X: [[50, 50], [60, 60]] as Pair[], y: [0, 1] }); // all of it is to be seen, from the start
  source.asked[1]!.answer();
  await later();
  source.asked[2]!.answer();
  await later();
  assert.equal(store.shown.step, 0);
  assert.ok(store.shown.view.x[0] > 40);
});

test("a refusal shows its sentence and no run; the next answer comes back to the step", async () => {
  const { store, source } = await started();
  store.goTo(6);
  store.removePoint(0);
  source.asked[1]!.refuse("A run needs points of two classes.");
  await later();
  assert.deepEqual([store.shown.error, store.shown.runs.length, store.shown.busy], ["A run needs points of two classes.", 0, false]);
  store.addPoint([2, 2]);
  source.asked[2]!.answer();
  await later();
  assert.deepEqual([store.shown.error, store.shown.step], [null, 6]);
});

test("an empty plane keeps its scale while points are put on it", async () => {
  const { store, source } = await started();
  const { x } = store.shown.view;
  store.setScene({ X: [], y: [] });
  source.asked[1]!.refuse("A run needs points of two classes.");
  await later();
  store.addPoint([0.5, 0.5]);
  source.asked[2]!.answer();
  await later();
  assert.deepEqual(store.shown.view.x, x);
});

test("a change while the run plays goes on from the step, and the run waits for its answer", async () => {
  const { store, source } = await started();
  store.setSpeed(10);
  store.play(true);
  [1000, 1100, 1200, 1300].forEach(nextFrame);
  assert.equal(store.shown.step, 3);
  store.addPoint([3, 3]);
  assert.deepEqual(store.shown.scene.edits.map((edit) => [edit.at, edit.X.length]), [[3, 3]]);
  nextFrame(1500);
  assert.equal(store.shown.step, 3);
  source.asked[1]!.answer();
  await later();
  nextFrame(1600);
  assert.equal(store.shown.playing, true);
  assert.equal(store.shown.step, 4);
});

test("no more points than the library takes", async () => {
  const { store } = await started();
  store.addPoint([0, 1]);
  store.addPoint([0, 2]);
  assert.equal(store.shown.scene.X.length, 3);
  assert.match(store.shown.error ?? "", /at most 3 points/);
});

test("a point has the class that was chosen a moment before, drawn or not", async () => {
  const { store } = await started();
  store.setNewClass(1);
  store.addPoint([0, 1]);
  assert.equal(store.shown.scene.y.at(-1), 1);
});

test("one class more keeps the points that were added, on the way too", async () => {
  const { store, source } = await started();
  store.goTo(3);
  store.setOptions({ online: true });
  store.addPoint([0, 1]);
  source.asked[1]!.answer();
  await later();
  store.addClass();
  const { scene, newClass } = store.shown;
  assert.deepEqual([scene.X.length, scene.y, scene.edits, scene.classes, newClass], [3, [1, 0, 0], [], ["a", "b", "class 3"], 2]);
});

test("a table that cannot be read leaves the points and says why", async () => {
  const { store } = await started();
  await assert.rejects(store.loadTable(""));
  assert.deepEqual([store.shown.error, store.shown.scene.X.length, store.shown.runs.length], ["The table is empty.", 2, 1]);
});

test("the class of a point is changed in place, and after the last class comes the first", async () => {
  const { store, source } = await started();
  store.turnPoint(0);
  assert.deepEqual([store.shown.scene.X, store.shown.scene.y, store.shown.selected], [[[1, 0], [-1, 0]], [0, 0], 0]);
  source.asked[1]!.answer();
  await later();
  store.turnPoint(0);
  assert.deepEqual(store.shown.scene.y, [1, 0]);
});
