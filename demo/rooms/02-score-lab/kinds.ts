// The ways to score a query against a key, and to make weights of the scores, side by side.

import { whole } from "../../src/ui/numbers.js";

/** What the two numbers of a query or key are. */
export const FEATURES = ["loud", "fast"] as const;
export const WIDTH = FEATURES.length;
export const HIDDEN = 3;
export const KEYS = 5;
/** Width and hidden numbers of those whose costs are counted. */
export const COUNTED = 64;

interface About {
  readonly name: string;
  readonly about: string;
  /** What a pair costs beside its products. */
  readonly beside?: string;
  /** Multiply-adds that a query or a key costs, however many it meets. */
  readonly once?: string;
}

const square = whole(COUNTED * COUNTED);
const both = `${COUNTED} a query, ${COUNTED} a key`;

/** One's own is the last. */
const KNOWN = {
  dot: {
    name: "dot",
    about: "The sum of products: its level lines are straight, and a longer key wins.",
  },
  "scaled-dot": {
    name: "scaled dot",
    about: "The dot product over √d, so that its spread does not grow with the width (Vaswani et al. 2017).",
  },
  general: {
    name: "general",
    about: "A matrix W says which feature of the query goes with which of the key (Luong et al. 2015): the lines turn.",
    once: `${square} a query`,
  },
  additive: {
    name: "additive",
    about:
      "A network with one hidden layer (Bahdanau et al. 2015): bent lines. This score came first, in an RNN. Luong’s RNN multiplied, and so do Transformers: a tanh allows no matrix product.",
    beside: `${COUNTED} tanh`,
    once: `${square} a query, ${square} a key`,
  },
  gated: {
    name: "gated",
    about: "The dot product times a gate from 0 to 1 that sees both vectors.",
    beside: "1 sigmoid",
    once: both,
  },
  cosine: {
    name: "cosine",
    about:
      "Only directions count: the lines are rays. Dot product and cosine are to each other as covariance and correlation. It is at most 1, so it needs a low temperature to decide.",
    beside: "1 division",
    once: both,
  },
  rbf: {
    name: "rbf",
    about: "Minus the squared distance over 2b²: circles around the query. Its softmax is kernel regression.",
  },
  distance: {
    name: "distance",
    about: "Minus the distance: circles as well, but the weight falls off more slowly.",
    beside: "1 root",
  },
  "top-k": {
    name: "top-k",
    about: "Scaled dot products: only the best k keys count, and the others are masked before the softmax.",
  },
  sparsemax: {
    name: "sparsemax",
    about:
      "Scaled dot products minus a threshold, cut off at 0: the others get exactly 0 (Martins and Astudillo 2016).",
  },
  own: {
    name: "your own",
    about:
      "The scaled dot product through your formula, which the kernel computes with vector instructions (scoreMod).",
    beside: "the formula",
  },
} satisfies Readonly<Record<string, About>>;

export type Kind = keyof typeof KNOWN;
export const KINDS = Object.keys(KNOWN) as readonly Kind[];
export const ABOUT: Readonly<Record<Kind, About>> = KNOWN;
