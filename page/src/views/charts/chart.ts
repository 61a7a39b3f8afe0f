// A chart of a run: lines over visits, with the current visit as a vertical line. What is drawn is a `Plot`;
// a change of the run draws it anew, a change of the visit moves a few attributes.

import type { Actions, Shown, View } from "../../state";
import { linear, logarithmic, type Scale, short } from "./scale";
import { el, fresh, svg } from "../dom";

/** Colour and dash of a line; charts.css has them. */
export type Look = "one" | "two" | "three" | "one-bound" | "two-bound" | "three-bound" | "other";

export interface Line {
  key: string;
  label: string;
  look: Look;
  x: number[];
  y: (number | null)[];
  stepped?: boolean;
  /** The entry beside which the label is; else the last. */
  labelAt?: number;
  below?: boolean;
  /** Of which entry the dot is when `step` visits are made; without it the line has no dot. */
  entry?: (step: number) => number;
}

export interface Axis {
  label: string;
  low: number;
  high: number;
  log?: boolean;
  whole?: boolean;
}

/** All that a chart shows of one run. */
export interface Plot {
  title: string;
  x: Axis;
  y: Axis;
  lines: Line[];
  /** Between these two lines, by their keys, the plane is shaded. */
  band?: [string, string];
  marks?: { key: string; x: number; y: number; label: string }[];
  /** Vertical lines, such as edits of the rows. */
  rules?: { x: number; label: string }[];
  /** Where on the x-axis each number of visits 0..T is; not falling. */
  at: number[];
  /** The numbers of the moment in a few characters, and in words. */
  readout(step: number): string;
  spoken(step: number): string;
}

/** What to draw, or one sentence that says why there is nothing to draw. */
export type MakePlot = (shown: Shown) => Plot | string;

const TOP = 40; // two lines of text
const BOTTOM = 34;
const AXIS_NAME = 24; // left of the tick labels, and a gap
const RIGHT = 8;

