// Kernel mode: the regions of the classes, the support vectors, and the sum that makes the score at the pointer.

import { contours } from "d3-contour";
import type { OneRun, Pair, Segment } from "../protocol";
import type { Source } from "../source";
import { type Actions, placeAt, type Shown, vectors, type View, visit } from "../state";
import { short } from "./charts/scale";
import { attr, el, show, svg, text } from "./dom";
import { borderOf, type Cell, type Grid, gridFrom, gridScores, leads, pointOf, snap, type Term, termsAt } from "./kernel_sums";
import { marker, Plane, round } from "./plane";

/** Levels of a lead that are shaded, as shares of its maximum. */
const SHADES = [0, 1 / 3, 2 / 3];
const MOST_TERMS = 5;
const SMALLEST_RING = 8; // pixels
const LARGEST_RING = 16;

/** Which parts of the border of a region are drawn; null: the region is filled. */
type Edge = ((c: number, r: number) => boolean) | null;

/** A region of a grid in pixels; with `edge`, its border, without what is the border of the grid.
 *
 * d3 has the value of column c at c + 1/2, and closes regions half a cell outside the grid. */
function gridOutline(plane: Plane, grid: Grid, polygons: number[][][][], edge: Edge): string {
  const [right, top] = [grid.columns - 1, grid.rows - 1];
  const drawn = (ring: number[][]): string => {
    let [outside, own] = [true, false];
    return ring
      .map(([x, y], i) => {
        const [c, r] = [Math.min(right, Math.max(0, x! - 0.5)), Math.min(top, Math.max(0, y! - 0.5))];
        const [px, py] = pointOf(grid, c, r);
        const [was, now] = [outside, c === 0 || r === 0 || c === right || r === top];
        const [before, mine] = [own, edge === null || edge(c, r)];
        own = mine;
        outside = now;
        return `${i === 0 || (edge && ((was && now) || !before || !mine)) ? "M" : "L"}${round(plane.x(px))} ${round(plane.y(py))}`;
      })
      .join("");
  };
  return polygons.flatMap((rings) => rings.map((ring) => drawn(ring) + (edge ? "" : "Z"))).join("");
}

/** For each class, the region where a kernel learner with these coefficients predicts it, and its edge. */
export function kernelRegions(plane: Plane, grid: Grid, coefficients: number[][]): { region: string; edge: string }[] {
  if (coefficients.every((a) => a.every((value) => value === 0))) return [];
  const all = leads(coefficients.map((a) => gridScores(grid, a)));
  return all.map((lead, code) => {
    const [made] = contours().size([grid.columns, grid.rows]).thresholds([0])(lead as unknown as number[]);
    const drawn = (edge: Edge): string => (lead.some((value) => value > 0) ? gridOutline(plane, grid, made!.coordinates, edge) : "");
    return { region: drawn(null), edge: drawn(borderOf(all, grid, code)) };
  });
}

/** `which`: the learner that it is of. */
export const kernelView = (actions: Actions, _source: Source, which: 0 | 1 = 0): View => new KernelView(actions, which ? "-2" : "");

interface Point {
  group: SVGGElement;
  ring: SVGCircleElement;
  at: Pair;
}

class KernelView implements View {
  readonly element: HTMLElement;
  private readonly plane: Plane;
  private readonly regions = svg("g", { class: "kernel-regions" });
  private readonly links = svg("g", { class: "kernel-links" });
  private readonly dots = svg("g", { class: "kernel-points" });
  private readonly cross = svg("path", { class: "kernel-cross", d: "M-9 0H9M0 -9V9" });
  private readonly panel: SumPanel;
  private points: Point[] = [];
  private grid: Grid | null = null;
  private segment: Segment | null = null;
  private shown: Shown | null = null;

  constructor(
    private readonly actions: Actions,
    suffix: string,
  ) {
    this.panel = new SumPanel(suffix);
    this.plane = new Plane({
      testid: `kernel${suffix}`,
      label: "Kernel: regions of the classes and support vectors; arrows move the pointer",
      axes: ["x₁", "x₂"],
      onBox: (x) => actions.setView({ x }),
      onFit: () => actions.fit(),
      onResize: () => this.shown && this.drawAll(this.shown),
      onHover: (at) => actions.setPointer(at),
    });
    this.plane.content.append(this.regions, this.links, this.dots, this.cross);
    this.plane.root.addEventListener("keydown", (event) => this.key(event), true);
    // spoken while keys move the pointer, not at every visit of a run that plays
    this.plane.root.addEventListener("focus", () => attr(this.panel.element, "aria-live", "polite"));
    this.plane.root.addEventListener("blur", () => attr(this.panel.element, "aria-live", "off"));
    this.element = el("div", { class: "kernel-view" }, this.plane.element, this.panel.element);
  }

