// Blocks of cells become one dot each, as rows of weights come in: the largest of them, and its place.

/** Dots of a tile, both ways. */
export const TILE = 128;

export class PooledTile {
  readonly top: number;
  readonly left: number;
  /** Cells of a dot, both ways. */
  readonly block: number;
  readonly max = new Float32Array(TILE * TILE);
  /** Where in its tile each dot's largest cell is: row * TILE * block + column. */
  readonly #where = new Int32Array(TILE * TILE).fill(-1);
  /** Rows of cells that are in. */
  rows = 0;

  constructor(block: number, row: number, col: number) {
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

  /** The cell that a dot shows by its largest: its own where all are zero. */
  cellAt(dot: number): { readonly row: number; readonly col: number } {
    const [side, known] = [TILE * this.block, this.#where[dot] ?? -1];
    const at = known < 0 ? Math.floor(dot / TILE) * this.block * side + (dot % TILE) * this.block : known;
    return { row: this.top + Math.floor(at / side), col: this.left + (at % side) };
  }
}
