import assert from "node:assert/strict";
import { test } from "node:test";
import { boxAround } from "../src/state";

test("a box around points has the points inside", () => {
  assert.deepEqual(boxAround([[0, 0], [2, 1]], 0), [0, 2, -0.5, 1.5]);
});
