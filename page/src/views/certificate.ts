// The certificate, live: what is proved at this visit, and the text of the whole run at its end.

import type { OneRun, Written } from "../protocol";
import { type MakeView, placeAt, type Shown, visits } from "../state";
import { leastBound } from "./charts/bounds";
import { bracket, counted, counts, isOther, type Proof, proofOf } from "./charts/numbers";
import { down, short, up } from "./charts/scale";
import { el, show, text } from "./dom";
import { save } from "./saving";

/** "holds": proved; "open": not yet so; "none": nothing is claimed. */
export interface Claim {
  state: "holds" | "open" | "none";
  text: string;
}

const SIGNS = { holds: "✓", open: "○", none: "–" };
const SPOKEN = { holds: "proved: ", open: "not so yet: ", none: "no claim: " };
const MOST_CLAIMS = 8;

export const certificateView: MakeView = () => {
  const lines = Array.from({ length: MOST_CLAIMS }, () => {
    const parts = { sign: el("span", { class: "claim-sign", "aria-hidden": "true" }), spoken: el("span", { class: "unseen" }), words: el("span") };
    return { ...parts, item: el("li", {}, parts.sign, parts.spoken, parts.words) };
  });
  const title = el("h3", { class: "certificate-title" }, "Proved so far");
  const whole = el("pre", { class: "certificate-text", tabindex: "0", "aria-label": "Certificate of the whole run" });
  const file = el("button", { type: "button", class: "small", "data-testid": "certificate-json" }, "Save as JSON");
  const details = el("details", { class: "certificate-whole" }, el("summary", {}, "The certificate of the whole run"), whole, file);
  const element = el("section", { class: "certificate", "data-testid": "certificate", "aria-label": "Certificate" }, title, el("ul", { class: "claims" }, ...lines.map(({ item }) => item)), details);
  let json = "";
  let claimsOf: (step: number) => Claim[] = () => [];
  file.addEventListener("click", () => save("certificate.json", json, "application/json"));

  function draw(shown: Shown): void {
    const claims = claimsOf(shown.step);
    lines.forEach(({ item, sign, spoken, words }, i) => {
      const claim = claims[i];
      show(item, claim !== undefined);
      if (claim === undefined) return;
      item.dataset["state"] = claim.state;
      text(sign, SIGNS[claim.state]);
      text(spoken, SPOKEN[claim.state]);
      text(words, claim.text);
    });
  }

  return {
    element,
    update(shown, before) {
      const run = shown.runs[shown.active];
      if (run !== before?.runs[before.active] || before === null) {
        claimsOf = run === undefined ? () => [] : liveClaims(run);
        show(details, run?.certificate != null);
        text(whole, run?.certificate?.text ?? "");
        json = run?.certificate?.json ?? "";
      } else if (shown.step === before.step) return;
      draw(shown);
    },
  };
};

/** What is proved after `step` visits; made once per run, so that a step costs little. */
export function liveClaims(run: OneRun): (step: number) => Claim[] {
  const [proof, ends, free, mistakes, T] = [proofOf(run), bracket(run), bracket(run, "free"), counts(run, "n_mistakes"), visits(run)];
  const updates = counts(run, "n_updates");
  return (asked) => {
    const step = Math.min(asked, T);
    return [
      { state: "holds", text: `${counted(mistakes[step]!, "mistake")} and ${counted(updates[step]!, "update")} in ${counted(step, "visit")}.` },
      ...boundClaims(run),
      ...proofClaims(run, proof, step),
      ...marginClaims(run, ends, step),
      ...freeClaims(free, step),
      ...(step === T ? [{ state: "holds" as const, text: endOf(run) }] : []),
    ];
  };
}

/** Reasons to stop are those of the library. */
function endOf(run: OneRun): string {
  const words: Record<string, string> = { max_steps: "it was cut after so many visits", max_iter: "so many epochs were asked for" };
  return `The run ends here: ${words[run.reason] ?? run.reason}.`;
}

function boundClaims(run: OneRun): Claim[] {
  const least = leastBound(run);
  return [least === null ? { state: "none", text: "No theorem bounds the mistakes of this run." } : { state: "holds", text: least }];
}

function proofClaims(run: OneRun, proof: Proof | null, step: number): Claim[] {
  if (isOther(run)) return [];
  if (proof === null || proof.gamma === null) return [{ state: "none", text: "No u with a margin γ > 0 is known: nothing is claimed of u·w." }];
  const { dotBound, dot, norm, normBound, k } = proof;
  const parts = [];
  if (dotBound) parts.push(`${proof.plain ? `kγ = ${k[step]}·${short(proof.gamma, 4)}` : "γ·Στ"} = ${short(dotBound[step], 4)}`);
  parts.push(`u·w = ${short(dot[step], 4)}`, `‖w‖ = ${short(norm[step], 4)}`);
  if (normBound) parts.push(`${proof.plain ? "√k·R" : "its bound"} = ${short(normBound[step], 4)}`);
  return [{ state: "holds", text: `${parts.join(" ≤ ")}.` }];
}

function marginClaims(run: OneRun, ends: ReturnType<typeof bracket>, step: number): Claim[] {
  const place = placeAt(run, step);
  if (place === null || step === 0) return [];
  const { trace } = place.segment;
  const claims: Claim[] = [];
  const [now, low, high] = [one(trace.gamma_low?.[place.i - 1]), ends.low[step], ends.up[step]];
  const where = trace.space ? ` (${trace.space})` : "";
  if (now === "-inf") claims.push({ state: "open", text: "w does not separate the rows." });
  else if (typeof now === "number" && now > 0) claims.push({ state: "holds", text: `w separates the rows, with margin at least ${down(now)}${where}.` });
  if (low != null && !(typeof now === "number" && low <= now * (1 + 1e-6))) claims.push({ state: "holds", text: `An earlier w had margin ${down(low)}: γ* ≥ ${down(low)}.` });
  if (high != null) claims.push({ state: "holds", text: `No separator has a margin above ${up(high)}${where}${lengthOverSteps(trace, place.i - 1, high)}.` });
  return claims;
}

/** The margin of the rows as given, with a boundary anywhere. */
function freeClaims({ low, up: high }: ReturnType<typeof bracket>, step: number): Claim[] {
  const [a, b] = [low[step], high[step]];
  const parts = [...(a == null ? [] : [`at least ${down(a)}`]), ...(b == null ? [] : [`at most ${up(b)}`])];
  return parts.length === 0 ? [] : [{ state: "holds", text: `With a free offset the best margin is ${parts.join(" and ")}.` }];
}

/** ": ‖w‖/Στ = 2.24/2" where that is the end of this very visit. */
function lengthOverSteps(trace: OneRun["segments"][number]["trace"], i: number, high: number): string {
  const [sum, norm2, here] = [one(trace.step_sum?.[i]), trace.norm2[i], one(trace.gamma_up?.[i])];
  if (typeof sum !== "number" || typeof norm2 !== "number" || here !== high || !(sum > 0)) return "";
  const length = Math.sqrt(norm2);
  return Math.abs(length / sum - high) <= 1e-6 * high ? `: ‖w‖/Στ = ${short(length)}/${short(sum)}` : "";
}

function one(value: Written | Written[] | undefined): Written | undefined {
  return Array.isArray(value) ? undefined : value;
}
