// Runs from the kernel of a notebook, by the messages of a widget.
import type { Answer, Catalog, Scene, Table } from "./protocol";
import { checked } from "./protocol";
import type { Source } from "./source";
import { Refused } from "./source";

/** What the page uses of the model of a widget. */
export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  send(message: unknown): void;
  on(event: string, handler: (message: unknown) => void): void;
  off(event: string, handler: (message: unknown) => void): void;
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

export class WidgetSource implements Source {
  readonly readOnly = false;
  private readonly waiting = new Map<number, Waiting>();
  private last = 0;
  private readonly hear = (message: unknown): void => this.heard(message);

  constructor(private readonly model: Model) {
    model.on("msg:custom", this.hear);
  }

  close(): void {
    this.model.off("msg:custom", this.hear);
  }

  async catalog(): Promise<Catalog> {
    return checked<Catalog>(await this.ask("catalog", null), "perceptrons lab catalog");
  }

  async run(scene: Scene): Promise<Answer> {
    return checked<Answer>(await this.ask("run", scene), "perceptrons lab run");
  }

  async table(text: string, columns?: string[]): Promise<Table> {
    return (await this.ask("table", { text, columns: columns ?? null })) as Table;
  }

  private ask(what: string, body: unknown): Promise<unknown> {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.model.send({ id, ask: what, body });
    });
  }

  private heard(message: unknown): void {
    const { id, answer, error } = message as { id?: number; answer?: unknown; error?: string };
    const waiting = id === undefined ? undefined : this.waiting.get(id);
    if (!waiting) return;
    this.waiting.delete(id!);
    if (error === undefined) waiting.resolve(answer);
    else waiting.reject(new Refused(error));
  }
}
