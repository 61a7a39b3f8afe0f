import assert from "node:assert/strict";
import { test } from "node:test";
import type { OneRun } from "../src/protocol";
import { liveClaims } from "../src/views/certificate";

function run(change: object = {}): OneRun {
  const trace = {
    row: [0, 1],
    n_mistakes: [1, 1],
    n_updates: [1, 1],
    gamma_low: ["-inf", 0.5],
    gamma_up: [2, 2],
    step_sum: [1, 1],
    norm2: [4, 4],
    space: "given rows",
    classes: [-1, 1],
    proof: { gamma: 1, radius: 2, crossing: 5, u: [1, 0, 0], dot: [0, 1.5, 1.5], dot_bound: [0, 1, 1], norm: [0, 2, 2], norm_bound: [0, 2, 2] },
    ...change,
  };
  return { segments: [{ X: [], y: [], turned: [], first: 0, trace }], bounds: [{ name: "novikoff", text: "updates ≤ R²/γ²", value: 4, per_visit: null }], reason: "clean pass" } as unknown as OneRun;
}

const said = (step: number, change?: object): string => liveClaims(run(change))(step).map(({ state, text }) => `${state}: ${text}`).join("\n");

test("what is claimed at a visit are the numbers of its trace", () => {
  assert.match(said(1), /holds: 1 mistake and 1 update in 1 visit\./);
  assert.match(said(1), /In the whole run at most 4 updates: R²\/γ² is 4\./);
  assert.match(said(1), /kγ = 1·1 = 1 ≤ u·w = 1\.5 ≤ ‖w‖ = 2 ≤ √k·R = 2\./);
  assert.match(said(1), /open: w does not separate the rows\./);
  assert.match(said(1), /No separator has a margin above 2 \(given rows\): ‖w‖\/Στ = 2\/1\./);
  assert.match(said(2), /holds: w separates the rows, with margin at least 0\.5 \(given rows\)\./);
  assert.match(said(2), /The run ends here: clean pass\./);
  assert.doesNotMatch(said(1), /ends/);
});

test("the margin with a free offset is claimed from when it is known", () => {
  const free = { gamma_low_free: ["-inf", 0.6], gamma_up_free: ["inf", 2.5] };
  assert.doesNotMatch(said(1, free), /free offset/);
  assert.match(said(2, free), /holds: With a free offset the best margin is at least 0\.6 and at most 2\.5\./);
});

test("without a comparator, a bound or a bracket nothing is claimed", () => {
  const nothing = said(1, { proof: null, gamma_low: null, gamma_up: null });
  assert.match(nothing, /none: No u with a margin/);
  assert.doesNotMatch(nothing, /separat/);
});
