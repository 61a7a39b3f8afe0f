// A chart of a run: lines over visits, with the current visit as a vertical line that keys and pointers move.

import type { Actions, Shown, View } from "../../state";
import { el, fresh, svg } from "../dom";
import { type Drawn, drawNothing, drawPlot } from "./drawing";
import type { Plot } from "./plot";

/** What to draw, or one sentence that says why there is nothing to draw. */
export type MakePlot = (shown: Shown) => Plot | string;

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
