// What the reader can choose in this room.

import { BY, codecFrom, initially, like, oneOf, type StateOf, step } from "../../src/model/fields.js";
import { fill, type Matrix } from "../../src/model/matrix.js";
import type { Store } from "../../src/model/store.js";
import { ENDINGS } from "../../src/model/toy.js";
import { FEATURES } from "../../src/model/vocabulary.js";

export const WIDTH = 8;
export const HEADS = ["1", "2", "4", "8"] as const;
export const STEPS = ["project", "split", "attend", "join", "mix"] as const;
export type Step = (typeof STEPS)[number];

/** The identity, but that one column reads from two heads: whether something is alive, and whether it is a place. */
const GIVEN_MIX: Matrix = fill(WIDTH, WIDTH, (row, col) => {
  if (row === col) return 1;
  return FEATURES[col] === "tells" && (FEATURES[row] === "alive" || FEATURES[row] === "place") ? 0.5 : 0;
});

/** Brown et al., Language Models are Few-Shot Learners, 2020, table 2.1: 175B. */
export const GPT3 = { queryHeads: 96, headWidth: 128, layers: 96 } as const;
/** Query heads share keys and values evenly. */
export const SHARED: readonly number[] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 96];

const FIELDS = {
  reason: initially("tired", oneOf("too", ENDINGS)),
  heads: initially("1", oneOf("h", HEADS)),
  step: initially("project", oneOf("step", STEPS)),
  by: initially("rows", BY),
  mix: like("wo", GIVEN_MIX),
  /** Key and value heads of the model whose parameters are counted. */
  kvHeads: initially(GPT3.queryHeads, step("G", SHARED)),
};

export type HeadsState = StateOf<typeof FIELDS>;
export type HeadsStore = Store<HeadsState>;

export const HEADS_STATE = codecFrom<HeadsState>(FIELDS);
