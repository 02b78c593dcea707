// The ways to score a query against a key, and to make shares of the scores, side by side.

import { whole } from "../../src/ui/numbers.js";

export const KINDS = [
  "dot",
  "scaled-dot",
  "general",
  "additive",
  "gated",
  "cosine",
  "rbf",
  "distance",
  "top-k",
  "sparsemax",
  "own",
] as const;
export type Kind = (typeof KINDS)[number];

export const WIDTH = 4;
export const HIDDEN = 3;
export const KEYS = 5;

export const NAMES: Readonly<Record<Kind, string>> = {
  dot: "dot",
  "scaled-dot": "scaled dot",
  general: "general",
  additive: "additive",
  gated: "gated",
  cosine: "cosine",
  rbf: "rbf",
  distance: "distance",
  "top-k": "top-k",
  sparsemax: "sparsemax",
  own: "your own",
};

export const ABOUT: Readonly<Record<Kind, string>> = {
  dot: "The sum of products, as it is. It grows with the width and with the length of either vector.",
  "scaled-dot": "The dot product over √d, so that its spread does not grow with the width (Vaswani et al. 2017).",
  general:
    "A matrix between query and key says which features answer which (Luong et al. 2015). They need not have one width.",
  additive:
    "A small network with one hidden layer (Bahdanau et al. 2015). Both this and the dot product take time in proportion to the width; this one takes a tanh for every hidden number and pair, and no matrix product does that for it.",
  gated: "The dot product, turned down by a gate that sees both vectors.",
  cosine:
    "The dot product of directions: lengths do not count. At most 1, so that it seldom decides alone; a temperature must help.",
  rbf: "Minus the squared distance over 2b²: the nearest wins. Its softmax is kernel regression.",
  distance: "Minus the distance.",
  "top-k": "Scaled dot products, of which only the best k count: the others are masked before the softmax.",
  sparsemax:
    "Scaled dot products, less a threshold, cut off at 0: far keys get exactly nothing (Martins and Astudillo 2016).",
  own: "The scaled dot product through a formula of yours, which the kernel evaluates by vector instructions: heed’s scoreMod.",
};

/** Multiply-adds for one query and one key of width d, with h hidden numbers; tanh, roots and divisions are counted beside. */
export function costPerPair(kind: Kind, d: number, h: number): { readonly products: number; readonly others: string } {
  switch (kind) {
    case "dot":
    case "scaled-dot":
    case "top-k":
    case "sparsemax":
    case "general":
      return { products: d, others: "" };
    case "own":
      return { products: d, others: "the formula" };
    case "additive":
      return { products: h, others: `${h} tanh` };
    case "gated":
      return { products: d, others: "1 sigmoid" };
    case "cosine":
      return { products: d, others: "1 division" };
    case "rbf":
      return { products: d, others: "" };
    case "distance":
      return { products: d, others: "1 root" };
  }
}

/** What is done once for each query or key, however many it meets. */
export function costPerVector(kind: Kind, d: number, h: number): string {
  switch (kind) {
    case "general":
      return `${whole(d * d)} a query`;
    case "additive":
      return `${whole(h * d)} a query, ${whole(h * d)} a key`;
    case "gated":
      return `${d} a query, ${d} a key`;
    case "cosine":
      return `${d} a query, ${d} a key`;
    default:
      return "";
  }
}
