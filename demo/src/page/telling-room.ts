// A room whose numbers tell how they came about. Its matrices, the readout that takes one of their cells apart, and the line about the
// kernel's numbers are made here; the room itself adds the pictures.

import type { Engine } from "../engine/engine.js";
import type { Cell } from "../model/store.js";
import { find } from "../ui/dom.js";
import type { Explanation, NamedLight } from "../ui/explanation.js";
import { type EditNamed, NamedMatrices, type NamedSpot } from "../ui/named-matrices.js";
import { atOnce } from "../ui/pieces.js";
import { Teller } from "../ui/teller.js";
import { type Furniture, furnish } from "./furnish.js";
import { type RoomParts, runRoom } from "./run-room.js";

/** What a room is built with. The scene and the kernel's answer to it are those that are shown. */
export interface RoomContext<Scene, Answered, Name extends string> {
  readonly engine: Engine;
  readonly scene: Scene;
  readonly answer: Answered | undefined;
  readonly matrices: NamedMatrices<Name>;
  readonly teller: Teller;
}

export interface BuiltRoom<Name extends string> extends Pick<Furniture, "above" | "pictures" | "menu"> {
  /** The cell to begin with. */
  readonly first: () => Cell | undefined;
  readonly explain: (spot: NamedSpot<Name>) => Explanation | undefined;
  /** Of a cell that none of the matrices shows. */
  readonly explainOther?: (cell: Cell) => Explanation | undefined;
  /** A number was typed, or several were pasted. */
  readonly edit?: EditNamed<string>;
  /** Default: lights the matrices. */
  readonly light?: (lights: readonly NamedLight[]) => void;
  /** Shows the scene; false: it is yet to come, and the readout stays as it is. */
  readonly show: () => unknown;
  /** What remains, where all of it is too much to be done at a time. */
  readonly showRest?: () => Iterable<unknown>;
}

interface Parts<State extends object, Scene, Answered, Name extends string>
  extends Pick<RoomParts<State, Scene, Answered>, "store" | "prepare" | "sceneOf"> {
  /** What is asked of it, and what is said of its answer. */
  readonly kernel: Pick<RoomParts<State, Scene, Answered>, "callsOf" | "read" | "computedFrom"> & {
    readonly said: (answer: Answered | undefined, scene: Scene) => string;
  };
  readonly code?: Readonly<Record<"heed" | "torch", (scene: Scene) => string>>;
  readonly matrices: readonly Name[];
  readonly build: (room: RoomContext<Scene, Answered, Name>) => BuiltRoom<Name>;
}

export function tellingRoom<S extends object, Scene, A, Name extends string>(parts: Parts<S, Scene, A, Name>): void {
  const { kernel, code, build, ...others } = parts;
  runRoom({
    ...others,
    ...kernel,
    build: (scene, engine) => {
      const matrices = new NamedMatrices(parts.matrices, parts.store);
      const teller = new Teller({
        keeper: () => parts.store,
        first: () => built.first(),
        explain: (cell) => matrices.told(cell, built.explain, built.explainOther),
        light: (lights) => (built.light === undefined ? matrices.light(lights) : built.light(lights)),
        retype: ({ name, row, col }, value) => built.edit?.(name, row, col, [[value]]),
      });
      const room: RoomContext<Scene, A, Name> = { engine, matrices, teller, scene, answer: undefined };
      const built: BuiltRoom<Name> = build(room);
      matrices.listen(teller, built.edit);
      const agreement = furnish(find("#room", HTMLElement), {
        ...built,
        readout: teller.element,
        heedCode: code && (() => code.heed(room.scene)),
        torchCode: code && (() => code.torch(room.scene)),
      });
      function* showing(next: Scene, answer: A | undefined): Generator<unknown> {
        Object.assign(room, { scene: next, answer });
        if (built.show() === false) return;
        if (built.showRest !== undefined) yield* built.showRest();
        agreement.textContent = kernel.said(answer, next);
        teller.tell();
      }
      return { showing, show: (...now) => atOnce(showing(...now)) };
    },
  });
}
