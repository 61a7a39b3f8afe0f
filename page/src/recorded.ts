// Runs that were recorded: files beside the page, of a static site.
import type { Answer, Catalog, Choice, OneRun, Pair, Recorded, Scene, Table, ToySet } from "./protocol";
import { checked, valueOf } from "./protocol";
import type { Source } from "./source";
import { Refused } from "./source";

const MOST_KEPT = 24;

export class RecordedSource implements Source {
  readonly readOnly = true;
  private found: Catalog | null = null;
  private readonly kept = new Map<string, Promise<Answer>>();

  constructor(private readonly base: string) {}

  async catalog(): Promise<Catalog> {
    this.found ??= checked<Catalog>(await this.fetched("catalog.json"), "perceptrons lab catalog");
    return this.found;
  }

  async run(scene: Scene): Promise<Answer> {
    const catalog = await this.catalog();
    const set = catalog.sets.find((one) => sameRows(one, scene));
    if (!set || scene.edits.length) throw new Refused("This site shows recorded runs of its own sets of points; these points are not among them.");
    if (scene.noise || scene.center) throw new Refused("This site shows recorded runs: rows are not turned or centred here. That needs the lab itself: perceptrons lab");
    const first = await this.answer(catalog, set, scene.learner);
    const runs: OneRun[] = [first.runs[0]!];
    if (scene.second) runs.push((await this.answer(catalog, set, scene.second)).runs[0]!);
    return { ...first, scene: { ...first.scene, second: scene.second }, runs };
  }

  async table(): Promise<Table> {
    throw new Refused("This site shows recorded runs; points are loaded in the lab itself: perceptrons lab");
  }

  private answer(catalog: Catalog, set: ToySet, choice: Choice): Promise<Answer> {
    const entry = (catalog.recorded ?? []).find((one) => one.set === set.name && sameChoice(catalog, one, choice));
    if (!entry) return Promise.reject(new Refused(`No run of ${choice.name} with these settings on “${set.name}” was recorded.`));
    let answer = this.kept.get(entry.file);
    if (!answer) {
      answer = this.fetched(entry.file).then((found) => checked<Answer>(found, "perceptrons lab run"));
      answer.catch(() => this.kept.delete(entry.file));
      this.kept.set(entry.file, answer);
      if (this.kept.size > MOST_KEPT) this.kept.delete(this.kept.keys().next().value!);
    }
    return answer;
  }

  private async fetched(path: string): Promise<unknown> {
    const response = await fetch(new URL(path, this.base)).catch(() => null);
    if (!response?.ok) throw new Refused(`The file ${path} of this site cannot be read.`);
    return unpacked(response);
  }
}

function sameRows(set: { X: Pair[]; y: number[] }, scene: { X: Pair[]; y: number[] }): boolean {
  return (
    set.X.length === scene.X.length &&
    set.X.every(([a, b], i) => a === scene.X[i]![0] && b === scene.X[i]![1]) &&
    set.y.every((code, i) => code === scene.y[i])
  );
}

function sameChoice(catalog: Catalog, entry: Recorded, choice: Choice): boolean {
  const learner = catalog.learners.find((one) => one.name === choice.name);
  if (entry.learner !== choice.name || !learner) return false;
  return learner.params.every((p) => JSON.stringify(valueOf(entry.params, p)) === JSON.stringify(valueOf(choice.params, p)));
}

/** The text of a file, which may be compressed by gzip, with or without the web host's knowledge. */
async function unpacked(response: Response): Promise<unknown> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return JSON.parse(new TextDecoder().decode(bytes));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}
