import assert from "node:assert/strict";
import { test } from "node:test";
import { borderOf, gridFrom, gridScores, leads, pointOf, snap, termsAt } from "../src/views/kernel_sums";

/** 3 columns, 2 rows, 2 learned rows: k = 10 * grid point + row. */
const values = Float32Array.from({ length: 12 }, (_, j) => 10 * Math.floor(j / 2) + (j % 2));
const written = Buffer.from(values.buffer).toString("base64");
const grid = gridFrom({ name: "Gaussian", columns: 3, rows: 2, box: [0, 4, -1, 1], values: written })!;

test("a grid is read as the library writes it, and refused where it does not fit", () => {
  assert.equal(grid.n, 2);
  assert.deepEqual([...grid.values], [...values]);
  assert.equal(gridFrom({ name: "", columns: 5, rows: 7, box: [0, 1, 0, 1], values: written }), null);
  assert.equal(gridFrom(null), null);
});

test("scores are the sums of coefficients times kernel values", () => {
  assert.deepEqual([...gridScores(grid, [2, -1])], [-1, 9, 19, 29, 39, 49]);
  assert.deepEqual([...gridScores(grid, [0, 0])], [0, 0, 0, 0, 0, 0]);
  assert.deepEqual(termsAt(grid, [2, -1], 3), [
    { row: 0, coefficient: 2, value: 30, product: 60 },
    { row: 1, coefficient: -1, value: 31, product: -31 },
  ]);
  assert.deepEqual(termsAt(grid, [0, 1], 0).map(({ row }) => row), [1]);
});

test("the pointer snaps to the nearest grid point, from the lowest row up", () => {
  assert.deepEqual(snap(grid, [2.1, 0.9]), { index: 4, at: [2, 1] });
  assert.deepEqual(snap(grid, [0.2, -0.8]), { index: 0, at: [0, -1] });
  assert.equal(snap(grid, [9, 0]), null);
  assert.deepEqual(pointOf(grid, 2, 1), [4, 1]);
});

test("a class leads by its score minus the best other", () => {
  assert.deepEqual(leads([Float64Array.of(3, -2)]).map((a) => [...a]), [[-3, 2], [3, -2]]);
  assert.deepEqual(leads([Float64Array.of(3), Float64Array.of(1), Float64Array.of(2)]).map((a) => [...a]), [[1], [-2], [-1]]);
});

test("the border of two classes is drawn once, with the first of them", () => {
  const fields = [Float64Array.of(1, 1, -1, 1, -1, -1), Float64Array.of(-1, -1, 1, -1, 1, -3), Float64Array.of(-3, -3, -3, -3, -3, 1)];
  const drawn = (code: number, c: number, r: number): boolean => borderOf(fields, grid, code)(c, r);
  assert.deepEqual([0, 1, 2].map((code) => drawn(code, 1.5, 0)), [true, false, false]);
  assert.deepEqual([0, 1, 2].map((code) => drawn(code, 1.5, 1)), [true, true, false]);
  assert.deepEqual([0, 1, 2].map((code) => drawn(code, 2, 0.5)), [true, true, false]);
});
