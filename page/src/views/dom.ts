// Elements, made and changed; never from text, so that nothing of the data is read as HTML.

type Props = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

function filled<E extends Element>(element: E, props: Props, children: (Node | string)[]): E {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), props, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

/** Sets an attribute if it is not so already; null removes it. */
export function attr(element: Element, name: string, value: string | number | null): void {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

export function text(element: Element, value: string): void {
  if (element.textContent !== value) element.textContent = value;
}

export function show(element: Element, on: boolean): void {
  element.toggleAttribute("hidden", !on);
  if (element instanceof SVGElement) attr(element, "display", on ? null : "none");
}

/** A number for people: few digits, a true minus sign. */
export function plain(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  const small = size !== 0 && (size >= 1e5 || size < 1e-3);
  const written = small ? value.toExponential(digits - 1).replace(/\.?0*e\+?/, "e") : String(Number(value.toPrecision(digits)));
  return written.replaceAll("-", "−");
}

/** A name for an element that no other one has. */
let made = 0;
export function fresh(name: string): string {
  return `plab-${name}-${++made}`;
}

/** The element with the focus, also where the page lives in a shadow root. */
export function focused(near: Element): Element | null {
  return (near.getRootNode() as Document | ShadowRoot).activeElement ?? null;
}
