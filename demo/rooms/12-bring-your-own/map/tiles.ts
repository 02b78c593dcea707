// The tiles of a map as far as they are there, and the work of making those that somebody looks at: strip by strip, one call at a time.

import { pacer } from "../../../src/ui/pieces.js";
import { type Rows, rowsAtOnce } from "../rows.js";
import { TILE, Tile } from "./tile.js";
import type { TilePlace } from "./window.js";

/** Those that nobody looks at are forgotten beyond so many. */
const MOST_TILES = 100;

export class Tiles {
  readonly #rows: Rows;
  readonly #changed: (done: number, of: number) => void;
  readonly #failed: (error: unknown) => void;
  readonly #tiles = new Map<string, Tile>();
  #wanted: ReadonlyMap<string, TilePlace> = new Map();
  #work: AbortController | undefined;
  /** The strip that is being made. */
  #strip = "";

  /** `changed`: so many weights are drawn, of those that are asked for. */
  constructor(rows: Rows, changed: (done: number, of: number) => void, failed: (error: unknown) => void) {
    this.#rows = rows;
    this.#changed = changed;
    this.#failed = failed;
  }

  get(place: TilePlace): Tile | undefined {
    return this.#tiles.get(keyOf(place));
  }

  lacking(places: Iterable<TilePlace>): readonly TilePlace[] {
    return Array.from(places).filter((place) => (this.get(place)?.rows ?? 0) < this.#rowsOf(place));
  }

  /** Makes what is not there yet of these, and nothing else any more. */
  want(places: readonly TilePlace[]): void {
    this.#wanted = new Map(places.map((place) => [keyOf(place), place]));
    if (!places.some((place) => stripOf(place) === this.#strip)) this.stop();
    if (this.#work === undefined) void this.#run();
    this.#tell();
  }

  stop(): void {
    this.#work?.abort();
    this.#work = undefined;
  }

  dispose(): void {
    this.stop();
    this.#wanted = new Map();
    this.#rows.dispose();
  }

  /** Until no wanted tile is lacking. */
  async #run(): Promise<void> {
    const work = new AbortController();
    this.#work = work;
    try {
      for (;;) {
        const lacking = this.lacking(this.#wanted.values());
        const [first] = lacking;
        if (first === undefined || work.signal.aborted) break;
        this.#strip = stripOf(first);
        const strip = lacking.filter((place) => stripOf(place) === this.#strip);
        await this.#make(first, strip, work.signal);
      }
    } catch (error) {
      if (!work.signal.aborted) this.#failed(error);
    }
    if (this.#work === work) this.#work = undefined;
  }

  #rowsOf({ block, row }: TilePlace): number {
    return Math.min(TILE * block, this.#rows.queries - row * TILE * block);
  }

  /** All of a strip; the next rows are computed while those before become dots. */
  async #make(first: TilePlace, strip: readonly TilePlace[], signal: AbortSignal): Promise<void> {
    const { keys } = this.#rows;
    // One that was broken off begins anew: its rows have been counted.
    const tiles = strip.map((place) => [keyOf(place), new Tile(place)] as const);
    for (const [key, tile] of tiles) this.#tiles.set(key, tile);
    const top = first.row * TILE * first.block;
    const [bottom, many] = [top + this.#rowsOf(first), rowsAtOnce(this.#rows)];
    const read = (from: number): Promise<Float32Array> | undefined => {
      const rows = from < bottom ? this.#rows.read(from, Math.min(bottom, from + many), signal) : undefined;
      // Whoever stops awaits no more of them.
      rows?.catch(() => {});
      return rows;
    };
    // A small call is computed where it is asked for, so that nothing else would have a turn.
    const breathe = pacer();
    try {
      let next = read(top);
      for (let from = top; next !== undefined; from += many) {
        const rows = await next;
        signal.throwIfAborted();
        next = read(from + many);
        for (const [, tile] of tiles) tile.add(rows, from, keys);
        this.#tell();
        await breathe();
        signal.throwIfAborted();
      }
    } catch (error) {
      for (const [key, tile] of tiles) if (this.#tiles.get(key) === tile) this.#tiles.delete(key);
      throw error;
    }
    // The oldest first.
    for (const key of this.#tiles.keys()) {
      if (this.#tiles.size > MOST_TILES && !this.#wanted.has(key)) this.#tiles.delete(key);
    }
  }

  #tell(): void {
    let [done, of] = [0, 0];
    for (const [key, place] of this.#wanted) {
      const side = TILE * place.block;
      const cols = Math.min(side, this.#rows.keys - place.col * side);
      done += (this.#tiles.get(key)?.rows ?? 0) * cols;
      of += this.#rowsOf(place) * cols;
    }
    this.#changed(done, of);
  }
}

const keyOf = ({ block, row, col }: TilePlace): string => `${block} ${row} ${col}`;

const stripOf = ({ block, row }: TilePlace): string => `${block} ${row}`;
