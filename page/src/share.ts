// The state as a text: the fragment of an address, or a JSON file. What comes in is checked field by field.

import type { Choice, Edit, Pair, Scene, Value } from "./protocol";

export interface Shared {
  scene: Scene;
  step: number;
}

const PREFIX = "v1.";
const MOST_CHARACTERS = 2 * 2 ** 20;
const MOST_POINTS = 10_000;
const MOST_EDITS = 1000;
const MOST_STEPS = 100_000;

// ------------------------------------------------------------------------------------------------ fragments

/** The state as a fragment of an address, without "#". */
export function encode({ scene, step }: Shared): string {
  return PREFIX + toBase64(JSON.stringify({ ...scene, step }));
}

/** The state that a fragment describes; null for anything else. */
export function decode(fragment: string): Shared | null {
  if (!fragment.startsWith(PREFIX) || fragment.length > MOST_CHARACTERS) return null;
  try {
    return sharedFrom(JSON.parse(fromBase64(fragment.slice(PREFIX.length))));
  } catch {
    return null;
  }
}

/** Base64 with letters that an address may have. */
function toBase64(text: string): string {
  let bytes = "";
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return btoa(bytes).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

function fromBase64(text: string): string {
  const bytes = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0)));
}

// ---------------------------------------------------------------------------------------------------- files

/** The state as JSON, with a line per field. */
export function toJson({ scene, step }: Shared): string {
  const fields = Object.entries({ ...scene, step }).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return `{\n${fields.join(",\n")}\n}\n`;
}

/** The state in a file that `toJson` wrote, or that of a run; an Error with one sentence for any other text. */
export function sceneFromJson(text: string): Shared {
  if (text.length > 64 * MOST_CHARACTERS) throw new Error("The file is too large to be a scene of the lab.");
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw new Error("The file is no JSON.");
  }
  const run = found as { format?: unknown; scene?: unknown } | null;
  return sharedFrom(run?.format === "perceptrons lab run" ? run.scene : found);
}

// -------------------------------------------------------------------------------------------------- checks

/** A fresh object with the known fields only. */
function sharedFrom(found: unknown): Shared {
  const given = object(found, "The text");
  if (given["format"] !== "perceptrons lab scene") throw new Error("The text is no scene of the lab.");
  if (given["schema"] !== 1) throw new Error("This page reads scenes of version 1.");
  const classes = list(given["classes"], "classes", 6).map((name) => text(name, "the name of a class", 60));
  if (classes.length < 2) throw new Error("A scene has at least two classes.");
  const scene: Scene = {
    format: "perceptrons lab scene",
    schema: 1,
    ...rows(given, classes.length),
    classes,
    learner: choice(given["learner"], "learner"),
    second: given["second"] == null ? null : choice(given["second"], "second"),
    shuffle: flag(given["shuffle"], "shuffle"),
    seed: whole(given["seed"], "seed", 2 ** 32 - 1),
    max_iter: whole(given["max_iter"], "max_iter", 10_000_000),
    max_steps: whole(given["max_steps"], "max_steps", MOST_STEPS),
    noise: number(given["noise"], "noise", 0, 0.5),
    center: share(given["center"], "center"),
    edits: list(given["edits"], "edits", MOST_EDITS).map((edit) => editFrom(edit, classes.length)),
  };
  return { scene, step: given["step"] === undefined ? 0 : whole(given["step"], "step", MOST_STEPS) };
}

function rows(given: Record<string, unknown>, classes: number): { X: Pair[]; y: number[] } {
  const X = list(given["X"], "X", MOST_POINTS).map((x): Pair => {
    const pair = list(x, "a point", 2);
    return [number(pair[0], "a coordinate", -1e12, 1e12), number(pair[1], "a coordinate", -1e12, 1e12)];
  });
  const y = list(given["y"], "y", MOST_POINTS).map((code) => whole(code, "a class of a point", classes - 1));
  if (X.length !== y.length) throw new Error(`There are ${X.length} points and ${y.length} classes of points.`);
  return { X, y };
}

function editFrom(found: unknown, classes: number): Edit {
  const given = object(found, "An edit");
  return { at: whole(given["at"], "the visit of an edit", MOST_STEPS), ...rows(given, classes) };
}

function choice(found: unknown, what: string, depth = 0): Choice {
  const given = object(found, what);
  const params = object(given["params"] ?? {}, `The parameters of ${what}`);
  const names = Object.keys(params);
  if (names.length > 50 || depth > 3) throw new Error(`The parameters of ${what} are too many.`);
  return { name: text(given["name"], `The name of ${what}`, 100), params: Object.fromEntries(names.map((name) => [name.slice(0, 100), value(params[name], name, depth)])) };
}

function value(found: unknown, name: string, depth: number): Value {
  if (found === null || typeof found === "boolean") return found;
  if (typeof found === "number") return number(found, name, -Number.MAX_VALUE, Number.MAX_VALUE);
  if (typeof found === "string") return text(found, name, 200);
  return choice(found, name, depth + 1);
}

function object(found: unknown, what: string): Record<string, unknown> {
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw new Error(`${what} must be an object.`);
  return found as Record<string, unknown>;
}

function list(found: unknown, what: string, most: number): unknown[] {
  if (!Array.isArray(found)) throw new Error(`${what} must be a list.`);
  if (found.length > most) throw new Error(`${what} has ${found.length} entries; at most ${most} are read.`);
  return found;
}

function text(found: unknown, what: string, most: number): string {
  if (typeof found !== "string" || found.length > most) throw new Error(`${what} must be a text of at most ${most} characters.`);
  return found;
}

function flag(found: unknown, what: string): boolean {
  if (typeof found !== "boolean") throw new Error(`${what} must be true or false.`);
  return found;
}

function number(found: unknown, what: string, low: number, high: number): number {
  if (typeof found !== "number" || !(found >= low && found <= high)) throw new Error(`${what} must be a number between ${low} and ${high}.`);
  return found;
}

/** A number from 0 to 1. Links had true and false here before they had numbers. */
function share(found: unknown, what: string): number {
  return typeof found === "boolean" ? Number(found) : number(found, what, 0, 1);
}

function whole(found: unknown, what: string, high: number): number {
  const value = number(found, what, 0, high);
  if (!Number.isInteger(value)) throw new Error(`${what} must be a whole number.`);
  return value;
}
