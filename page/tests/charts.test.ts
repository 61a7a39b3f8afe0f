import assert from "node:assert/strict";
import { test } from "node:test";
import type { OneRun, Trace } from "../src/protocol";
import { stepAt, stepByKey } from "../src/views/charts/chart";
import { fitted } from "../src/views/charts/drawing";
import { baseLines, type Box, boxOf, overlap } from "../src/views/charts/labels";
import { bandOf, pathOf, spanOf } from "../src/views/charts/paths";
import type { Line } from "../src/views/charts/plot";
import { leastBound } from "../src/views/charts/bounds";
import { bracketPlot } from "../src/views/charts/bracket";
import { errorsPlot } from "../src/views/charts/errors";
import { mistakesPlot } from "../src/views/charts/mistakes";
import { boundEntries, bracket, counts, epochPlaces } from "../src/views/charts/numbers";
import { proofPlot } from "../src/views/charts/proof";
import { down, linear, linearTicks, logarithmic, logTicks, short, up } from "../src/views/charts/scale";

/** A run of 2 epochs with 2 mistakes on 3 rows; then one row more. */
function run(): OneRun {
  const trace = {
    epoch: [0, 0, 0, 1, 1, 1],
    row: [0, 1, 2, 0, 1, 2],
    n_mistakes: [1, 1, 2, 2, 2, 2],
    n_updates: [1, 1, 2, 2, 2, 2],
    gamma_low: ["-inf", null, 0.5, 0.4, 0.4, 0.4],
    gamma_up: ["inf", 2, 2, 1.5, 1.8, 1.5],
    learner: "Perceptron()",
    space: "given rows",
    proof: { u: [1, 0, 0], gamma: 1, radius: 2, crossing: 5, dot: [0, 1, 1, 2.5, 2.5, 2.5, 2.5], dot_bound: [0, 1, 1, 2, 2, 2, 2], norm: [0, 2, 2, 2.6, 2.6, 2.6, 2.6], norm_bound: [0, 2, 2, 2 * Math.SQRT2, 2 * Math.SQRT2, 2 * Math.SQRT2, 2 * Math.SQRT2] },
  };
  const last = { ...trace.proof, dot: [2.5, 4, 4], dot_bound: [2, 3, 3], norm: [2.6, 4.1, 4.1], norm_bound: [2 * Math.SQRT2, 2 * Math.sqrt(3), 2 * Math.sqrt(3)] };
  const later = { ...trace, epoch: [2, 2], row: [0, 1], n_mistakes: [3, 3], n_updates: [3, 3], gamma_low: null, gamma_up: [3, 3], proof: last };
  const segment = (found: object, first: number) => ({ X: [], y: [], turned: [], first, trace: found as unknown as Trace });
  return {
    segments: [segment(trace, 0), segment(later, 6)],
    errors: [{ epoch: 0, last: 0.5, average: 0.25, vote: null }, { epoch: 1, last: 0, average: 0, vote: null }],
    bounds: [{ name: "Novikoff", text: "updates ≤ R²/γ²", value: 4, per_visit: null }],
  } as unknown as OneRun;
}

