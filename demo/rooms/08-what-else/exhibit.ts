// What the room's five parts have in common: a scene is made of a state, drawn, asked of the kernel, and taken apart number by number.

import type { Answer, Call } from "../../src/engine/engine.js";
import type { Cell } from "../../src/model/cell.js";
import { h } from "../../src/ui/dom.js";
import type { Explanation, NamedLight } from "../../src/ui/explanation.js";
import type { NamedMatrices, NamedSpot, Views } from "../../src/ui/named-matrices.js";
import { apart as gapIn } from "../../src/ui/numbers.js";
import { type PictureParts, picture } from "../../src/ui/picture.js";
import { atOnce } from "../../src/ui/pieces.js";
import { fact } from "../../src/ui/table.js";
import type { Teller } from "../../src/ui/teller.js";
import type { WhatElseState, WhatElseStore } from "./state.js";

/** What an exhibit is made of. A scene has the kernel's numbers in it once they are there. */
interface Parts<Scene extends { readonly state: WhatElseState }, Name extends string> {
  readonly picture: Omit<PictureParts, "data">;
  readonly figures?: (scene: Scene) => readonly HTMLElement[];
  readonly data: (scene: Scene) => unknown;
  readonly say: (scene: Scene) => string;
  /** Another picture, below. */
  readonly below?: HTMLElement;
  /** What stands in the menu of its pictures. */
  readonly menu?: HTMLElement;
  readonly matrices?: NamedMatrices<Name>;
  readonly viewsOf?: (scene: Scene) => Views<Name>;
  readonly edit?: (name: Name, row: number, col: number, values: readonly (readonly number[])[]) => void;
  /** As long as these are the same, a scene holds for other states as well, and so does the kernel's answer. */
  readonly madeFrom: (state: WhatElseState) => readonly unknown[];
  /** With pauses, where it is too much to be done at a time. */
  readonly sceneOf: (state: WhatElseState, before: Scene | undefined) => Generator<unknown, Scene>;
  /** One after the other, with a pause after each. */
  readonly draw: readonly ((scene: Scene) => void)[];
  readonly calls?: (scene: Scene) => readonly Call[];
  /** The scene with the kernel's numbers, and what is to be said of them. */
  readonly read?: (scene: Scene, answers: readonly Answer[]) => readonly [Scene, string];
  /** The cell to begin with. */
  readonly first: (scene: Scene) => Cell;
  readonly explain?: (scene: Scene, spot: NamedSpot<Name>) => Explanation;
  /** Of a cell that is in none of the matrices. */
  readonly explainOther?: (scene: Scene, cell: Cell) => Explanation | undefined;
  readonly heedCode: (scene: Scene) => string;
  readonly torchCode: (scene: Scene) => string;
}

/** What exhibits change and tell. */
export interface Host {
  readonly store: WhatElseStore;
  readonly teller: Teller;
}

export type Exhibit = ReturnType<typeof exhibit>;

export function exhibit<Scene extends { readonly state: WhatElseState }, Name extends string = never>(
  { teller }: Host,
  parts: Parts<Scene, Name>,
) {
  const { matrices, figures, below, menu } = parts;
  let scene: Scene | undefined;
  let madeFrom: readonly unknown[] = [];
  let isAnswered = false;
  const ofScene = <T>(use?: (scene: Scene) => T): T | undefined => (scene === undefined ? undefined : use?.(scene));
  const list = h("dl", { class: "figures" });
  const body = figures === undefined ? parts.picture.body : [...parts.picture.body, list];
  const shown = picture({ ...parts.picture, body, data: () => ofScene(parts.data) });
  matrices?.listen(teller, parts.edit);
  /** Also where only what is looked at has changed. */
  const say = (): void => {
    list.replaceChildren(...(ofScene(figures) ?? []));
    shown.say(ofScene(parts.say) ?? "");
  };
  function* draw(drawn: Scene): Generator<undefined> {
    for (const part of parts.draw) {
      part(drawn);
      yield;
    }
    if (parts.viewsOf !== undefined) matrices?.showAll(parts.viewsOf(drawn));
    say();
  }
  return {
    element: below === undefined ? shown.element : h("div", {}, shown.element, below),
    menu,
    say,
    *show(state: WhatElseState): Generator<unknown> {
      const now = parts.madeFrom(state);
      if (scene !== undefined && now.every((one, index) => one === madeFrom[index])) scene = { ...scene, state };
      else {
        scene = yield* parts.sceneOf(state, scene);
        [madeFrom, isAnswered] = [now, false];
      }
      yield;
      yield* draw(scene);
    },
    /** What must be asked for the state that is shown. */
    calls: (): readonly Call[] => (isAnswered ? [] : (ofScene(parts.calls) ?? [])),
    /** Shows the kernel's answers; what is to be said of them. */
    read(answers: readonly Answer[]): string {
      const found = ofScene((asked) => parts.read?.(asked, answers));
      if (found === undefined) return "";
      [scene, isAnswered] = [found[0], true];
      atOnce(draw(scene));
      return found[1];
    },
    first: (): Cell | undefined => ofScene(parts.first),
    explain: (cell: Cell): Explanation | undefined =>
      ofScene(
        (known) => matrices?.told(cell, (spot) => parts.explain?.(known, spot)) ?? parts.explainOther?.(known, cell),
      ),
    light: (lights: readonly NamedLight[]): void => matrices?.light(lights),
    retype({ name, row, col }: Cell, value: number): void {
      const spot = matrices?.find({ name, row, col });
      if (spot !== undefined) parts.edit?.(spot.name, row, col, [[value]]);
    },
    heedCode: (): string => ofScene(parts.heedCode) ?? "",
    torchCode: (): string => ofScene(parts.torchCode) ?? "",
  };
}

/** A number that one sets. */
export function setByHand(subject: string, result: number, light: NamedLight): Explanation {
  return { subject, sentence: "Set by hand; change it.", result, lights: [light], editable: true };
}

export function widest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let most = 0;
  for (let index = 0; index < a.length; index++) {
    most = Math.max(most, Math.abs((a[index] ?? Number.NaN) - (b[index] ?? Number.NaN)));
  }
  return most;
}

/** Of what two layers give. */
export function difference(apart: number): HTMLElement {
  const same = apart === 0 ? "exactly the same" : "the same, to 10⁻⁶";
  return fact("Largest difference", gapIn(apart), `between both outputs: ${apart <= 1e-6 ? same : "not the same yet"}`);
}
