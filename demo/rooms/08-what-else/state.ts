// What the reader can choose in this room, over all that attention is shown as.

import { BY, codecFrom, initially, like, matrix, number, oneOf, type StateOf, step } from "../../src/model/fields.js";
import { type Matrix, singleRows } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";

export const VIEWS = ["convolution", "layer", "set", "graph", "reach"] as const;
export type ViewName = (typeof VIEWS)[number];

/** How much more the right key scores than the next. */
export const SHARPNESS: readonly number[] = [0.1, 0.25, 0.5, 1, 2, 4, 8, 12, 16, 24];
export const BANDWIDTHS: readonly number[] = [0.02, 0.05, 0.1, 0.2, 0.4, 1];
/** Pixels of a picture, both ways. */
export const [COARSE, FINE] = [32, 128];
export const NODES = 7;
export const MOST_ROUNDS = 8;
export const DISTANCES: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];

export const EDGE = singleRows([0, -1, 0], [-1, 4, -1], [0, -1, 0]);

/** Of the dense layer, one after the other. */
export const INPUTS: readonly [Matrix, ...Matrix[]] = [
  singleRows([1, -2, 0.5, 3]),
  singleRows([-1, 2, 1.5, 0]),
  singleRows([2, 2, -1, 0.5]),
];
const WEIGHTS = singleRows([1, -0.5, 0, 2], [0.5, 0.5, 0.5, 0.5], [0, 1.5, -1, 0]);
const MESSAGES = singleRows([1], [0], [0], [0], [0], [0], [0]);

/** What the kernel is asked about, in one view or another. */
const ASKED = {
  view: initially("convolution", oneOf("as", VIEWS)),
  image: initially("shapes", oneOf("picture", ["shapes", "ripples", "own"])),
  /** How many photos were opened: no part of an address, as they are not. */
  photo: initially<number>(0, { key: "photo", write: () => "", read: () => undefined }),
  /** The pixel in the light, of the fine picture. */
  pixel: initially(64 * 128 + 24, number("at", 0, FINE ** 2 - 1)),
  /** Of the convolution: 3 x 3 or 5 x 5. */
  filter: initially(EDGE, matrix("w")),
  sharpness: initially(24, step("sharp", SHARPNESS)),
  /** Of the dense layer: one row an output, one column an input. */
  weights: like("dense", WEIGHTS),
  inputs: like("x", INPUTS[0]),
  /** Which shuffle of the pixels; 0: none. */
  shuffle: initially(1, number("shuffle", 0, 9999)),
  bandwidth: initially(0.1, step("b", BANDWIDTHS)),
  graph: initially("groups", oneOf("graph", ["groups", "chain", "all"])),
  messages: like("messages", MESSAGES),
  rounds: initially(1, number("rounds", 0, MOST_ROUNDS)),
};

const FIELDS = {
  ...ASKED,
  /** The pixel in the light, of the coarse picture. */
  spot: initially(16 * 32 + 6, number("spot", 0, COARSE ** 2 - 1)),
  node: initially(2, number("node", 0, NODES - 1)),
  distance: initially(64, step("n", DISTANCES)),
  width: initially(5, number("k", 3, 9)),
  by: initially("rows", BY),
};

export type WhatElseState = StateOf<typeof FIELDS>;

export const COMPUTED_FROM = Object.keys(ASKED) as (keyof typeof ASKED)[];

const CODEC = codecFrom<WhatElseState>(FIELDS, (state) => {
  const { filter, width } = state;
  return {
    ...state,
    filter: filter.rows === filter.cols && [3, 5].includes(filter.rows) ? filter : EDGE,
    width: width % 2 === 1 ? width : width + 1,
  };
});

export const store = new Store(CODEC, ["view", "pixel", "spot"]);
