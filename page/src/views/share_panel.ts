// Sharing: a link, a JSON file, pictures, and the script that gives the same numbers.

import type { OneRun } from "../protocol";
import { encode, sceneFromJson, toJson } from "../share";
import type { MakeView, Shown } from "../state";
import { el, text } from "./dom";
import { png, sheet, svgText } from "./pictures";
import { save } from "./saving";

/** What can be exported: a name, the test ids of its drawings, how many in a row. */
const PICTURES: [string, string[], number][] = [
  ["x-space and w-space", ["xspace", "wspace", "kernel"], 2],
  ["x-space", ["xspace"], 1],
  ["w-space, or the kernel's regions", ["wspace", "kernel"], 1],
  ["all charts", ["chart-mistakes", "chart-proof", "chart-bracket", "chart-errors"], 2],
  ["chart of mistakes", ["chart-mistakes"], 1],
  ["chart of the proof", ["chart-proof"], 1],
  ["chart of the bracket", ["chart-bracket"], 1],
  ["chart of the errors", ["chart-errors"], 1],
];

export const sharePanel: MakeView = (actions) => {
  let shown: Shown | null = null;
  const button = (testid: string, name: string, act: () => void | Promise<void>): HTMLButtonElement =>
    el("button", { type: "button", "data-testid": testid, onclick: () => void attempt(act) }, name);
  const status = el("p", { class: "share-status", role: "status" });
  const url = el("input", { type: "text", readonly: true, "data-testid": "share-url", "aria-label": "Link to what is shown", onfocus: () => url.select() });
  const file = el("input", { type: "file", class: "visually-hidden", accept: ".json,application/json", "data-testid": "open-json", onchange: () => void attempt(open) });
  const what = el("select", { "data-testid": "export-what", "aria-label": "Which picture" }, ...PICTURES.map(([name], i) => el("option", { value: i }, name)));
  const code = el("pre", { class: "python-code", "data-testid": "python-code", tabindex: "0", "aria-label": "Python script of this run" });
  const element = el(
    "div",
    { class: "share-panel" },
    part("Link", el("p", { class: "hint" }, "Points, learner, seed, order and visit are in the part after #, and nowhere else. Put it behind the address of any lab."), el("div", { class: "share-row" }, button("share-link", "Copy link", link), url)),
    part("File", el("div", { class: "share-row" }, button("share-json", "Save as JSON", saveJson), el("label", { class: "file" }, "Open JSON…", file))),
    part("Picture", el("div", { class: "share-row" }, what, button("export-svg", "SVG", exportSvg), button("export-png", "PNG", exportPng))),
    part("Python", el("div", { class: "share-row" }, button("copy-python", "Copy as Python", () => copy(code.textContent ?? "", "The script is copied."))), code),
    status,
  );

  async function attempt(act: () => void | Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      text(status, error instanceof Error ? error.message : String(error));
    }
  }

  function saveJson(): void {
    if (shown !== null) save("perceptron-lab.json", toJson(shown), "application/json");
  }

  async function link(): Promise<void> {
    if (shown === null) return;
    const fragment = encode(shown);
    const address = new URL(location.href);
    address.search = "";
    address.hash = fragment;
    url.value = address.href;
    if (element.closest("#lab") !== null) history.replaceState(history.state, "", `${location.pathname}${location.search}#${fragment}`);
    await copy(address.href, "The link is copied.");
  }

  /** Browsers may refuse the clipboard; then the text is there to be copied by hand. */
  async function copy(words: string, done: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(words);
      text(status, done);
    } catch {
      text(status, "The browser does not let the page copy: select the text and copy it.");
    }
  }

  async function open(): Promise<void> {
    const chosen = file.files?.[0];
    if (chosen === undefined) return;
    file.value = "";
    const { scene, step } = sceneFromJson(await chosen.text());
    actions.restore(scene, step);
    text(status, `${chosen.name} is open.`);
  }

  function pictures(): { name: string; drawn: SVGSVGElement } {
    const [, ids, across] = PICTURES[Number(what.value)]!;
    const root = element.closest(".plab") ?? document.body;
    const found = ids.flatMap((id) => [id, `${id}-2`]).flatMap((id) => [...root.querySelectorAll(`[data-testid="${id}"]`)]);
    const drawings = found.map((one) => (one instanceof SVGSVGElement ? one : one.querySelector("svg"))).filter((one) => one !== null && one.getBoundingClientRect().width > 0);
    if (drawings.length === 0) throw new Error("That picture is not shown at the moment.");
    const ground = getComputedStyle(root).backgroundColor;
    return { name: ids.length > 1 ? "perceptron-lab" : ids[0]!, drawn: sheet(drawings as SVGSVGElement[], ground, across) };
  }

  function exportSvg(): void {
    const { name, drawn } = pictures();
    save(`${name}.svg`, svgText(drawn), "image/svg+xml");
  }

  async function exportPng(): Promise<void> {
    const { name, drawn } = pictures();
    save(`${name}.png`, await png(drawn));
  }

  return {
    element,
    update(next, before) {
      shown = next;
      if (before === null || next.runs !== before.runs || next.active !== before.active) text(code, codeOf(next.runs[next.active]));
      if (url.value !== "" && before !== null && (next.scene !== before.scene || next.step !== before.step)) url.value = "";
    },
  };
};

function part(title: string, ...children: HTMLElement[]): HTMLElement {
  return el("section", {}, el("h3", {}, title), ...children);
}

function codeOf(run: OneRun | undefined): string {
  return (run as { code?: string } | undefined)?.code ?? "";
}
