// Which learners run, and with which parameters: made from the catalog.
import type { Catalog, Choice, KernelInfo, LearnerInfo, Param, Value } from "../protocol";
import { valueOf } from "../protocol";
import type { Actions, Shown, View } from "../state";
import { el, focused, fresh, show } from "./dom";

/** Groups whose parameters are seen at once, and others that are; the rest is folded. */
const FIRST_GROUPS = new Set(["rule", "kernel"]);
const FIRST_NAMES = new Set(["fit_intercept", "readout"]);

export function makeLearners(actions: Actions): View {
  return new Learners(actions);
}

class Learners implements View {
  readonly element = el("div", { class: "learners" });
  private readonly first: LearnerForm;
  private readonly second: LearnerForm;

  constructor(actions: Actions) {
    this.first = new LearnerForm("learner", "Learner", (choice) => choice && actions.setScene({ learner: choice }));
    this.second = new LearnerForm("second", "Second learner", (second) => actions.setScene({ second }));
    this.element.append(this.first.element, this.second.element);
  }

  update(shown: Shown, before: Shown | null): void {
    if (before && before.scene === shown.scene && before.catalog === shown.catalog) return;
    this.first.update(shown, shown.scene.learner);
    this.second.update(shown, shown.scene.second);
  }
}

class LearnerForm {
  readonly element: HTMLElement;
  private readonly select: HTMLSelectElement;
  private readonly told = el("p", { class: "told" });
  private readonly params = el("div", { class: "params" });
  private catalog: Catalog | null = null;
  private drawn = "";

  constructor(private readonly testid: string, title: string, private readonly change: (choice: Choice | null) => void) {
    const id = fresh(testid);
    this.select = el("select", { id, "data-testid": testid, onchange: () => this.chosen() });
    this.element = el("section", { class: "learner" }, el("label", { class: "field-name", for: id }, title), this.select, this.told, this.params);
  }

  private chosen(): void {
    const name = this.select.value;
    this.change(name ? { name, params: {} } : null);
  }

  update(shown: Shown, choice: Choice | null): void {
    const { catalog, readOnly } = shown;
    if (this.catalog !== catalog) {
      this.catalog = catalog;
      const none = this.testid === "second" ? [el("option", { value: "" }, "no second learner")] : [];
      this.select.replaceChildren(...none, ...grouped(catalog.learners));
    }
    this.select.value = choice?.name ?? "";
    const info = catalog.learners.find((one) => one.name === choice?.name);
    show(this.told, info !== undefined);
    if (info) this.told.replaceChildren(info.text, ...(info.lecture ? [" ", el("cite", {}, info.lecture)] : []));
    const key = JSON.stringify([choice, shown.scene.classes.length > 2, readOnly]);
    if (this.drawn === key) return;
    const active = focused(this.element);
    const had = active && this.params.contains(active) ? active.getAttribute("data-testid") : null;
    const open = this.params.querySelector("details")?.open ?? false;
    this.drawn = key;
    this.params.replaceChildren(...(info && choice ? this.fields(info, choice, shown, open) : []));
    if (had) this.params.querySelector<HTMLElement>(`[data-testid="${had}"]`)?.focus();
  }

  private fields(info: LearnerInfo, choice: Choice, shown: Shown, open: boolean): HTMLElement[] {
    const several = shown.scene.classes.length > 2;
    const known = info.params.filter((p) => p.group !== "classes" || several);
    const field = (p: Param): HTMLElement => this.field(p, choice, shown);
    const later = known.filter((p) => !FIRST_GROUPS.has(p.group ?? "rule") && !FIRST_NAMES.has(p.name));
    const now = known.filter((p) => !later.includes(p)).map(field);
    if (!later.length) return now;
    return [...now, el("details", { open }, el("summary", {}, "more settings"), ...later.map(field))];
  }

  private field(param: Param, choice: Choice, shown: Shown): HTMLElement {
    const value = valueOf(choice.params, param);
    const set = (next: Value): void => {
      const params = { ...choice.params, [param.name]: next };
      if (JSON.stringify(next) === JSON.stringify(param.default)) delete params[param.name];
      this.change({ name: choice.name, params });
    };
    const testid = `${this.testid}-${param.name}`;
    if (param.kind === "kernel") return kernelField(param, value as Choice, shown.catalog.kernels, testid, shown.readOnly, set);
    return field(param, value, testid, shown.readOnly, set);
  }
}

