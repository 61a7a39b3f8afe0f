import assert from "node:assert/strict";
import { test } from "node:test";
import type { OneRun, Pair, Scene, Segment, Trace } from "../src/protocol";
import { checked, toNumber } from "../src/protocol";
import type { Shown } from "../src/state";
import { boxAround, editsAt, givenRows, mistakeAfter, mistakesUpTo, placeAt, shownRows, visit, visits, wBox, weights, withRows } from "../src/state";
import { plain } from "../src/views/dom";
import { isWrong, regionsOf } from "../src/views/xspace";

const X: Pair[] = [[1, 2], [2, 1], [-1, -1]];
const SCENE: Scene = {
  format: "perceptrons lab scene",
  schema: 1,
  X,
  y: [1, 1, 0],
  classes: ["no", "yes"],
  learner: { name: "Perceptron", params: {} },
  second: null,
  shuffle: false,
  seed: 0,
  max_iter: 10,
  max_steps: 100,
  noise: 0,
  center: 0,
  edits: [],
};

function segment(first: number, kinds: string[], w: number[][], mistakes: number[], rows: Pair[] = X): Segment {
  const trace = { row: kinds.map((_, i) => i % rows.length), kind: kinds, w, n_mistakes: mistakes, n_updates: mistakes, bias: 1, unit: false } as unknown as Trace;
  return { X: rows, y: rows.map((_, i) => i % 2), turned: [], first, trace };
}

const RUN = {
  segments: [
    segment(0, ["mistake", "none"], [[0, 0, 0], [1, 2, 1], [1, 2, 1]], [1, 1]),
    segment(2, ["none", "mistake", "margin"], [[1, 2, 1], [1, 2, 1], [3, 3, 2], [4, 3, 2]], [1, 2, 2], [...X, [0, 5]]),
  ],
} as unknown as OneRun;

test("a box around points has the points inside", () => {
  assert.deepEqual(boxAround([[0, 0], [2, 1]], 0), [0, 2, -0.5, 1.5]);
  assert.deepEqual(boxAround([], 0.1), [-1, 1, -1, 1]);
  assert.deepEqual(boxAround([[NaN, 1], [Infinity, 2]], 0), [-1, 1, -1, 1]);
});

test("visits, weights and counts go on over the segments, and stay at the end", () => {
  assert.equal(visits(RUN), 5);
  assert.equal(visit(RUN, -1), null);
  assert.equal(visit(RUN, 5), null);
  assert.equal(visit(RUN, 3)?.i, 1);
  assert.deepEqual([0, 1, 2, 4, 5, 99].map((step) => weights(RUN, step)), [[0, 0, 0], [1, 2, 1], [1, 2, 1], [3, 3, 2], [4, 3, 2], [4, 3, 2]]);
  assert.deepEqual([0, 1, 3, 4, 99].map((step) => mistakesUpTo(RUN, step)), [0, 1, 1, 2, 2]);
  assert.equal(placeAt(RUN, 2)?.segment.X.length, 4); // the rows of an edit are there at once
});

test("the next mistake is after the step, in any segment", () => {
  assert.deepEqual([0, 1, 3, 4].map((step) => mistakeAfter(RUN, step)), [1, 4, 4, null]);
});

test("w-space shows 0 and the path", () => {
  const [a, b, c, d] = wBox([RUN]);
  assert.ok(a < 0 && b > 4 && c < 0 && d > 3);
  assert.deepEqual(wBox([]), [-1, 1, -1, 1]);
});

test("rows that change while a run plays are an edit at that step", () => {
  const one = withRows(SCENE, 4, true, [[9, 9]], [1]);
  assert.deepEqual(one.edits, [{ at: 4, X: [[9, 9]], y: [1] }]);
  assert.deepEqual([editsAt(one, 3), editsAt(one, 4)], [0, 1]);
  assert.equal(givenRows(one, 3).X, X);
  const again = withRows(one, 4, true, [[8, 8]], [0]); // at the same step: in its place
  assert.deepEqual(again.edits.map((edit) => edit.X), [[[8, 8]]]);
  const earlier = withRows(one, 2, true, [[7, 7]], [0]); // what came later is no more
  assert.deepEqual(earlier.edits.map((edit) => edit.at), [2]);
});

