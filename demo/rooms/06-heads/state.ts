// What the reader can choose in this room.

import { BY, type By, codecOf, matrix, number, oneOf } from "../../src/model/fields.js";
import { fill, type Matrix } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";
import { FEATURES } from "../../src/model/vocabulary.js";
import { ENDINGS, type Ending } from "../00-thread/toy.js";

export const WIDTH = 8;
export const HEADS = ["1", "2", "4", "8"] as const;
export const STEPS = ["project", "split", "attend", "join", "mix"] as const;
export type Step = (typeof STEPS)[number];

export interface HeadsState {
  readonly reason: Ending;
  readonly heads: (typeof HEADS)[number];
  readonly step: Step;
  readonly by: By;
  readonly mix: Matrix;
  /** Of the model whose parameters are counted. */
  readonly queryHeads: number;
  readonly kvHeads: number;
  readonly headWidth: number;
  readonly layers: number;
}

export type HeadsStore = Store<HeadsState>;

export function openHeadsStore(): HeadsStore {
  return new Store(HEADS_STATE);
}

/** The identity, but that one column reads from two heads: whether something is alive, and whether it is a place. */
export const GIVEN_MIX: Matrix = fill(WIDTH, WIDTH, (row, col) => {
  if (row === col) return 1;
  return FEATURES[col] === "tells" && (FEATURES[row] === "alive" || FEATURES[row] === "place") ? 0.5 : 0;
});

/** Brown et al., Language Models are Few-Shot Learners, 2020, table 2.1: 175B. */
export const GPT3 = { queryHeads: 96, kvHeads: 96, headWidth: 128, layers: 96 } as const;

export const HEADS_STATE = codecOf<HeadsState>(
  { reason: "tired", heads: "1", step: "project", by: "rows", mix: GIVEN_MIX, ...GPT3 },
  {
    reason: oneOf("too", ENDINGS),
    heads: oneOf("h", HEADS),
    step: oneOf("step", STEPS),
    by: BY,
    mix: matrix("wo"),
    queryHeads: number("H", 1, 128),
    kvHeads: number("G", 1, 128),
    headWidth: number("D", 8, 256),
    layers: number("layers", 1, 128),
  },
  (state) => ({
    ...state,
    mix: state.mix.rows === WIDTH && state.mix.cols === WIDTH ? state.mix : GIVEN_MIX,
    kvHeads:
      divisors(state.queryHeads)
        .filter((count) => count <= state.kvHeads)
        .at(-1) ?? 1,
  }),
);

/** Query heads share keys and values evenly. */
export function divisors(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1).filter((candidate) => count % candidate === 0);
}
