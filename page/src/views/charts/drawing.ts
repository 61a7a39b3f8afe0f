// A plot as SVG: drawn once; `move` changes a few attributes when another visit is shown.

import { svg } from "../dom";
import { baseLines, type Box, boxOf, type Label } from "./labels";
import { bandOf, fixed, known, lastKnown, pathOf, spanOf } from "./paths";
import type { Axis, Line, Look, Plot } from "./plot";
import { linear, logarithmic, type Scale, short } from "./scale";

const TOP = 40; // two lines of text
const LINE = 16; // one more
const SAMPLE = 22; // of a line, before the words about it
const BOTTOM = 34;
const AXIS_NAME = 24; // left of the tick labels, and a gap
const RIGHT = 8;

export interface Drawn {
  x: Scale;
  move(step: number): void;
}

export function drawNothing(picture: SVGElement, name: string, sentence: string, size: [number, number]): void {
  picture.append(svg("text", { class: "chart-title", x: 2, y: 15 }, name));
  const lines = wrapped(sentence, Math.max(20, Math.floor(size[0] / 6.4)));
  lines.forEach((text, i) => picture.append(svg("text", { class: "chart-note", x: 2, y: 40 + 17 * i }, text)));
}

const THIN = "\u2009"; // a narrow space

/** A text that fits into so many pixels: without what is in brackets at its end, or cut. */
export function fitted(words: string, width: number): string {
  const most = Math.floor(width / 6.5);
  const size = (text: string): number => text.length - 0.6 * (text.split(THIN).length - 1);
  const kept = size(words) > most ? words.replace(/ \([^()]*\)$/, "") : words;
  return size(kept) > most ? `${kept.slice(0, most - 1)}…` : kept;
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

export function drawPlot(picture: SVGElement, plot: Plot, size: [number, number], id: string): Drawn {
  const [width, height] = size;
  const samples = plot.samples ?? [[]];
  const [right, top, bottom] = [width - RIGHT, TOP + LINE * (samples.length - 1), height - BOTTOM];
  const y = scaleOf(plot.y, bottom, top, Math.max(2, Math.floor((bottom - top) / 28)));
  const left = AXIS_NAME + 6.6 * Math.max(...y.ticks.map((value) => short(value).length), 1);
  const x = scaleOf(plot.x, left, right, Math.max(2, Math.floor((right - left) / 60)));
  const indent = plot.samples ? SAMPLE : 2;
  const readouts = samples.map((_, i) => svg("text", { class: "chart-readout", x: indent, y: 31 + LINE * i }));
  picture.append(svg("text", { class: "chart-title", x: 2, y: 15 }, plot.title), ...readouts, drawSamples(samples));
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
      plot.readout(step).split("\n").forEach((words, i) => (readouts[i]!.textContent = fitted(words, width - indent)));
    },
  };
}

function drawBand(body: SVGElement, plot: Plot, x: Scale, y: Scale): void {
  for (const band of plot.bands ?? []) {
    const [low, high] = band.map((key) => plot.lines.find((line) => line.key === key));
    if (low && high) body.append(svg("path", { class: "chart-band", d: bandOf(low, high, x, y) }));
  }
}

/** Short pieces of lines beside the words that are about them. */
function drawSamples(samples: Look[][]): SVGElement {
  const group = svg("g", { class: "chart-samples" });
  samples.forEach((looks, i) =>
    looks.forEach((look, j) => group.append(svg("path", { class: `line ${look}`, d: `M3 ${24.5 + LINE * i + 5 * j}H${SAMPLE - 4}`, "data-sample": look }))),
  );
  return group;
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

/** The names of the lines, beside their right ends. */
function drawLabels(plot: Plot, x: Scale, y: Scale, box: Box): SVGElement {
  const named = plot.lines.flatMap((line) => {
    const i = line.labelAt ?? lastKnown(line.y);
    const value = line.y[i];
    if (line.label === "" || !known(value)) return [];
    const end = Math.min(box[1] - 3, x.of(line.x[i]!) - 3);
    const label: Label = { words: line.label, x: Math.max(end, box[0] + 7 * line.label.length), y: y.of(value), below: line.below ?? false };
    return [{ line, label }];
  });
  const marks = (plot.marks ?? []).map((mark) => ({ words: mark.label, x: x.of(mark.x) - 10, y: y.of(mark.y) + 1 }));
  const taken = marks.flatMap((mark): Box[] => [boxOf(mark, mark.y), [mark.x + 3, mark.x + 17, mark.y - 8, mark.y + 6]]);
  const labels = named.map(({ label }) => label);
  const places = baseLines(labels, taken, (place, but) => plot.lines.some((line) => (but === null || named.find(({ label }) => label === but)?.line !== line) && isOn(place, line, x, y)), box);
  const texts = named.map(({ line, label }, i) => svg("text", { class: `chart-label ${line.look}`, x: fixed(label.x), y: fixed(places[i]!), "text-anchor": "end" }, line.label));
  return svg("g", { class: "chart-labels" }, ...texts);
}

function isOn([left, right, top, bottom]: Box, line: Line, x: Scale, y: Scale): boolean {
  const span = spanOf(line, x, y, left, right);
  return span !== null && span[0] < bottom && span[1] > top;
}

/** Shapes differ, not only colours. */
function dotOf(look: Look): SVGElement {
  if (look.startsWith("two")) return svg("rect", { class: `dot ${look}`, width: 8, height: 8 });
  if (look.startsWith("three")) return svg("path", { class: `dot ${look}`, d: "M0 -5.5L5 4H-5Z" });
  return svg("circle", { class: `dot ${look}`, r: 4.2 });
}

function moveDot(dot: SVGElement, line: Line, step: number, at: number, y: Scale): void {
  const value = line.y[line.entry?.(step) ?? -1];
  dot.setAttribute("visibility", known(value) ? "visible" : "hidden");
  if (!known(value)) return;
  const shift = dot.tagName === "rect" ? 4 : 0;
  dot.setAttribute("transform", `translate(${fixed(at - shift)} ${fixed(y.of(value) - shift)})`);
}
