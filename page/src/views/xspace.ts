// x-space: the rows as points, and where the learner divides them.
import type { HalfPlane } from "../clip";
import { halfPlanesIn, lineIn, widened } from "../clip";
import type { OneRun, Pair, Segment } from "../protocol";
import type { Actions, Shown, ShownRows, View } from "../state";
import { averageWeights, bestAt, givenRows, placeAt, segmentAt, shownRows, thresholdAt, vectors, visit, weights, xBox } from "../state";
import { attr, plain, show, svg, text } from "./dom";
import { kernelRegions } from "./kernel";
import { type Grid, gridFrom } from "./kernel_sums";
import { arrow, marker, outline, Plane, round, SHAPES } from "./plane";

const MANY = 60; // more points than these are one stop of the Tab key

/** A point, and what was last said of it. */
interface Drawn {
  group: SVGGElement;
  shape: SVGPathElement;
  name: SVGTitleElement;
  /** Its class, and its place in pixels. */
  marker: [number, number, number];
  filled: boolean;
  state: string;
}

export function makeXSpace(actions: Actions, which: 0 | 1): View {
  return new XSpace(actions, which ? "-2" : "");
}

class XSpace implements View {
  readonly element: HTMLElement;
  private readonly plane: Plane;
  private readonly regions = svg("g", { class: "regions" });
  private readonly slab = svg("g", { class: "slab" });
  private readonly boundary: SVGPathElement;
  private readonly normal = svg("path", { class: "normal" });
  private readonly average: SVGPathElement;
  private readonly points = svg("g", { class: "points" });
  private readonly ring = svg("circle", { class: "looked", r: 11 });
  private readonly drawn: Drawn[] = [];
  private rows: ShownRows | null = null;
  private rowsKey: unknown[] = [];
  private boundaryKey: unknown[] = [];
  private averageKey: unknown[] = [];
  private slabKey: unknown[] = [];
  private shown: Shown | null = null;
  private grid: Grid | null = null;
  private gridOf: Segment | null = null;
  private drag: { i: number; pointer: number; offset: Pair } | null = null;

  constructor(private readonly actions: Actions, private readonly suffix: string) {
    this.plane = new Plane({
      testid: `xspace${suffix}`,
      label: "x-space: the rows as points",
      axes: ["x₁", "x₂"],
      onBox: (x) => actions.setView({ x }),
      onFit: () => this.shown && actions.setView({ x: xBox(this.shown.scene, this.shown.runs) }),
      onResize: () => this.redraw(),
      onTap: (at) => this.tapped(at),
      onHover: (at) => actions.setPointer(at),
    });
    this.boundary = svg("path", { class: "boundary", "data-testid": `boundary${suffix}` });
    this.average = svg("path", { class: "boundary average", "data-testid": `average${suffix}` });
    this.plane.under.append(this.regions, this.slab, this.average, this.boundary, this.normal, this.ring);
    this.plane.content.append(this.points);
    this.element = this.plane.element;
    this.points.addEventListener("pointerdown", (event) => this.down(event));
    this.points.addEventListener("pointermove", (event) => this.move(event));
    this.points.addEventListener("pointerup", (event) => this.up(event));
    this.points.addEventListener("pointercancel", (event) => this.up(event));
    this.points.addEventListener("keydown", (event) => this.key(event));
    this.points.addEventListener("focusin", (event) => actions.select(this.indexOf(event.target)));
  }

  update(shown: Shown): void {
    this.shown = shown;
    const scaled = this.plane.setBox(shown.view.x);
    const run = shown.runs[shown.active];
    this.updateRows(shown, scaled);
    this.updateBoundary(shown, run, scaled);
    this.updateAverage(shown, run, scaled);
    this.updateSlab(shown, run, scaled);
    this.updateStates(shown, run);
  }

  private redraw(): void {
    this.rowsKey = this.boundaryKey = this.averageKey = this.slabKey = [];
    if (this.shown) this.update(this.shown);
  }

  // ---------------------------------------------------------- points

  private updateRows(shown: Shown, scaled: boolean): void {
    const run = shown.runs[shown.active];
    const key = [shown.scene, run && placeAt(run, shown.step)?.segment, givenRows(shown.scene, shown.step).X];
    if (!scaled && same(key, this.rowsKey)) return;
    this.rowsKey = key;
    this.rows = shownRows(shown, shown.active);
    const { X, y, turned } = this.rows;
    while (this.drawn.length > X.length) this.drawn.pop()!.group.remove();
    X.forEach((x, i) => this.place(this.drawn[i] ?? this.newPoint(i), i, x, y[i]!, turned.has(i)));
    const n = X.length;
    const counts = shown.scene.classes.map((name, code) => `${y.filter((c) => c === code).length} of class ${name}`);
    this.plane.setLabel(`x-space: ${n} ${n === 1 ? "point" : "points"}, ${counts.join(", ")}`);
  }

