// Where the names of lines are: beside their lines, and on nothing else. Pure functions.

/** Left, right, top, bottom, in pixels. */
export type Box = [number, number, number, number];

export interface Label {
  words: string;
  /** The right end of the words, and the height of what they name there. */
  x: number;
  y: number;
  below?: boolean;
}

const CHARACTER = 6.9; // pixels, about
const [ASCENT, DESCENT] = [10, 3];
/** From what is named to the base line of the words: above, below, then farther away. */
const SHIFTS = [-6, 14, -20, 28, -34, 42, -48];
/** What is worse than a label that is one place farther from its line. */
const [ON_A_LINE, BEHIND_A_LINE, OUT_OF_ORDER, ON_A_LABEL] = [12, 40, 80, 1000];

/** Whether a line other than `but` is in a box. */
export type Crossed = (box: Box, but: Label | null) => boolean;

interface Choice {
  y: number;
  box: Box;
  cost: number;
}

/** The base lines of the labels: near their lines, with no other line between, in the order of the lines, and on
 * nothing else. Where not all can be had, what costs least. */
export function baseLines(labels: Label[], taken: Box[], crossed: Crossed, room: Box): number[] {
  const choices = labels.map((label) => choicesOf(label, taken, crossed, room));
  let [best, least]: [Choice[], number] = [choices.map((some) => some[0]!), Infinity];
  const search = (chosen: Choice[], cost: number): void => {
    if (cost >= least) return;
    const i = chosen.length;
    if (i === labels.length) [best, least] = [chosen, cost];
    for (const choice of choices[i] ?? []) {
      const more = chosen.reduce((sum, other, j) => sum + together(labels[i]!, choice, labels[j]!, other), choice.cost);
      search([...chosen, choice], cost + more);
    }
  };
  search([], 0);
  return best.map(({ y }) => y);
}

function choicesOf(label: Label, taken: Box[], crossed: Crossed, room: Box): Choice[] {
  const all = SHIFTS.map((shift, rank): Choice => {
    const y = label.y + (label.below ? 8 - shift : shift);
    const box = boxOf(label, y);
    const between: Box = [box[0], box[1], Math.min(box[3], label.y), Math.max(box[2], label.y)];
    const onLabel = taken.some((other) => overlap(other, box)) ? ON_A_LABEL : 0;
    return { y, box, cost: rank + onLabel + (crossed(box, null) ? ON_A_LINE : 0) + (crossed(between, label) ? BEHIND_A_LINE : 0) };
  });
  const inside = all.filter(({ box }) => box[2] >= room[2] && box[3] <= room[3]);
  return inside.length > 0 ? inside : all.slice(0, 1);
}

/** What two places cost together. */
function together(a: Label, { y, box }: Choice, b: Label, other: Choice): number {
  if (overlap(box, other.box)) return ON_A_LABEL;
  const beside = box[0] < other.box[1] && other.box[0] < box[1];
  return beside && Math.abs(a.y - b.y) > 1 && a.y < b.y !== y < other.y ? OUT_OF_ORDER : 0;
}

/** The box of words whose right end is at x. */
export function boxOf({ words, x }: Label, y: number): Box {
  return [x - CHARACTER * words.length, x, y - ASCENT, y + DESCENT];
}

export function overlap(a: Box, b: Box): boolean {
  return a[0] < b[1] && b[0] < a[1] && a[2] < b[3] && b[2] < a[3];
}
