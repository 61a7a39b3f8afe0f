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
const SHIFTS = [-6, 14, -20, 28, -34, 42, -48, 56];

/** The base lines of the labels. None is on another one, on a box that is taken, or, where possible, on a line. */
export function baseLines(labels: Label[], taken: Box[], crosses: (box: Box) => boolean, room: Box): number[] {
  const used = [...taken];
  return labels.map((label) => {
    const choices = SHIFTS.map((shift) => label.y + (label.below ? 8 - shift : shift)).filter((y) => y - ASCENT >= room[2] && y + DESCENT <= room[3]);
    const free = choices.filter((y) => !used.some((box) => overlap(box, boxOf(label, y))));
    const y = free.find((one) => !crosses(boxOf(label, one))) ?? free[0] ?? choices[0] ?? label.y;
    used.push(boxOf(label, y));
    return y;
  });
}

/** The box of words whose right end is at x. */
export function boxOf({ words, x }: Label, y: number): Box {
  return [x - CHARACTER * words.length, x, y - ASCENT, y + DESCENT];
}

export function overlap(a: Box, b: Box): boolean {
  return a[0] < b[1] && b[0] < a[1] && a[2] < b[3] && b[2] < a[3];
}