  private newPoint(i: number): Drawn {
    const shape = svg("path", { class: "marker" });
    const name = svg("title");
    const group = svg("g", { class: "point", "data-testid": `point-${i}${this.suffix}`, "data-i": i, role: "button" }, name, shape);
    this.points.append(group);
    return (this.drawn[i] = { group, shape, name, marker: [0, 0, 0], filled: true, state: "" });
  }

  private place(point: Drawn, i: number, x: Pair, code: number, turned: boolean): void {
    const { plane } = this;
    point.marker = [code, round(plane.x(x[0])), round(plane.y(x[1]))];
    attr(point.shape, "d", marker(...point.marker, point.filled));
    attr(point.group, "data-shape", SHAPES[code % SHAPES.length]!);
    attr(point.group, "data-class", code);
    attr(point.group, "data-x", `${x[0]},${x[1]}`);
    point.group.classList.toggle("turned", turned);
    const label = this.shown?.scene.classes[code] ?? String(code);
    const said = `row ${i}, class ${label}${turned ? " (turned)" : ""}, at ${plain(x[0], 3)}, ${plain(x[1], 3)}`;
    attr(point.group, "aria-label", said);
    text(point.name, said);
  }

  /** Which points are on the wrong side, looked at, support vectors, selected. */
  private updateStates(shown: Shown, run: OneRun | undefined): void {
    const { X, y } = this.rows!;
    const seen = run ? visit(run, shown.step - 1) : null;
    const here = run && placeAt(run, shown.step);
    const row = seen && here && seen.segment === here.segment ? seen.trace.row[seen.i]! : null;
    const support = run ? supportAt(run, shown) : null;
    const w = run && shown.ran === shown.scene ? vectors(weights(run, shown.step)) : [];
    const bias = here?.segment.trace.bias ?? 0;
    const threshold = run && w.length === 1 ? thresholdAt(run, shown.step) : null;
    const stop = shown.selected ?? 0;
    X.forEach((x, i) => {
      const wrong = w.length > 0 && isWrong(w, bias, threshold, x, y[i]!);
      const stops = X.length <= MANY || i === Math.min(stop, X.length - 1);
      const state = `${stops ? 0 : -1}${wrong ? " wrong" : ""}${support?.has(i) ? " support" : ""}${shown.selected === i ? " selected" : ""}`;
      const point = this.drawn[i]!;
      if (point.state !== state) {
        point.state = state;
        point.group.classList.toggle("wrong", wrong);
        if (point.filled === wrong) attr(point.shape, "d", marker(...point.marker, (point.filled = !wrong)));
        point.group.classList.toggle("support", support?.has(i) ?? false);
        attr(point.group, "data-support", support?.has(i) ? "true" : null);
        point.group.classList.toggle("selected", shown.selected === i);
        attr(point.group, "tabindex", stops ? 0 : -1);
      }
    });
    const at = row === null ? undefined : X[row];
    show(this.ring, at !== undefined);
    if (at) {
      attr(this.ring, "cx", round(this.plane.x(at[0])));
      attr(this.ring, "cy", round(this.plane.y(at[1])));
      attr(this.ring, "class", `looked ${seen!.trace.kind[seen!.i]}`);
      attr(this.ring, "data-row", row);
    }
  }

  // ---------------------------------------------------------- lines

  private updateBoundary(shown: Shown, run: OneRun | undefined, scaled: boolean): void {
    const w = run ? vectors(weights(run, shown.step)) : [];
    const bias = (run && placeAt(run, shown.step)?.segment.trace.bias) ?? 0;
    const threshold = (run && w.length === 1 ? thresholdAt(run, shown.step) : null) ?? 0;
    const dual = run && !w.length ? dualAt(run, shown.step) : null;
    const key = [...w, bias, threshold, dual];
    if (!scaled && same(key, this.boundaryKey)) return;
    this.boundaryKey = key;
    attr(this.boundary, "data-w", w.map((one) => one.join(",")).join(";"));
    this.drawNormal(w, bias, threshold);
    if (dual) return this.drawKernel(run!, shown.step, vectors(dual));
    const pieces = regionsOf(w, bias, threshold);
    this.drawRegions(pieces.map((planes) => outline(this.plane, halfPlanesIn(planes, this.plane.box))));
    attr(this.boundary, "d", w.length === 1 ? this.line(w[0]!, bias, threshold) : this.edges(pieces));
  }

