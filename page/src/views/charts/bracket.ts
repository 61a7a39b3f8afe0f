import type { MakeView } from "../../state";

export const bracketChart: MakeView = () => ({ element: document.createElement("div"), update() {} });