/** Learners in the groups of their families. */
function grouped(learners: LearnerInfo[]): HTMLElement[] {
  const option = (one: LearnerInfo): HTMLElement => el("option", { value: one.name }, one.title);
  const families = [...new Set(learners.map((one) => one.family ?? ""))];
  if (families.length < 2) return learners.map(option);
  return families.map((name) =>
    el("optgroup", { label: name || "others" }, ...learners.filter((one) => (one.family ?? "") === name).map(option)),
  );
}

// ------------------------------------------------------------ fields

function named(param: Param, id: string, ...inputs: HTMLElement[]): HTMLElement {
  const name = el("label", { for: id, title: param.text }, param.name.replaceAll("_", " "));
  return el("div", { class: "field", title: param.text }, name, el("span", { class: "inputs" }, ...inputs));
}

function field(param: Param, value: Value, testid: string, off: boolean, set: (value: Value) => void): HTMLElement {
  const id = fresh(param.name);
  if (param.kind === "flag") {
    const box = el("input", { type: "checkbox", id, "data-testid": testid, disabled: off, onchange: () => set(box.checked) });
    box.checked = value === true;
    return named(param, id, box);
  }
  if (param.kind === "choice") return named(param, id, choices(param.choices ?? [], value, id, testid, off, set));
  return number(param, value, id, testid, off, set);
}

const word = (value: Value): string => (value === null ? "none" : String(value));

function choices(all: Value[], value: Value, id: string, testid: string, off: boolean, set: (value: Value) => void): HTMLSelectElement {
  const select = el(
    "select",
    { id, "data-testid": testid, disabled: off, onchange: () => set(all[select.selectedIndex]!) },
    ...all.map((one) => el("option", {}, word(one))),
  );
  select.selectedIndex = all.findIndex((one) => one === value);
  return select;
}

/** A number, or one of the texts (or none) that may stand in its place. */
function number(param: Param, value: Value, id: string, testid: string, off: boolean, set: (value: Value) => void): HTMLElement {
  const instead: Value[] = [...(param.choices ?? []), ...(param.optional ? [null] : [])];
  const props = { id, "data-testid": testid, disabled: off, autocomplete: "off" };
  if (!instead.length) {
    const limits = { step: param.kind === "whole" ? 1 : "any", min: param.low, max: param.high };
    const input = el("input", { type: "number", ...props, ...limits, onchange: () => Number.isFinite(input.valueAsNumber) && set(input.valueAsNumber) });
    input.value = String(value);
    return named(param, id, input);
  }
  const list = fresh("words");
  const input = el("input", { type: "text", inputmode: "decimal", list, ...props, onchange: () => taken() });
  input.value = word(value);
  const taken = (): void => {
    const typed = input.value.trim();
    const found = instead.findIndex((one) => word(one) === typed);
    if (found >= 0) set(instead[found]!);
    else if (typed !== "" && Number.isFinite(Number(typed))) set(Number(typed));
    else input.value = word(value);
  };
  const words = [...(typeof param.default === "number" ? [param.default] : []), ...instead];
  return named(param, id, input, el("datalist", { id: list }, ...words.map((one) => el("option", { value: word(one) }))));
}

function kernelField(
  param: Param,
  value: Choice,
  kernels: KernelInfo[],
  testid: string,
  off: boolean,
  set: (value: Value) => void,
): HTMLElement {
  const id = fresh("kernel");
  const info = kernels.find((one) => one.name === value.name);
  const select = el(
    "select",
    { id, "data-testid": testid, disabled: off, onchange: () => set({ name: select.value, params: {} }) },
    ...kernels.map((one) => el("option", { value: one.name }, one.title ?? one.name)),
  );
  select.value = value.name;
  const inner = (info?.params ?? []).map((p) =>
    field(p, valueOf(value.params, p), `${testid}-${p.name}`, off, (next) =>
      set({ name: value.name, params: { ...value.params, [p.name]: next } }),
    ),
  );
  return el("div", { class: "kernel-field" }, named(param, id, select), el("p", { class: "told" }, info?.text ?? ""), ...inner);
}
