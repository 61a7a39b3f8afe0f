// The rows: toy sets, files, the class of new points; the order in which a run visits them.
import type { Scene } from "../protocol";
import type { Actions, Shown, View } from "../state";
import { givenRows } from "../state";
import { attr, el, focused, fresh, show, svg, text } from "./dom";
import { marker } from "./plane";

const MOST_BYTES = 1 << 20;

export function makeData(actions: Actions): View {
  return new Data(actions);
}

class Data implements View {
  readonly element: HTMLElement;
  private readonly sets: HTMLSelectElement;
  private readonly told = el("p", { class: "told" });
  private readonly classes = el("div", { class: "classes", role: "radiogroup", "aria-label": "class of new points" });
  private readonly file: HTMLInputElement;
  private readonly columns = el("div", { class: "columns" });
  private readonly loaded: HTMLElement;
  private readonly editing: HTMLElement;
  private readonly readOnly = el("p", { class: "told" }, "Recorded runs: this page is read-only. Points are changed in the lab itself: perceptrons lab");
  private readonly online: HTMLInputElement;
  private readonly remove: HTMLButtonElement;
  private readonly turn: HTMLButtonElement;
  private readonly chosenRow: HTMLElement;
  private selected: number | null = null;
  private readonly edits = el("p", { class: "told" });
  private catalog: unknown = null;
  private classesKey = "";
  private table = "";

  constructor(private readonly actions: Actions) {
    const id = fresh("set");
    this.sets = el("select", { id, "data-testid": "set", onchange: () => this.chosen() });
    this.file = el("input", {
      type: "file",
      accept: ".csv,.tsv,.txt,text/csv",
      "data-testid": "load-csv",
      class: "visually-hidden",
      onchange: () => void this.read(),
    });
    this.online = el("input", {
      type: "checkbox",
      "data-testid": "online",
      onchange: () => actions.setOptions({ online: this.online.checked }),
    });
    this.remove = el("button", { type: "button", class: "small", "data-testid": "remove-point", onclick: () => this.selected !== null && actions.removePoint(this.selected) });
    this.turn = el("button", { type: "button", class: "small", "data-testid": "turn-point", onclick: () => this.selected !== null && actions.turnPoint(this.selected) });
    this.chosenRow = el("div", { class: "row" }, this.turn, this.remove);
    const button = (name: string, testid: string, act: () => void): HTMLElement =>
      el("button", { type: "button", class: "small", "data-testid": testid, onclick: act }, name);
    this.loaded = el("div", { class: "row" }, el("label", { class: "small file" }, "Load CSV…", this.file));
    this.editing = el(
      "div",
      { class: "editing" },
      el("div", { class: "field-name" }, "New points are of class"),
      this.classes,
      el("div", { class: "row" }, this.loaded, button("Clear", "clear", () => this.clear()), button("Undo", "undo", () => actions.undo())),
      this.chosenRow,
      this.columns,
      el(
        "label",
        { class: "check", title: "A change while the run plays always goes on from the current w, as an online learner does." },
        this.online,
        "changes go on from the current w",
      ),
      this.edits,
    );
    this.element = el("section", { class: "data" }, el("label", { class: "field-name", for: id }, "Points"), this.sets, this.told, this.editing, this.readOnly);
    this.drawColumns([]);
  }

  update(shown: Shown, before: Shown | null): void {
    this.drawSelected(shown);
    if (before && before.scene === shown.scene && before.newClass === shown.newClass && before.options === shown.options && before.canUndo === shown.canUndo) return;
    const { scene, catalog } = shown;
    if (this.catalog !== catalog) {
      this.catalog = catalog;
      const names = catalog.sets.map((set) => el("option", { value: set.name }, set.name.replaceAll("_", " ")));
      this.sets.replaceChildren(...names, el("option", { value: "" }, "points of one’s own"));
    }
    const set = catalog.sets.find((one) => one.X === scene.X || (sameRows(one, scene) && !scene.edits.length));
    this.sets.value = set?.name ?? "";
    text(this.told, set?.text ?? `${scene.X.length} points.`);
    show(this.editing, !shown.readOnly);
    show(this.readOnly, shown.readOnly);
    this.online.checked = shown.options.online;
    attr(this.element.querySelector("[data-testid=undo]")!, "aria-disabled", shown.canUndo ? null : "true");
    this.drawClasses(shown);
    this.drawEdits(shown);
  }

