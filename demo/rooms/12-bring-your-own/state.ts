// What the reader can choose in this room. Arrays and models of one's own are no part of the address: they stay on the device.

import { codecOf, type Field, number, oneOf, text, wholes } from "../../src/model/fields.js";
import { Store } from "../../src/model/store.js";

export const TOKENS: readonly number[] = [4096, 8192, 16384, 32768];
/** Tokens that the device is raced with. */
export const RACED: readonly number[] = [128, 256, 512, 1024, 2048, 4096];
const MOST_TOKENS = 2 ** 24;
export const MOST_CHOSEN = 32;

export type SourceName = "example" | "photo" | "own";

/** All of the map: the corner of what is looked at, and how many cells that is wide, or 0. */
export const ALL = { top: 0, left: 0, span: 0 };

/** Nothing of another array: which part of the map is looked at, the cell in the light, and queries whose weights are added up. */
export const LOOKING = { ...ALL, layer: 0, head: 0, row: 0, col: 0, chosen: [] as readonly number[] };

/** What the example is first looked at as. */
export const EXAMPLE = {
  ...{ ...LOOKING, layer: 2, head: 2, row: 3000, col: 3000, tokens: 4096, seed: 1 },
  source: "example" as SourceName,
  causal: "yes" as "yes" | "no",
};

const INITIAL = {
  ...EXAMPLE,
  order: "place" as "place" | "entropy",
  raced: 512,
  /** For a model that was brought; numbers of tokens where it has no tokenizer. */
  text: "The animal did not cross the street because it was too tired.",
  /** How many times something was brought: what is "own" changes with it. */
  brought: 0,
};

export type BringState = Readonly<typeof INITIAL>;
export type BringStore = Store<BringState>;

/** Of an address; a text itself may be longer. */
export const LONGEST_TEXT = 4000;

/** The last of these values that is no larger than what is written. */
function stepOf(key: string, values: readonly number[]): Field<number> {
  const field = number(key, values[0] ?? 0, values.at(-1) ?? 0);
  return { ...field, read: (written) => values.filter((value) => value <= (field.read(written) ?? 0)).at(-1) };
}

const place = (key: string, decimals = 0): Field<number> => number(key, 0, MOST_TOKENS, decimals);
const chosen = wholes("sum");

export function openBringStore(): BringStore {
  const codec = codecOf<BringState>(INITIAL, {
    source: oneOf("from", ["example", "photo", "own"]),
    tokens: stepOf("N", TOKENS),
    seed: number("seed", 1, 9999),
    causal: oneOf("causal", ["yes", "no"]),
    layer: number("layer", 0, 999),
    head: number("head", 0, 999),
    row: place("row"),
    col: place("col"),
    top: place("top", 2),
    left: place("left", 2),
    span: place("span", 2),
    order: oneOf("heads", ["place", "entropy"]),
    chosen: { ...chosen, read: (written) => chosen.read(written)?.slice(0, MOST_CHOSEN) },
    raced: stepOf("race", RACED),
    text: text("text", LONGEST_TEXT),
    // No part of the address.
    brought: { key: "", write: () => "", read: () => undefined },
  });
  return new Store(codec, ["source", "brought"]);
}
