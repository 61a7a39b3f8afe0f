// Stepping through a run: buttons, the slider of visits, speed.
import type { Actions, Shown, View } from "../state";
import { mistakesUpTo, totalVisits, updatesUpTo, visit } from "../state";
import { attr, el, plain, show, svg, text } from "./dom";

const [SLOWEST, FASTEST] = [0.5, 200]; // visits per second

const ICONS = {
  first: "M6 5v14M19 5v14L9 12z",
  back: "M16 5v14L7 12z",
  play: "M7 4.5v15L20 12z",
  pause: "M8 5v14M16 5v14",
  step: "M8 5v14l9-7z",
  last: "M18 5v14M5 5v14l10-7z",
  mistake: "M4 5v14l8-7zM14 8l6 8M20 8l-6 8",
};

function icon(name: keyof typeof ICONS): SVGSVGElement {
  return svg("svg", { viewBox: "0 0 24 24", class: `icon icon-${name}`, "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

export function makeControls(actions: Actions): View {
  return new Controls(actions);
}

class Controls implements View {
  readonly element: HTMLElement;
  private readonly playing: HTMLButtonElement;
  private readonly faces = { play: icon("play"), pause: icon("pause") };
  private readonly slider: HTMLInputElement;
  private readonly position = el("output", { class: "position", "data-testid": "position", for: "" });
  private readonly speed: HTMLInputElement;
  private readonly said = el("output", { class: "speed-said" });
  private readonly counts = el("span", { class: "counts", "data-testid": "counts" });
  private readonly backward: HTMLButtonElement[] = [];
  private readonly forward: HTMLButtonElement[] = [];

  constructor(actions: Actions) {
    const goBy = (visits: number): void => actions.goTo(actions.shown.step + visits);
    const first = this.button("first", "To the start (Home)", "first", () => actions.goTo(0));
    const back = this.button("back", "One visit back (,)", "back", () => goBy(-1));
    this.playing = this.button("play", "Play (Space)", "play", () => actions.play(!actions.shown.playing));
    this.playing.classList.add("primary");
    const forth = this.button("step", "One visit on (.)", "step", () => goBy(1));
    const mistake = this.button("next-mistake", "To the next mistake (m)", "mistake", () => actions.nextMistake());
    const last = this.button("last", "To the end (End)", "last", () => actions.goTo(Infinity));
    this.backward.push(first, back);
    this.forward.push(forth, mistake, last);
    this.slider = el("input", {
      type: "range",
      class: "visits",
      min: 0,
      step: 1,
      value: 0,
      "aria-label": "visits made",
      "data-testid": "visits",
      oninput: () => actions.goTo(this.slider.valueAsNumber),
    });
    this.speed = el("input", {
      type: "range",
      min: Math.log(SLOWEST),
      max: Math.log(FASTEST),
      step: "any",
      "aria-label": "speed, visits per second",
      "data-testid": "speed",
      oninput: () => actions.setSpeed(Math.exp(this.speed.valueAsNumber)),
    });
    this.element = el(
      "div",
      { class: "controls", role: "group", "aria-label": "steps of the run" },
      el("div", { class: "buttons" }, first, back, this.playing, forth, mistake, last),
      this.slider,
      this.position,
      el("label", { class: "speed" }, el("span", {}, "speed"), this.speed, this.said),
      this.counts,
    );
  }

  private button(testid: string, name: string, face: keyof typeof ICONS, act: () => void): HTMLButtonElement {
    return el("button", { type: "button", "data-testid": testid, "aria-label": name, title: name, onclick: act }, icon(face));
  }

  update(shown: Shown, before: Shown | null): void {
    const last = totalVisits(shown.runs);
    const { step } = shown;
    attr(this.slider, "max", last);
    if (this.slider.valueAsNumber !== step) this.slider.value = String(step);
    const said = `visit ${step} of ${last}`;
    attr(this.slider, "aria-valuetext", said);
    text(this.position, said);
    if (!before || before.playing !== shown.playing) {
      this.playing.replaceChildren(shown.playing ? this.faces.pause : this.faces.play);
      const name = shown.playing ? "Pause (Space)" : "Play (Space)";
      attr(this.playing, "aria-label", name);
      attr(this.playing, "title", name);
      attr(this.playing, "aria-pressed", String(shown.playing));
    }
    for (const button of this.backward) setOff(button, step <= 0);
    for (const button of this.forward) setOff(button, step >= last);
    setOff(this.playing, !last);
    if (!before || before.speed !== shown.speed) {
      this.speed.value = String(Math.log(shown.speed));
      const speed = `${plain(shown.speed, 2)} visits per second`;
      attr(this.speed, "aria-valuetext", speed);
      text(this.said, `${plain(shown.speed, 2)}/s`);
    }
    const run = shown.runs[shown.active];
    show(this.counts, run !== undefined);
    if (!run) return;
    const [mistakes, updates] = [mistakesUpTo(run, step), updatesUpTo(run, step)];
    const seen = visit(run, step - 1);
    const epoch = seen ? `epoch ${seen.trace.epoch[seen.i]! + 1} · ` : "";
    text(this.counts, `${epoch}${mistakes} ${mistakes === 1 ? "mistake" : "mistakes"} · ${updates} ${updates === 1 ? "update" : "updates"}`);
  }
}

/** A button that has nothing to do keeps the focus, so it is not disabled outright. */
function setOff(button: HTMLButtonElement, off: boolean): void {
  attr(button, "aria-disabled", off ? "true" : null);
}
