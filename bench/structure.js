// The cost of masks and score functions as expressions, as ratios to the options of the same meaning, and of windows, documents
// and block masks that keep half of the pairs, as ratios to the whole call. Each pair alternates in one run, and the median of the
// pairs' ratios is printed. `node bench/structure.js [relaxed|simd]`, after `npm run build`.

import { createHeed } from "heed";
import { abs, greaterEqual, lessEqual, mul, sub, table, tanh } from "heed/expr";
import { median, random, rounds } from "./numbers.js";

const [HEADS, LENGTH, DIM] = [8, 1024, 64];
const ROUNDS = rounds(15);

const [, , wanted] = process.argv;
const variant = wanted === "simd" || wanted === "relaxed" ? wanted : "auto";
const heed = await createHeed({ variant, offload: false });
const tensor = () => heed.tensor(Float32Array.from({ length: HEADS * LENGTH * DIM }, random), [1, HEADS, LENGTH, DIM]);
const [q, k, v] = [tensor(), tensor(), tensor()];

const slopes = Array.from({ length: HEADS }, (_, h) => 2 ** -(h + 1));
const slopeTable = table({ data: Float32Array.from(slopes), shape: [HEADS] });

/** @typedef {import("heed").AttentionOptions} Options */

/** @type {(size: number, isKept: (row: number, column: number) => boolean) => Options} */
const blockMask = (size, isKept) => {
  const blocks = LENGTH / size;
  const keep = Uint8Array.from({ length: blocks * blocks }, (_, n) =>
    Number(isKept(Math.floor(n / blocks), n % blocks)),
  );
  return { blocks: { size: [size, size], keep: { data: keep, shape: [blocks, blocks] } } };
};
/** A block mask with every other block. */
const chessboard = (/** @type {number} */ size) => blockMask(size, (row, column) => (row + column) % 2 === 1);
/** A block mask with a random half of each row's blocks. */
const scattered = (/** @type {number} */ size) => {
  const columns = Array.from({ length: LENGTH / size }, (_, column) => column);
  const rows = columns.map(() => {
    const order = columns.map((column) => ({ column, at: random() })).sort((a, b) => a.at - b.at);
    return new Set(order.slice(0, columns.length / 2).map(({ column }) => column));
  });
  return blockMask(size, (row, column) => rows[row]?.has(column) ?? false);
};

/** @type {readonly (readonly [string, Options, Options])[]} */
const PAIRS = [
  ["causal by maskMod", { maskMod: (of) => lessEqual(of.k, of.q) }, { causal: true }],
  [
    "window of 256 by maskMod",
    { maskMod: (of) => lessEqual(abs(sub(of.q, of.k)), 256) },
    { window: [256, 256], causal: false },
  ],
  [
    "ALiBi by scoreMod",
    { scoreMod: (of) => sub(of.score, mul(slopeTable.at(of.h), abs(sub(of.q, of.k)))) },
    { alibiSlopes: slopes },
  ],
  ["softcap by scoreMod", { scoreMod: (of) => mul(20, tanh(mul(of.score, 1 / 20))) }, { softcap: 20 }],
  ["all keys by maskMod", { maskMod: (of) => greaterEqual(of.k, 0) }, {}],
  ["half of the pairs, a triangle", { causal: true }, {}],
  ["half of the pairs, a window", { window: [300, 300] }, {}],
  ["half of the pairs, two documents", { cuSeqlensQ: [0, LENGTH / 2, LENGTH] }, {}],
  .../** @type {const} */ ([128, 64, 32, 16]).flatMap((size) => [
    /** @type {const} */ ([`every other block, ${size} x ${size}`, chessboard(size), {}]),
    /** @type {const} */ ([`half of the blocks, ${size} x ${size}`, scattered(size), {}]),
    /** @type {const} */ ([`all blocks, ${size} x ${size}`, blockMask(size, () => true), {}]),
  ]),
];

const timed = (/** @type {Options} */ options) => {
  const start = performance.now();
  heed.attentionSync(q, k, v, options);
  return performance.now() - start;
};

console.log(`${heed.capabilities.variant}, ${HEADS} heads of ${LENGTH} x ${LENGTH}, head_dim ${DIM}, one thread`);
for (const [name, ours, theirs] of PAIRS) {
  timed(ours);
  timed(theirs);
  const pairs = Array.from({ length: ROUNDS }, () => ({ ours: timed(ours), theirs: timed(theirs) }));
  const ratio = median(pairs.map((pair) => pair.ours / pair.theirs));
  console.log(`${name.padEnd(32)} ${median(pairs.map((pair) => pair.ours)).toFixed(2)} ms, x ${ratio.toFixed(3)}`);
}
