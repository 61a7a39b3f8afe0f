import type { MakeView } from "../../state";

export const mistakesChart: MakeView = () => ({ element: document.createElement("div"), update() {} });
