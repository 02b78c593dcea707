// What the room's exhibits have in common: a page of data each, which the room frames, asks the kernel about, and takes apart.

import type { Answer, Call } from "../../src/engine/engine.js";
import type { Matrix } from "../../src/model/matrix.js";
import type { Cell } from "../../src/model/store.js";
import { fact } from "../../src/ui/dom.js";
import type { Explanation, NamedLight } from "../../src/ui/explanation.js";
import type { NamedSpot, Views } from "../../src/ui/named-matrices.js";
import { apart as gapIn } from "../../src/ui/numbers.js";
import type { PictureParts } from "../../src/ui/picture.js";
import type { WhatElseState } from "./state.js";

/** Of all exhibits, in lines. */
export const LINES = [["W"], ["X", "Wd"], ["A", "C"], ["D", "Y"], ["B", "Z"], ["H", "N"]] as const;
export type MatrixName = (typeof LINES)[number][number];
export type Spot = NamedSpot<MatrixName>;

/** A program for heed and one for PyTorch. */
export interface Programs {
  readonly about: string;
  /** What both begin with, by their names: the matrices, and their shape where it is another. */
  readonly tensors?: Readonly<Record<string, readonly [heads: readonly Matrix[], shape?: readonly number[]]>>;
  /** What follows, and what is printed where that is not the output. */
  readonly heed: readonly [body: string, print?: string];
  readonly torch: readonly [body: string, print?: string];
}

/** What is shown beside the picture. */
export interface Shown {
  readonly text: string;
  readonly figures?: readonly HTMLElement[];
  readonly views?: Views<MatrixName>;
  readonly data: object;
  /** The cell to begin with. */
  readonly first?: Cell;
  readonly explain?: (spot: Spot) => Explanation | undefined;
  /** Of the pixel in the light. */
  readonly explainPixel?: () => Explanation;
  /** How the kernel's numbers agree with the page's. */
  readonly agreed: string;
}

/** An exhibit in one state. */
export interface Scene {
  readonly state: WhatElseState;
  readonly calls: readonly Call[];
  /** Draws it, with the kernel's numbers once they are there. */
  readonly show: (answers: readonly Answer[] | undefined) => Shown;
  readonly programs: () => Programs;
}

export interface Exhibit {
  readonly picture: Omit<PictureParts, "data">;
  /** Another picture, below. */
  readonly below?: HTMLElement;
  readonly sceneOf: (state: WhatElseState) => Scene;
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
