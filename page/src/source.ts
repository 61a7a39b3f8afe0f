import type { Answer, Catalog, Scene, Table } from "./protocol";

/** Where runs come from: a server, recorded files, or the kernel of a notebook. */
export interface Source {
  readonly readOnly: boolean;
  catalog(): Promise<Catalog>;
  run(scene: Scene, signal: AbortSignal): Promise<Answer>;
  /** The points in a CSV text; `columns`: which two columns, by name or number. */
  table(text: string, columns?: string[]): Promise<Table>;
}

/** A request that the library refused, with its sentence. */
export class Refused extends Error {}
