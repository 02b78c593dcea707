// What the reader can choose in this room, over all that attention is shown as.

import {
  BY,
  codecFrom,
  initially,
  like,
  matrix,
  number,
  oneOf,
  type StateOf,
  step,
  wholes,
} from "../../src/model/fields.js";
import { type Matrix, singleRows } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";

export const VIEWS = ["convolution", "layer", "set", "graph", "reach"] as const;
export type ViewName = (typeof VIEWS)[number];

/** How much more the right key scores than the next. */
export const SHARPNESS: readonly number[] = [0.1, 0.25, 0.5, 1, 2, 4, 8, 12, 16, 24];
export const BANDWIDTHS: readonly number[] = [0.02, 0.05, 0.1, 0.2, 0.4, 1];
/** Pixels of a picture, both ways. */
export const [COARSE, FINE] = [32, 128];
export const PICTURES = ["shapes", "ripples", "own"] as const;
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
const EDGES = [0 * 7 + 1, 1 * 7 + 2, 0 * 7 + 2, 2 * 7 + 3, 3 * 7 + 4, 4 * 7 + 5, 5 * 7 + 6, 4 * 7 + 6];
const MESSAGES = singleRows([1], [0], [0], [0], [0], [0], [0]);

const FIELDS = {
  view: initially("convolution", oneOf("as", VIEWS)),
  image: initially("shapes", oneOf("picture", PICTURES)),
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
  /** Pairs of nodes that are joined, as a * NODES + b with a < b. */
  edges: initially(EDGES, wholes("edges")),
  messages: like("messages", MESSAGES),
  rounds: initially(1, number("rounds", 0, MOST_ROUNDS)),
  node: initially(2, number("node", 0, NODES - 1)),
  distance: initially(64, step("n", DISTANCES)),
  width: initially(5, number("k", 3, 9)),
  by: initially("rows", BY),
};

export type WhatElseState = StateOf<typeof FIELDS>;

const CODEC = codecFrom<WhatElseState>(FIELDS, (state) => {
  const { filter, edges } = state;
  const known = edges.filter((edge) => edge < NODES * NODES && Math.floor(edge / NODES) < edge % NODES);
  return {
    ...state,
    filter: filter.rows === filter.cols && [3, 5].includes(filter.rows) ? filter : EDGE,
    edges: known.length === edges.length ? edges : known,
    width: state.width % 2 === 1 ? state.width : state.width + 1,
  };
});

export const store = new Store(CODEC, ["view", "pixel"]);

export function joined(edges: readonly number[], a: number, b: number): boolean {
  return a === b || edges.includes(edgeOf(a, b));
}

export const edgeOf = (a: number, b: number): number => Math.min(a, b) * NODES + Math.max(a, b);
