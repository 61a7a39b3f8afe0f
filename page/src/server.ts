// Runs from the server that served the page.
import type { Answer, Catalog, Scene, Table } from "./protocol";
import { checked } from "./protocol";
import type { Source } from "./source";
import { Refused } from "./source";

export class ServerSource implements Source {
  readonly readOnly = false;

  /** `base`: the address of the page; `token`: the secret of the printed address. */
  constructor(private readonly base: string, private readonly token: string) {}

  async catalog(): Promise<Catalog> {
    return checked<Catalog>(await this.fetched("api/catalog", null), "perceptrons lab catalog");
  }

  async run(scene: Scene, signal: AbortSignal): Promise<Answer> {
    return checked<Answer>(await this.fetched("api/run", scene, signal), "perceptrons lab run");
  }

  async table(text: string, columns?: string[]): Promise<Table> {
    return (await this.fetched("api/table", { text, columns: columns ?? null })) as Table;
  }

  private async fetched(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
    const headers: Record<string, string> = { "X-Lab-Token": this.token };
    if (body !== null) headers["Content-Type"] = "application/json";
    let response: Response;
    try {
      response = await fetch(new URL(path, this.base), {
        method: body === null ? "GET" : "POST",
        headers,
        body: body === null ? null : JSON.stringify(body),
        signal: signal ?? null,
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Refused("The server does not answer. Start it again with: perceptrons lab");
    }
    const found: unknown = await response.json().catch(() => null);
    if (response.ok) return found;
    const sentence = (found as { error?: unknown } | null)?.error;
    throw new Refused(typeof sentence === "string" ? sentence : `The server answered with status ${response.status}.`);
  }
}

/** The token of the address, which is then taken out of it and kept in memory only. */
export function takeToken(): string {
  const url = new URL(location.href);
  const token = url.searchParams.get("token") ?? "";
  if (token) {
    url.searchParams.delete("token");
    history.replaceState(history.state, "", url);
  }
  return token;
}
