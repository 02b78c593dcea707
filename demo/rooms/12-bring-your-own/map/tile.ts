// Blocks of cells become one dot each, as rows of weights come in: the largest of them, and its place. Dots are shaded by the logarithm of
// the weight, from a tenth of an even weight to the whole, since an even weight among thousands is next to nothing.

import { colourOf } from "../../../src/ui/colour.js";
import type { TilePlace } from "./window.js";

/** Dots of a tile, both ways. */
export const TILE = 128;

export class Tile {
  readonly top: number;
  readonly left: number;
  /** Cells of a dot, both ways. */
  readonly block: number;
  readonly max = new Float32Array(TILE * TILE);
  /** Where in its tile each dot's largest cell is: row * TILE * block + column. */
  readonly #where = new Int32Array(TILE * TILE).fill(-1);
  /** Rows of cells that are in. */
  rows = 0;
  #canvas: HTMLCanvasElement | undefined;
  #drawn: { readonly rows: number; readonly shader: Shader } | undefined;

  constructor({ block, row, col }: TilePlace) {
    this.block = block;
    this.top = row * TILE * block;
    this.left = col * TILE * block;
  }

  /** Whole rows of a matrix with so many columns, `first` the first. */
  add(weights: Float32Array, first: number, columns: number): void {
    const { block, left, top, max } = this;
    const where = this.#where;
    const [side, right] = [TILE * block, Math.min(columns, left + TILE * block)];
    const count = Math.floor(weights.length / columns);
    for (let index = 0; index < count; index++) {
      const row = first + index - top;
      if (row < 0 || row >= side) continue;
      const start = index * columns;
      let dot = Math.floor(row / block) * TILE;
      for (let col = left; col < right; dot++) {
        const end = Math.min(right, col + block);
        let [most, at] = [max[dot] ?? 0, -1];
        for (; col < end; col++) {
          const weight = weights[start + col] ?? 0;
          if (weight > most) {
            most = weight;
            at = col;
          }
        }
        if (at < 0) continue;
        max[dot] = most;
        where[dot] = row * side + at - left;
      }
      this.rows = Math.max(this.rows, row + 1);
    }
  }

  /** The dot that shows a cell. */
  dotOf(row: number, col: number): number {
    return Math.floor((row - this.top) / this.block) * TILE + Math.floor((col - this.left) / this.block);
  }

  /** The cell that a dot shows by its largest: its own where all are zero. */
  cellAt(dot: number): { readonly row: number; readonly col: number } {
    const [side, known] = [TILE * this.block, this.#where[dot] ?? -1];
    const at = known < 0 ? Math.floor(dot / TILE) * this.block * side + (dot % TILE) * this.block : known;
    return { row: this.top + Math.floor(at / side), col: this.left + (at % side) };
  }

  /** Its dots as a picture, to be drawn at any size; shades only the rows that came in since. */
  shaded(shader: Shader, even: number): HTMLCanvasElement {
    this.#canvas ??= Object.assign(document.createElement("canvas"), { width: TILE, height: TILE });
    const { rows } = this;
    const before = this.#drawn?.shader === shader ? this.#drawn.rows : 0;
    const [first, last] = [Math.floor(before / this.block), Math.min(TILE, Math.ceil(rows / this.block))];
    if (before < rows) {
      const image = shader(this.max.subarray(first * TILE, last * TILE), TILE, even);
      this.#canvas.getContext("2d")?.putImageData(image, 0, first);
    }
    this.#drawn = { rows, shader };
    return this.#canvas;
  }
}

const LEVELS = 64;

/** 0 to 1. `even`: a weight where all keys have the same. */
export function levelOf(weight: number, even: number): number {
  const least = even / 10;
  if (!(weight > least)) return 0;
  return Math.min(1, Math.log(weight / least) / Math.log(1 / least));
}

/** Weights as pixels, so many beside each other. */
export type Shader = (weights: Float32Array, across: number, even: number) => ImageData;

/** In the page's colours as they are now. */
export function shaderOf(element: Element): Shader {
  const probe = document.createElement("span");
  element.append(probe);
  const [ground = [], full = []] = ["--cell", "--share"].map((name) => {
    probe.style.setProperty("color", `var(${name})`);
    return colourOf(getComputedStyle(probe).color);
  });
  probe.remove();
  const mixed = Array.from({ length: LEVELS + 1 }, (_, level) =>
    ground.map((part, channel) => part + ((full[channel] ?? 0) - part) * (level / LEVELS)),
  );
  const colours = new Uint32Array(Uint8ClampedArray.from(mixed.flat()).buffer);
  return (weights, across, even) => {
    const pixels = new Uint32Array(weights.length);
    weights.forEach((weight, dot) => {
      pixels[dot] = colours[Math.round(levelOf(weight, even) * LEVELS)] ?? 0;
    });
    return new ImageData(new Uint8ClampedArray(pixels.buffer), across);
  };
}
