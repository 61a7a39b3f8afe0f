import type { MakeView } from "../../state";

export const proofChart: MakeView = () => ({ element: document.createElement("div"), update() {} });
