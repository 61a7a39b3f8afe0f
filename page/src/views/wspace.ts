// w-space: every row is a line, with the side on which w is right on it; w moves between them.
import type { HalfPlane } from "../clip";
import { halfPlanesIn, lineIn, ticks, widened } from "../clip";
import { levelSets, risk } from "../levels";
import type { Best, OneRun, Pair, Segment } from "../protocol";
import type { Actions, Box, Shown, View } from "../state";
import { averageWeights, bestAt, boxAround, placeAt, segmentAt, thresholdAt, vectors, visit, visits, wBox, weights } from "../state";
import { attr, el, plain, show, svg, text } from "./dom";
import { outline, Plane, round } from "./plane";

const FEW = 24; // so many lines all have an arrow
const MANY = 120; // lines of more rows are one path for each class
const BUDGET = 4; // milliseconds of a frame that the contours may take
const CHUNK = 64; // points of the path that are one text

export function makeWSpace(actions: Actions, which: 0 | 1): View {
  return new WSpace(actions, which ? "w2" : "w", which ? "-2" : "");
}

class WSpace implements View {
  readonly element: HTMLElement;
  private readonly plane: Plane;
  private readonly contours = svg("g", { class: "contours" });
  private readonly cone = svg("path", { class: "cone" });
  private readonly room = svg("path", { class: "room" });
  private readonly lines = svg("g", { class: "row-lines" });
  private readonly arrows = svg("path", { class: "row-arrows" });
  private readonly offsets = svg("path", { class: "offset-lines" });
  private readonly looked = svg("path", { class: "looked-line" });
  private readonly paths = svg("g", { class: "paths" });
  private readonly move = svg("line", { class: "move" });
  private readonly now = svg("g", { class: "nows" });
  private readonly mean = svg("circle", { class: "mean", r: 5 });
  private readonly star: SVGPathElement;
  private readonly slice: Slice;
  private readonly note = el("p", { class: "note" });
  private shown: Shown | null = null;
  private linesKey: unknown[] = [];
  private rows: HalfPlane[] = [];
  private pathKey: unknown[] = [];
  private trails: Trail[] = [];
  private work: Generator<void, Pair[][]> | null = null;
  private working = 0;

  constructor(actions: Actions, private readonly mine: "w" | "w2", private readonly suffix: string) {
    this.plane = new Plane({
      testid: `wspace${suffix}`,
      label: "w-space: every row is a line",
      axes: ["w₁", "w₂"],
      onBox: (box) => actions.setView({ [mine]: box }),
      onFit: () => this.shown && actions.setView({ [mine]: this.whole(this.shown), slice: null }),
      onResize: () => this.redraw(),
    });
    this.star = svg("path", { class: "optimum", d: STAR, "data-testid": `optimum${suffix}` });
    this.slice = new Slice(actions, suffix);
    this.plane.under.append(this.contours, this.cone, this.room, this.lines, this.offsets, this.arrows);
    this.plane.content.append(this.looked, this.paths, this.move, this.mean, this.star, this.now);
    this.element = el("div", { class: "wspace" }, this.plane.element, this.note, this.slice.element);
  }

  update(shown: Shown): void {
    this.shown = shown;
    const run = shown.runs[shown.active];
    const scaled = this.plane.setBox(shown.view[this.mine]);
    const place = run && placeAt(run, shown.step);
    const w = run ? vectors(weights(run, shown.step)) : [];
    const single = w.length === 1;
    const bias = place?.segment.trace.bias ?? 0;
    const third = single && bias ? (shown.view.slice ?? w[0]![2]!) : 0;
    this.slice.update(shown, run, single && bias ? third : null);
    // what is added to x₁w₁ + x₂w₂ in this plane
    const added = bias * third - ((run && single ? thresholdAt(run, shown.step) : null) ?? 0);
    this.updateLines(shown, single ? (place?.segment ?? null) : null, added, run ? bestAt(run, shown.step) : null, scaled);
    this.updateLooked(shown, run, single, added);
    this.updatePath(shown, run, w, scaled);
    this.updateMean(shown, run);
    this.updateNote(w.length, bias, run && single ? thresholdAt(run, shown.step) : null);
  }

  private redraw(): void {
    this.linesKey = this.pathKey = [];
    if (this.shown) this.update(this.shown);
  }

  private whole(shown: Shown): Box {
    const box = wBox(shown.runs.slice(shown.active, shown.active + 1));
    const best = shown.options.best ? optimum(shown.runs[shown.active], shown.step) : null;
    return best ? boxAround([...[box].flatMap(([a, b, c, d]) => [[a, c], [b, d]]), [best[0]! * 1.15, best[1]! * 1.15]], 0) : box;
  }

  // ---------------------------------------------------------- lines, cone, contours