  /** What can be done with the selected point. */
  private drawSelected(shown: Shown): void {
    const { y } = givenRows(shown.scene, shown.step);
    this.selected = shown.selected !== null && shown.selected < y.length ? shown.selected : null;
    show(this.chosenRow, this.selected !== null);
    if (this.selected === null) return;
    const { classes } = shown.scene;
    text(this.remove, `Remove row ${this.selected}`);
    text(this.turn, `Make row ${this.selected} ${classes[(y[this.selected]! + 1) % classes.length]}`);
    attr(this.turn, "title", "Change the class of this row (c)");
  }

  private drawClasses(shown: Shown): void {
    const key = JSON.stringify([shown.scene.classes, shown.newClass]);
    if (key === this.classesKey) return;
    this.classesKey = key;
    const had = this.classes.contains(focused(this.classes));
    const buttons = shown.scene.classes.map((name, code) =>
      el(
        "button",
        {
          type: "button",
          role: "radio",
          class: "class-choice",
          "aria-checked": String(code === shown.newClass),
          "data-testid": `class-${code}`,
          title: `${name} (${code + 1})`,
          onclick: () => this.actions.setNewClass(code),
        },
        svg("svg", { viewBox: "-8 -8 16 16", class: `swatch class-${code}`, "aria-hidden": "true" }, svg("path", { d: marker(code) })),
        name,
      ),
    );
    const more = el("button", { type: "button", class: "class-choice", "data-testid": "more-classes", title: "one class more", "aria-label": "one class more", onclick: () => this.actions.addClass() }, "+");
    this.classes.replaceChildren(...buttons);
    if (shown.scene.classes.length < (shown.catalog.limits["classes"] ?? 6)) this.classes.append(more);
    if (had) buttons[shown.newClass]?.focus();
  }

  private drawEdits(shown: Shown): void {
    const n = shown.scene.edits.length;
    show(this.edits, n > 0);
    if (!n) return;
    const again = el("button", { type: "button", class: "small", "data-testid": "restart", onclick: () => this.actions.restart() }, "Start again with these points");
    const { X } = givenRows(shown.scene, shown.step);
    this.edits.replaceChildren(`Changed ${n === 1 ? "once" : `${n} times`} on the way; ${X.length} points now. `, again);
  }

  private chosen(): void {
    const set = (this.catalog as Shown["catalog"]).sets.find((one) => one.name === this.sets.value);
    this.drawColumns([]);
    if (set) this.actions.setScene({ X: set.X, y: set.y, classes: set.classes });
  }

  private clear(): void {
    this.drawColumns([]);
    this.actions.setScene({ X: [], y: [] });
  }

  // ---------------------------------------------------------- files

  private async read(): Promise<void> {
    const file = this.file.files?.[0];
    this.file.value = "";
    if (!file) return;
    if (file.size > MOST_BYTES) return this.actions.fail(`${file.name} has ${file.size} bytes; at most ${MOST_BYTES} are read.`);
    this.table = await file.text();
    await this.load();
  }

  private async load(columns?: string[]): Promise<void> {
    const names = await this.actions.loadTable(this.table, columns).catch(() => null); // the store shows the sentence
    if (names && !columns) this.drawColumns(names);
    else if (!names && !columns) this.drawColumns([]);
  }

  /** Which two columns of the file are drawn, where there are more. */
  private drawColumns(names: string[]): void {
    const [a, b] = [0, 1].map((which) => {
      const select: HTMLSelectElement = el(
        "select",
        { "aria-label": which ? "second column" : "first column", "data-testid": `column-${which}`, onchange: () => void this.load([a!.value, b!.value]) },
        ...names.map((name) => el("option", { value: name }, name)),
      );
      select.selectedIndex = which;
      return select;
    });
    show(this.columns, names.length > 2);
    this.columns.replaceChildren(...(names.length > 2 ? [el("span", { class: "field-name" }, "Columns"), a!, b!] : []));
  }
}

