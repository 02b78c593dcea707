// What the reader can choose in this room. Arrays and models of one's own are no part of the address: they stay on the device.

import { FORMATS } from "../../src/brought/formats.js";
import { codecFrom, initially, number, oneOf, type StateOf, step, text, wholes } from "../../src/model/fields.js";
import { Store } from "../../src/model/store.js";

export const TOKENS: readonly number[] = [4096, 8192, 16384, 32768];
const MOST_TOKENS = 2 ** 24;
const MOST_OFF = 32;

/** All of the map: the corner of what is looked at, and how many cells that is wide, or 0. */
export const ALL = { top: 0, left: 0, span: 0 };

/** Nothing of another array: which part of the map is looked at, and the cell in the light. */
export const LOOKING = { ...ALL, layer: 0, head: 0, row: 0, col: 0 };

/** Of an address; a text itself may be longer. */
export const LONGEST_TEXT = 4000;
const TEXT = "The animal did not cross the street because it was too tired.";

const place = (key: string, decimals = 0) => number(key, 0, MOST_TOKENS, decimals);
const off = wholes("off");

const FIELDS = {
  source: initially("example", oneOf("from", ["example", "own"])),
  tokens: initially(4096, step("N", TOKENS)),
  seed: initially(1, number("seed", 1, 9999)),
  causal: initially("yes", oneOf("causal", ["yes", "no"])),
  layer: initially(2, number("layer", 0, 999)),
  head: initially(2, number("head", 0, 999)),
  row: initially(3000, place("row")),
  col: initially(3000, place("col")),
  top: initially(0, place("top", 2)),
  left: initially(0, place("left", 2)),
  span: initially(0, place("span", 2)),
  order: initially("place", oneOf("heads", ["place", "entropy"])),
  /** Heads of a model that are switched off, by their places among those of all layers. */
  off: initially<readonly number[]>([], { ...off, read: (written) => off.read(written)?.slice(0, MOST_OFF) }),
  /** How a model's weights are kept in memory. */
  weights: initially("as stored", oneOf("weights", FORMATS)),
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
