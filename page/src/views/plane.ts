// A plane with axes: equal scales on both, zoom and pan by wheel, fingers, buttons and keys.
import { ticks } from "../clip";
import type { Pair } from "../protocol";
import type { Box } from "../state";
import { attr, el, fresh, plain, svg, text } from "./dom";

const MARGIN = { left: 44, right: 10, top: 10, bottom: 24 };
const STILL = 4; // pixels that a press may move and be a click
const [CLOSEST, FARTHEST] = [1e-9, 1e9]; // widths of a box

export interface PlaneUse {
  testid: string;
  label: string;
  axes: [string, string];
  /** The part that the view asks for has changed. */
  onBox(box: Box): void;
  onFit(): void;
  /** The plane has another size: draw all. */
  onResize(): void;
  onTap?(at: Pair): void;
  onHover?(at: Pair | null): void;
}

export class Plane {
  readonly element: HTMLElement;
  readonly root: SVGSVGElement;
  /** What is drawn in these is cut at the axes. `under` is a drawing of its own below: a change in one of the two
   * leaves the other as it is painted. */
  readonly under: SVGGElement;
  readonly content: SVGGElement;
  /** Where keys put a point. */
  cursor: Pair | null = null;
  box: Box = [-1, 1, -1, 1];
  private asked: Box = [-1, 1, -1, 1];
  private width = 480;
  private height = 400;
  private readonly axes: SVGGElement;
  private readonly frame: SVGRectElement;
  private readonly ground: SVGSVGElement;
  private readonly cuts: SVGRectElement[];
  private readonly cross: SVGPathElement;
  private readonly grid: SVGPathElement;
  private readonly zero: SVGPathElement;
  private readonly pressed = new Map<number, Pair>();
  private start: { box: Box; at: Pair; spread: number; moved: boolean; pinch: boolean } | null = null;

  constructor(private readonly use: PlaneUse) {
    const clips = [fresh("clip"), fresh("clip")];
    this.cuts = clips.map(() => svg("rect"));
    const cut = (k: number): SVGDefsElement => svg("defs", {}, svg("clipPath", { id: clips[k]! }, this.cuts[k]!));
    this.frame = svg("rect", { class: "frame" });
    this.grid = svg("path", { class: "grid" });
    this.zero = svg("path", { class: "zero" });
    this.axes = svg("g", { class: "axes", "data-testid": `${use.testid}-axes`, "aria-hidden": "true" });
    this.cross = svg("path", { class: "cross", d: "M-9 0H9M0 -9V9", display: "none" });
    this.under = svg("g", { "clip-path": `url(#${clips[0]})` }, this.grid, this.zero);
    this.content = svg("g", { "clip-path": `url(#${clips[1]})` });
    this.ground = svg("svg", { class: "under", "aria-hidden": "true" }, cut(0), this.frame, this.under);
    this.root = svg(
      "svg",
      { class: "plane", "data-testid": use.testid, tabindex: 0, role: "group", "aria-label": use.label },
      cut(1),
      this.content,
      this.axes,
      this.cross,
    );
    const button = (name: string, sign: string, act: () => void): HTMLElement =>
      el("button", { type: "button", class: "tiny", "aria-label": name, title: name, onclick: act }, sign);
    const what = use.label.split(":")[0]!;
    this.element = el(
      "div",
      { class: "plane-box" },
      this.ground,
      this.root,
      el(
        "div",
        { class: "zooms" },
        button(`Zoom in, ${what}`, "+", () => this.zoom(0.8)),
        button(`Zoom out, ${what}`, "−", () => this.zoom(1.25)),
        button(`Show all, ${what}`, "⤢", () => use.onFit()),
      ),
    );
    this.listen();
    new ResizeObserver(() => this.measured()).observe(this.element);
  }

  // ---------------------------------------------------------- scales

  x(value: number): number {
    const { left, right } = this.inner();
    return left + ((value - this.box[0]) / (this.box[1] - this.box[0])) * (right - left);
  }

  y(value: number): number {
    const { top, bottom } = this.inner();
    return bottom - ((value - this.box[2]) / (this.box[3] - this.box[2])) * (bottom - top);
  }

