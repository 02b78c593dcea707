// What the room's five parts have in common: a scene is made of a state, drawn, asked of the kernel, and taken apart number by number.

import type { Answer, Call } from "../../src/engine/engine.js";
import type { Matrix } from "../../src/model/matrix.js";
import type { Cell } from "../../src/model/store.js";
import { heedProgram, heedTensor, torchProgram, torchTensor } from "../../src/ui/code.js";
import { fact, h } from "../../src/ui/dom.js";
import type { Explanation, NamedLight } from "../../src/ui/explanation.js";
import { byChoice, type EditNamed, NamedMatrices, type NamedSpot, type Views } from "../../src/ui/named-matrices.js";
import { apart as gapIn } from "../../src/ui/numbers.js";
import { type PictureParts, picture } from "../../src/ui/picture.js";
import { atOnce } from "../../src/ui/pieces.js";
import type { Teller } from "../../src/ui/teller.js";
import { store, type WhatElseState } from "./state.js";

/** A program for heed and one for PyTorch. */
export interface Programs {
  readonly about: string;
  /** What both begin with, by their names: the matrices, and their shape where it is another. */
  readonly tensors?: Readonly<Record<string, readonly [heads: readonly Matrix[], shape?: readonly number[]]>>;
  /** What follows, and what is printed where that is not the output. */
  readonly heed: readonly [body: string, print?: string];
  readonly torch: readonly [body: string, print?: string];
}

/** What an exhibit is made of. A scene has the kernel's numbers in it once they are there. */
interface Parts<Scene extends { readonly state: WhatElseState }, Name extends string> {
  readonly picture: Omit<PictureParts, "data">;
  readonly figures?: (scene: Scene) => readonly HTMLElement[];
  readonly data: (scene: Scene) => unknown;
  readonly say: (scene: Scene) => string;
  /** Another picture, below. */
  readonly below?: HTMLElement;
  /** What stands in a row of its matrices, or in a column. */
  readonly by?: string;
  readonly matrices?: NamedMatrices<Name>;
  readonly viewsOf?: (scene: Scene) => Views<Name>;
  readonly edit?: EditNamed<Name>;
  /** As long as these are the same, a scene holds for other states as well, and so does the kernel's answer. */
  readonly madeFrom: (state: WhatElseState) => readonly unknown[];
  /** With pauses, where it is too much to be done at a time. */
  readonly sceneOf: (state: WhatElseState, before: Scene | undefined) => Scene | Generator<unknown, Scene>;
  readonly draw: (scene: Scene) => void;
  /** After a pause. */
  readonly drawMore?: (scene: Scene) => void;
  readonly calls?: (scene: Scene) => readonly Call[];
  /** The scene with the kernel's numbers, and what is to be said of them. */
  readonly read?: (scene: Scene, answers: readonly Answer[]) => readonly [Scene, string];
  /** The cell to begin with. */
  readonly first: (scene: Scene) => Cell;
  readonly explain?: (scene: Scene, spot: NamedSpot<Name>) => Explanation;
  /** Of a cell that is in none of the matrices. */
  readonly explainOther?: (scene: Scene, cell: Cell) => Explanation | undefined;
  readonly programs: (scene: Scene) => Programs;
}

export type Exhibit = ReturnType<typeof exhibit>;

export function exhibit<Scene extends { readonly state: WhatElseState }, Name extends string = never>(
  teller: Teller,
  parts: Parts<Scene, Name>,
) {
  const { matrices, figures, below } = parts;
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
    parts.draw(drawn);
    yield;
    parts.drawMore?.(drawn);
    yield;
    if (parts.viewsOf !== undefined) matrices?.showAll(parts.viewsOf(drawn));
    say();
  }
  type Program = (about: string, body: string, print?: string) => string;
  const code = (kind: "heed" | "torch", program: Program, written: typeof heedTensor) => (): string => {
    if (scene === undefined) return "";
    const { about, tensors = {}, ...programs } = parts.programs(scene);
    const [body, print] = programs[kind];
    const begin = Object.entries(tensors).map(([name, [heads, shape]]) => written(name, heads, shape));
    return program(about, [...begin, body].join("\n"), print);
  };
  return {
    element: below === undefined ? shown.element : h("div", {}, shown.element, below),
    /** What stands in the menu of its pictures. */
    menu: parts.by === undefined ? undefined : byChoice(store, parts.by),
    say,
    *show(state: WhatElseState): Generator<unknown> {
      const now = parts.madeFrom(state);
      if (scene !== undefined && now.every((one, index) => one === madeFrom[index])) scene = { ...scene, state };
      else {
        yield;
        const made = parts.sceneOf(state, scene);
        scene = isMade(made) ? made : yield* made;
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
    heedCode: code("heed", heedProgram, heedTensor),
    torchCode: code("torch", torchProgram, torchTensor),
  };
}

/** It needed no pauses. */
const isMade = <Scene extends object>(made: Scene | Generator<unknown, Scene>): made is Scene => "state" in made;

/** Matrices that stand as the room's state says. */
export function turning<Name extends string>(names: readonly Name[]): NamedMatrices<Name> {
  return new NamedMatrices(names, store);
}

/** A number that one sets. */
export function setByHand(subject: string, result: number, light: NamedLight): Explanation {
  return { subject, sentence: "Set by hand; change it.", result, lights: [light], editable: true };
}

/** Of what two layers give. */
export function difference(apart: number): HTMLElement {
  const same = apart === 0 ? "exactly the same" : "the same, to 10⁻⁶";
  return fact("Largest difference", gapIn(apart), `between both outputs: ${apart <= 1e-6 ? same : "not the same yet"}`);
}
