import type { MakeView } from "../state";

export const whyView: MakeView = () => ({ element: document.createElement("div"), update() {} });
