// What rooms do when somebody points at, selects or changes a cell of a <heed-matrix>.

import type { HeedMatrix, MatrixEdit, MatrixSelection } from "heed/viz";
import type { Cell } from "../model/cell.js";

export interface MatrixHandlers {
  /** `held`: the cell stays in the light when the pointer leaves. */
  readonly inspect: (name: string, row: number, col: number, held: boolean) => void;
  readonly leave: () => void;
  readonly edit: (name: string, row: number, col: number, values: MatrixEdit["values"]) => void;
}

/** Once for each matrix. */
export function handle(matrix: HeedMatrix, { inspect, leave, edit }: MatrixHandlers): void {
  for (const type of ["inspect", "select"] as const) {
    on<MatrixSelection>(matrix, type, ({ name, row, col }) => inspect(name, row, col, type === "select"));
  }
  on<MatrixEdit>(matrix, "edit", ({ name, row, col, values }) => edit(name, row, col, values));
  matrix.addEventListener("leave", leave);
}

/** `isTurned`: what is a row of the cell is shown as a column. */
export function shows(matrix: HeedMatrix | undefined, { row, col }: Cell, isTurned: boolean): boolean {
  if (matrix?.view === undefined || matrix.hidden) return false;
  const { rows, cols } = matrix.view.matrix;
  return isTurned ? row < cols && col < rows : row < rows && col < cols;
}

/** The detail of an element's own event. */
export function on<Detail>(element: EventTarget, type: string, told: (detail: Detail) => void): void {
  element.addEventListener(type, (event) => {
    if (event instanceof CustomEvent) told(event.detail);
  });
}