  private updateLines(shown: Shown, segment: Segment | null, third: number, best: Best | null, scaled: boolean): void {
    // a slice that follows w while many rows play would have other contours in each frame: they are drawn at rest
    const moving = shown.playing && shown.view.slice === null && Boolean(segment?.trace.bias) && segment!.X.length > MANY;
    const contours = shown.options.contours && !moving;
    const margin = shown.options.best && best?.separable ? best : null;
    const key = [segment, third, contours, margin];
    if (!scaled && key.every((value, i) => value === this.linesKey[i])) return;
    this.linesKey = key;
    const { plane } = this;
    this.rows = segment ? halfPlanes(segment, third) : [];
    const never = this.rows.some(([a, b, c]) => !a && !b && c >= 0); // no w of this plane is right on a row of zeros
    attr(this.cone, "d", segment && !never ? outline(plane, halfPlanesIn(this.rows, widened(plane.box, 0.02))) : "");
    this.drawLines(segment);
    this.drawOffsets(shown, margin);
    this.startContours(contours);
  }

  private drawLines(segment: Segment | null): void {
    const { plane, rows, lines } = this;
    lines.classList.toggle("some", rows.length > FEW);
    if (rows.length > MANY) {
      const parts = ["", ""];
      rows.forEach((row, i) => (parts[segment!.y[i]! ? 1 : 0] += this.segmentOf(row)));
      lines.replaceChildren(...parts.map((d, code) => svg("path", { class: `row-line many class-${code}`, d, "data-class": code })));
      attr(this.arrows, "d", "");
      return;
    }
    if (lines.firstElementChild?.tagName === "path") lines.replaceChildren();
    while (lines.childElementCount > rows.length) lines.lastElementChild!.remove();
    let arrows = "";
    rows.forEach((row, i) => {
      const line = lines.children[i] ?? lines.appendChild(svg("line", { "data-testid": `row-line-${i}${this.suffix}` }));
      const ends = lineIn(...row, plane.box);
      attr(line, "class", `row-line class-${segment!.y[i]}`);
      show(line, ends !== null);
      if (!ends) return;
      const [x1, y1, x2, y2] = [plane.x(ends[0]), plane.y(ends[1]), plane.x(ends[2]), plane.y(ends[3])];
      for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) attr(line, name, round(value));
      if (rows.length <= FEW) arrows += arrowAt(x1, y1, x2, y2, row);
    });
    attr(this.arrows, "d", arrows);
  }

  private segmentOf(row: HalfPlane): string {
    const ends = lineIn(...row, this.plane.box);
    if (!ends) return "";
    const { plane } = this;
    return `M${round(plane.x(ends[0]))} ${round(plane.y(ends[1]))}L${round(plane.x(ends[2]))} ${round(plane.y(ends[3]))}`;
  }

  /** The constraints y<w, x> ≥ 1 of the maximum margin, and the shortest w that obeys them. */
  private drawOffsets(shown: Shown, best: Best | null): void {
    const one = this.rows.map(([a, b, c]): HalfPlane => [a, b, c + 1]);
    const drawn = best && this.rows.length ? one.filter((_, i) => one.length <= FEW || best.support.includes(i)) : [];
    attr(this.offsets, "d", drawn.map((row) => this.segmentOf(row)).join(""));
    attr(this.room, "d", best && one.length ? outline(this.plane, halfPlanesIn(one, widened(this.plane.box, 0.02))) : "");
    const at = best && this.rows.length ? optimum(shown.runs[shown.active], shown.step) : null;
    show(this.star, at !== null);
    if (!at) return;
    attr(this.star, "transform", `translate(${round(this.plane.x(at[0]!))} ${round(this.plane.y(at[1]!))})`);
    attr(this.star, "data-w", at.join(","));
  }

  /** Contours take longer than a frame has where rows are many: the work is done in parts, the newest counts. */
  private startContours(on: boolean): void {
    cancelAnimationFrame(this.working);
    this.work = null;
    if (!on || this.rows.length < 2) return this.contours.replaceChildren();
    const box = widened(this.plane.box, 0.02);
    const most = Math.max(...[[0, 2], [1, 2], [1, 3], [0, 3]].map(([i, j]) => risk(this.rows, [box[i!]!, box[j!]!])));
    const levels = ticks(0, most * 0.95, 9).filter((level) => level > 0).reverse();
    this.work = levelSets(this.rows, box, levels);
    this.workOn(levels);
  }

  private workOn(levels: number[]): void {
    const until = performance.now() + BUDGET;
    while (this.work) {
      const { done, value } = this.work.next();
      if (done) {
        this.work = null;
        this.contours.replaceChildren(
          ...value.map((polygon, k) => svg("path", { class: "contour", d: outline(this.plane, polygon), "data-level": levels[k]! })),
        );
      } else if (performance.now() > until) {
        this.working = requestAnimationFrame(() => this.workOn(levels));
        return;
      }
    }
  }

  /** The line of the row that was looked at. */
  private updateLooked(shown: Shown, run: OneRun | undefined, single: boolean, third: number): void {
    const seen = run && single ? visit(run, shown.step - 1) : null;
    const here = seen && segmentAt(run!, shown.step) === seen.segment;
    const row = here ? halfPlane(seen.segment, seen.trace.row[seen.i]!, third) : null;
    attr(this.looked, "d", row ? this.segmentOf(row) : "");
    if (row) attr(this.looked, "class", `looked-line ${seen!.trace.kind[seen!.i]}`);
  }

  // ---------------------------------------------------------- the path

  private updatePath(shown: Shown, run: OneRun | undefined, w: number[][], scaled: boolean): void {
    const key = [run, w.length];
    if (scaled || !key.every((value, i) => value === this.pathKey[i])) {
      this.pathKey = key;
      this.trails = w.map((_, r) => new Trail(this.plane, run!, w.length > 1 ? r : null));
      const names = w.map((_, r) => (w.length > 1 ? `path class-${r}` : "path"));
      this.paths.replaceChildren(
        ...names.map((name, r) => svg("polyline", { class: name, "data-testid": (r ? `path-${r}` : "path") + this.suffix })),
      );
      this.now.replaceChildren(...names.map((name) => svg("circle", { class: name.replace("path", "now"), r: 5 })));
    }
    const before = run ? vectors(weights(run, shown.step - 1)) : [];
    const count = run ? Math.min(shown.step, visits(run)) : 0;
    this.trails.forEach((trail, r) => {
      const length = trail.length(count);
      const line = this.paths.children[r] as SVGPolylineElement & { drawn?: number };
      if (line.drawn !== length) line.setAttribute("points", trail.first((line.drawn = length)));
      attr(this.now.children[r]!, "cx", round(this.plane.x(w[r]![0]!)));
      attr(this.now.children[r]!, "cy", round(this.plane.y(w[r]![1]!)));
      attr(this.now.children[r]!, "data-w", w[r]!.join(","));
    });
    const moved = shown.step > 0 && w.length === 1 && count === shown.step && before[0] && !w[0]!.every((v, i) => v === before[0]![i]);
    show(this.move, Boolean(moved));
    if (!moved) return;
    const [[a, b], [c, d]] = [before[0]!, w[0]!] as [Pair, Pair];
    const ends = { x1: this.plane.x(a), y1: this.plane.y(b), x2: this.plane.x(c), y2: this.plane.y(d) };
    for (const [name, value] of Object.entries(ends)) attr(this.move, name, round(value));
  }

  private updateMean(shown: Shown, run: OneRun | undefined): void {
    const mean = shown.options.average && run ? vectors(averageWeights(run, shown.step)) : [];
    show(this.mean, mean.length === 1);
    if (mean.length !== 1) return;
    attr(this.mean, "cx", round(this.plane.x(mean[0]![0]!)));
    attr(this.mean, "cy", round(this.plane.y(mean[0]![1]!)));
    attr(this.mean, "data-w", mean[0]!.join(","));
  }

  private updateNote(vectorsShown: number, bias: number, threshold: number | null): void {
    let note = "";
    if (vectorsShown > 1) note = "Several classes: each has a w of its own, and its path.";
    else if (threshold !== null) note = `⟨w, x⟩ is compared with the threshold ${plain(threshold)}: lines do not meet in 0.`;
    else if (vectorsShown === 1 && !bias) note = "No constant coordinate: this plane is all of w-space.";
    text(this.note, note);
    show(this.note, note !== "");
  }
}

