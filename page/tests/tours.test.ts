import assert from "node:assert/strict";
import { test } from "node:test";
import type { Catalog, OneRun, Scene } from "../src/protocol";
import { sceneFromJson, toJson } from "../src/share";
import type { Shown } from "../src/state";
import { TOURS } from "../src/views/tour_stops";
import { accountOf, ratioOf, scalingOf } from "../src/views/why";

const number = (name: string, value: number | boolean | string) => ({ name, kind: "number", default: value, low: null, high: null, choices: null, text: "" });
const catalog = {
  sets: ["four_points", "clouds_near", "clouds_far"].map((name, i) => ({ name, text: "", X: [[i, 1], [1, i]], y: [0, 1], classes: ["a", "b"] })),
  learners: [{ name: "Perceptron", params: [number("fit_intercept", true), number("intercept_scaling", 1)] }, { name: "Winnow", params: [] }],
} as unknown as Catalog;
const scene: Scene = {
  format: "perceptrons lab scene", schema: 1, X: [[9, 9]], y: [1], classes: ["x", "y", "z"], learner: { name: "Winnow", params: {} }, second: { name: "MIRA", params: {} },
  shuffle: true, seed: 5, max_iter: 10, max_steps: 100, noise: 0.2, center: 1, edits: [],
};
const shown = { scene, catalog, runs: [] as OneRun[], active: 0 } as unknown as Shown;

test("every stop of a tour has rows of the catalog and a perceptron in their order", () => {
  for (const { stops } of TOURS) {
    assert.equal(new Set(stops.map(({ title }) => title)).size, stops.length);
    for (const stop of stops) {
      const made = stop.scene(shown);
      assert.deepEqual(sceneFromJson(toJson({ scene: made, step: 0 })).scene, made);
      assert.deepEqual([made.learner.name, made.second, made.shuffle, made.noise, made.classes.length], ["Perceptron", null, false, 0, 2]);
      assert.ok(stop.live || (!made.center && made.X.length === 2 && made.learner.params["intercept_scaling"] === 1));
    }
  }
});

test("the constant coordinate is the learner's, its default, what the run took, or none", () => {
  const of = (name: string, params: Scene["learner"]["params"], runs: OneRun[] = []): number | null => scalingOf({ ...shown, runs, scene: { ...scene, learner: { name, params } } });
  assert.equal(of("Perceptron", {}), 1);
  assert.equal(of("Perceptron", { intercept_scaling: 25 }), 25);
  assert.equal(of("Perceptron", { fit_intercept: false }), null);
  assert.equal(of("Perceptron", { intercept_scaling: "auto" }, [{ segments: [{ trace: { bias: 0.3 } }] } as unknown as OneRun]), 0.3);
  assert.equal(of("Winnow", {}), null);
});

test("a run without a separator has no ratio, and says so", () => {
  const trace = { row: [0], n_mistakes: [1], n_updates: [1], classes: [0, 1], dual: null, proof: null };
  const run = { segments: [{ first: 0, trace }] } as unknown as OneRun;
  assert.equal(ratioOf(run), null);
  assert.match(accountOf(run), /1 update in 1 visit\. No separator of these rows is known/);
});