  at(px: number, py: number): Pair {
    const { left, right, top, bottom } = this.inner();
    const [a, b, c, d] = this.box;
    return [a + ((px - left) / (right - left)) * (b - a), c + ((bottom - py) / (bottom - top)) * (d - c)];
  }

  /** The place of an event in the plane. */
  place(event: { clientX: number; clientY: number }): Pair {
    const rect = this.root.getBoundingClientRect();
    return this.at(event.clientX - rect.left, event.clientY - rect.top);
  }

  private inner(): { left: number; right: number; top: number; bottom: number } {
    return { left: MARGIN.left, right: this.width - MARGIN.right, top: MARGIN.top, bottom: this.height - MARGIN.bottom };
  }

  private measured(): void {
    const { width, height } = this.root.getBoundingClientRect();
    if (width < 60 || height < 60 || (width === this.width && height === this.height)) return;
    [this.width, this.height] = [width, height];
    this.asked = [...this.asked];
    this.draw();
    this.use.onResize();
  }

  /** Shows at least this box; true where that changes the scales. */
  setBox(asked: Box): boolean {
    if (asked.every((value, i) => value === this.asked[i]) && this.axes.hasAttribute("data-scale")) return false;
    this.asked = asked;
    this.draw();
    return true;
  }

  // ---------------------------------------------------------- drawing

  private draw(): void {
    const { left, right, top, bottom } = this.inner();
    const [a, b, c, d] = this.asked;
    const unit = Math.max((b - a) / (right - left), (d - c) / (bottom - top)); // per pixel, the same on both axes
    const [mx, my, hw, hh] = [(a + b) / 2, (c + d) / 2, (unit * (right - left)) / 2, (unit * (bottom - top)) / 2];
    this.box = [mx - hw, mx + hw, my - hh, my + hh];
    for (const rect of [this.frame, ...this.cuts]) {
      for (const [name, value] of Object.entries({ x: left, y: top, width: right - left, height: bottom - top })) attr(rect, name, value);
    }
    for (const drawing of [this.ground, this.root]) attr(drawing, "viewBox", `0 0 ${this.width} ${this.height}`);
    attr(this.axes, "data-scale", [...this.box, left, right, top, bottom].join(","));
    this.drawTicks(left, right, top, bottom);
    this.drawCross();
  }

  private drawTicks(left: number, right: number, top: number, bottom: number): void {
    const [a, b, c, d] = this.box;
    const step = 70; // pixels between ticks, about
    const xs = ticks(a, b, (right - left) / step);
    const ys = ticks(c, d, (bottom - top) / step);
    const lines = (values: number[], one: (v: number) => string): string => values.map(one).join("");
    const down = (v: number): string => `M${this.x(v)} ${top}V${bottom}`;
    const across = (v: number): string => `M${left} ${this.y(v)}H${right}`;
    attr(this.grid, "d", lines(xs.filter(Boolean), down) + lines(ys.filter(Boolean), across));
    attr(this.zero, "d", (a < 0 && b > 0 ? down(0) : "") + (c < 0 && d > 0 ? across(0) : ""));
    const [first, second] = this.use.axes;
    this.axes.replaceChildren(
      ...xs
        .filter((v) => this.x(v) < right - 26)
        .map((v) => svg("text", { class: "tick-x", x: this.x(v), y: bottom + 15, "text-anchor": "middle" }, plain(v))),
      ...ys
        .filter((v) => this.y(v) > top + 18)
        .map((v) => svg("text", { class: "tick-y", x: left - 6, y: this.y(v) + 4, "text-anchor": "end" }, plain(v))),
      svg("text", { class: "axis-name", x: right, y: bottom + 15, "text-anchor": "end" }, first),
      svg("text", { class: "axis-name", x: left - 6, y: top + 10, "text-anchor": "end" }, second),
    );
  }

  private drawCross(): void {
    const on = this.cursor !== null;
    attr(this.cross, "display", on ? null : "none");
    if (this.cursor) attr(this.cross, "transform", `translate(${this.x(this.cursor[0])} ${this.y(this.cursor[1])})`);
  }

  setLabel(label: string): void {
    attr(this.root, "aria-label", label);
  }

