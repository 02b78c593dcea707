// Draws a map: the tiles that are there, coarse ones below fine ones, and the cell in the light.

import { type PooledTile, TILE } from "./pool.js";
import { type Shades, shadesOf } from "./shade.js";
import { TileImage } from "./tile-image.js";
import type { MapView } from "./view.js";
import { tilesIn, within } from "./window.js";

/** Pixels of the mark, where a cell is smaller. */
const LEAST_MARK = 6;

export class MapPainter {
  #images = new Map<PooledTile, TileImage>();
  #shades: Shades | undefined;

  /** Colours are others now. */
  forget(): void {
    this.#shades = undefined;
    this.#images.clear();
  }

  /** `width`: of the canvas on the page. */
  paint(canvas: HTMLCanvasElement, width: number, view: MapView): void {
    const context = canvas.getContext("2d");
    const edge = Math.round(width * devicePixelRatio);
    if (context === null || edge === 0) return;
    if (canvas.width !== edge) {
      canvas.width = edge;
      canvas.height = edge;
    }
    const { size } = view;
    const { top, left, span } = within(size, view.window);
    const scale = edge / span;
    context.clearRect(0, 0, edge, edge);
    context.imageSmoothingEnabled = false;
    this.#shades ??= shadesOf(canvas.parentElement ?? document.body);
    const alive = new Map<PooledTile, TileImage>();
    for (const place of [...view.coarse, ...tilesIn(size, view.window)]) {
      const tile = view.tile(place);
      if (tile === undefined || tile.rows === 0) continue;
      const image = this.#images.get(tile) ?? new TileImage();
      alive.set(tile, image);
      image.update(tile, 1 / size.keys, this.#shades);
      const rows = Math.ceil(tile.rows / tile.block);
      const cols = Math.min(TILE, Math.ceil((size.keys - tile.left) / tile.block));
      const [x, y] = [(tile.left - left) * scale, (tile.top - top) * scale];
      const across = Math.min(cols * tile.block, size.keys - tile.left) * scale;
      const down = Math.min(rows * tile.block, size.queries - tile.top) * scale;
      context.drawImage(image.canvas, 0, 0, cols, rows, x, y, across, down);
    }
    this.#images = alive;
    context.strokeStyle = getComputedStyle(canvas).color;
    mark(context, (view.col - left) * scale, (view.row - top) * scale, scale);
  }
}

/** The cell in the light, and lines that lead to it. */
function mark(context: CanvasRenderingContext2D, x: number, y: number, scale: number): void {
  const { width, height } = context.canvas;
  const [middleX, middleY] = [x + scale / 2, y + scale / 2];
  context.lineWidth = devicePixelRatio;
  context.globalAlpha = 0.35;
  context.beginPath();
  context.moveTo(0, middleY);
  context.lineTo(width, middleY);
  context.moveTo(middleX, 0);
  context.lineTo(middleX, height);
  context.stroke();
  context.globalAlpha = 1;
  context.lineWidth = 2 * devicePixelRatio;
  const side = Math.max(LEAST_MARK * devicePixelRatio, scale);
  context.strokeRect(middleX - side / 2, middleY - side / 2, side, side);
}
