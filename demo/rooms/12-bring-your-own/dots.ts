// A part of a matrix of weights as a picture. Blocks of cells become one dot each, as rows come in: the largest of them, and its place. Dots
// are shaded by the logarithm of the weight, from a tenth of an even weight to the whole, since an even weight among thousands is next to
// nothing.

import { colourOf } from "../../src/ui/colour.js";
import { h } from "../../src/ui/dom.js";
import type { Source } from "./source.js";

type MapSize = Pick<Source, "queries" | "keys">;

/** Cells from edge to edge, at least. */
export const LEAST_SPAN = 8;
/** Dots from edge to edge: so many, or nearly twice as many. */
const DOTS = 256;

export type MapWindow = ReturnType<typeof windowAbout>;

/** A square of `span` cells, or all for 0, about a cell. It moves by halves, so that it stays while one looks around. */
export function windowAbout({ queries, keys }: MapSize, wanted: number, row: number, col: number) {
  const all = Math.max(queries, keys, LEAST_SPAN);
  const span = wanted <= 0 ? all : Math.min(all, Math.max(LEAST_SPAN, wanted));
  const half = Math.floor(span / 2);
  const from = (at: number, count: number) => Math.max(0, Math.min(count - span, half * (Math.round(at / half) - 1)));
  return { top: from(row, queries), left: from(col, keys), span };
}

export class Dots {
  readonly window: MapWindow;
  /** Cells of a dot, both ways. */
  readonly block: number;
  /** Cells of the matrix that are in the window. */
  readonly high: number;
  readonly wide: number;
  /** Dots beside each other. */
  readonly across: number;
  readonly max: Float32Array;
  /** Rows of cells that are in. */
  rows = 0;
  /** Where in the window each dot's largest cell is: row * wide + column. */
  readonly #where: Float64Array;
  #drawn: { readonly rows: number; readonly colour: string; readonly canvas: HTMLCanvasElement } | undefined;

  constructor({ queries, keys }: MapSize, window: MapWindow) {
    this.window = window;
    const { top, left, span } = window;
    this.block = Math.max(1, Math.floor(span / DOTS));
    [this.high, this.wide] = [Math.min(queries - top, span), Math.min(keys - left, span)];
    this.across = Math.ceil(this.wide / this.block);
    const count = this.across * Math.ceil(this.high / this.block);
    [this.max, this.#where] = [new Float32Array(count), new Float64Array(count).fill(-1)];
  }

  /** The next rows of the matrix, whole. */
  add(weights: Float32Array, columns: number): void {
    const { block, wide, window, max } = this;
    for (let first = window.left; first < weights.length; first += columns) {
      const line = Math.floor(this.rows / block) * this.across;
      for (let col = 0; col < wide; col++) {
        const [dot, weight] = [line + Math.floor(col / block), weights[first + col] ?? 0];
        if (!(weight > (max[dot] ?? 0))) continue;
        max[dot] = weight;
        this.#where[dot] = this.rows * wide + col;
      }
      this.rows += 1;
    }
  }

  /** The dot that shows a cell, if that is in the window. */
  dotOf(row: number, col: number): number | undefined {
    const [y, x] = [row - this.window.top, col - this.window.left];
    if (y < 0 || x < 0 || y >= this.high || x >= this.wide) return undefined;
    return Math.floor(y / this.block) * this.across + Math.floor(x / this.block);
  }

  /** The cell that a dot shows by its largest: its first where all are zero. */
  cellAt(dot: number): { readonly row: number; readonly col: number } {
    const { across, block, wide, window } = this;
    const known = this.#where[dot] ?? -1;
    const at = known < 0 ? (Math.floor(dot / across) * wide + (dot % across)) * block : known;
    return { row: window.top + Math.floor(at / wide), col: window.left + (at % wide) };
  }

  /** To be drawn at any size, over a ground: what is in so far, in a CSS colour. */
  picture(colour: string, even: number): HTMLCanvasElement {
    const { across, max, rows } = this;
    if (this.#drawn?.rows === rows && this.#drawn.colour === colour) return this.#drawn.canvas;
    const canvas = h("canvas", { width: across, height: max.length / across });
    const pixels = new Uint8ClampedArray(4 * max.length);
    const [red, green, blue] = colourOf(colour);
    max.forEach((weight, dot) => {
      pixels[4 * dot] = red;
      pixels[4 * dot + 1] = green;
      pixels[4 * dot + 2] = blue;
      pixels[4 * dot + 3] = 255 * levelOf(weight, even);
    });
    canvas.getContext("2d")?.putImageData(new ImageData(pixels, across), 0, 0);
    this.#drawn = { rows, colour, canvas };
    return canvas;
  }
}

/** 0 to 1. `even`: a weight where all keys have the same. */
export function levelOf(weight: number, even: number): number {
  const least = even / 10;
  return weight > least ? Math.min(1, Math.log(weight / least) / Math.log(1 / least)) : 0;
}
