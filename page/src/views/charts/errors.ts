import type { MakeView } from "../../state";

export const errorsChart: MakeView = () => ({ element: document.createElement("div"), update() {} });