// ------------------------------------------------------------ parts

/** The places of w in pixels, one for each visit that moved it, as the text of `points` after any number of visits. */
class Trail {
  private readonly points: string[] = [];
  /** How many of the points there are after so many visits. */
  private readonly counts: number[] = [];
  private readonly chunks: string[] = [""];

  constructor(plane: Plane, run: OneRun, r: number | null) {
    let before: number[] = [];
    for (const { trace } of run.segments) {
      (trace.w ?? []).forEach((w, i) => {
        if (i === 0 && this.points.length) return; // a segment begins where the one before ended
        const one = (r === null ? w : w[r]) as number[];
        if (one[0] !== before[0] || one[1] !== before[1]) this.points.push(`${round(plane.x(one[0]!))},${round(plane.y(one[1]!))}`);
        this.counts.push(this.points.length);
        before = one;
      });
    }
  }

  /** The number of points after so many visits. */
  length(visitsMade: number): number {
    return this.counts[Math.min(visitsMade, this.counts.length - 1)] ?? 0;
  }

  first(count: number): string {
    const whole = Math.floor(count / CHUNK);
    while (this.chunks.length <= whole) {
      const k = this.chunks.length;
      this.chunks.push(`${this.chunks[k - 1]}${this.points.slice((k - 1) * CHUNK, k * CHUNK).join(" ")} `);
    }
    return this.chunks[whole] + this.points.slice(whole * CHUNK, count).join(" ");
  }
}

