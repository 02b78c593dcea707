// The tiles of a map as far as they are there, and the work of making those that somebody looks at: strip by strip, one call at a time.

import { pacer } from "../../../src/ui/pieces.js";
import { type Rows, rowsAtOnce } from "../rows.js";
import { TILE, Tile, type TilePlace } from "./tile.js";

/** Those that nobody looks at are forgotten beyond so many. */
const MOST_TILES = 100;

export type Tiles = ReturnType<typeof tilesOf>;

export function tilesOf({ queries, keys, ...source }: Rows) {
  const tiles = new Map<string, Tile>();
  let wanted: ReadonlyMap<string, TilePlace> = new Map();
  /** The strip that is being made. */
  let strip = "";

  const get = (place: TilePlace): Tile | undefined => tiles.get(keyOf(place));
  const rowsOf = ({ block, row }: TilePlace): number => Math.min(TILE * block, queries - row * TILE * block);
  const lacking = (places: Iterable<TilePlace>): readonly TilePlace[] =>
    Array.from(places).filter((place) => (get(place)?.rows ?? 0) < rowsOf(place));

  /** All of a strip; the next rows are computed while those before become dots. */
  const makeStrip = async (first: TilePlace, places: readonly TilePlace[], signal: AbortSignal, tell: () => void) => {
    // One that was broken off begins anew: its rows have been counted.
    const made = places.map((place) => [keyOf(place), new Tile(place)] as const);
    for (const [key, tile] of made) tiles.set(key, tile);
    const top = first.row * TILE * first.block;
    const [bottom, many] = [top + rowsOf(first), rowsAtOnce({ keys })];
    const read = (from: number): Promise<Float32Array> | undefined => {
      const rows = from < bottom ? source.read(from, Math.min(bottom, from + many), signal) : undefined;
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
        for (const [, tile] of made) tile.add(rows, from, keys);
        tell();
        await breathe();
        signal.throwIfAborted();
      }
    } catch (error) {
      for (const [key, tile] of made) if (tiles.get(key) === tile) tiles.delete(key);
      throw error;
    }
    // The oldest first.
    for (const key of tiles.keys()) if (tiles.size > MOST_TILES && !wanted.has(key)) tiles.delete(key);
  };
  return {
    get,
    lacking,
    /** Nothing else is to be made any more; whether what is being made is among these. */
    want: (places: readonly TilePlace[]): boolean => {
      wanted = new Map(places.map((place) => [keyOf(place), place]));
      return places.some((place) => stripOf(place) === strip);
    },
    /** All that is wanted; `told`: so many weights are drawn, of so many. Resolves with their number. */
    make: async (signal: AbortSignal, told: (done: number, of: number) => void): Promise<number> => {
      const tell = (): number => {
        let [done, of] = [0, 0];
        for (const place of wanted.values()) {
          const cols = Math.min(TILE * place.block, keys - place.col * TILE * place.block);
          done += (get(place)?.rows ?? 0) * cols;
          of += rowsOf(place) * cols;
        }
        told(done, of);
        return of;
      };
      tell();
      for (;;) {
        const missing = lacking(wanted.values());
        const [first] = missing;
        if (first === undefined) return tell();
        strip = stripOf(first);
        const beside = missing.filter((place) => stripOf(place) === strip);
        await makeStrip(first, beside, signal, tell);
      }
    },
    dispose: source.dispose,
  };
}

const keyOf = ({ block, row, col }: TilePlace): string => `${block} ${row} ${col}`;

const stripOf = ({ block, row }: TilePlace): string => `${block} ${row}`;
