// A room's matrices by their names: made, shown, lit and listened to together.

import { HeedMatrix, type MatrixEdit, type MatrixView } from "heed/viz";
import type { Cell } from "../model/cell.js";
import { h } from "./dom.js";
import type { Explanation, NamedLight } from "./explanation.js";
import { handle, type MatrixHandlers, shows } from "./matrix-handlers.js";
import { toldAsShown, turned, turnedLight, turningHandlers } from "./orientation.js";

export interface NamedSpot<Name extends string> extends Cell {
  readonly name: Name;
}

export class NamedMatrices<Name extends string> {
  readonly #matrices: ReadonlyMap<string, HeedMatrix>;
  readonly #names: readonly Name[];
  readonly #isTurned: () => boolean;

  /** `isTurned`: what is a row for the room is shown as a column; asked each time. */
  constructor(names: readonly Name[], isTurned: () => boolean = () => false) {
    this.#names = names;
    this.#isTurned = isTurned;
    this.#matrices = new Map(names.map((name) => [name, new HeedMatrix()]));
  }

  of(...names: readonly Name[]): HTMLElement[] {
    return names.flatMap((name) => this.#matrices.get(name) ?? []);
  }

  /** Beside each other. */
  line(...names: readonly Name[]): HTMLElement {
    return h("div", { class: "matrices" }, ...this.of(...names));
  }

  listen(
    teller: { readonly point: (spot: NamedSpot<Name>, held: boolean) => void; readonly leave: () => void },
    edit: (name: Name, row: number, col: number, values: MatrixEdit["values"]) => void = () => {},
  ): void {
    const handlers: MatrixHandlers = {
      inspect: (said, row, col, held) => {
        const name = this.#named(said);
        if (name !== undefined) teller.point({ name, row, col }, held);
      },
      leave: () => teller.leave(),
      edit: (said, row, col, values) => {
        const name = this.#named(said);
        if (name !== undefined) edit(name, row, col, values);
      },
    };
    for (const matrix of this.#matrices.values()) handle(matrix, turningHandlers(handlers, this.#isTurned));
  }

  /** Those without a view are hidden. `names`: of which there is something new. Default: all. */
  show(viewOf: (name: Name) => MatrixView | undefined, names: readonly Name[] = this.#names): void {
    for (const name of names) {
      const [matrix, view] = [this.#matrices.get(name), viewOf(name)];
      if (matrix === undefined) continue;
      matrix.hidden = view === undefined;
      if (view !== undefined) matrix.show(this.#isTurned() ? turned(view) : view);
    }
  }

  /** undefined: none of these matrices has such a cell to show. */
  find(cell: Cell): NamedSpot<Name> | undefined {
    const name = this.#named(cell.name);
    const isShown = name !== undefined && shows(this.#matrices.get(name), cell, this.#isTurned());
    return isShown ? { ...cell, name } : undefined;
  }

  /** What is told of such a cell, as the matrices stand. */
  told(cell: Cell, explain: (spot: NamedSpot<Name>) => Explanation | undefined): Explanation | undefined {
    const spot = this.find(cell);
    return toldAsShown(spot === undefined ? undefined : explain(spot), this.#isTurned());
  }

  #named(name: string): Name | undefined {
    return this.#names.find((one) => one === name);
  }

  light(lights: readonly NamedLight[]): void {
    for (const [name, matrix] of this.#matrices) {
      const own = lights.filter((light) => light.name === name);
      matrix.light(this.#isTurned() ? own.map(turnedLight) : own);
    }
  }
}