/** Which slice of w-space is shown where w has a third coordinate. */
class Slice {
  readonly element: HTMLElement;
  private readonly range: HTMLInputElement;
  private readonly value = el("output");
  private readonly follow: HTMLInputElement;
  private readonly best: HTMLButtonElement;
  private optimum: number | null = null;
  private key: unknown = null;

  constructor(private readonly actions: Actions, suffix: string) {
    this.range = el("input", {
      type: "range",
      min: 0,
      max: 1000,
      step: "any",
      "aria-label": "weight of the constant coordinate",
      "data-testid": `slice${suffix}`,
      oninput: () => actions.setView({ slice: this.range.valueAsNumber }),
    });
    this.follow = el("input", {
      type: "checkbox",
      "data-testid": `slice-follow${suffix}`,
      onchange: () => actions.setView({ slice: this.follow.checked ? null : this.range.valueAsNumber }),
    });
    this.best = el("button", { type: "button", class: "small", onclick: () => this.actions.setView({ slice: this.optimum }) }, "at ★");
    this.element = el(
      "div",
      { class: "slice" },
      el("span", { title: "The weight of the constant coordinate: this plane is the slice of w-space at it." }, "slice at b ="),
      this.value,
      this.range,
      el("label", {}, this.follow, "follow w"),
      this.best,
    );
  }

  update(shown: Shown, run: OneRun | undefined, third: number | null): void {
    show(this.element, third !== null);
    if (third === null || !run) return;
    const segment = segmentAt(run, shown.step);
    if (this.key !== segment) {
      this.key = segment;
      const all = run.segments.flatMap(({ trace }) => (trace.w ?? []).map((w) => (w as number[])[2] ?? 0));
      this.optimum = optimum(run, shown.step)?.[2] ?? null;
      const reach = Math.max(1, Math.abs(this.optimum ?? 0), ...all.map(Math.abs)) * 1.2;
      attr(this.range, "min", -reach);
      attr(this.range, "max", reach);
    }
    if (this.range.valueAsNumber !== third) this.range.value = String(third);
    attr(this.range, "aria-valuetext", plain(third));
    this.follow.checked = shown.view.slice === null;
    text(this.value, plain(third, 3));
    show(this.best, shown.options.best && this.optimum !== null);
  }
}

function halfPlane(segment: Segment, i: number, third: number): HalfPlane {
  const [a, b] = segment.X[i]!;
  const { bias, unit } = segment.trace;
  const scale = (segment.y[i] ? 1 : -1) / (unit ? Math.hypot(a, b, bias) || 1 : 1);
  return [scale * a, scale * b, -scale * third];
}

/** Where w is right on each row: y(x₁w₁ + x₂w₂) ≥ −y·(what the third coordinate adds). */
function halfPlanes(segment: Segment, third: number): HalfPlane[] {
  return segment.X.map((_, i) => halfPlane(segment, i, third));
}

/** The shortest w with y<w, x> ≥ 1 on all rows after `step` visits. */
function optimum(run: OneRun | undefined, step: number): number[] | null {
  const segment = run && segmentAt(run, step);
  const best = run && bestAt(run, step);
  if (!segment || !best?.separable) return null;
  const { w } = best;
  const third = segment.trace.bias * (w[2] ?? 0);
  const least = Math.min(...halfPlanes(segment, third).map(([a, b, c]) => w[0]! * a + w[1]! * b - c));
  return least > 0 ? w.map((v) => v / least) : null;
}

/** A short arrow from a line to the side where w is right, near the line's first end. */
function arrowAt(x1: number, y1: number, x2: number, y2: number, [a, b]: HalfPlane): string {
  const [px, py] = [x1 + 0.08 * (x2 - x1), y1 + 0.08 * (y2 - y1)];
  const size = Math.hypot(a, b);
  const [dx, dy] = [(a / size) * 11, (-b / size) * 11];
  return `M${round(px)} ${round(py)}l${round(dx)} ${round(dy)}l${round(-0.35 * dx - 0.3 * dy)} ${round(-0.35 * dy + 0.3 * dx)}m${round(0.35 * dx + 0.3 * dy)} ${round(0.35 * dy - 0.3 * dx)}l${round(-0.35 * dx + 0.3 * dy)} ${round(-0.35 * dy - 0.3 * dx)}`;
}

const STAR = "M0 -8L1.9 -2.6L7.6 -2.5L3.1 1L4.7 6.5L0 3.2L-4.7 6.5L-3.1 1L-7.6 -2.5L-1.9 -2.6Z";
