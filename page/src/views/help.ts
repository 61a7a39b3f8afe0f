// What the keys do, and what is drawn.
import { el } from "./dom";

const KEYS: [string, string][] = [
  ["Space", "play, pause"],
  [". and ,", "one visit on, one back"],
  ["m", "to the next mistake"],
  ["Home, End", "to the start, to the end"],
  ["1 … 6", "the class of new points"],
  ["Tab", "to the planes and their points"],
  ["arrows", "on a point: move it by 1/50 of the plane, with Shift 1/10; on x-space: move the cross; on w-space: move the plane"],
  ["Enter", "on x-space: a new point at the cross"],
  ["Delete", "on a point: remove it"],
  ["c", "on a point: the next class"],
  ["PageUp, PageDown", "on a point: the one before, the next"],
  ["+, −, 0", "on a plane: closer, farther, all of it"],
  ["u", "undo the last change"],
  ["?", "this help"],
];

const DRAWN: [string, string][] = [
  ["x-space", "Rows are points; the line is where ⟨w, x⟩ = 0, its arrow points to the second class; the dashed line is that of the average of all w, where the learner keeps it. Hollow points are on the wrong side. The ring is around the row of the last visit: red after a mistake, violet after another update."],
  ["w-space", "Each row is the line of all w with ⟨w, x⟩ = 0; its arrow shows the side on which w is right. The green region is right on all rows. The path is that of w, visit by visit. With a constant coordinate the plane is a slice: the lines are those at the weight b of the slider, and the path is seen from above."],
  ["contours", "The risk, the mean of max(0, −y⟨w, x⟩) over the rows. It is linear between the lines, so its contours bend on them."],
  ["runs", "Every number comes from a run of the library. Rewinding shows the very same run again. Points that are changed while it plays are learned from the current w on."],
];

export function makeHelp(): HTMLDialogElement {
  const list = (items: [string, string][], of: "kbd" | "b"): HTMLElement =>
    el("dl", {}, ...items.flatMap(([name, said]) => [el("dt", {}, el(of, {}, name)), el("dd", {}, said)]));
  const dialog = el(
    "dialog",
    { class: "help", "data-testid": "help", "aria-label": "Help" },
    el("header", {}, el("h2", {}, "Keys"), el("button", { type: "button", class: "small", onclick: () => dialog.close() }, "Close")),
    list(KEYS, "kbd"),
    el("h2", {}, "What is drawn"),
    list(DRAWN, "b"),
  );
  return dialog;
}
