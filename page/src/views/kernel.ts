import type { MakeView } from "../state";

export const kernelView: MakeView = () => ({ element: document.createElement("div"), update() {} });
