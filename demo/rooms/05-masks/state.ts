// What the reader can choose in this room, and what makes sense together.

import { BY, type By, codecOf, number, oneOf, wholes } from "../../src/model/fields.js";
import { Store } from "../../src/model/store.js";

export const MOST = 16;
/** No bound on that side of the window. */
export const OPEN = -1;
export const TOKENS: readonly number[] = [256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072];

export type Causal = "none" | "lower-right" | "upper-left";
/** When the hidden ones are hidden: rightly, after the softmax, or by a large negative number. */
export type Hiding = "before" | "after" | "minus";

export interface MaskState {
  readonly queries: number;
  readonly keys: number;
  readonly causal: Causal;
  readonly left: number;
  readonly right: number;
  /** Keys at the beginning that causal and window leave to everybody. */
  readonly prefix: number;
  /** Where documents begin, but for the first. */
  readonly cuts: readonly number[];
  /** Tokens at the end that are none. */
  readonly padding: number;
  /** Size of blocks; 0: no blocks. */
  readonly block: number;
  /** Pairs hidden by hand: row * keys + column. */
  readonly painted: readonly number[];
  readonly scores: "next" | "equal";
  readonly hiding: Hiding;
  /** Side of the tiles that a kernel would work in. */
  readonly tile: number;
  /** For the costs. */
  readonly tokens: number;
  readonly by: By;
}

export type MaskStore = Store<MaskState>;

export function openMaskStore(): MaskStore {
  return new Store(MASK_STATE);
}

/** Nothing is hidden. */
export const BARE: Omit<MaskState, "scores" | "hiding" | "tile" | "tokens" | "by"> = {
  queries: 12,
  keys: 12,
  causal: "none",
  left: OPEN,
  right: OPEN,
  prefix: 0,
  cuts: [],
  padding: 0,
  block: 0,
  painted: [],
};

export const MASK_STATE = codecOf<MaskState>(
  { ...BARE, causal: "lower-right", scores: "next", hiding: "before", tile: 4, tokens: 4096, by: "rows" },
  {
    queries: number("L", 1, MOST),
    keys: number("S", 1, MOST),
    causal: oneOf("causal", ["none", "lower-right", "upper-left"]),
    left: number("left", OPEN, MOST),
    right: number("right", OPEN, MOST),
    prefix: number("prefix", 0, MOST),
    cuts: wholes("cuts"),
    padding: number("pad", 0, MOST),
    block: number("block", 0, 8),
    painted: wholes("hide"),
    scores: oneOf("scores", ["next", "equal"]),
    hiding: oneOf("hiding", ["before", "after", "minus"]),
    tile: number("tile", 1, 8),
    tokens: number("N", 256, 131072),
    by: BY,
  },
  consistent,
);

function consistent(state: MaskState): MaskState {
  const { queries, keys, cuts, painted } = state;
  const square = queries === keys;
  const inside = cuts.every((cut) => cut > 0 && cut < keys);
  return {
    ...state,
    prefix: Math.min(state.prefix, keys),
    // Documents cut queries and keys alike.
    cuts: !square ? [] : inside ? cuts : cuts.filter((cut) => cut > 0 && cut < keys),
    padding: Math.min(state.padding, queries, keys),
    painted: painted.every((pair) => pair < queries * keys) ? painted : painted.filter((pair) => pair < queries * keys),
    tokens: TOKENS.filter((tokens) => tokens <= state.tokens).at(-1) ?? 256,
  };
}
