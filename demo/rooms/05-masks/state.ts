// What the reader can choose in this room, and what makes sense together.

import { codecFrom, initially, initialOf, number, oneOf, type StateOf, step, wholes } from "../../src/model/fields.js";
import type { Store } from "../../src/model/store.js";

export const MOST = 16;
/** No bound on that side of the window: it reaches over all keys. */
export const OPEN = MOST;
export const TOKENS: readonly number[] = [256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072];

/** What decides who sees whom; at first nothing is hidden. */
const RULES = {
  queries: initially(12, number("L", 1, MOST)),
  keys: initially(12, number("S", 1, MOST)),
  causal: initially("none", oneOf("causal", ["none", "lower-right", "upper-left"])),
  left: initially(OPEN, number("left", 0, MOST)),
  right: initially(OPEN, number("right", 0, MOST)),
  /** Keys at the beginning that causal and window leave to everybody. */
  prefix: initially(0, number("prefix", 0, MOST)),
  /** Where documents begin, but for the first. */
  cuts: initially([], wholes("cuts")),
  /** Tokens at the end that are none. */
  padding: initially(0, number("pad", 0, MOST)),
  /** Size of blocks; 0: no blocks. */
  block: initially(0, number("block", 0, 8)),
  /** Pairs hidden by hand: row * keys + column. */
  painted: initially([], wholes("hide")),
};

export const BARE: StateOf<typeof RULES> = initialOf(RULES);

const FIELDS = {
  ...RULES,
  causal: initially("lower-right", RULES.causal),
  scores: initially("next", oneOf("scores", ["next", "equal"])),
  /** When the hidden ones are hidden: rightly, after the softmax, or by a large negative number. */
  hiding: initially("before", oneOf("hiding", ["before", "after", "minus"])),
  /** Side of the tiles that a kernel would work in. */
  tile: initially(4, number("tile", 1, 8)),
  /** For the costs. */
  tokens: initially(4096, step("N", TOKENS)),
};

export type MaskState = StateOf<typeof FIELDS>;
export type MaskStore = Store<MaskState>;

export const MASK_STATE = codecFrom<MaskState>(FIELDS, consistent);

function consistent(state: MaskState): MaskState {
  const { queries, keys, cuts, painted } = state;
  return {
    ...state,
    prefix: Math.min(state.prefix, keys),
    // Documents cut queries and keys alike.
    cuts: queries === keys ? cuts.filter((cut) => cut > 0 && cut < keys) : [],
    padding: Math.min(state.padding, queries, keys),
    painted: painted.filter((pair) => pair < queries * keys),
  };
}
