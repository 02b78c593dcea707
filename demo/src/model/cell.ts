// Which cell is told about, as it stands in the address of every room: "cell=A.2.3", by matrix, row and column, counted from 0.

export interface Cell {
  readonly name: string;
  readonly row: number;
  readonly col: number;
}

const KEY = "cell";

/** undefined for what cannot be read: an address may come from anywhere. */
export function readCell(hash: string): Cell | undefined {
  const text = new URLSearchParams(hash.replace(/^#/, "")).get(KEY) ?? "";
  const [, name, row, col] = /^([\w-]+)\.(\d{1,8})\.(\d{1,8})$/.exec(text) ?? [];
  return name === undefined ? undefined : { name, row: Number(row), col: Number(col) };
}

/** `hash`: what the address says besides, or nothing. */
export function withCell(hash: string, cell: Cell | undefined): string {
  if (cell === undefined) return hash;
  return `${hash === "" ? "#" : `${hash}&`}${KEY}=${cell.name}.${cell.row}.${cell.col}`;
}
