// "Why is it slow?": R, γ and (R/γ)² of the run, and what a constant coordinate, centring and noise do to them.

import type { OneRun, Scene, Value } from "../protocol";
import type { Source } from "../source";
import { type Actions, type MakeView, type Shown, type View, visits } from "../state";
import { counted, counts, isOther, lineOf, proofOf } from "./charts/numbers";
import { down, short, up } from "./charts/scale";
import { attr, el, fresh, show, text } from "./dom";

/** The constants that the comparison tries. */
const CONSTANTS = [0.1, 0.3, 1, 3, 10, 30, 100];

export const whyView: MakeView = (actions, source) => new WhyView(actions, source);

class WhyView implements View {
  readonly element: HTMLElement;
  private readonly account = el("p", { class: "why-account" });
  private readonly reason = el("p", { class: "hint" });
  private readonly advice = el("div", { class: "why-advice" });
  private readonly scaling = new Slider("scaling", "Constant coordinate B (intercept_scaling)", -1, 2, 0.05, (power) => this.setScaling(10 ** power));
  private readonly noise = new Slider("noise", "Labels turned round", 0, 0.5, 0.01, (share) => this.actions.setScene({ noise: share }));
  private readonly center = new Slider("center", "Share of the mean that is subtracted from the rows", 0, 1, 0.05, (share) => this.actions.setScene({ center: share }));
  private readonly compare = el("button", { type: "button", "data-testid": "try-constants", onclick: () => void this.tryAll() }, "Compare constants and centring");
  private readonly progress = el("p", { class: "hint", role: "status" });
  private readonly tried = el("tbody");
  private readonly table = el("table", { class: "why-table", "data-testid": "why-table", hidden: true }, head("rows", "R", "γ", "(R/γ)²", "updates"), this.tried);
  private asked: AbortController | null = null;
  private shown: Shown | null = null;

  constructor(
    private readonly actions: Actions,
    private readonly source: Source,
  ) {
    this.element = el(
      "div",
      { class: "why" },
      this.account,
      this.reason,
      this.scaling.element,
      this.center.element,
      this.noise.element,
      this.compare,
      this.progress,
      this.table,
      this.advice,
    );
  }

  update(shown: Shown, before: Shown | null): void {
    this.shown = shown;
    if (before !== null && before.scene === shown.scene && before.runs === shown.runs && before.active === shown.active) return;
    if (before?.scene !== shown.scene) this.forget();
    const run = shown.runs[shown.active];
    text(this.account, run ? accountOf(run) : "No run yet.");
    text(this.reason, run ? reasonOf(run) : "");
    this.drawControls(shown);
    this.drawAdvice(run);
  }

  // ---------------------------------------------------------- controls

  private drawControls({ scene, ran, runs, readOnly, active }: Shown): void {
    const B = scalingOf(this.shown!);
    const turned = new Set((runs[active]?.segments ?? []).flatMap(({ turned }) => turned)).size;
    this.scaling.draw(Math.log10(B ?? 1), B === null ? "this learner has none" : `B = ${short(B)}`, readOnly || B === null);
    this.noise.draw(scene.noise, `${short(100 * scene.noise)} %${scene.noise > 0 && ran === scene ? `, ${counted(turned, "row")}` : ""}`, readOnly);
    this.center.draw(scene.center, centring(scene.center), readOnly);
    show(this.compare, !readOnly && B !== null);
  }

  private setScaling(B: number): void {
    this.actions.setScene({ learner: withScaling(this.actions.shown.scene, Number(B.toPrecision(3))).learner });
  }

  // ---------------------------------------------------------- comparing

