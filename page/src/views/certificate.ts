import type { MakeView } from "../state";

export const certificateView: MakeView = () => ({ element: document.createElement("div"), update() {} });