function sameRows(set: { X: unknown; y: unknown }, scene: Scene): boolean {
  return JSON.stringify([set.X, set.y]) === JSON.stringify([scene.X, scene.y]);
}

// ------------------------------------------------------------ the run and what is drawn

export function makeRunOptions(actions: Actions): View {
  const ids = { seed: fresh("seed"), epochs: fresh("epochs"), steps: fresh("steps") };
  const shuffle = el("input", { type: "checkbox", "data-testid": "shuffle", onchange: () => actions.setScene({ shuffle: shuffle.checked }) });
  const whole = (testid: string, id: string, low: number, set: (value: number) => void): HTMLInputElement => {
    const input: HTMLInputElement = el("input", {
      type: "number",
      id,
      min: low,
      step: 1,
      "data-testid": testid,
      onchange: () => Number.isInteger(input.valueAsNumber) && input.valueAsNumber >= low && set(input.valueAsNumber),
    });
    return input;
  };
  const seed = whole("seed", ids.seed, 0, (value) => actions.setScene({ seed: value }));
  const epochs = whole("max-iter", ids.epochs, 1, (value) => actions.setScene({ max_iter: value }));
  const steps = whole("max-steps", ids.steps, 1, (value) => actions.setScene({ max_steps: value }));
  const field = (id: string, name: string, input: HTMLElement, told: string): HTMLElement =>
    el("div", { class: "field", title: told }, el("label", { for: id }, name), el("span", { class: "inputs" }, input));
  const element = el(
    "section",
    { class: "run-options" },
    el("div", { class: "field-name" }, "Run"),
    el("label", { class: "check" }, shuffle, "another order in each epoch"),
    field(ids.seed, "seed", seed, "Of the order, and of the labels that noise turns."),
    field(ids.epochs, "epochs at most", epochs, "max_iter"),
    field(ids.steps, "visits at most", steps, "A longer run is cut there."),
  );
  return {
    element,
    update(shown, before) {
      if (before?.scene === shown.scene) return;
      shuffle.checked = shown.scene.shuffle;
      seed.value = String(shown.scene.seed);
      epochs.value = String(shown.scene.max_iter);
      steps.value = String(shown.scene.max_steps);
      steps.max = String(shown.catalog.limits["steps"] ?? 5000);
      for (const input of [shuffle, seed, epochs, steps]) input.disabled = shown.readOnly;
    },
  };
}

const OPTIONS = [
  ["contours", "risk as contours", "The mean of max(0, −y⟨w, x⟩); its creases lie on the lines of the rows."],
  ["average", "the average", "Boundary of the average of all w, dashed; its place in w-space."],
  ["slab", "slab of the largest margin", "The widest slab between the classes, and its support vectors."],
  ["best", "maximum margin in w-space", "The half-planes y⟨w, x⟩ ≥ 1 and the shortest w in all of them."],
] as const;

export function makeShowOptions(actions: Actions): View {
  const boxes = OPTIONS.map(([name, title, told]) => {
    const box: HTMLInputElement = el("input", { type: "checkbox", "data-testid": `show-${name}`, onchange: () => actions.setOptions({ [name]: box.checked }) });
    return { name, box, label: el("label", { class: "check", title: told }, box, title) };
  });
  return {
    element: el("section", { class: "show-options" }, el("div", { class: "field-name" }, "Show"), ...boxes.map((one) => one.label)),
    update(shown, before) {
      if (before?.options !== shown.options) for (const { name, box } of boxes) box.checked = shown.options[name];
      const run = shown.runs[shown.active];
      if (before && before.runs === shown.runs && before.active === shown.active) return;
      const there = { contours: true, average: run?.segments.some(({ trace }) => trace.average && trace.w), slab: run?.best, best: run?.best };
      for (const { name, box, label } of boxes) {
        box.disabled = !there[name];
        label.classList.toggle("off", !there[name]);
      }
    },
  };
}
