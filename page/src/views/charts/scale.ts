// Scales and ticks of the charts: pure functions.

/** A map from numbers to pixels, with the numbers worth a tick. */
export interface Scale {
  of(value: number): number;
  invert(pixel: number): number;
  ticks: number[];
  log: boolean;
  low: number;
  high: number;
}

/** Round numbers between low and high, about `count` of them; `whole`: no fractions. */
export function linearTicks(low: number, high: number, count: number, whole = false): number[] {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span) || count < 1) return [];
  const raw = span / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = [1, 2, 5, 10].find((f) => f * power >= raw * (1 - 1e-9)) ?? 10;
  const step = whole ? Math.max(1, factor * power) : factor * power;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const found: number[] = [];
  for (let i = first; i <= last && found.length < 100; i++) found.push(Number((i * step).toFixed(digits)));
  return found;
}

/** Powers of ten between low and high, at most about `count` of them; 1, 2, 5 where there is one decade. */
export function logTicks(low: number, high: number, count: number): number[] {
  const from = Math.ceil(Math.log10(low) - 1e-9);
  const to = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((to - from + 1) / count));
  const found: number[] = [];
  for (let e = from; e <= to; e += every) found.push(Number(`1e${e}`));
  if (found.length > 1) return found;
  return [from - 1, from, from + 1]
    .flatMap((e) => [1, 2, 5].map((f) => Number(`${f}e${e}`)))
    .filter((v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9));
}

export function linear(low: number, high: number, from: number, to: number, count: number, whole = false): Scale {
  const top = high > low ? high : low + 1;
  return {
    of: (value) => from + ((value - low) / (top - low)) * (to - from),
    invert: (pixel) => low + ((pixel - from) / (to - from)) * (top - low),
    ticks: linearTicks(low, top, count, whole),
    log: false,
    low,
    high: top,
  };
}

/** Logarithmic; values at or below 0 are drawn at `low`. */
export function logarithmic(low: number, high: number, from: number, to: number, count: number): Scale {
  const [a, b] = [Math.log10(low), Math.log10(high > low ? high : low * 10)];
  return {
    of: (value) => from + ((Math.log10(Math.max(value, low)) - a) / (b - a)) * (to - from),
    invert: (pixel) => 10 ** (a + ((pixel - from) / (to - from)) * (b - a)),
    ticks: logTicks(low, 10 ** b, count),
    log: true,
    low,
    high: 10 ** b,
  };
}

/** A number in few characters: 3 digits, thousands with a thin space; exact where it is a small whole number. */
export function short(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === Infinity) return "∞";
  if (value === -Infinity) return "−∞";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return minus(grouped(value));
  if (size >= 1e6 || size < 1e-3) return minus(power(value, digits));
  if (size >= 10 ** digits) return minus(grouped(Math.round(value)));
  return minus(String(Number(value.toPrecision(digits))));
}

/** As `short`, never larger than the value: for what is claimed as a lower end. */
export function down(value: number | null | undefined, digits = 3): string {
  return directed(value, digits, -1);
}

/** As `short`, never smaller than the value: for what is claimed as an upper end. */
export function up(value: number | null | undefined, digits = 3): string {
  return directed(value, digits, 1);
}

function directed(value: number | null | undefined, digits: number, sign: number): string {
  if (value === null || value === undefined || !Number.isFinite(value) || value === 0) return short(value, digits);
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return short(value, digits);
  const size = Math.abs(value);
  if (size >= 10 ** digits && size < 1e6) return short(sign < 0 ? Math.floor(value) : Math.ceil(value), digits);
  const e = Math.floor(Math.log10(size)) - digits + 1;
  let rounded = Number(value.toPrecision(digits));
  if ((rounded - value) * sign < 0) rounded = Number((rounded + sign * 10 ** e).toPrecision(digits));
  return short(rounded, digits);
}

function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f"); // a narrow space that does not break
}

function power(value: number, digits: number): string {
  const [head, tail] = value.toExponential(digits - 1).split("e") as [string, string];
  const raised = String(Number(tail)).replace(/[-0-9]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)] as string);
  const kept = String(Number(head));
  return kept === "1" ? `10${raised}` : `${kept}·10${raised}`;
}

function minus(text: string): string {
  return text.replace(/^-/, "−");
}