  update(shown: Shown, before: Shown | null): void {
    const was = this.shown;
    this.shown = shown;
    const run = shown.runs[shown.active];
    if (!run?.kernel) return;
    const moved = this.plane.setBox(shown.view.x);
    const place = placeAt(run, shown.step);
    const other = place?.segment !== this.segment || was === null;
    if (place && other) this.takeSegment(run, place.segment, shown);
    if (other || moved || was?.step !== shown.step || was?.options.average !== shown.options.average) this.drawAll(shown);
    else if (before === null || before.pointer !== shown.pointer) this.drawPointer(shown);
  }

  /** Other rows: other points, and another grid. */
  private takeSegment(run: OneRun, segment: Segment, shown: Shown): void {
    this.segment = segment;
    const last = run.segments[run.segments.length - 1];
    this.grid = gridFrom(segment.kernel ?? (segment === last ? run.kernel : null));
    const learned = (segment.trace.X?.values ?? segment.X) as Pair[];
    this.points = learned.map((at, i) => this.pointOf(at, codeOf(segment, i), i >= segment.X.length));
    this.dots.replaceChildren(...this.points.map(({ group }) => group));
    this.panel.setClasses(shown.scene.classes);
  }

  private pointOf(at: Pair, code: number, gone: boolean): Point {
    const ring = svg("circle", { class: "kernel-ring", r: 0 });
    const dot = svg("path", { class: `kernel-dot${gone ? " gone" : ""}`, d: marker(code), fill: `var(--class-${code})` });
    return { group: svg("g", {}, ring, dot), ring, at };
  }

  private drawAll(shown: Shown): void {
    this.drawRegions(shown);
    this.drawPoints(shown);
    this.drawPointer(shown);
  }

  private drawRegions(shown: Shown): void {
    const { grid } = this;
    const all = this.coefficients(shown);
    if (grid === null || all.every((a) => a.every((value) => value === 0))) return this.regions.replaceChildren();
    const fields = leads(all.map((a) => gridScores(grid, a)));
    const paths = fields.flatMap((_, code) => this.shades(grid, fields, code));
    this.regions.replaceChildren(...paths);
  }

  /** The region where a class leads, darker where it leads by more; its edge is the boundary. */
  private shades(grid: Grid, fields: Float64Array[], code: number): SVGElement[] {
    const lead = fields[code]!;
    const most = lead.reduce((a, b) => Math.max(a, b), 0);
    if (!(most > 0)) return [];
    const made = contours().size([grid.columns, grid.rows]).thresholds(SHADES.map((share) => share * most))(lead as unknown as number[]);
    const regions = made.map(({ coordinates }) => svg("path", { class: "kernel-region", fill: `var(--class-${code})`, d: gridOutline(this.plane, grid, coordinates, null), "data-class": code }));
    return [...regions, svg("path", { class: "kernel-edge", d: gridOutline(this.plane, grid, made[0]!.coordinates, borderOf(fields, grid, code)) })];
  }

  private drawPoints(shown: Shown): void {
    const sizes = this.sizes(shown);
    const most = sizes.reduce((a, b) => Math.max(a, b), 0);
    const run = shown.runs[shown.active]!;
    const looked = visit(run, shown.step - 1)?.trace.row[placeAt(run, shown.step)!.i - 1];
    this.points.forEach(({ group, ring, at }, i) => {
      attr(group, "transform", `translate(${round(this.plane.x(at[0]))} ${round(this.plane.y(at[1]))})`);
      const size = sizes[i] ?? 0;
      const r = size > 0 ? SMALLEST_RING + (LARGEST_RING - SMALLEST_RING) * Math.sqrt(size / most) : 0;
      attr(ring, "r", round(r));
      attr(ring, "data-coefficient", size > 0 ? size : null);
      attr(group, "class", i === looked ? "looked" : null);
    });
  }

  private drawPointer(shown: Shown): void {
    const cell = this.grid && shown.pointer ? snap(this.grid, shown.pointer) : null;
    show(this.cross, cell !== null);
    if (cell === null || this.grid === null) {
      this.links.replaceChildren();
      return this.panel.drawNothing(this.grid);
    }
    const [px, py] = [round(this.plane.x(cell.at[0])), round(this.plane.y(cell.at[1]))];
    attr(this.cross, "transform", `translate(${px} ${py})`);
    const all = this.coefficients(shown);
    const scores = all.map((a) => termsAt(this.grid!, a, cell.index).reduce((sum, term) => sum + term.product, 0));
    const winner = scores.length === 1 ? 0 : scores.indexOf(scores.reduce((a, b) => Math.max(a, b), -Infinity));
    const terms = termsAt(this.grid, all[winner] ?? [], cell.index);
    this.panel.draw(cell, terms, scores, winner);
    this.drawLinks(terms, px, py);
  }