  private drawRegions(drawn: string[]): void {
    while (this.regions.childElementCount < drawn.length) this.regions.append(svg("path"));
    [...this.regions.children].forEach((path, code) => {
      attr(path, "class", `region class-${code}`);
      attr(path, "d", drawn[code] ?? "");
    });
  }

  /** With a kernel the boundary is a curve: where the sums of kernel values on the grid change their sign. */
  private drawKernel(run: OneRun, step: number, coefficients: number[][]): void {
    const segment = segmentAt(run, step)!;
    if (this.gridOf !== segment) {
      this.gridOf = segment;
      this.grid = gridFrom(segment.kernel ?? run.kernel);
    }
    const regions = this.grid ? kernelRegions(this.plane, this.grid, coefficients) : [];
    this.drawRegions(regions.map((one) => one.region));
    attr(this.boundary, "d", regions.map((one) => one.edge).join(""));
  }

  /** The line <w, x> = c in the box. */
  private line(w: number[], bias: number, c: number): string {
    const ends = lineIn(w[0]!, w[1]!, c - bias * w[2]!, this.plane.box);
    return ends ? `M${this.plane.x(ends[0])} ${this.plane.y(ends[1])}L${this.plane.x(ends[2])} ${this.plane.y(ends[3])}` : "";
  }

  /** Borders between the regions of several classes. */
  private edges(pieces: HalfPlane[][]): string {
    return pieces.map((planes) => outline(this.plane, halfPlanesIn(planes, widened(this.plane.box, 0.02)))).join("");
  }

  /** An arrow from the boundary to the side of the second class. */
  private drawNormal(w: number[][], bias: number, threshold: number): void {
    const [a, b, c] = w[0] ?? [0, 0, 0];
    const ends = w.length === 1 ? lineIn(a!, b!, threshold - bias * c!, this.plane.box) : null;
    show(this.normal, ends !== null);
    if (!ends) return;
    const size = Math.hypot(a!, b!);
    const [mx, my] = [this.plane.x((ends[0] + ends[2]) / 2), this.plane.y((ends[1] + ends[3]) / 2)];
    const [dx, dy] = [(a! / size) * 24, (-b! / size) * 24];
    const head = `l${round(-dx * 0.25 - dy * 0.16)} ${round(-dy * 0.25 + dx * 0.16)}m${round(dx * 0.25 + dy * 0.16)} ${round(dy * 0.25 - dx * 0.16)}l${round(-dx * 0.25 + dy * 0.16)} ${round(-dy * 0.25 - dx * 0.16)}`;
    attr(this.normal, "d", `M${round(mx)} ${round(my)}l${round(dx)} ${round(dy)}${head}`);
  }

  private updateAverage(shown: Shown, run: OneRun | undefined, scaled: boolean): void {
    const w = shown.options.average && run ? vectors(averageWeights(run, shown.step)) : [];
    if (!scaled && same(w, this.averageKey)) return;
    this.averageKey = w;
    const bias = (run && placeAt(run, shown.step)?.segment.trace.bias) ?? 0;
    attr(this.average, "data-w", w.map((one) => one.join(",")).join(";"));
    attr(this.average, "d", w.length === 1 ? this.line(w[0]!, bias, 0) : this.edges(regionsOf(w, bias, 0)));
  }

  /** The slab of the maximum margin: between the rows next to the boundary, on both sides. */
  private updateSlab(shown: Shown, run: OneRun | undefined, scaled: boolean): void {
    const best = (shown.options.slab || shown.options.best) && run ? bestAt(run, shown.step) : null;
    const last = run && segmentAt(run, shown.step);
    const key = [best, last];
    if (!scaled && same(key, this.slabKey)) return;
    this.slabKey = key;
    this.slab.replaceChildren();
    if (!best?.separable || !last || last.trace.unit) return;
    const [a, b, c] = best.w as [number, number, number];
    const bias = last.trace.bias;
    const half = Math.min(...last.X.map(([u, v], i) => (last.y[i] ? 1 : -1) * (a * u + b * v + bias * c)));
    if (!(half > 0)) return;
    const inside: HalfPlane[] = [
      [a, b, -half - bias * c],
      [-a, -b, -half + bias * c],
    ];
    this.slab.append(
      svg("path", { class: "slab-fill", d: outline(this.plane, halfPlanesIn(inside, this.plane.box)) }),
      ...[-half, 0, half].map((at) => svg("path", { class: at ? "slab-edge" : "slab-middle", d: this.line(best.w, bias, at) })),
    );
  }

  // ---------------------------------------------------------- editing

