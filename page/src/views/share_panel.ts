import type { MakeView } from "../state";

export const sharePanel: MakeView = () => ({ element: document.createElement("div"), update() {} });
