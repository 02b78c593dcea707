// Blocks of cells become one dot each, as rows of weights come in: the largest of them with its place, and their mean.

/** Dots of a tile, both ways. */
export const TILE = 128;

export class PooledTile {
  readonly top: number;
  readonly left: number;
  /** Cells of a dot, both ways. */
  readonly block: number;
  readonly max = new Float32Array(TILE * TILE);
  readonly sum = new Float32Array(TILE * TILE);
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
    const { block, left, top, max, sum } = this;
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
        let [most, at, total] = [max[dot] ?? 0, -1, 0];
        for (; col < end; col++) {
          const weight = weights[start + col] ?? 0;
          total += weight;
          if (weight > most) {
            most = weight;
            at = col;
          }
        }
        sum[dot] = (sum[dot] ?? 0) + total;
        if (at < 0) continue;
        max[dot] = most;
        where[dot] = row * side + at - left;
      }
      this.rows = Math.max(this.rows, row + 1);
    }
  }

  /** The cell that a dot shows by its largest: its own where all are zero. */
  cellAt(dot: number): { readonly row: number; readonly col: number } {
    const [side, at] = [TILE * this.block, this.#where[dot] ?? -1];
    if (at < 0) {
      return {
        row: this.top + Math.floor(dot / TILE) * this.block,
        col: this.left + (dot % TILE) * this.block,
      };
    }
    return { row: this.top + Math.floor(at / side), col: this.left + (at % side) };
  }

  /** The mean over the cells of a dot, of which there are fewer at the edges. */
  mean(dot: number, queries: number, keys: number): number {
    const row = this.top + Math.floor(dot / TILE) * this.block;
    const col = this.left + (dot % TILE) * this.block;
    const cells = Math.min(this.block, queries - row) * Math.min(this.block, keys - col);
    return cells > 0 ? (this.sum[dot] ?? 0) / cells : 0;
  }
}
