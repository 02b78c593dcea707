// What the reader can choose in this room, over all that attention is shown as.

import { BY, type By, codecOf, matrix, number, oneOf, wholes } from "../../src/model/fields.js";
import { fill, type Matrix } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";
import { FINE, IMAGES, type ImageName } from "./images.js";

export const VIEWS = ["convolution", "layer", "set", "graph", "reach"] as const;
export type ViewName = (typeof VIEWS)[number];

/** How much more the right key scores than the next. */
export const SHARPNESS: readonly number[] = [0.1, 0.25, 0.5, 1, 2, 4, 8, 12, 16, 24];
export const BANDWIDTHS: readonly number[] = [0.02, 0.05, 0.1, 0.2, 0.4, 1];
export const KERNEL_SIZES = [3, 5] as const;
export const NODES = 7;
export const MOST_ROUNDS = 8;
export const DISTANCES: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];

export type Weighing = "mean" | "alike";

export interface WhatElseState {
  readonly view: ViewName;
  readonly image: ImageName;
  /** The pixel in the light, of the fine picture. */
  readonly pixel: number;
  /** Of the convolution: k x k. */
  readonly kernel: Matrix;
  readonly sharpness: number;
  /** Of the dense layer: one row an output, one column an input. */
  readonly weights: Matrix;
  readonly inputs: Matrix;
  /** Which shuffle of the pixels. */
  readonly shuffle: number;
  readonly bandwidth: number;
  /** Pairs of nodes that are joined, as a * NODES + b with a < b. */
  readonly edges: readonly number[];
  readonly messages: Matrix;
  readonly rounds: number;
  readonly weighing: Weighing;
  readonly node: number;
  readonly distance: number;
  readonly width: number;
  readonly by: By;
}

export type WhatElseStore = Store<WhatElseState>;

export const EDGE = matrixFrom([
  [0, -1, 0],
  [-1, 4, -1],
  [0, -1, 0],
]);

/** Of the dense layer, one after the other. */
export const INPUTS = [
  [1, -2, 0.5, 3],
  [-1, 2, 1.5, 0],
  [2, 2, -1, 0.5],
].map((line) => matrixFrom([line]));

const INITIAL: WhatElseState = {
  view: "convolution",
  image: "shapes",
  pixel: 64 * 128 + 24,
  kernel: EDGE,
  sharpness: 24,
  weights: matrixFrom([
    [1, -0.5, 0, 2],
    [0.5, 0.5, 0.5, 0.5],
    [0, 1.5, -1, 0],
  ]),
  inputs: INPUTS[0] ?? matrixFrom([]),
  shuffle: 1,
  bandwidth: 0.1,
  edges: [0 * 7 + 1, 1 * 7 + 2, 0 * 7 + 2, 2 * 7 + 3, 3 * 7 + 4, 4 * 7 + 5, 5 * 7 + 6, 4 * 7 + 6],
  messages: matrixFrom([[1], [0], [0], [0], [0], [0], [0]]),
  rounds: 1,
  weighing: "mean",
  node: 2,
  distance: 64,
  width: 5,
  by: "rows",
};

export function openWhatElseStore(): WhatElseStore {
  return new Store(
    codecOf<WhatElseState>(
      INITIAL,
      {
        view: oneOf("as", VIEWS),
        image: oneOf("picture", IMAGES),
        pixel: number("at", 0, FINE ** 2 - 1),
        kernel: matrix("w"),
        sharpness: number("sharp", 0.1, 24, 2),
        weights: matrix("dense"),
        inputs: matrix("x"),
        shuffle: number("shuffle", 1, 9999),
        bandwidth: number("b", 0.02, 1, 2),
        edges: wholes("edges"),
        messages: matrix("messages"),
        rounds: number("rounds", 0, MOST_ROUNDS),
        weighing: oneOf("weigh", ["mean", "alike"]),
        node: number("node", 0, NODES - 1),
        distance: number("n", 1, 8192),
        width: number("k", 3, 9),
        by: BY,
      },
      consistent,
    ),
    ["view", "pixel"],
  );
}

export function joined(edges: readonly number[], a: number, b: number): boolean {
  return a === b || edges.includes(edgeOf(a, b));
}

export function edgeOf(a: number, b: number): number {
  return Math.min(a, b) * NODES + Math.max(a, b);
}

function consistent(state: WhatElseState): WhatElseState {
  const fits = (own: Matrix, given: Matrix): Matrix =>
    own.rows === given.rows && own.cols === given.cols ? own : given;
  const { kernel, edges } = state;
  const isKernel = kernel.rows === kernel.cols && KERNEL_SIZES.some((size) => size === kernel.rows);
  const known = edges.filter((edge) => edge < NODES * NODES && Math.floor(edge / NODES) < edge % NODES);
  return {
    ...state,
    kernel: isKernel ? kernel : EDGE,
    weights: fits(state.weights, INITIAL.weights),
    inputs: fits(state.inputs, INITIAL.inputs),
    messages: fits(state.messages, INITIAL.messages),
    edges: known.length === edges.length ? edges : known,
    sharpness: closest(SHARPNESS, state.sharpness),
    bandwidth: closest(BANDWIDTHS, state.bandwidth),
    distance: closest(DISTANCES, state.distance),
    width: state.width % 2 === 1 ? state.width : state.width + 1,
  };
}

export function matrixFrom(rows: readonly (readonly number[])[]): Matrix {
  return fill(rows.length, rows[0]?.length ?? 0, (row, col) => rows[row]?.[col] ?? 0);
}

function closest(values: readonly number[], wanted: number): number {
  return values.reduce((best, value) => (Math.abs(value - wanted) < Math.abs(best - wanted) ? value : best));
}
