// The tiles of a map as far as they are there, and the work of making those that somebody looks at: strip by strip, one call at a time.

import { pacer } from "../../../src/ui/pieces.js";
import { type Rows, rowsAtOnce } from "../rows.js";
import { PooledTile, TILE } from "./pool.js";
import type { TilePlace } from "./window.js";

/** Beside those of the whole, which are kept. */
const MOST_TILES = 96;

export interface Progress {
  /** Rows of weights that are done, of those that are asked for. */
  readonly done: number;
  readonly of: number;
}

export class Tiles {
  onChange: (progress: Progress) => void = () => {};
  onError: (error: unknown) => void = () => {};
  readonly #rows: Rows;
  readonly #tiles = new Map<string, PooledTile>();
  readonly #kept = new Set<string>();
  #wanted: readonly TilePlace[] = [];
  #work: AbortController | undefined;
  #strip = "";

  constructor(rows: Rows, kept: readonly TilePlace[]) {
    this.#rows = rows;
    for (const place of kept) this.#kept.add(keyOf(place));
  }

  get(place: TilePlace): PooledTile | undefined {
    return this.#tiles.get(keyOf(place));
  }

  lacks(places: readonly TilePlace[]): boolean {
    return places.some((place) => !this.#isDone(place));
  }

  /** Makes what is not there yet of these, and nothing else any more. */
  want(places: readonly TilePlace[]): void {
    this.#wanted = places;
    const strips = new Set(places.map(stripOf));
    if (this.#work !== undefined && !strips.has(this.#strip)) this.stop();
    if (this.#work === undefined) void this.#run();
    this.onChange(this.#progress());
  }

  stop(): void {
    this.#work?.abort();
    this.#work = undefined;
  }

  dispose(): void {
    this.stop();
    this.#wanted = [];
    this.#rows.dispose();
  }

  async #run(): Promise<void> {
    const work = new AbortController();
    this.#work = work;
    try {
      for (let next = this.#next(); next !== undefined && !work.signal.aborted; next = this.#next()) {
        await this.#make(next, work.signal);
      }
    } catch (error) {
      if (!work.signal.aborted) this.onError(error);
    }
    if (this.#work === work) this.#work = undefined;
  }

  #isDone(place: TilePlace): boolean {
    return (this.#tiles.get(keyOf(place))?.rows ?? 0) >= this.#rowsOf(place);
  }

  #rowsOf({ block, row }: TilePlace): number {
    return Math.min(TILE * block, this.#rows.queries - row * TILE * block);
  }

  /** The first strip that lacks a tile. */
  #next(): readonly TilePlace[] | undefined {
    const lacking = this.#wanted.filter((place) => !this.#isDone(place));
    const [first] = lacking;
    return first === undefined ? undefined : lacking.filter((place) => stripOf(place) === stripOf(first));
  }

  async #make(places: readonly TilePlace[], signal: AbortSignal): Promise<void> {
    const [first] = places;
    if (first === undefined) return;
    this.#strip = stripOf(first);
    // One that was broken off begins anew: its rows have been counted.
    const tiles = places.map((place) => {
      const tile = new PooledTile(place.block, place.row, place.col);
      this.#tiles.set(keyOf(place), tile);
      return tile;
    });
    const { queries, keys } = this.#rows;
    const top = first.row * TILE * first.block;
    const bottom = Math.min(queries, top + TILE * first.block);
    try {
      // A small call is computed where it is asked for, so that nothing else would have a turn.
      const breathe = pacer();
      for await (const { from, rows } of this.#parts(top, bottom, signal)) {
        for (const tile of tiles) tile.add(rows, from, keys);
        this.onChange(this.#progress());
        await breathe();
        signal.throwIfAborted();
      }
    } catch (error) {
      places.forEach((place, index) => {
        if (this.#tiles.get(keyOf(place)) === tiles[index]) this.#tiles.delete(keyOf(place));
      });
      throw error;
    }
    this.#forget();
  }

  /** Some rows after the other; the next ones are computed while those before become dots. */
  async *#parts(top: number, bottom: number, signal: AbortSignal) {
    const many = rowsAtOnce(this.#rows);
    const read = (from: number): Promise<Float32Array> | undefined => {
      const rows = from < bottom ? this.#rows.read(from, Math.min(bottom, from + many), signal) : undefined;
      // Whoever stops awaits no more of them.
      rows?.catch(() => {});
      return rows;
    };
    let next = read(top);
    for (let from = top; next !== undefined; from += many) {
      const rows = await next;
      signal.throwIfAborted();
      next = read(from + many);
      yield { from, rows };
    }
  }

  #progress(): Progress {
    const strips = new Map<string, { readonly of: number; readonly done: number }>();
    for (const place of this.#wanted) {
      const of = this.#rowsOf(place);
      const before = strips.get(stripOf(place))?.done ?? of;
      strips.set(stripOf(place), { of, done: Math.min(before, this.#tiles.get(keyOf(place))?.rows ?? 0) });
    }
    const sum = (part: "done" | "of"): number => Array.from(strips.values()).reduce((all, one) => all + one[part], 0);
    return { done: sum("done"), of: sum("of") };
  }

  /** The oldest ones that nobody looks at. */
  #forget(): void {
    const wanted = new Set(this.#wanted.map(keyOf));
    for (const key of this.#tiles.keys()) {
      if (this.#tiles.size <= MOST_TILES + this.#kept.size) return;
      if (!wanted.has(key) && !this.#kept.has(key)) this.#tiles.delete(key);
    }
  }
}

function keyOf({ block, row, col }: TilePlace): string {
  return `${block} ${row} ${col}`;
}

function stripOf({ block, row }: TilePlace): string {
  return `${block} ${row}`;
}