  /** Asks for a run with each constant, and with the rows centred; one after the other. */
  private async tryAll(): Promise<void> {
    if (this.shown === null) return;
    this.forget();
    const asked = (this.asked = new AbortController());
    const scene: Scene = { ...this.shown.scene, second: null, edits: [] };
    const wanted: [string, Scene][] = CONSTANTS.map((B) => [`B = ${B}`, { ...withScaling(scene, B), center: 0 }]);
    wanted.push(["centred, B = 1", { ...withScaling(scene, 1), center: 1 }]);
    show(this.table, true);
    const found: { name: string; run: OneRun }[] = [];
    try {
      for (const [name, one] of wanted) {
        text(this.progress, `Run ${found.length + 1} of ${wanted.length}…`);
        const answer = await this.source.run(one, asked.signal);
        if (asked !== this.asked) return;
        found.push({ name, run: answer.runs[0]! });
        this.drawTried(found);
      }
      text(this.progress, verdict(found));
    } catch (error) {
      if (asked === this.asked) text(this.progress, error instanceof Error ? error.message : String(error));
    }
  }

  private forget(): void {
    this.asked?.abort();
    this.asked = null;
    this.tried.replaceChildren();
    show(this.table, false);
    text(this.progress, "");
  }

  private drawTried(found: { name: string; run: OneRun }[]): void {
    this.tried.replaceChildren(...rowsOf(found.map(({ name, run }) => ({ name, ...measured(run) }))));
  }

  /** What the library found for a perceptron: its first sentence, and a line for each treatment of the rows. */
  private drawAdvice(run: OneRun | undefined): void {
    const advice = run?.advice;
    const treatments = (advice?.["treatments"] ?? []) as Treatment[];
    if (!advice) return this.advice.replaceChildren();
    const body = el("tbody", {}, ...rowsOf(treatments));
    const table = el("table", { class: "why-table", "data-testid": "advice-table" }, head("a perceptron, rows", "R", "γ", "(R/γ)²", "updates"), body);
    this.advice.replaceChildren(el("h3", {}, "Advice of the library"), el("p", {}, advice.text.split("\n")[0]!), table);
  }
}

/** R, γ and (R/γ)² of rows that were treated somehow, and the updates of a run on them. */
interface Treatment {
  name: string;
  R: number | null;
  gamma: number | null;
  ratio: number | null;
  updates: number;
  /** There was a clean pass. */
  clean: boolean;
}

function measured(run: OneRun): Omit<Treatment, "name"> {
  const proof = proofOf(run);
  return { R: proof?.radius ?? null, gamma: proof?.gamma ?? null, ratio: ratioOf(run), updates: made(run), clean: run.reason === "clean pass" };
}

/** The lines of a table; that of the least (R/γ)² stands out, "+" is after updates that no clean pass ended. */
function rowsOf(found: Treatment[]): HTMLElement[] {
  const least = Math.min(...found.map(({ ratio }) => ratio ?? Infinity));
  return found.map(({ name, R, gamma, ratio, updates, clean }) => {
    const cells = [up(R, 4), gamma === null ? "none" : down(gamma, 4), ratio === null ? "–" : up(ratio, 4), `${updates}${clean ? "" : "+"}`];
    return el("tr", { class: ratio !== null && ratio === least ? "least" : null }, el("th", { scope: "row" }, name), ...cells.map((cell) => el("td", {}, cell)));
  });
}

/** Milliseconds. */
const REST = 180;

/** A range with its name and its value. */
class Slider {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  private resting = 0;
  private readonly value = el("output", { class: "why-value" });

  constructor(testid: string, name: string, low: number, high: number, step: number, onChange: (value: number) => void) {
    const id = fresh(testid);
    this.input = el("input", { type: "range", id, min: low, max: high, step, "data-testid": testid, oninput: () => this.wait(onChange) });
    this.element = el("div", { class: "why-slider" }, el("label", { for: id }, name), this.value, this.input);
  }

  /** The change is made when the slider has rested for a moment: each one asks for a run. */
  private wait(onChange: (value: number) => void): void {
    clearTimeout(this.resting);
    this.resting = window.setTimeout(() => {
      this.resting = 0;
      onChange(Number(this.input.value));
    }, REST);
  }

