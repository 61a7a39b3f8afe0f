// The page: mount(element, source). One bundle: the server's page, an exported site and the notebook's widget.
import { firstScene, Store } from "./store";
import type { Source } from "./source";
import type { MakeView, View } from "./state";
import { bracketChart } from "./views/charts/bracket";
import { errorsChart } from "./views/charts/errors";
import { mistakesChart } from "./views/charts/mistakes";
import { proofChart } from "./views/charts/proof";
import { certificateView } from "./views/certificate";

const CHARTS: MakeView[] = [mistakesChart, proofChart, bracketChart, errorsChart, certificateView];

export async function mount(element: HTMLElement, source: Source): Promise<Store> {
  const catalog = await source.catalog();
  const store = new Store(source, catalog, firstScene(catalog, catalog.sets[0]!));
  const views: View[] = CHARTS.map((make) => make(store, source));
  element.replaceChildren(...views.map((view) => view.element));
  store.attach(views);
  store.start();
  return store;
}
