// What a map shows.

import type { Words } from "../words.js";
import { type PooledTile, TILE } from "./pool.js";
import type { MapSize, MapWindow, TilePlace } from "./window.js";

export interface MapView {
  readonly label: string;
  readonly size: MapSize;
  readonly window: MapWindow;
  /** The cell in the light. */
  readonly row: number;
  readonly col: number;
  readonly words: Words | undefined;
  readonly tile: (place: TilePlace) => PooledTile | undefined;
  /** Of the whole, to be seen until there is something finer. */
  readonly coarse: readonly TilePlace[];
}

/** The tile that has the cell, and the dot in it that shows the cell. */
export function dotAt(view: MapView, block: number, row: number, col: number) {
  const side = TILE * block;
  const tile = view.tile({ block, row: Math.floor(row / side), col: Math.floor(col / side) });
  if (tile === undefined) return undefined;
  return { tile, dot: Math.floor((row - tile.top) / block) * TILE + Math.floor((col - tile.left) / block) };
}
