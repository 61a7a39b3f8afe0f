// Guided tours: a sequence of states, each with a short text whose numbers are those of the run that is shown.

import type { Scene } from "../protocol";
import { type Actions, type MakeView, type Shown, visits } from "../state";
import { el, fresh, show, text } from "./dom";
import { type Stop, TOURS, type Tour } from "./tour_stops";

export const toursView: MakeView = (actions) => {
  const guide = new Guide(actions);
  return { element: guide.element, update: (shown) => guide.update(shown) };
};

class Guide {
  readonly element: HTMLElement;
  private readonly panel: HTMLElement;
  private readonly title = el("h3", { tabindex: "-1", id: fresh("tour") });
  private readonly words = el("p", { id: fresh("tour-text") });
  private readonly place = el("span", { class: "tour-place" });
  private readonly back = el("button", { type: "button", "data-testid": "tour-back", onclick: () => this.goTo(this.at - 1) }, "Back");
  private readonly next = el("button", { type: "button", class: "primary", "data-testid": "tour-next", onclick: () => this.goTo(this.at + 1) }, "Next");
  private shown: Shown | null = null;
  private tour: Tour | null = null;
  private stops: Stop[] = [];
  private at = 0;
  private awaited: Scene | null = null; // the scene whose run the stop waits for
  private before: { scene: Scene; step: number; options: Shown["options"] } | null = null;
  private opener: HTMLElement | null = null;
  private target: Element | null = null;

  constructor(private readonly actions: Actions) {
    const close = el("button", { type: "button", "data-testid": "tour-close", title: "Back to my points", onclick: () => this.close(true) }, "Close");
    const stay = el("button", { type: "button", "data-testid": "tour-stay", onclick: () => this.close(false) }, "Stay here");
    this.panel = el(
      "div",
      { class: "tour-panel", role: "dialog", "aria-labelledby": this.title.id, "aria-describedby": this.words.id, "data-testid": "tour", hidden: true },
      this.place,
      this.title,
      this.words,
      el("div", { class: "tour-buttons" }, this.back, this.next, el("span", { class: "tour-gap" }), stay, close),
    );
    this.panel.addEventListener("keydown", (event) => this.key(event));
    const buttons = TOURS.map((tour) => {
      const button = el("button", { type: "button", "data-testid": tour.testid, "aria-haspopup": "dialog", onclick: () => this.open(tour, button) }, tour.name);
      return button;
    });
    this.element = el("div", { class: "tours" }, ...buttons, this.panel);
  }

  update(shown: Shown): void {
    this.shown = shown;
    if (this.tour === null) return;
    if (this.awaited !== null && !shown.busy && shown.runs.length > 0) {
      this.awaited = null;
      this.arrive();
    }
  }

  private open(tour: Tour, opener: HTMLElement): void {
    if (this.shown === null) return;
    this.before ??= { scene: this.shown.scene, step: this.shown.step, options: this.shown.options };
    [this.tour, this.opener] = [tour, opener];
    this.stops = tour.stops.filter((stop) => !stop.live || !this.shown!.readOnly);
    show(this.panel, true);
    this.goTo(0);
  }

  private close(restore: boolean): void {
    show(this.panel, false);
    this.point(null);
    this.tour = this.awaited = null;
    if (restore && this.before !== null) {
      this.actions.setOptions(this.before.options);
      this.actions.restore(this.before.scene, this.before.step);
    }
    this.before = null;
    this.opener?.focus();
  }

  private goTo(at: number): void {
    if (at >= this.stops.length) return this.close(true);
    if (at < 0 || this.shown === null) return;
    this.at = at;
    const stop = this.stops[at]!;
    text(this.place, `${this.tour!.name}: ${at + 1} of ${this.stops.length}`);
    text(this.title, stop.title);
    text(this.words, "…");
    this.back.disabled = at === 0;
    text(this.next, at === this.stops.length - 1 ? "End" : "Next");
    this.panel.dataset["side"] = stop.side;
    this.actions.play(false);
    if (stop.options) this.actions.setOptions(stop.options);
    const scene = stop.scene(this.shown);
    this.awaited = scene;
    this.actions.restore(scene, 0);
    this.title.focus();
  }

  /** The run of the stop is there: go to its visit, and say its numbers. */
  private arrive(): void {
    const stop = this.stops[this.at]!;
    const run = this.shown!.runs[0]!;
    this.actions.goTo(Math.min(stop.visit(run), visits(run)));
    text(this.words, this.shown!.error ?? stop.text(run));
    this.point(stop.target);
  }

  /** Marks the part of the page that a stop is about. */
  private point(testid: string | null): void {
    this.target?.classList.remove("tour-target");
    const found = testid === null ? null : (this.element.closest(".plab")?.querySelector(`[data-testid="${testid}"]`) ?? null);
    this.target = found;
    found?.classList.add("tour-target");
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") this.close(true);
    else if (event.key === "ArrowRight") this.goTo(this.at + 1);
    else if (event.key === "ArrowLeft") this.goTo(this.at - 1);
    else if (event.key === "Tab" || event.key === "Enter" || event.key === " ") return event.stopPropagation();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
