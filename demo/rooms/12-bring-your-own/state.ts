// What the reader can choose in this room. Arrays and models of one's own are no part of the address: they stay on the device.

import { codecOf, number, oneOf, text, wholes } from "../../src/model/fields.js";
import { Store } from "../../src/model/store.js";

export const TOKENS: readonly number[] = [4096, 8192, 16384, 32768];
/** Tokens that the device is raced with. */
export const RACED: readonly number[] = [128, 256, 512, 1024, 2048, 4096];
export const MOST_TOKENS = 2 ** 24;
export const MOST_CHOSEN = 32;

export type SourceName = "example" | "photo" | "own";

export interface BringState {
  readonly source: SourceName;
  /** Of the example. */
  readonly tokens: number;
  readonly seed: number;
  readonly causal: "yes" | "no";
  readonly layer: number;
  readonly head: number;
  /** The cell in the light. */
  readonly row: number;
  readonly col: number;
  /** The part of the map that is looked at: its corner, and how many cells it is wide; 0: all. */
  readonly top: number;
  readonly left: number;
  readonly span: number;
  readonly order: "place" | "entropy";
  /** Queries whose shares are added up. */
  readonly chosen: readonly number[];
  readonly raced: number;
  /** For a model that was brought; numbers of tokens where it has no tokenizer. */
  readonly text: string;
  /** How many times something was brought: what is "own" changes with it. */
  readonly brought: number;
}

export type BringStore = Store<BringState>;

/** What the example is first looked at as. */
export const EXAMPLE = {
  source: "example",
  tokens: 4096,
  seed: 1,
  causal: "yes",
  layer: 2,
  head: 2,
  row: 3000,
  col: 3000,
  top: 0,
  left: 0,
  span: 0,
  chosen: [],
} as const satisfies Partial<BringState>;

const TEXT = "The animal did not cross the street because it was too tired.";
/** Of an address; a text itself may be longer. */
export const LONGEST_TEXT = 4000;

const INITIAL: BringState = { ...EXAMPLE, order: "place", raced: 512, text: TEXT, brought: 0 };

export function openBringStore(): BringStore {
  return new Store(
    codecOf<BringState>(
      INITIAL,
      {
        source: oneOf("from", ["example", "photo", "own"]),
        tokens: number("N", TOKENS[0] ?? 1, TOKENS.at(-1) ?? 1),
        seed: number("seed", 1, 9999),
        causal: oneOf("causal", ["yes", "no"]),
        layer: number("layer", 0, 999),
        head: number("head", 0, 999),
        row: number("row", 0, MOST_TOKENS),
        col: number("col", 0, MOST_TOKENS),
        top: number("top", 0, MOST_TOKENS, 2),
        left: number("left", 0, MOST_TOKENS, 2),
        span: number("span", 0, MOST_TOKENS, 2),
        order: oneOf("heads", ["place", "entropy"]),
        chosen: wholes("sum"),
        raced: number("race", RACED[0] ?? 1, RACED.at(-1) ?? 1),
        text: text("text", LONGEST_TEXT),
        // No part of the address.
        brought: { key: "", write: () => "", read: () => undefined },
      },
      (state) => ({
        ...state,
        tokens: TOKENS.filter((tokens) => tokens <= state.tokens).at(-1) ?? INITIAL.tokens,
        raced: RACED.filter((tokens) => tokens <= state.raced).at(-1) ?? INITIAL.raced,
        chosen: state.chosen.length > MOST_CHOSEN ? state.chosen.slice(0, MOST_CHOSEN) : state.chosen,
      }),
    ),
    ["source", "brought"],
  );
}

/** Nothing of another array: where one looks, and what was chosen there. */
export const LOOKING: Pick<BringState, "layer" | "head" | "row" | "col" | "top" | "left" | "span" | "chosen"> = {
  layer: 0,
  head: 0,
  row: 0,
  col: 0,
  top: 0,
  left: 0,
  span: 0,
  chosen: [],
};
