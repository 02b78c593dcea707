// FlexAttention's published masks and functions of scores: each as an expression and as a plain rule.

import {
  abs,
  add,
  and,
  equal,
  floorDiv,
  greaterEqual,
  less,
  lessEqual,
  mod,
  mul,
  notEqual,
  or,
  select,
  sub,
  table,
  tanh,
} from "../../web/src/expr/index.js";
import type { AttentionOptions } from "../../web/src/index.js";
import { Random } from "./random.js";

/** What the rules are made for. */
export const [BATCH, HEADS, QUERIES, KEYS] = [2, 4, 140, 200] as const;

const whole = (...numbers: number[]) => table({ data: Int32Array.from(numbers), shape: [numbers.length] });
const upTo = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

export type Rule = (b: number, h: number, q: number, k: number) => boolean;
type MaskMod = NonNullable<AttentionOptions["maskMod"]>;

const documents = upTo(KEYS, (n) => Math.floor(n / 45));
const shuffled = upTo(KEYS, (n) => (n * 7) % 5);
const prefixes = [30, 97];
const lengths = [55, 130];

export const MASKS: readonly (readonly [string, MaskMod, Rule])[] = [
  ["causal", ({ q, k }) => lessEqual(k, q), (_b, _h, q, k) => k <= q],
  [
    "a prefix language model",
    ({ b, q, k }) => or(lessEqual(k, q), less(k, whole(...prefixes).at(b))),
    (b, _h, q, k) => k <= q || k < (prefixes[b] ?? 0),
  ],
  [
    "documents",
    ({ q, k }) => {
      const of = whole(...documents);
      return equal(of.at(q), of.at(k));
    },
    (_b, _h, q, k) => documents[q] === documents[k],
  ],
  [
    "documents out of order, causal",
    ({ q, k }) => {
      const of = whole(...shuffled);
      return and(equal(of.at(q), of.at(k)), greaterEqual(q, k));
    },
    (_b, _h, q, k) => shuffled[q] === shuffled[k] && q >= k,
  ],
  [
    "a dilated sliding window",
    ({ q, k }) => and(lessEqual(abs(sub(q, k)), 24), equal(mod(sub(q, k), 4), 0)),
    (_b, _h, q, k) => Math.abs(q - k) <= 24 && (q - k) % 4 === 0,
  ],
  [
    "jagged batch entries",
    ({ b, q, k }) => and(less(q, whole(...lengths).at(b)), less(k, whole(...lengths).at(b))),
    (b, _h, q, k) => q < (lengths[b] ?? 0) && k < (lengths[b] ?? 0),
  ],
  [
    "a neighbourhood in two dimensions",
    ({ q, k }) =>
      and(lessEqual(abs(sub(mod(q, 15), mod(k, 15))), 3), lessEqual(abs(sub(floorDiv(q, 15), floorDiv(k, 15))), 2)),
    (_b, _h, q, k) => Math.abs((q % 15) - (k % 15)) <= 3 && Math.abs(Math.floor(q / 15) - Math.floor(k / 15)) <= 2,
  ],
  ["some heads", ({ h }) => notEqual(mod(h, 2), 0), (_b, h) => h % 2 !== 0],
];

type ScoreMod = NonNullable<AttentionOptions["scoreMod"]>;
export const SLOPES = [0.5, 0.25, 0.125, 0.0625];
const biases = new Random(56).floats(HEADS * 61);

/** Each with what it adds to a score, or what it is as options. */
export const SCORES: readonly (readonly [
  string,
  ScoreMod,
  ((h: number, q: number, k: number) => number) | AttentionOptions,
])[] = [
  [
    "ALiBi",
    ({ score, h, q, k }) =>
      sub(score, mul(table({ data: Float32Array.from(SLOPES), shape: [4] }).at(h), abs(sub(q, k)))),
    (h, q, k) => -(SLOPES[h] ?? 0) * Math.abs(q - k),
  ],
  [
    "relative biases",
    ({ score, h, q, k }) => add(score, table({ data: biases, shape: [HEADS, 61] }).at(h, add(sub(q, k), 30))),
    (h, q, k) => biases[h * 61 + Math.min(Math.max(q - k + 30, 0), 60)] ?? 0,
  ],
  ["distance", ({ score, q, k }) => add(score, mul(-0.01, sub(q, k))), (_h, q, k) => -0.01 * (q - k)],
  ["softcap", ({ score }) => mul(2, tanh(mul(score, 0.5))), { softcap: 2 }],
  [
    "causal by -Infinity",
    ({ score, q, k }) => select(greaterEqual(q, k), score, -Infinity),
    (_h, q, k) => (q >= k ? 0 : -Infinity),
  ],
];

/** The four axes of a mask or bias, filled by a rule. */
function filled<A extends Float32Array | Uint8Array>(
  data: A,
  fill: (b: number, h: number, q: number, k: number) => number,
): A {
  let index = 0;
  for (let b = 0; b < BATCH; b++)
    for (let h = 0; h < HEADS; h++)
      for (let q = 0; q < QUERIES; q++) for (let k = 0; k < KEYS; k++) data[index++] = fill(b, h, q, k);
  return data;
}

const SIZE = BATCH * HEADS * QUERIES * KEYS;
const SHAPE = [BATCH, HEADS, QUERIES, KEYS];

/** A rule as a mask. */
export const maskOf = (rule: Rule): { data: Uint8Array; shape: readonly number[] } => ({
  data: filled(new Uint8Array(SIZE), (...at) => Number(rule(...at))),
  shape: SHAPE,
});

/** What a rule adds, as a bias. */
export const biasOf = (
  rule: (h: number, q: number, k: number) => number,
): { data: Float32Array; shape: readonly number[] } => ({
  data: filled(new Float32Array(SIZE), (_b, h, q, k) => rule(h, q, k)),
  shape: SHAPE,
});
