// What the reader can choose in this room. Arrays and models of one's own are no part of the address: they stay on the device.

import { codecFrom, initially, number, oneOf, type StateOf, step, text, wholes } from "../../src/model/fields.js";
import { Store } from "../../src/model/store.js";

export const TOKENS: readonly number[] = [4096, 8192, 16384, 32768];
const MOST_TOKENS = 2 ** 24;
const MOST_OFF = 32;

/** Nothing of another array: which part of the map is looked at, and the cell in the light. */
export const LOOKING = { span: 0, layer: 0, head: 0, row: 0, col: 0 };

/** Of an address; a text itself may be longer. */
export const LONGEST_TEXT = 4000;
const TEXT = "The animal did not cross the street because it was too tired.";

const place = (key: string) => number(key, 0, MOST_TOKENS);
const off = wholes("off");

const FIELDS = {
  source: initially("example", oneOf("from", ["example", "own"])),
  tokens: initially(4096, step("N", TOKENS)),
  causal: initially("yes", oneOf("causal", ["yes", "no"])),
  layer: initially(1, number("layer", 0, 999)),
  head: initially(3, number("head", 0, 999)),
  row: initially(3000, place("row")),
  col: initially(3000, place("col")),
  /** How many cells of the map are looked at from edge to edge, about the one in the light; 0: all. */
  span: initially(0, place("span")),
  /** Heads of a model that are switched off, by their places among those of all layers. */
  off: initially<readonly number[]>([], { ...off, read: (written) => off.read(written)?.slice(0, MOST_OFF) }),
  /** For a model that was brought; numbers of tokens where it has no tokenizer. */
  text: initially(TEXT, text("text", LONGEST_TEXT)),
  /** How many times something was brought: what is "own" changes with it. No part of the address. */
  brought: initially<number>(0, { key: "", write: () => "", read: () => undefined }),
};

export type BringState = StateOf<typeof FIELDS>;
export type BringStore = Store<BringState>;

const CODEC = codecFrom<BringState>(FIELDS);
export const INITIAL = CODEC.initial;

export const openBringStore = (): BringStore => new Store(CODEC, ["source", "brought"]);
