// The page: mount(element, source). One bundle serves the server's page, an exported site and the notebook's widget.
import type { Catalog, Scene } from "./protocol";
import { RecordedSource } from "./recorded";
import { ServerSource, takeToken } from "./server";
import { decode } from "./share";
import type { Source } from "./source";
import type { MakeView, Shown, Theme, View } from "./state";
import { givenRows } from "./state";
import { firstScene, Store } from "./store";
import { bracketChart } from "./views/charts/bracket";
import { errorsChart } from "./views/charts/errors";
import { mistakesChart } from "./views/charts/mistakes";
import { proofChart } from "./views/charts/proof";
import { certificateView } from "./views/certificate";
import { makeControls } from "./views/controls";
import { makeData, makeRunOptions, makeShowOptions } from "./views/data";
import { attr, el, focused, fresh, show, text } from "./views/dom";
import { makeHelp } from "./views/help";
import { kernelView } from "./views/kernel";
import { makeLearners } from "./views/learners";
import { makeSentence } from "./views/sentence";
import { sharePanel } from "./views/share_panel";
import { toursView } from "./views/tours";
import { whyView } from "./views/why";
import { makeWSpace } from "./views/wspace";
import { makeXSpace } from "./views/xspace";
import type { Model } from "./widget";
import { WidgetSource } from "./widget";

const CHARTS: [testid: string, title: string, make: MakeView][] = [
  ["chart-mistakes", "Mistakes", mistakesChart],
  ["chart-proof", "Proof", proofChart],
  ["chart-bracket", "Margin", bracketChart],
  ["chart-errors", "Errors", errorsChart],
  ["certificate", "Certificate", certificateView],
];
const MANY = 120; // rows, from which on the planes are drawn in turn
const THEMES: Theme[] = ["auto", "light", "dark"];
const THEME_NAMES = { auto: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };
const THEME_SIGNS = { auto: "◐", light: "☀", dark: "☾" };

// ------------------------------------------------------------ parts of the layout

/** A view of one of the learners. It is drawn as if that one were active, and only while it is shown. */
function ofLearner(view: View, which: 0 | 1): View & { draw(shown: Shown, visible: boolean): void } {
  let before: Shown | null = null;
  return {
    element: view.element,
    update(shown) {
      this.draw(shown, true);
    },
    draw(shown, visible) {
      show(view.element, visible);
      if (!visible) return;
      const mine = shown.active === which ? shown : { ...shown, active: which };
      view.update(mine, before);
      before = mine;
    },
  };
}

/** x-space and w-space (with a kernel, its view) of a learner. */
function panel(store: Store, source: Source, which: 0 | 1): View {
  const x = ofLearner(makeXSpace(store, which), which);
  const w = ofLearner(makeWSpace(store, which), which);
  const kernel = ofLearner(kernelView(store, source, which), which);
  const name = el("button", { type: "button", class: "panel-name", onclick: () => store.setActive(which) });
  const titles = ["x-space", "w-space"].map((title) => el("h2", {}, title));
  const element = el(
    "section",
    { class: "panel", "data-testid": `panel-${which}` },
    name,
    el("div", { class: "half" }, titles[0]!, x.element),
    el("div", { class: "half" }, titles[1]!, w.element, kernel.element),
  );
  const isDual = (shown: Shown): boolean => (shown.runs[which]?.segments ?? []).some(({ trace }) => !trace.w);
  const planes = inTurn(
    [
      { element: x.element, update: (shown) => x.draw(shown, true) },
      {
        element: w.element,
        update(shown) {
          w.draw(shown, !isDual(shown));
          kernel.draw(shown, isDual(shown));
        },
      },
    ],
    (shown) => givenRows(shown.scene, shown.step).X.length > MANY,
  );
  return {
    element,
    update(shown, before) {
      const run = shown.runs[which];
      show(element, which === 0 || run !== undefined);
      if (which && !run) return;
      show(name, shown.runs.length > 1);
      const choice = which ? shown.ran.second : shown.ran.learner;
      text(name, `${"AB"[which]} · ${choice?.name ?? ""}`);
      attr(name, "aria-pressed", String(shown.active === which));
      attr(name, "title", "The charts below are of this learner");
      text(titles[1]!, isDual(shown) ? "kernel" : "w-space");
      planes(shown, before);
    },
  };
}

/** The sentence of the visit and the charts: these side by side, or, where there is no room, one at a time. */
function story(store: Store, source: Source): View {
  const sentence = makeSentence();
  const made = CHARTS.map(([testid, title, make]) => {
    const view = make(store, source);
    const id = fresh(testid);
    const body = el("div", { class: "chart-cell", id, "data-shown": "false", role: "group", "aria-label": title }, view.element);
    const tab = el("button", { type: "button", class: "tab", "data-shows": testid, "aria-pressed": "false", onclick: () => choose(testid) }, title);
    return { testid, view, body, tab };
  });
  const choose = (testid: string): void => {
    for (const one of made) {
      attr(one.body, "data-shown", String(one.testid === testid));
      attr(one.tab, "aria-pressed", String(one.testid === testid));
    }
  };
  choose(CHARTS[0]![0]);
  return {
    element: el(
      "div",
      { class: "story" },
      sentence.element,
      el(
        "section",
        { class: "charts", "aria-label": "charts" },
        el("div", { class: "tabs", role: "group", "aria-label": "which chart" }, ...made.map((one) => one.tab)),
        el("div", { class: "chart-row" }, ...made.map((one) => one.body)),
      ),
    ),
    update: inTurn([sentence, ...made.map(({ view }) => view)]),
  };
}