test("ticks are round numbers within the range", () => {
  assert.deepEqual(linearTicks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(linearTicks(0, 1, 4), [0, 0.5, 1]);
  assert.deepEqual(linearTicks(0, 2, 9, true), [0, 1, 2]);
  assert.deepEqual(linearTicks(1, 1, 5), []);
  assert.deepEqual(logTicks(1, 1000, 5), [1, 10, 100, 1000]);
  assert.deepEqual(logTicks(2, 9, 5), [2, 5]);
});

test("scales invert themselves", () => {
  for (const scale of [linear(-3, 7, 40, 300, 5), logarithmic(0.5, 2000, 40, 300, 5)]) {
    for (const pixel of [40, 123, 300]) assert.ok(Math.abs(scale.of(scale.invert(pixel)) - pixel) < 1e-9);
  }
  assert.equal(logarithmic(1, 100, 0, 10, 3).of(0), 0);
});

test("numbers are short, and ends of brackets are rounded outward", () => {
  assert.equal(short(5834), "5\u202f834");
  assert.equal(short(-0.123456), "−0.123");
  assert.equal(short(2.5e9), "2.5·10⁹");
  assert.equal(short(null), "–");
  assert.equal(down(0.30481), "0.304");
  assert.equal(up(0.30401), "0.305");
  assert.equal(up(5834.2), "5\u202f835");
  assert.equal(down(-0.30401), "−0.305");
});

test("a click goes to the nearest visit, and to the first of equal ones", () => {
  assert.equal(stepAt([0, 1, 2, 3], 1.4), 1);
  assert.equal(stepAt([0, 1, 2, 3], 99), 3);
  assert.equal(stepAt([0, 1, 1, 1, 2], 1.1), 1);
  assert.equal(stepAt([0, 1, 1, 1, 2], 1.9), 4);
  assert.equal(stepAt([0], -5), 0);
});

test("keys move by visits and stay within the run", () => {
  assert.equal(stepByKey("ArrowRight", 7, 7), 7);
  assert.equal(stepByKey("ArrowLeft", 7, 7), 6);
  assert.equal(stepByKey("End", 0, 7), 7);
  assert.equal(stepByKey("x", 0, 7), null);
});

test("paths break where there is no number and stay level between steps", () => {
  const [x, y] = [linear(0, 4, 0, 4, 4), linear(0, 4, 0, 4, 4)];
  assert.equal(pathOf({ x: [0, 1, 2, 3], y: [1, null, 2, 3] }, x, y), "M0 1M2 2L3 3");
  assert.equal(pathOf({ x: [0, 1, 2], y: [1, 1, 3], stepped: true }, x, y), "M0 1H1H2V3");
  const line = (values: number[]): Line => ({ key: "", label: "", look: "one", x: [0, 1], y: values, stepped: true });
  assert.equal(bandOf(line([1, 2]), line([4, 3]), x, y), "M0 1L1 1L1 2L1 3L1 4L0 4Z");
});

test("a line spans what it crosses between two pixels", () => {
  const [x, y] = [linear(0, 4, 0, 40, 4), linear(0, 4, 0, 40, 4)];
  const line: Line = { key: "", label: "", look: "one", x: [0, 2, 4], y: [0, 2, 1] };
  assert.deepEqual(spanOf(line, x, y, 10, 30), [10, 20]);
  assert.deepEqual(spanOf({ ...line, stepped: true }, x, y, 10, 15), [0, 0]);
  assert.equal(spanOf({ ...line, y: [null, null, null] }, x, y, 10, 30), null);
});

test("labels are beside what they name, apart from one another and from what is taken", () => {
  const room: Box = [0, 300, 0, 200];
  const labels = [{ words: "one", x: 100, y: 50 }, { words: "two", x: 100, y: 52 }, { words: "three", x: 100, y: 3 }];
  const places = baseLines(labels, [[80, 100, 30, 50]], () => false, room);
  const boxes = labels.map((label, i) => boxOf(label, places[i]!));
  boxes.forEach((box, i) => boxes.forEach((other, j) => assert.ok(i === j || !overlap(box, other))));
  assert.ok(boxes.every((box) => !overlap(box, [80, 100, 30, 50]) && box[2] >= 0 && box[3] <= 200));
  assert.deepEqual(baseLines([{ words: "low", x: 100, y: 50 }], [], (box, but) => but === null && box[2] < 50, room), [64]);
  assert.deepEqual(baseLines([{ words: "under", x: 100, y: 50, below: true }], [], () => false, room), [64]);
});

test("labels have the order of their lines, and no other line in between", () => {
  const heights = [40, 52, 60];
  const labels = heights.map((y, i) => ({ words: `line ${i}`, x: 100, y }));
  const crossed = (box: Box, but: { y: number } | null): boolean => heights.some((y) => y !== but?.y && y > box[2] && y < box[3]);
  const places = baseLines(labels, [], crossed, [0, 300, 0, 200]);
  assert.deepEqual([...places].sort((a, b) => a - b), places);
  assert.ok(places[0]! < 40 && places[2]! > 60);
});

test("a bound on something else than mistakes says so, or is not drawn", () => {
  const made = run();
  made.bounds = [
    { name: "winnow1_demotions", text: "demotions ≤ n/θ + (α − 1)p", value: 1, per_visit: null },
    { name: "pa1", text: "errors ≤ max(R², 1/C)(‖u‖² + 2C Σℓ*)", value: 2, per_visit: null },
    { name: "novikoff", text: "updates ≤ R²/γ²", value: 99, per_visit: null },
    { name: "hinge_tight", text: "updates ≤ ((a + √(a² + 4H))/2)², a = R‖u‖", value: 50, per_visit: null },
  ];
  const labels = (one: OneRun): string[] => mistakesPlot(one, undefined, 8).lines.map(({ key, label }) => `${key} ${label}`);
  assert.deepEqual(labels(made), ["bound-1 errors ≤ 2", "bound-3 R²/γ²: 99", "mistakes mistakes"]);
  assert.equal(mistakesPlot(made, undefined, 8).readout(3), "2 ≤ 99 at visit 3");
  for (const { trace } of made.segments) trace.n_updates = trace.n_updates.map((n) => n + 1);
  assert.deepEqual(labels(made), ["bound-1 errors ≤ 2", "bound-3 updates ≤ R²/γ²: 99", "updates updates", "mistakes mistakes"]);
  assert.equal(mistakesPlot(made, undefined, 8).readout(3), "2 mistakes, 3 updates");
  made.bounds.push({ name: "winnow_promotions", text: "promotions ≤ r⌈log θ⌉: an OR of fewer than r inputs is refuted", value: 1, per_visit: null });
  assert.equal(leastBound({ ...made, bounds: made.bounds.slice(-1) }), null);
  assert.equal(leastBound({ ...made, bounds: made.bounds.slice(0, 1) }), "In the whole run demotions ≤ n/θ + (α − 1)p, which is 1.");
  assert.equal(leastBound({ ...made, bounds: made.bounds.slice(1, 2) }), "In the whole run at most 2 errors: max(R², 1/C)(‖u‖² + 2C Σℓ*) is 2.");
  assert.equal(leastBound(made), "In the whole run at most 50 updates: the tight hinge-loss bound is 50.");
});

test("counts and ends of brackets go over all segments", () => {
  assert.deepEqual(counts(run(), "n_mistakes"), [0, 1, 1, 2, 2, 2, 2, 3, 3]);
  const { low, up: high } = bracket(run());
  assert.deepEqual(low, [null, null, null, 0.5, 0.5, 0.5, 0.5, null, null]);
  assert.deepEqual(high, [null, null, 2, 2, 1.5, 1.5, 1.5, 3, 3]);
  assert.deepEqual(epochPlaces(run()).map((place) => Math.round(60 * place)), [0, 20, 40, 60, 80, 100, 120, 150, 180]);
  assert.deepEqual(boundEntries({ name: "", text: "", value: null, per_visit: [1, 2] }, 2), [1, 1, 2]);
});

test("each chart says the numbers of its visit", () => {
  const made = run();
  assert.equal(mistakesPlot(made, undefined, 8).readout(3), "2 ≤ 4 at visit 3");
  assert.match(mistakesPlot(made, undefined, 8).spoken(3), /2 mistakes and 2 updates in 3 visits; at most 4 updates, by R²\/γ²/);
  const found = proofPlot(made);
  assert.ok(typeof found !== "string");
  assert.equal(found.readout(3), "k=2: 2 ≤ 2.5 ≤ 2.6 ≤ 2.83".replace(/ ≤ /g, "\u2009≤\u2009"));
  assert.ok(Math.abs(found.marks![0]!.x - 4) < 1e-9);
  assert.equal(found.at.length, 9);
  assert.equal(found.readout(7), "k=3: 3 ≤ 4 ≤ 4.1 ≤ 3.46".replace(/ ≤ /g, "\u2009≤\u2009"));
  const ends = bracketPlot(made, 8);
  assert.ok(typeof ends !== "string");
  assert.equal(ends.readout(4), "0.5 ≤ γ* ≤ 1.5 (given rows)");
  const errors = errorsPlot(made, undefined);
  assert.ok(typeof errors !== "string");
  assert.equal(errors.readout(2), "first epoch");
  assert.equal(errors.readout(4), "last 50, avg 25 %");
});

test("both brackets are drawn where both are known, on one scale", () => {
  const made = run();
  Object.assign(made.segments[0]!.trace, { gamma_low_free: ["-inf", null, 0.75, 0.7, 0.7, 0.7], gamma_up_free: ["inf", "inf", 3, 2.5, 2.5, 2.5] });
  assert.deepEqual(bracket(made, "free").low, [null, null, null, 0.75, 0.75, 0.75, 0.75, null, null]);
  assert.deepEqual(bracket(made, "free").up, [null, null, null, 3, 2.5, 2.5, 2.5, null, null]);
  const both = bracketPlot(made, 8);
  assert.ok(typeof both !== "string");
  assert.deepEqual(both.lines.map(({ key }) => key), ["gamma_up", "gamma_low", "gamma_up_free", "gamma_low_free"]);
  assert.deepEqual(both.samples, [["two", "one"], ["two-bound", "one-bound"]]);
  assert.deepEqual(both.bands, [["gamma_low", "gamma_up"], ["gamma_low_free", "gamma_up_free"]]);
  assert.equal(both.readout(4), "0.5 ≤ γ* ≤ 1.5 (given rows)\n0.75 ≤ γ free ≤ 2.5");
  assert.equal(both.readout(2), "γ* ≤ 2 (given rows)\nγ free: not known yet");
  assert.match(both.spoken(4), /the best margin is between 0\.5 and 1\.5; .* the best margin with a free offset is between 0\.75 and 2\.5/);
  assert.ok(!both.y.log && both.y.low === 0);
  Object.assign(made.segments[0]!.trace, { gamma_up_free: ["inf", "inf", 300, 250, 250, 250] });
  const far = bracketPlot(made, 8);
  assert.ok(typeof far !== "string" && far.y.log && far.y.low < 0.5);
  const one = bracketPlot(run(), 8);
  assert.ok(typeof one !== "string" && one.samples === undefined && one.bands!.length === 1);
});

test("a comparator without a margin claims nothing", () => {
  const made = run();
  Object.assign(made.segments[0]!.trace.proof!, { gamma: null, dot_bound: null, norm_bound: null, crossing: null });
  assert.equal(typeof proofPlot(made), "string");
});

test("a readout that is too long loses its brackets first, then its end", () => {
  assert.equal(fitted("1 ≤ γ* ≤ 2 (given rows)", 300), "1 ≤ γ* ≤ 2 (given rows)");
  assert.equal(fitted("1 ≤ γ* ≤ 2 (given rows)", 100), "1 ≤ γ* ≤ 2");
  assert.equal(fitted("1 ≤ γ* ≤ 2 (given rows)", 52), "1 ≤ γ* …");
});
