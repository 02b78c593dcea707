// A room's matrices by their names: made, shown, lit and listened to together.

import { HeedMatrix, type MatrixEdit, type MatrixView } from "heed/viz";
import { h } from "./dom.js";
import type { NamedLight } from "./explanation.js";
import { handle, type MatrixHandlers } from "./matrix-handlers.js";
import { turned, turnedLight, turningHandlers } from "./orientation.js";
import type { Teller } from "./teller.js";

export interface NamedSpot<Name extends string> {
  readonly name: Name;
  readonly row: number;
  readonly col: number;
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
    teller: Pick<Teller<NamedSpot<Name>>, "point" | "leave">,
    edit: (name: Name, row: number, col: number, values: MatrixEdit["values"]) => void = () => {},
  ): void {
    const known = (name: string): Name | undefined => this.#names.find((one) => one === name);
    const handlers: MatrixHandlers = {
      inspect: (said, row, col, held) => {
        const name = known(said);
        if (name !== undefined) teller.point({ name, row, col }, held);
      },
      leave: () => teller.leave(),
      edit: (said, row, col, values) => {
        const name = known(said);
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

  shows(name: Name): boolean {
    return this.#matrices.get(name)?.hidden === false;
  }

  light(lights: readonly NamedLight[]): void {
    for (const [name, matrix] of this.#matrices) {
      const own = lights.filter((light) => light.name === name);
      matrix.light(this.#isTurned() ? own.map(turnedLight) : own);
    }
  }
}