/** Draws views one after the other while a run plays, one in a frame: together they would take most of it.
 * `when`: whether they are so large; otherwise all are drawn at once. */
function inTurn(views: View[], when: (shown: Shown) => boolean = () => true): View["update"] {
  const drawn: (Shown | null)[] = views.map(() => null);
  const due = new Set<number>();
  let latest: Shown;
  let waiting = 0;
  const draw = (k: number): void => {
    due.delete(k);
    views[k]!.update(latest, drawn[k]!);
    drawn[k] = latest;
  };
  const next = (): void => {
    const [first] = due;
    if (first !== undefined) draw(first);
    waiting = due.size ? requestAnimationFrame(next) : 0;
  };
  return (shown, before) => {
    latest = shown;
    views.forEach((_, k) => due.add(k));
    if (!shown.playing || !before?.playing || !when(shown)) due.forEach(draw);
    else waiting ||= requestAnimationFrame(next);
  };
}

/** A panel at the side that a button opens and closes. */
function drawer(view: View, title: string, testid: string, opens: () => void): { button: HTMLElement; element: HTMLElement; set(on: boolean): void } {
  const id = fresh("drawer");
  const close = el("button", { type: "button", class: "small", "aria-label": `Close “${title}”`, onclick: () => set(false) }, "✕");
  const element = el("aside", { class: "drawer", id, hidden: true, "aria-label": title }, el("header", {}, el("h2", {}, title), close), view.element);
  const button = el(
    "button",
    { type: "button", class: "menu", "data-testid": testid, "aria-expanded": "false", "aria-controls": id, onclick: () => set(Boolean(element.hidden)) },
    title,
  );
  const set = (on: boolean): void => {
    const had = element.contains(focused(element));
    element.hidden = !on;
    attr(button, "aria-expanded", String(on));
    if (on) {
      opens();
      close.focus();
    } else if (had) button.focus();
  };
  return { button, element, set };
}

// ------------------------------------------------------------ the page

export interface MountOptions {
  scene?: Scene | null;
  step?: number;
  theme?: Theme;
  /** Keys are heard in the whole document, and the address holds the state. */
  page?: boolean;
}

export interface Mounted {
  store: Store;
  unmount(): void;
}

export async function mount(root: HTMLElement, source: Source, options: MountOptions = {}): Promise<Mounted> {
  root.classList.add("plab");
  attr(root, "data-theme", options.theme ?? "auto");
  const catalog = await source.catalog();
  const shared = options.page ? decode(location.hash.slice(1)) : null;
  const store = new Store(source, catalog, shared?.scene ?? options.scene ?? opening(catalog));
  const listening = new AbortController();
  const views = build(root, store, source, options.page ?? false, listening.signal);
  if (options.theme) store.setTheme(options.theme);
  store.attach(views);
  store.start(shared?.step ?? options.step ?? 0);
  if (options.page) {
    const restored = (): void => {
      const found = decode(location.hash.slice(1));
      if (found) store.restore(found.scene, found.step);
    };
    addEventListener("hashchange", restored, { signal: listening.signal });
  }
  return {
    store,
    unmount() {
      listening.abort();
      store.stop();
      root.replaceChildren();
    },
  };
}

function opening(catalog: Catalog): Scene {
  return firstScene(catalog, catalog.sets[0]!);
}

