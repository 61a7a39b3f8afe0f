import type { MakeView } from "../state";

export const toursView: MakeView = () => ({ element: document.createElement("div"), update() {} });