  /** Lines from the pointer to the rows with the largest terms, wider where the term is larger. */
  private drawLinks(terms: Term[], px: number, py: number): void {
    const most = Math.abs(terms[0]?.product ?? 0);
    const lines = terms.slice(0, MOST_TERMS).flatMap(({ row, product }) => {
      const at = this.points[row]?.at;
      if (at === undefined || product === 0) return [];
      const width = round(0.5 + 3 * (Math.abs(product) / most));
      return [svg("line", { class: product > 0 ? "plus" : "minus", x1: px, y1: py, x2: round(this.plane.x(at[0])), y2: round(this.plane.y(at[1])), "stroke-width": width })];
    });
    this.links.replaceChildren(...lines);
  }

  /** The coefficients of the moment, one list per vector of scores. */
  private coefficients(shown: Shown): number[][] {
    const place = placeAt(shown.runs[shown.active]!, shown.step);
    const { dual, average } = place?.segment.trace ?? {};
    const states = shown.options.average && average ? average : dual;
    return vectors(states?.[place?.i ?? 0] ?? null);
  }

  /** |coefficient| of each row; of several classes the largest. */
  private sizes(shown: Shown): number[] {
    const all = this.coefficients(shown);
    return (all[0] ?? []).map((_, i) => all.reduce((most, a) => Math.max(most, Math.abs(a[i]!)), 0));
  }

  /** Arrows move the pointer from grid point to grid point; with Shift by five. */
  private key(event: KeyboardEvent): void {
    const by: Record<string, Pair> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const move = by[event.key];
    if (!move || !this.grid || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const { columns, rows, box } = this.grid;
    const from = snap(this.grid, this.actions.shown.pointer ?? [(box[0] + box[1]) / 2, (box[2] + box[3]) / 2]);
    const index = from?.index ?? 0;
    const far = event.shiftKey ? 5 : 1;
    const c = Math.min(columns - 1, Math.max(0, (index % columns) + far * move[0]));
    const r = Math.min(rows - 1, Math.max(0, Math.floor(index / columns) + far * move[1]));
    this.actions.setPointer(pointOf(this.grid, c, r));
  }
}

/** The class of a learned row; rows that are gone come after those that are there. */
function codeOf({ y, trace }: Segment, i: number): number {
  return y[i] ?? Math.max(0, trace.classes.indexOf(trace.y[i]!));
}

/** The sum at the pointer, written out. */
class SumPanel {
  readonly element: HTMLElement;
  private readonly head: HTMLElement;
  private readonly lines = Array.from({ length: MOST_TERMS + 1 }, () => el("li"));
  private classes: string[] = [];

  constructor(suffix: string) {
    this.head = el("p", { class: "kernel-score", "data-testid": `kernel-score${suffix}` });
    this.element = el("div", { class: "kernel-sum", "aria-live": "off" }, this.head, el("ul", {}, ...this.lines));
  }

  setClasses(classes: string[]): void {
    this.classes = classes;
  }

  drawNothing(grid: Grid | null): void {
    attr(this.head, "data-score", null);
    const size = grid ? `${grid.columns} × ${grid.rows}` : "";
    text(this.head, grid ? `Point at the plane: the sum that makes the score there, at the nearest of ${size} points whose kernel values are known.` : "The kernel values of these rows are not part of this run.");
    for (const line of this.lines) show(line, false);
  }

  draw(cell: Cell, terms: Term[], scores: number[], winner: number): void {
    const score = scores[winner]!;
    attr(this.head, "data-score", score);
    const where = `(${short(cell.at[0])}, ${short(cell.at[1])})`;
    const two = scores.length === 1;
    const verdict = two ? (score === 0 ? "a tie" : this.classes[score > 0 ? 1 : 0]) : this.classes[winner];
    const rest = two ? "" : `; others: ${scores.flatMap((s, c) => (c === winner ? [] : [`${this.classes[c]} ${short(s)}`])).join(", ")}`;
    text(this.head, `Score at ${where}: Σ αᵢ k(xᵢ, p) = ${short(score, 4)} → ${verdict}${rest}`);
    const [shown, others] = [terms.slice(0, MOST_TERMS), terms.slice(MOST_TERMS)];
    this.lines.forEach((line, i) => {
      const term = shown[i];
      const isRest = i === shown.length && others.length > 0;
      show(line, term !== undefined || isRest);
      if (term) text(line, `row ${term.row}: ${short(term.coefficient, 4)} · ${short(term.value, 4)} = ${short(term.product, 4)}`);
      else if (isRest) text(line, `${others.length} more: ${short(others.reduce((sum, { product }) => sum + product, 0), 4)}`);
    });
  }
}
