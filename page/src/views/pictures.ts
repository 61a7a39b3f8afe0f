// Pictures as files: SVG that needs no style sheet, and PNG drawn from it.

/** Properties of style that a drawing needs; they are written as attributes. */
const PROPERTIES = [
  "fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "opacity", "font-family", "font-size", "font-weight", "font-style", "text-anchor", "paint-order", "visibility", "vector-effect",
];
/** Attributes that only a page needs. */
const OF_PAGES = ["class", "style", "tabindex", "role", "data-testid"];
const SVG = "http://www.w3.org/2000/svg";

/** A copy of a drawing that looks the same without the page's style sheet. */
export function standalone(picture: SVGSVGElement): SVGSVGElement {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  settle(picture, copy);
  const under = picture.parentElement?.querySelector(":scope > svg.under"); // a plane is two drawings, one below the other
  if (under) {
    const below = under.cloneNode(true) as SVGSVGElement;
    settle(under, below);
    copy.prepend(...below.children);
  }
  const { width, height } = picture.getBoundingClientRect();
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("width", String(Math.round(width)));
  copy.setAttribute("height", String(Math.round(height)));
  if (!copy.hasAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${Math.round(width)} ${Math.round(height)}`);
  return copy;
}

/** Writes the computed styles of `from` and what is in it into `to`; drops what is not displayed. */
function settle(from: Element, to: Element): void {
  const style = getComputedStyle(from);
  for (const name of PROPERTIES) {
    const value = style.getPropertyValue(name);
    if (value !== "" && !(value === "none" && name === "stroke-dasharray")) to.setAttribute(name, value);
  }
  for (const name of OF_PAGES) to.removeAttribute(name);
  for (const { name } of [...to.attributes]) if (name.startsWith("aria-") && name !== "aria-label") to.removeAttribute(name);
  const [sources, copies] = [[...from.children], [...to.children]];
  sources.forEach((child, i) => {
    const hidden = !DEFINES.includes(child.tagName) && getComputedStyle(child).display === "none";
    if (hidden) copies[i]!.remove();
    else settle(child, copies[i]!);
  });
}

const DEFINES = ["defs", "clipPath", "linearGradient", "marker", "pattern", "title", "desc"];

/** Several drawings in one, in rows of at most `across`, on one ground. */
export function sheet(pictures: SVGSVGElement[], ground: string, across: number): SVGSVGElement {
  const whole = document.createElementNS(SVG, "svg");
  const back = document.createElementNS(SVG, "rect");
  whole.append(back);
  let [x, y, width, rowHeight] = [0, 0, 0, 0];
  pictures.map(standalone).forEach((picture, i) => {
    if (i > 0 && i % across === 0) [x, y, rowHeight] = [0, y + rowHeight + GAP, 0];
    picture.setAttribute("x", String(x));
    picture.setAttribute("y", String(y));
    x += Number(picture.getAttribute("width")) + GAP;
    rowHeight = Math.max(rowHeight, Number(picture.getAttribute("height")));
    width = Math.max(width, x - GAP);
    whole.append(picture);
  });
  const size = { width: String(width), height: String(y + rowHeight) };
  for (const [name, value] of Object.entries({ xmlns: SVG, ...size, viewBox: `0 0 ${size.width} ${size.height}` })) whole.setAttribute(name, value);
  for (const [name, value] of Object.entries({ ...size, fill: ground })) back.setAttribute(name, value);
  return whole;
}

const GAP = 16;

export function svgText(picture: SVGSVGElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(picture)}\n`;
}

/** The drawing as PNG, with `scale` pixels for each of its units. */
export async function png(picture: SVGSVGElement, scale = 2): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svgText(picture)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = scale * Number(picture.getAttribute("width"));
    canvas.height = scale * Number(picture.getAttribute("height"));
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise<Blob>((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture could not be drawn."))), "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}
