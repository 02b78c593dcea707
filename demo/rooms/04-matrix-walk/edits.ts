// What an edited or pasted cell does to the state: X becomes numbers, a projection becomes an edited one.

import { MOST_WIDTH } from "../../src/model/embed.js";
import { at, fill, type Matrix } from "../../src/model/matrix.js";
import type { Role, State } from "../../src/model/state.js";
import { MOST_TOKENS } from "../../src/model/tokens.js";
import type { Walk } from "../../src/model/walk.js";

export interface Edit {
  readonly name: string;
  readonly row: number;
  readonly col: number;
  readonly values: readonly (readonly number[])[];
}

const ROLE: Readonly<Record<string, Role>> = { Wq: "q", Wk: "k", Wv: "v" };

/** undefined for a matrix that is computed. */
export function afterEdit(state: State, walk: Walk, edit: Edit): Partial<State> | undefined {
  if (edit.name === "X")
    return { numbers: patched(walk.x, edit, edit.values.length > 1 || (edit.values[0]?.length ?? 0) > 1) };
  const role = ROLE[edit.name];
  if (role === undefined) return undefined;
  const col = edit.col + state.head * walk.headWidth;
  return { edited: { ...state.edited, [role]: patched(walk.projections[role], { ...edit, col }, false) } };
}

/** A pasted block may make X larger; the projections keep their size. */
function patched(matrix: Matrix, { row, col, values }: Edit, grow: boolean): Matrix {
  const wide = Math.max(...values.map((line) => line.length));
  const rows = grow ? Math.min(MOST_TOKENS, Math.max(matrix.rows, row + values.length)) : matrix.rows;
  const cols = grow ? Math.min(MOST_WIDTH, Math.max(matrix.cols, col + wide)) : matrix.cols;
  return fill(
    rows,
    cols,
    (r, c) => values[r - row]?.[c - col] ?? (r < matrix.rows && c < matrix.cols ? at(matrix, r, c) : 0),
  );
}