  draw(value: number, words: string, disabled: boolean): void {
    if (this.resting) return;
    if (Math.abs(Number(this.input.value) - value) > Number(this.input.step) / 2) this.input.value = String(value);
    this.input.disabled = disabled;
    text(this.value, words);
    attr(this.input, "aria-valuetext", words);
  }
}

function head(...names: string[]): HTMLElement {
  return el("thead", {}, el("tr", {}, ...names.map((name) => el("th", { scope: "col" }, name))));
}

// ------------------------------------------------------------------------------------------------ numbers

function made(run: OneRun): number {
  return counts(run, "n_updates")[visits(run)]!;
}

/** (R/γ)², by the comparator of the run; null where there is none with a margin. */
export function ratioOf(run: OneRun): number | null {
  const proof = proofOf(run);
  return proof === null || proof.gamma === null ? null : (proof.radius / proof.gamma) ** 2;
}

/** R, γ, (R/γ)² and the updates of a run, in a sentence. */
export function accountOf(run: OneRun): string {
  const [proof, ratio] = [proofOf(run), ratioOf(run)];
  const done = `${counted(made(run), "update")} in ${counted(visits(run), "visit")}`;
  if (isOther(run)) return `${done}. (R/γ)² is about two classes and a w of numbers.`;
  if (proof === null || ratio === null) return `${done}. No separator of these rows is known, so there is no γ, and (R/γ)² bounds nothing.`;
  return `R = ${up(proof.radius, 4)}, γ = ${down(proof.gamma, 4)}, (R/γ)² ≤ ${up(ratio, 4)}; ${done}.`;
}

/** What the constant coordinate costs. */
export function reasonOf(run: OneRun): string {
  const line = lineOf(run);
  const B = short(run.segments[run.segments.length - 1]?.trace.bias);
  if (line === null) return "";
  return `R and γ are those of the rows (x, B), B = ${B}. There, a line at distance d from the origin has its margin multiplied by 1/√(1 + d²/B²). That of the best u is at d = ${short(line.distance)}, and ${short(line.nearest)} away from the nearest row.`;
}

function verdict(found: { name: string; run: OneRun }[]): string {
  const known = found.flatMap(({ name, run }) => (ratioOf(run) === null ? [] : [{ name, ratio: ratioOf(run)! }]));
  if (known.length === 0) return "With none of these a separator is known.";
  const [least, largest] = known.reduce(([a, b], one) => [one.ratio < a.ratio ? one : a, one.ratio > b.ratio ? one : b], [known[0]!, known[0]!]);
  return `(R/γ)² is smallest with ${least.name}, ${up(least.ratio, 4)}, and largest with ${largest.name}, ${up(largest.ratio, 4)}.`;
}

// ------------------------------------------------------------------------------------------- the constant B

function centring(share: number): string {
  return share === 0 ? "0 %, as given" : share === 1 ? "100 %, centred" : `${short(100 * share)} %`;
}

/** intercept_scaling of the learner; null where it has none or no intercept. */
export function scalingOf({ scene, catalog, runs, active }: Pick<Shown, "scene" | "catalog" | "runs" | "active">): number | null {
  const params = catalog.learners.find(({ name }) => name === scene.learner.name)?.params ?? [];
  const known = params.find(({ name }) => name === "intercept_scaling");
  if (known === undefined || valueOf(scene, params, "fit_intercept") === false) return null;
  const value = valueOf(scene, params, "intercept_scaling");
  if (typeof value === "number") return value > 0 ? value : null;
  return runs[active]?.segments[0]?.trace.bias || 1; // "auto": what the run took
}

function valueOf(scene: Scene, params: { name: string; default: Value }[], name: string): Value | undefined {
  return scene.learner.params[name] ?? params.find((param) => param.name === name)?.default;
}

function withScaling(scene: Scene, B: number): Scene {
  return { ...scene, learner: { ...scene.learner, params: { ...scene.learner.params, intercept_scaling: B } } };
}
