import assert from "node:assert/strict";
import { test } from "node:test";
import type { Scene } from "../src/protocol";
import { decode, encode, sceneFromJson, toJson } from "../src/share";

const scene: Scene = {
  format: "perceptrons lab scene",
  schema: 1,
  X: [[0.1, -2], [3, 1e-9], [5, 5]],
  y: [0, 1, 1],
  classes: ["−1", "ü+1"],
  learner: { name: "KernelPerceptron", params: { kernel: { name: "Gaussian", params: { gamma: 0.5 } }, shuffle: false } },
  second: null,
  shuffle: true,
  seed: 7,
  max_iter: 100,
  max_steps: 2000,
  noise: 0.1,
  center: 0,
  edits: [{ at: 3, X: [[1, 1]], y: [0] }],
};

test("a link and a file give back the state, number by number", () => {
  assert.deepEqual(decode(encode({ scene, step: 12 })), { scene, step: 12 });
  assert.match(encode({ scene, step: 12 }), /^v1\.[A-Za-z0-9_-]+$/);
  assert.deepEqual(sceneFromJson(toJson({ scene, step: 12 })), { scene, step: 12 });
  assert.deepEqual(sceneFromJson(JSON.stringify({ format: "perceptrons lab run", schema: 1, scene, runs: [] })).scene, scene);
});

test("a link from before centring was a number is read", () => {
  for (const [before, center] of [[true, 1], [false, 0]] as const) {
    const link = encode({ scene: { ...scene, center: before as unknown as number }, step: 3 });
    assert.deepEqual(decode(link), { scene: { ...scene, center }, step: 3 });
  }
  const half = { ...scene, center: 0.35 };
  assert.deepEqual(decode(encode({ scene: half, step: 3 })), { scene: half, step: 3 });
});

test("garbage is no state", () => {
  const whole = encode({ scene, step: 1 });
  for (const text of ["", "v1.", "v1.%%%", "v2" + whole.slice(2), whole.slice(0, -9), "v1." + btoa("null"), "v1." + btoa("[]"), "tour"]) {
    assert.equal(decode(text), null);
  }
});

test("every field is checked, and unknown ones are left out", () => {
  const broken: Partial<Record<keyof Scene | "step", unknown>>[] = [
    { X: [[1]] }, { X: [[1, null]] }, { X: "1" }, { X: [[1, 1e300]] }, { y: [0, 1] }, { y: [0, 1, 2] }, { y: [0, 1, 0.5] }, { classes: ["a"] },
    { classes: [1, 2] }, { learner: null }, { learner: { name: 3 } }, { learner: { name: "a", params: { b: [1] } } }, { seed: -1 }, { seed: 1.5 },
    { noise: 0.6 }, { noise: "0" }, { center: 1.5 }, { center: "1" }, { edits: {} }, { edits: [{}] }, { step: -1 }, { schema: 2 }, { format: "x" },
  ];
  for (const change of broken) {
    assert.throws(() => sceneFromJson(JSON.stringify({ ...scene, ...change })), Error, JSON.stringify(change));
  }
  const more = sceneFromJson(JSON.stringify({ ...scene, evil: "x" }).replace("{", '{"__proto__":{"polluted":1},')).scene;
  assert.deepEqual(more, scene);
  assert.equal(({} as { polluted?: number }).polluted, undefined);
});