  setAxes(axes: [string, string]): void {
    if (axes.join() === this.use.axes.join()) return;
    this.use.axes = axes;
    const names = this.axes.querySelectorAll(".axis-name");
    names.forEach((name, i) => text(name, axes[i]!));
  }

  // ---------------------------------------------------------- zoom and pan

  zoom(factor: number, at?: Pair): void {
    const [a, b, c, d] = this.box;
    const width = (b - a) * factor;
    if (!(width > CLOSEST && width < FARTHEST)) return;
    const [px, py] = at ?? [(a + b) / 2, (c + d) / 2];
    this.use.onBox([px + (a - px) * factor, px + (b - px) * factor, py + (c - py) * factor, py + (d - py) * factor]);
  }

  private shift(box: Box, dx: number, dy: number): void {
    this.use.onBox([box[0] + dx, box[1] + dx, box[2] + dy, box[3] + dy]);
  }

  private listen(): void {
    const { root } = this;
    root.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const lines = event.deltaMode === 1 ? 16 : 1;
        this.zoom(Math.exp(Math.max(-60, Math.min(event.deltaY * lines, 60)) * 0.004), this.place(event));
      },
      { passive: false },
    );
    root.addEventListener("pointerdown", (event) => this.down(event));
    root.addEventListener("pointermove", (event) => this.move(event));
    root.addEventListener("pointerup", (event) => this.up(event, true));
    root.addEventListener("pointercancel", (event) => this.up(event, false));
    root.addEventListener("pointerleave", () => this.use.onHover?.(null));
    root.addEventListener("keydown", (event) => this.key(event));
    root.addEventListener("blur", () => this.setCursor(null));
  }

  private local(event: PointerEvent): Pair {
    const rect = this.root.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  }

  private begin(): void {
    const all = [...this.pressed.values()];
    const middle = all.reduce(([a, b], [x, y]) => [a + x / all.length, b + y / all.length], [0, 0]) as Pair;
    const spread = all.length > 1 ? Math.hypot(all[0]![0] - all[1]![0], all[0]![1] - all[1]![1]) : 0;
    this.start = { box: [...this.box], at: middle, spread, moved: this.start?.moved ?? false, pinch: all.length > 1 };
  }

  private down(event: PointerEvent): void {
    if (event.button > 0) return;
    this.root.setPointerCapture(event.pointerId);
    this.pressed.set(event.pointerId, this.local(event));
    if (this.pressed.size === 1) this.start = null;
    this.begin();
  }

  private move(event: PointerEvent): void {
    if (!this.pressed.has(event.pointerId)) {
      this.use.onHover?.(this.place(event));
      return;
    }
    this.pressed.set(event.pointerId, this.local(event));
    const { start } = this;
    if (!start) return;
    const all = [...this.pressed.values()];
    const middle = all.reduce(([a, b], [x, y]) => [a + x / all.length, b + y / all.length], [0, 0]) as Pair;
    const [dx, dy] = [middle[0] - start.at[0], middle[1] - start.at[1]];
    if (!start.moved && !start.pinch && Math.hypot(dx, dy) < STILL) return;
    start.moved = true;
    const { left, right, top, bottom } = this.inner();
    const [a, b, c, d] = start.box;
    const spread = all.length > 1 ? Math.hypot(all[0]![0] - all[1]![0], all[0]![1] - all[1]![1]) : 0;
    const factor = start.spread > 0 && spread > 0 ? start.spread / spread : 1;
    const ux = (b - a) / (right - left);
    const uy = (d - c) / (bottom - top);
    // the place that was under the fingers stays under them
    const px = a + (start.at[0] - left) * ux;
    const py = c + (bottom - start.at[1]) * uy;
    const low = [px - (middle[0] - left) * ux * factor, py - (bottom - middle[1]) * uy * factor] as const;
    if (!((b - a) * factor > CLOSEST && (b - a) * factor < FARTHEST)) return;
    this.use.onBox([low[0], low[0] + (b - a) * factor, low[1], low[1] + (d - c) * factor]);
  }

  private up(event: PointerEvent, done: boolean): void {
    if (!this.pressed.delete(event.pointerId) || !this.start) return;
    if (this.pressed.size) return this.begin();
    const { moved } = this.start;
    this.start = null;
    const place = this.place(event);
    const inside = place[0] >= this.box[0] && place[0] <= this.box[1] && place[1] >= this.box[2] && place[1] <= this.box[3];
    if (done && !moved && inside) this.use.onTap?.(place);
  }

  private setCursor(cursor: Pair | null): void {
    this.cursor = cursor;
    this.drawCross();
  }

  private key(event: KeyboardEvent): void {
    if (event.target !== this.root || event.ctrlKey || event.metaKey || event.altKey) return;
    const move = arrow(event, this.box);
    const [a, b, c, d] = this.box;
    if (move) {
      const from = this.cursor ?? [(a + b) / 2, (c + d) / 2];
      const to: Pair = this.cursor || !this.use.onTap ? [from[0] + move[0], from[1] + move[1]] : from;
      const out = to[0] < a || to[0] > b || to[1] < c || to[1] > d;
      if (out || !this.use.onTap) this.shift(this.box, move[0], move[1]);
      if (this.use.onTap) {
        this.setCursor(to);
        this.use.onHover?.(to);
      }
    } else if (event.key === "Enter" && this.use.onTap) {
      if (this.cursor) this.use.onTap(this.cursor);
      else this.setCursor([(a + b) / 2, (c + d) / 2]);
    } else if (event.key === "+" || event.key === "=") this.zoom(0.8, this.cursor ?? undefined);
    else if (event.key === "-") this.zoom(1.25, this.cursor ?? undefined);
    else if (event.key === "0") this.use.onFit();
    else if (event.key === "Escape") this.setCursor(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** By how much an arrow key moves: 1/50 of the box, with Shift 1/10; null for other keys. */
export function arrow(event: KeyboardEvent, box: Box): Pair | null {
  const share = event.shiftKey ? 0.1 : 0.02;
  const step = Math.min(box[1] - box[0], box[3] - box[2]) * share;
  switch (event.key) {
    case "ArrowLeft":
      return [-step, 0];
    case "ArrowRight":
      return [step, 0];
    case "ArrowUp":
      return [0, step];
    case "ArrowDown":
      return [0, -step];
    default:
      return null;
  }
}

// ------------------------------------------------------------ shapes

/** A class by its shape as well as its colour: circle, square, triangle, diamond, triangle down, pentagon. */
const markers = (r: number): string[] => [
  `m${5 * r} 0a${5 * r} ${5 * r} 0 1 1 ${-10 * r} 0a${5 * r} ${5 * r} 0 1 1 ${10 * r} 0z`,
  `m${-4.6 * r} ${-4.6 * r}h${9.2 * r}v${9.2 * r}h${-9.2 * r}z`,
  `m0 ${-6.2 * r}l${5.6 * r} ${10.4 * r}h${-11.2 * r}z`,
  `m0 ${-6.4 * r}l${5.4 * r} ${6.4 * r}l${-5.4 * r} ${6.4 * r}l${-5.4 * r} ${-6.4 * r}z`,
  `m0 ${6.2 * r}l${5.6 * r} ${-10.4 * r}h${-11.2 * r}z`,
  `m0 ${-6 * r}l${5.7 * r} ${4.1 * r}l${-2.2 * r} ${6.8 * r}h${-7 * r}l${-2.2 * r} ${-6.8 * r}z`,
];
const [OUTLINED, FILLED] = [markers(1), markers(1.2)];

export const SHAPES = ["circle", "square", "triangle", "diamond", "triangle-down", "pentagon"];

/** The marker of a class around a place. `filled`: it has no outline, which takes longer to paint than the rest, and is
 * as large as others are with theirs. */
export function marker(code: number, x = 0, y = 0, filled = false): string {
  return `M${x} ${y}${(filled ? FILLED : OUTLINED)[code % OUTLINED.length]!}`;
}

/** A polygon as the text of `d`. */
export function outline(plane: Plane, polygon: readonly Pair[]): string {
  if (polygon.length < 3) return "";
  return "M" + polygon.map(([x, y]) => `${round(plane.x(x))} ${round(plane.y(y))}`).join("L") + "Z";
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
