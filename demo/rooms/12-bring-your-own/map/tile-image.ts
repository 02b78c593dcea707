// A tile as a picture of its own, which the map then draws at any size.

import { type PooledTile, TILE } from "./pool.js";
import { levelOf, type Shades } from "./shade.js";

export class TileImage {
  readonly canvas = document.createElement("canvas");
  #rows = 0;
  readonly #image = new ImageData(TILE, TILE);

  constructor() {
    this.canvas.width = TILE;
    this.canvas.height = TILE;
  }

  /** Draws the rows that came in since it was last asked. `even`: a weight where all keys have the same. */
  update(tile: PooledTile, even: number, shades: Shades): void {
    if (this.#rows === tile.rows) return;
    const [first, last] = [Math.floor(this.#rows / tile.block), Math.ceil(tile.rows / tile.block)];
    for (let dot = Math.max(0, first) * TILE; dot < Math.min(TILE, last) * TILE; dot++) {
      shades.put(this.#image.data, dot, levelOf(tile.max[dot] ?? 0, even));
    }
    this.#rows = tile.rows;
    this.canvas.getContext("2d")?.putImageData(this.#image, 0, 0);
  }
}