  private tapped(at: Pair): void {
    if (this.actions.shown.readOnly) this.actions.fail("This page shows recorded runs: points cannot be changed here.");
    else this.actions.addPoint(at);
  }

  private indexOf(target: EventTarget | null): number | null {
    const group = target instanceof Element ? target.closest("[data-i]") : null;
    return group ? Number(group.getAttribute("data-i")) : null;
  }

  private down(event: PointerEvent): void {
    const i = this.indexOf(event.target);
    if (i === null || event.button > 0 || this.drag) return;
    event.stopPropagation();
    event.preventDefault();
    this.drawn[i]!.group.focus();
    this.actions.select(i);
    if (this.shown!.readOnly) return;
    const at = this.plane.place(event);
    const x = this.rows!.X[i]!;
    this.drag = { i, pointer: event.pointerId, offset: [x[0] - at[0], x[1] - at[1]] };
    this.points.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent): void {
    const { drag } = this;
    if (!drag || event.pointerId !== drag.pointer) return;
    event.stopPropagation();
    const at = this.plane.place(event);
    const [a, b, c, d] = this.plane.box;
    const inside = (v: number, low: number, high: number): number => Math.max(low, Math.min(v, high));
    this.actions.movePoint(drag.i, [inside(at[0] + drag.offset[0], a, b), inside(at[1] + drag.offset[1], c, d)]);
  }

  private up(event: PointerEvent): void {
    if (!this.drag || event.pointerId !== this.drag.pointer) return;
    event.stopPropagation();
    this.drag = null;
  }

  private key(event: KeyboardEvent): void {
    const i = this.indexOf(event.target);
    if (i === null || !this.rows || event.ctrlKey || event.metaKey || event.altKey) return;
    const move = arrow(event, this.plane.box);
    const n = this.rows.X.length;
    const to = event.key === "PageDown" ? i + 1 : event.key === "PageUp" ? i - 1 : null;
    if (to !== null) this.focus((to + n) % n);
    else if (event.key === "Escape") this.plane.root.focus();
    else if (!move && !["Delete", "Backspace", "c"].includes(event.key)) return;
    else if (this.shown!.readOnly) this.actions.fail("This page shows recorded runs: points cannot be changed here.");
    else if (event.key === "c") this.actions.turnPoint(i);
    else if (move) this.actions.movePoint(i, [this.rows.X[i]![0] + move[0], this.rows.X[i]![1] + move[1]]);
    else {
      this.actions.removePoint(i);
      requestAnimationFrame(() => (n > 1 ? this.focus(Math.min(i, n - 2)) : this.plane.root.focus()));
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private focus(i: number): void {
    this.actions.select(i);
    this.drawn[i]?.group.focus();
  }
}

/** The support vectors: rows that make up the w of a kernel learner, or that hold the slab of the largest margin. */
function supportAt(run: OneRun, shown: Shown): Set<number> | null {
  const dual = vectors(dualAt(run, shown.step));
  if (dual.length) return new Set(dual[0]!.flatMap((_, i) => (dual.some((one) => one[i]) ? [i] : [])));
  return shown.options.best || shown.options.slab ? new Set(bestAt(run, shown.step)?.support ?? []) : null;
}

function dualAt(run: OneRun, step: number): number[] | number[][] | null {
  const place = placeAt(run, step);
  return place?.segment.trace.dual?.[place.i] ?? null;
}

function same(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

/** Whether the prediction for x is another class, or none: a tie of two classes is on the boundary. w = 0 has none. */
export function isWrong(w: number[][], bias: number, threshold: number | null, x: Pair, code: number): boolean {
  if (threshold === null && w.every((one) => one.every((value) => !value))) return false;
  const scores = w.map((one) => one[0]! * x[0] + one[1]! * x[1] + bias * (one[2] ?? 0));
  if (threshold !== null) return code ? scores[0]! < threshold : scores[0]! >= threshold;
  if (scores.length === 1) return code ? scores[0]! <= 0 : scores[0]! >= 0;
  return scores.some((score, r) => r !== code && score >= scores[code]!);
}

/** For each class the half-planes in which it is predicted. */
export function regionsOf(w: number[][], bias: number, threshold: number): HalfPlane[][] {
  if (!w.length) return [];
  if (w.length === 1) {
    const [a, b, c] = w[0] as [number, number, number];
    if (!a && !b) return [];
    const at = threshold - bias * c;
    return [[[-a, -b, -at]], [[a, b, at]]];
  }
  return w.map((one, r) =>
    w.flatMap((other, s): HalfPlane[] => (s === r ? [] : [[one[0]! - other[0]!, one[1]! - other[1]!, bias * (other[2]! - one[2]!)]])),
  );
}
