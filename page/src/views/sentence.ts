// The update written out with its numbers, one sentence for each visit.
import type { OneRun } from "../protocol";
import type { Shown, View } from "../state";
import { visit, visits } from "../state";
import { attr, el, show, text } from "./dom";

const EVERY = 2500; // milliseconds between announcements while a run plays

/** What is said of a run after `step` visits. */
export function sentenceAt(run: OneRun | undefined, step: number): string {
  if (!run) return "";
  const last = visits(run);
  if (!last) return run.reason;
  if (step <= 0) return "Before the first visit. Step, or play, to see the run.";
  const said = run.sentences[Math.min(step, last) - 1] ?? "";
  return step >= last ? `${said} Stopped: ${run.reason}.` : said;
}

export function makeSentence(): View {
  return new Sentence();
}

class Sentence implements View {
  private readonly lines = [0, 1].map((which) => el("p", { class: "sentence", "data-testid": which ? "sentence-2" : "sentence" }));
  private readonly spoken = el("div", { class: "visually-hidden", "aria-live": "polite" });
  readonly element = el("div", { class: "sentences" }, ...this.lines, this.spoken);
  private last = 0;
  private played = false;

  constructor() {
    this.lines.forEach((line) => line.setAttribute("aria-live", "polite"));
  }

  update(shown: Shown): void {
    const two = shown.runs.length > 1;
    this.lines.forEach((line, which) => {
      const run = shown.runs[which];
      show(line, run !== undefined);
      attr(line, "aria-live", shown.playing ? "off" : "polite");
      attr(line, "data-kind", (run && kindAt(run, shown.step)) ?? "none");
      text(line, `${two ? `${"AB"[which]}: ` : ""}${sentenceAt(run, shown.step)}`);
    });
    const now = performance.now();
    const paused = this.played && !shown.playing; // the line may be as it was, and would not be read out
    this.played = shown.playing;
    if (paused || (shown.playing && now - this.last > EVERY)) {
      this.last = now;
      text(this.spoken, `Visit ${shown.step}. ${sentenceAt(shown.runs[shown.active], shown.step)}`);
    } else if (!shown.playing) text(this.spoken, "");
  }
}

function kindAt(run: OneRun, step: number): string | null {
  const seen = visit(run, Math.min(step, visits(run)) - 1);
  return seen ? seen.trace.kind[seen.i]! : null;
}
