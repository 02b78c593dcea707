// Which part of the map is looked at, and the tiles that it is made of. Cells are squares of the same size both ways. Blocks of them become
// one dot each, as rows of weights come in: the largest of them, and its place. Dots are shaded by the logarithm of the weight, from a
// tenth of an even weight to the whole, since an even weight among thousands is next to nothing.

import { colourOf } from "../../../src/ui/colour.js";
import type { Source } from "../source.js";

export interface MapWindow {
  readonly top: number;
  readonly left: number;
  /** Cells from edge to edge. */
  readonly span: number;
}

type MapSize = Pick<Source, "queries" | "keys">;

const LEAST_SPAN = 8;
/** Dots of a tile, both ways. */
export const TILE = 128;
/** Dots from edge to edge that are looked for: between so many and twice as many. */
const DOTS = 2 * TILE;

/** The nearest that there is; a span of 0 is all of it. */
export function within({ queries, keys }: MapSize, { top, left, span }: MapWindow): MapWindow {
  const whole = Math.max(queries, keys, LEAST_SPAN);
  const fits = span <= 0 ? whole : Math.min(whole, Math.max(LEAST_SPAN, span));
  const inside = (at: number, count: number): number => Math.min(Math.max(0, count - fits), Math.max(0, at));
  return { top: inside(top, queries), left: inside(left, keys), span: fits };
}

/** What stands at (x, y), parts of the edge, stays there. */
export function zoomed(size: MapSize, window: MapWindow, factor: number, x: number, y: number): MapWindow {
  const now = within(size, window);
  const { span } = within(size, { ...now, span: now.span / factor });
  return within(size, { span, left: now.left + x * (now.span - span), top: now.top + y * (now.span - span) });
}

/** Moved as little as shows the cell. */
export function showing(size: MapSize, window: MapWindow, row: number, col: number): MapWindow {
  const { top, left, span } = within(size, window);
  const into = (first: number, at: number): number => Math.min(at, Math.max(first, at + 1 - span));
  return within(size, { top: into(top, row), left: into(left, col), span });
}

/** Cells of a dot, both ways: a power of two. */
export const blockFor = ({ span }: MapWindow): number => Math.max(1, 2 ** Math.floor(Math.log2(span / DOTS)));

export type TilePlace = Readonly<Record<"block" | "row" | "col", number>>;

/** The tiles that a window shows, row by row. */
export function tilesIn(size: MapSize, window: MapWindow): readonly TilePlace[] {
  const { top, left, span } = within(size, window);
  const block = blockFor({ top, left, span });
  const side = TILE * block;
  const range = (from: number, count: number): readonly number[] => {
    const [first, last] = [Math.floor(from / side), Math.ceil(Math.min(count, from + span) / side)];
    return Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  };
  return range(top, size.queries).flatMap((row) => range(left, size.keys).map((col) => ({ block, row, col })));
}

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
    const side = TILE * block;
    const right = Math.min(columns, left + side);
    const end = Math.min(first + weights.length / columns, top + side);
    const shift = Math.log2(block);
    for (let row = Math.max(first, top); row < end; row++) {
      const start = (row - first) * columns;
      const firstDot = ((row - top) >> shift) * TILE;
      for (let col = left; col < right; col++) {
        const dot = firstDot + ((col - left) >> shift);
        const weight = weights[start + col] ?? 0;
        if (!(weight > (max[dot] ?? 0))) continue;
        max[dot] = weight;
        this.#where[dot] = (row - top) * side + col - left;
      }
      this.rows = Math.max(this.rows, row - top + 1);
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
  return weight > least ? Math.min(1, Math.log(weight / least) / Math.log(1 / least)) : 0;
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
    const pixels = Uint32Array.from(weights, (weight) => colours[Math.round(levelOf(weight, even) * LEVELS)] ?? 0);
    return new ImageData(new Uint8ClampedArray(pixels.buffer), across);
  };
}