test("rows that change at rest are in place of those that are shown", () => {
  assert.deepEqual(withRows(SCENE, 4, false, [[9, 9]], [1]).X, [[9, 9]]);
  assert.deepEqual(withRows(SCENE, 0, true, [[9, 9]], [1]).edits, []); // before the first visit there is no w to go on from
  const edited = withRows(SCENE, 4, true, [[9, 9]], [1]);
  const moved = withRows(edited, 6, false, [[5, 5]], [1]);
  assert.deepEqual([moved.X, moved.edits], [X, [{ at: 4, X: [[5, 5]], y: [1] }]]);
});

test("x-space shows the rows that are learned, and given ones moved alike until the answer is there", () => {
  const centred = { ...SCENE, center: 1 };
  const learned: Pair[] = X.map(([a, b]) => [a - 1, b - 2]);
  const run = { segments: [segment(0, ["none"], [[0, 0, 0], [0, 0, 0]], [0], learned)] } as unknown as OneRun;
  const shown = { scene: centred, ran: centred, runs: [run], step: 0, active: 0 } as unknown as Shown;
  assert.deepEqual(shownRows(shown, 0).X, learned);
  assert.deepEqual(shownRows(shown, 0).offset, [1, 2]);
  const next = { ...centred, X: [...X, [4, 4] as Pair], y: [...centred.y, 1] };
  assert.deepEqual(shownRows({ ...shown, scene: next }, 0).X[3], [3, 2]);
});

test("which rows are wrong, of two classes and of several", () => {
  assert.equal(isWrong([[1, 0, 0]], 1, null, [1, 0], 1), false);
  assert.equal(isWrong([[1, 0, 0]], 1, null, [1, 0], 0), true);
  assert.equal(isWrong([[1, 0, 0]], 1, null, [0, 1], 1), true); // on the boundary
  assert.equal(isWrong([[1, 0, 0]], 1, 2, [1, 0], 0), false); // below the threshold
  assert.equal(isWrong([[1, 0, 0]], 1, 1, [1, 0], 1), false); // at the threshold the second class is predicted
  assert.equal(isWrong([[1, 0, 0]], 1, 1, [1, 0], 0), true);
  assert.equal(isWrong([[0, 0, 0]], 1, null, [1, 0], 0), false); // there is no boundary yet
  assert.equal(isWrong([[1, 0, 0], [0, 1, 0], [0, 0, 0]], 1, null, [1, 2], 1), false);
  assert.equal(isWrong([[1, 0, 0], [0, 1, 0], [0, 0, 0]], 1, null, [1, 2], 0), true);
  assert.deepEqual(regionsOf([[1, 2, 3]], 2, 1), [[[-1, -2, 5]], [[1, 2, -5]]]);
});

test("answers of another format or version are refused with a sentence", () => {
  assert.throws(() => checked({ format: "x", schema: 1 }, "perceptrons lab run"), /no “perceptrons lab run”/);
  assert.throws(() => checked({ format: "perceptrons lab run", schema: 2 }, "perceptrons lab run"), /version 2/);
  assert.throws(() => checked(null, "perceptrons lab run"));
  assert.deepEqual([null, "inf", "-inf", 2].map((value) => toNumber(value as never)), [NaN, Infinity, -Infinity, 2]);
});

test("numbers for people", () => {
  assert.deepEqual([0, 1, -2.5, 1e5, 123456, -1e-7, 0.00123456, 99999].map((value) => plain(value)), ["0", "1", "−2.5", "1e5", "1.235e5", "−1e−7", "0.001235", "100000"]);
  assert.deepEqual([NaN, Infinity, -Infinity].map((value) => plain(value)), ["–", "∞", "−∞"]);
});