function build(root: HTMLElement, store: Store, source: Source, page: boolean, signal: AbortSignal): View[] {
  const tours = toursView(store, source);
  const why = whyView(store, source);
  const share = sharePanel(store, source);
  const side = [makeData(store), makeLearners(store), makeShowOptions(store), makeRunOptions(store)];
  const panels = [panel(store, source, 0), panel(store, source, 1)];
  const below = [makeControls(store), story(store, source)];
  const drawers: ReturnType<typeof drawer>[] = [];
  const alone = (kept: number): void => drawers.forEach((one, i) => i !== kept && one.set(false));
  drawers.push(drawer(why, "Why is it slow?", "open-why", () => alone(0)), drawer(share, "Share", "open-share", () => alone(1)));
  const help = makeHelp();
  const helper = el("button", { type: "button", class: "menu", "data-testid": "open-help", "aria-expanded": "false", title: "Help (?)", onclick: () => toggleHelp() }, "Help");
  const toggleHelp = (): void => {
    if (help.open) help.close();
    else help.showModal();
    attr(helper, "aria-expanded", String(help.open));
  };
  help.addEventListener("close", () => attr(helper, "aria-expanded", "false"));
  const sidebar = el("div", { class: "sidebar" }, ...side.map((view) => view.element));
  const settings = el("button", { type: "button", class: "menu only-narrow", onclick: () => toSettings() }, "Settings");
  const toSettings = (): void => {
    sidebar.scrollIntoView();
    sidebar.querySelector("select")?.focus({ preventScroll: true });
  };
  const theme = el("button", { type: "button", class: "menu", "data-testid": "theme" });
  const error = el("p", { class: "run-error", role: "alert", "data-testid": "run-error", hidden: true });
  const busy = el("span", { class: "busy", "aria-hidden": "true" });
  const note = el("span", { class: "read-only", "data-testid": "read-only" }, "read-only: recorded runs");
  const frame: View = {
    element: root,
    update(shown, before) {
      if (before?.theme !== shown.theme) {
        attr(root, "data-theme", shown.theme);
        if (page) attr(document.documentElement, "data-theme", shown.theme);
        text(theme, THEME_SIGNS[shown.theme]);
        attr(theme, "aria-label", THEME_NAMES[shown.theme]);
        attr(theme, "title", THEME_NAMES[shown.theme]);
        theme.onclick = () => store.setTheme(THEMES[(THEMES.indexOf(shown.theme) + 1) % THEMES.length]!);
      }
      show(error, shown.error !== null);
      text(error, shown.error ?? "");
      show(note, shown.readOnly);
      busy.classList.toggle("on", shown.busy);
      root.classList.toggle("two", shown.runs.length > 1);
      attr(root, "data-busy", String(shown.busy));
    },
  };
  root.replaceChildren(
    el(
      "header",
      { class: "bar" },
      el("h1", {}, "Perceptron lab"),
      busy,
      note,
      el("div", { class: "bar-space" }),
      settings,
      tours.element,
      ...drawers.map((one) => one.button),
      helper,
      theme,
    ),
    error,
    el(
      "div",
      { class: "body" },
      sidebar,
      el("main", { class: "stage" }, el("div", { class: "panels" }, ...panels.map((view) => view.element)), ...below.map((view) => view.element)),
      ...drawers.map((one) => one.element),
    ),
    help,
  );
  listen(root, store, page, signal, toggleHelp, () => drawers.forEach((one) => one.set(false)));
  return [frame, ...side, ...panels, ...below, tours, why, share];
}

// ------------------------------------------------------------ keys

function listen(root: HTMLElement, store: Store, page: boolean, signal: AbortSignal, help: () => void, closeAll: () => void): void {
  const on = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target instanceof Element ? event.target : null;
    if (page && target && target !== document.body && !root.contains(target)) return;
    if (target?.closest("dialog[open]")) return;
    if (event.key === "Escape") return closeAll();
    if (target?.matches("input:not([type=checkbox]):not([type=range]), textarea, select")) return;
    if (!key(event.key, target, store, help)) return;
    event.preventDefault();
  };
  (page ? document : root).addEventListener("keydown", on as EventListener, { signal });
}

/** True where the key was used. */
function key(name: string, target: Element | null, store: Store, help: () => void): boolean {
  const { step, playing } = store.shown;
  const slider = target?.matches("input[type=range], [role=slider]") ?? false;
  if (name === " ") {
    if (target?.matches("button, summary, input, a, [role=radio]")) return false;
    store.play(!playing);
  } else if (name === ".") store.goTo(step + 1);
  else if (name === ",") store.goTo(step - 1);
  else if (name === "m") store.nextMistake();
  else if (name === "u") store.undo();
  else if (name === "?") help();
  else if (name === "Home" && !slider) store.goTo(0);
  else if (name === "End" && !slider) store.goTo(Infinity);
  else if (/^[1-6]$/.test(name)) store.setNewClass(Number(name) - 1);
  else return false;
  return true;
}

// ------------------------------------------------------------ where the bundle finds itself

async function startPage(element: HTMLElement): Promise<void> {
  const base = new URL(".", location.href).href;
  const source = element.dataset["source"] === "recorded" ? new RecordedSource(base) : new ServerSource(base, takeToken());
  try {
    const { store } = await mount(element, source, { page: true });
    Object.assign(globalThis, { perceptronsLab: store });
  } catch (error) {
    element.classList.add("plab");
    element.replaceChildren(el("p", { class: "run-error", role: "alert", "data-testid": "run-error" }, error instanceof Error ? error.message : String(error)));
  }
}

const element = typeof document === "undefined" ? null : document.querySelector<HTMLElement>("#lab[data-source]");
if (element) void startPage(element);

/** The widget of a notebook. */
async function render({ model, el: root }: { model: Model; el: HTMLElement }): Promise<() => void> {
  const source = new WidgetSource(model);
  const inner = root.appendChild(el("div", { class: "plab-widget" }));
  const height = model.get("height");
  if (typeof height === "number") inner.style.height = `${height}px`;
  const theme = model.get("theme");
  const { unmount } = await mount(inner, source, {
    scene: (model.get("scene") as Scene | null | undefined) ?? null,
    theme: THEMES.includes(theme as Theme) ? (theme as Theme) : "auto",
  });
  return () => {
    unmount();
    source.close();
  };
}

export default { render };