export function chart(testid: string, name: string, plotOf: MakePlot, actions: Actions): View {
  const id = fresh("chart");
  const picture = svg("svg", { class: "chart-picture", role: "img" });
  const slider = el("div", { class: "chart-slider", role: "slider", tabindex: "0", "aria-label": `Visit, in the chart: ${name}` });
  const element = el("figure", { class: "chart", "data-testid": testid }, picture, slider);
  let shown: Shown | null = null;
  let plot: Plot | string = "";
  let drawn: Drawn | null = null;
  let size: [number, number] = [300, 190];

  function draw(): void {
    if (shown === null) return;
    plot = plotOf(shown);
    picture.replaceChildren();
    picture.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
    const nothing = typeof plot === "string";
    slider.toggleAttribute("hidden", nothing);
    drawn = typeof plot === "string" ? null : drawPlot(picture, plot, size, id);
    if (typeof plot === "string") drawNothing(picture, name, plot, size);
    move();
  }

  function move(): void {
    if (shown === null) return;
    if (typeof plot === "string" || drawn === null) {
      picture.setAttribute("aria-label", `${name}: ${plot as string}`);
      return;
    }
    drawn.move(shown.step);
    const words = plot.spoken(shown.step);
    picture.setAttribute("aria-label", `${name}: ${words}`);
    slider.setAttribute("aria-valuemin", "0");
    slider.setAttribute("aria-valuemax", String(plot.at.length - 1));
    slider.setAttribute("aria-valuenow", String(shown.step));
    slider.setAttribute("aria-valuetext", `visit ${shown.step}: ${words}`);
  }

  slider.addEventListener("pointerdown", (event) => {
    slider.setPointerCapture(event.pointerId);
    goToPointer(event);
  });
  slider.addEventListener("pointermove", (event) => {
    if (slider.hasPointerCapture(event.pointerId)) goToPointer(event);
  });
  function goToPointer(event: PointerEvent): void {
    if (drawn === null || typeof plot === "string") return;
    const box = picture.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * size[0];
    actions.goTo(stepAt(plot.at, drawn.x.invert(x)));
  }
  slider.addEventListener("keydown", (event) => {
    if (shown === null || typeof plot === "string") return;
    const to = stepByKey(event.key, shown.step, plot.at.length - 1);
    if (to === null || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    actions.goTo(to);
  });
  new ResizeObserver((entries) => {
    const box = entries[entries.length - 1]?.contentRect;
    if (box === undefined || box.width < 40 || box.height < 40) return;
    const next: [number, number] = [Math.round(box.width), Math.round(box.height)];
    if (next[0] === size[0] && next[1] === size[1]) return;
    size = next;
    draw();
  }).observe(element);

  return {
    element,
    update(next, before) {
      shown = next;
      if (before === null || drawn === null || next.runs !== before.runs || next.active !== before.active) draw();
      else if (next.step !== before.step) move();
    },
  };
}

/** The number of visits that a key asks for, or null. */
export function stepByKey(key: string, step: number, last: number): number | null {
  const by: Record<string, number> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
  if (key === "Home") return 0;
  if (key === "End") return last;
  const change = by[key];
  return change === undefined ? null : Math.min(last, Math.max(0, step + change));
}

/** The number of visits whose place on the axis is nearest to x; of equal ones the first. */
export function stepAt(at: number[], x: number): number {
  let [low, high] = [0, at.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at[middle] < x) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return 0;
  const [before, here] = [at[low - 1], at[low]];
  if (x - before > Math.abs(here - x)) return low;
  let first = low - 1;
  while (first > 0 && at[first - 1] === before) first--;
  return first;
}

/** The `d` of a path; null breaks the line; a stepped line is level until the next entry. */
export function pathOf(line: Pick<Line, "x" | "y" | "stepped">, x: Scale, y: Scale): string {
  const parts: string[] = [];
  let [lastX, lastY, open] = [0, 0, false];
  line.y.forEach((value, i) => {
    if (!known(value)) {
      open = false;
      return;
    }
    const [px, py] = [fixed(x.of(line.x[i])), fixed(y.of(value))];
    if (!open) parts.push(`M${px} ${py}`);
    else if (px === lastX && py === lastY) return;
    else if (line.stepped) parts.push(px === lastX ? `V${py}` : py === lastY ? `H${px}` : `H${px}V${py}`);
    else parts.push(`L${px} ${py}`);
    [lastX, lastY, open] = [px, py, true];
  });
  return parts.join("");
}

/** The area between two lines over the same x, where both have a number. */
export function bandOf(low: Line, high: Line, x: Scale, y: Scale): string {
  const parts: string[] = [];
  let run: number[] = [];
  const close = (): void => {
    const around = [...corners(low, run, x, y), ...corners(high, run, x, y).reverse()];
    if (run.length > 1) parts.push(`M${around.join("L")}Z`);
    run = [];
  };
  low.y.forEach((value, i) => (known(value) && known(high.y[i]) ? run.push(i) : close()));
  close();
  return parts.join("");
}

/** The corners of a part of a line, from left to right. */
function corners(line: Line, entries: number[], x: Scale, y: Scale): string[] {
  let level = 0;
  return entries.flatMap((i, j) => {
    const [px, before] = [fixed(x.of(line.x[i]!)), level];
    level = fixed(y.of(line.y[i]!));
    return line.stepped && j > 0 ? [`${px} ${before}`, `${px} ${level}`] : [`${px} ${level}`];
  });
}

function known(value: number | null | undefined): value is number {
  return value !== null && value !== undefined && Number.isFinite(value);
}

/** Moves labels apart: the places nearest to the wished ones, at least `gap` apart, within [low, high]. */
export function apart(wished: number[], gap: number, low: number, high: number): number[] {
  const order = wished.map((_, i) => i).sort((a, b) => wished[a] - wished[b]);
  const placed = order.map((i) => Math.min(high, Math.max(low, wished[i])));
  for (let j = 1; j < placed.length; j++) placed[j] = Math.max(placed[j], placed[j - 1] + gap);
  if (placed.length && placed[placed.length - 1] > high) {
    placed[placed.length - 1] = high;
    for (let j = placed.length - 2; j >= 0; j--) placed[j] = Math.min(placed[j], placed[j + 1] - gap);
  }
  const found = new Array<number>(wished.length);
  order.forEach((i, j) => (found[i] = placed[j]));
  return found;
}

interface Drawn {
  x: Scale;
  move(step: number): void;
}

function fixed(value: number): number {
  return Math.round(value * 100) / 100;
}

function drawNothing(picture: SVGElement, name: string, sentence: string, size: [number, number]): void {
  picture.append(svg("text", { class: "chart-title", x: 2, y: 15 }, name));
  const lines = wrapped(sentence, Math.max(20, Math.floor(size[0] / 6.4)));
  lines.forEach((text, i) => picture.append(svg("text", { class: "chart-note", x: 2, y: 40 + 17 * i }, text)));
}

/** A text that fits into so many pixels: without what is in brackets at its end, or cut. */
export function fitted(words: string, width: number): string {
  const most = Math.floor(width / 6.5);
  const kept = words.length > most ? words.replace(/ \([^()]*\)$/, "") : words;
  return kept.length > most ? `${kept.slice(0, most - 1)}…` : kept;
}

/** A text in lines of at most `width` characters. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function scaleOf(axis: Axis, from: number, to: number, count: number): Scale {
  if (axis.log) return logarithmic(axis.low, axis.high, from, to, count);
  return linear(axis.low, axis.high, from, to, count, axis.whole ?? false);
}

function drawPlot(picture: SVGElement, plot: Plot, size: [number, number], id: string): Drawn {
  const [width, height] = size;
  const [right, top, bottom] = [width - RIGHT, TOP, height - BOTTOM];
  const y = scaleOf(plot.y, bottom, top, Math.max(2, Math.floor((bottom - top) / 28)));
  const left = AXIS_NAME + 6.6 * Math.max(...y.ticks.map((value) => short(value).length), 1);
  const x = scaleOf(plot.x, left, right, Math.max(2, Math.floor((right - left) / 60)));
  const readout = svg("text", { class: "chart-readout", x: 2, y: 31 });
  picture.append(svg("text", { class: "chart-title", x: 2, y: 15 }, plot.title), readout);
  picture.append(drawAxes(plot, x, y, [left, right, top, bottom]));
  const past = svg("rect", { x: left - 4, y: top - 2, width: 0, height: bottom - top + 5 });
  const whole = svg("rect", { x: left - 4, y: top - 2, width: right - left + 8, height: bottom - top + 5 });
  picture.append(
    svg("defs", {}, svg("clipPath", { id: `${id}-past` }, past), svg("clipPath", { id: `${id}-whole` }, whole)),
  );
  const body = svg("g", { "clip-path": `url(#${id}-whole)` });
  const strong = svg("g", { "clip-path": `url(#${id}-past)`, class: "chart-past" });
  picture.append(body, strong);
  drawBand(body, plot, x, y);
  for (const line of plot.lines) {
    const d = pathOf(line, x, y);
    const follows = line.entry !== undefined;
    body.append(svg("path", { class: `line ${line.look}${follows ? " ahead" : ""}`, d, "data-line": line.key }));
    if (follows) strong.append(svg("path", { class: `line ${line.look}`, d }));
  }
  for (const rule of plot.rules ?? []) {
    const at = fixed(x.of(rule.x));
    body.append(svg("line", { class: "chart-rule", x1: at, x2: at, y1: top, y2: bottom }, svg("title", {}, rule.label)));
  }
  const cursor = svg("line", { class: "chart-cursor", y1: top - 4, y2: bottom, "data-cursor": "" });
  picture.append(cursor, drawMarks(plot, x, y), drawLabels(plot, x, y, [left, right, top, bottom]));
  const dots = plot.lines.filter((line) => line.entry !== undefined).map((line) => ({ line, dot: dotOf(line.look) }));
  picture.append(...dots.map(({ dot }) => dot));
  return {
    x,
    move(step) {
      const at = fixed(x.of(plot.at[Math.min(step, plot.at.length - 1)] ?? plot.x.low));
      cursor.setAttribute("x1", String(at));
      cursor.setAttribute("x2", String(at));
      past.setAttribute("width", String(Math.max(0, at - left + 4)));
      for (const { line, dot } of dots) moveDot(dot, line, step, at, y);
      readout.textContent = fitted(plot.readout(step), width - 2);
    },
  };
}

function drawBand(body: SVGElement, plot: Plot, x: Scale, y: Scale): void {
  if (plot.band === undefined) return;
  const [low, high] = plot.band.map((key) => plot.lines.find((line) => line.key === key));
  if (low && high) body.append(svg("path", { class: "chart-band", d: bandOf(low, high, x, y) }));
}

function drawAxes(plot: Plot, x: Scale, y: Scale, box: [number, number, number, number]): SVGElement {
  const [left, right, top, bottom] = box;
  const log = `${x.log ? "x" : ""}${y.log ? "y" : ""}`;
  const group = svg("g", { class: "chart-axes", "data-scale": [x.low, x.high, y.low, y.high, ...box].join(","), "data-log": log || null });
  for (const value of y.ticks) {
    const at = fixed(y.of(value));
    group.append(svg("line", { class: "grid", x1: left, x2: right, y1: at, y2: at }));
    group.append(svg("text", { class: "tick", x: left - 6, y: at + 4, "text-anchor": "end" }, short(value)));
  }
  for (const value of x.ticks) {
    const at = fixed(x.of(value));
    group.append(svg("line", { class: "axis", x1: at, x2: at, y1: bottom, y2: bottom + 4 }));
    const edge = at > right - 14; // the label stays in the picture
    group.append(svg("text", { class: "tick", x: edge ? right + RIGHT - 1 : at, y: bottom + 16, "text-anchor": edge ? "end" : "middle" }, short(value)));
  }
  group.append(svg("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }));
  group.append(svg("text", { class: "axis-name", x: right, y: bottom + 30, "text-anchor": "end" }, plot.x.label));
  const middle = (top + bottom) / 2;
  group.append(
    svg("text", { class: "axis-name", x: 11, y: middle, "text-anchor": "middle", transform: `rotate(-90 11 ${middle})` }, plot.y.label),
  );
  return group;
}

function drawMarks(plot: Plot, x: Scale, y: Scale): SVGElement {
  const group = svg("g", { class: "chart-marks" });
  for (const mark of plot.marks ?? []) {
    const [px, py] = [fixed(x.of(mark.x)), fixed(y.of(mark.y))];
    group.append(svg("path", { class: "chart-mark", d: `M${px - 5} ${py - 5}l10 10m0 -10l-10 10`, "data-mark": mark.key }));
    group.append(svg("text", { class: "chart-label", x: px - 10, y: py + 1, "text-anchor": "end" }, mark.label));
  }
  return group;
}

/** The names of the lines, at their right ends. */
function drawLabels(plot: Plot, x: Scale, y: Scale, box: [number, number, number, number]): SVGElement {
  const group = svg("g", { class: "chart-labels" });
  const named = plot.lines.flatMap((line) => {
    const i = line.labelAt ?? lastKnown(line.y);
    if (i < 0 || line.label === "" || !known(line.y[i])) return [];
    const end = Math.min(box[1] - 3, x.of(line.x[i]!) - 3);
    const level = y.of(line.y[i]!);
    const below = line.below || level - 6 < box[2] + 10;
    return [{ line, x: Math.max(end, box[0] + 7 * line.label.length), y: level + (below ? 14 : -6) }];
  });
  const places = apart(named.map((label) => label.y), 13, box[2] + 10, box[3] - 3);
  named.forEach(({ line, x: at }, i) =>
    group.append(svg("text", { class: `chart-label ${line.look}`, x: fixed(at), y: fixed(places[i]), "text-anchor": "end" }, line.label)),
  );
  return group;
}

function lastKnown(values: (number | null)[]): number {
  for (let i = values.length - 1; i >= 0; i--) if (known(values[i])) return i;
  return -1;
}

/** Shapes differ, not only colours. */
function dotOf(look: Look): SVGElement {
  if (look === "two") return svg("rect", { class: `dot ${look}`, width: 8, height: 8 });
  if (look === "three") return svg("path", { class: `dot ${look}`, d: "M0 -5.5L5 4H-5Z" });
  return svg("circle", { class: `dot ${look}`, r: 4.2 });
}

function moveDot(dot: SVGElement, line: Line, step: number, at: number, y: Scale): void {
  const value = line.y[line.entry?.(step) ?? -1];
  dot.setAttribute("visibility", known(value) ? "visible" : "hidden");
  if (!known(value)) return;
  const shift = dot.tagName === "rect" ? 4 : 0;
  dot.setAttribute("transform", `translate(${fixed(at - shift)} ${fixed(y.of(value) - shift)})`);
}
