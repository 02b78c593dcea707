// Seeded attention problems and their check against the reference: the one list that every variant, worker and browser is held to.

import { abs, add, equal, floorDiv, lessEqual, mod, mul, notEqual, or, select, sub } from "../../web/src/expr/index.js";
import {
  type AttentionOptions,
  type AttentionResult,
  type Heed,
  HeedError,
  type Layout,
  type MaskLike,
  type TensorLike,
} from "../../web/src/index.js";
import { type ReferenceResult, attention as reference } from "../../web/src/reference/index.js";
import {
  type Bounds,
  boundsFor,
  EXACT,
  withinEntropy,
  withinLse,
  withinOutput,
  withinScore,
  withinWeight,
} from "./error-model.js";
import { Random } from "./random.js";
import { drawScore, type PlainDataScore } from "./score-cases.js";
import { scoreBound, withInt16Query } from "./score-error.js";

export interface Case {
  readonly name: string;
  readonly query: TensorLike;
  readonly key: TensorLike;
  readonly value: TensorLike;
  readonly options: CaseOptions;
  readonly sizes: Sizes;
  /** Whether keys are int8, so that decode quantizes queries to int16. */
  readonly isInt8?: boolean;
}

/** Options that both the engine and the reference take, in plain data. */
export type CaseOptions = Omit<AttentionOptions, "mask" | "bias" | "score" | "alibiSlopes" | "blocks"> & {
  readonly blocks?: CaseBlocks;
  readonly alibiSlopes?: ArrayLike<number> | undefined;
  readonly score?: PlainDataScore;
  readonly mask?: MaskLike;
  readonly bias?: TensorLike;
};

export interface CaseBlocks {
  readonly size: readonly [number, number];
  readonly keep: MaskLike;
}

export interface Sizes {
  readonly batch: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly queryLength: number;
  readonly keyLength: number;
  /** The head_dim of keys, and of queries where `queryDim` is not given. */
  readonly headDim: number;
  readonly queryDim?: number;
  readonly valueDim: number;
}

/** Around one, the lanes (4, 8), the rows of a panel (8, 16), the keys of a block (24 to 96) and the rows of a task (64). */
const LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 33, 63, 64, 65, 95, 96, 97, 111] as const;
const DIMS = [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 24, 31, 32, 33, 40, 64, 65, 72] as const;

/** `count` problems with every option of the API in some of them, the same for the same seed. */
export function cases(seed: number, count: number): readonly Case[] {
  const random = new Random(seed);
  return Array.from({ length: count }, (_, index) => randomCase(random, `seed ${seed} case ${index}`));
}

function randomCase(random: Random, label: string): Case {
  const kvHeads = random.pick([1, 1, 2, 3]);
  const same = random.chance(0.3);
  const queryLength = random.pick(LENGTHS);
  const headDim = random.pick(DIMS);
  return caseOf(random, label, {
    batch: random.pick([1, 1, 2]),
    heads: kvHeads * random.pick([1, 1, 2, 3]),
    kvHeads,
    queryLength,
    keyLength: same ? queryLength : random.pick(LENGTHS),
    headDim,
    valueDim: random.chance(0.5) ? headDim : random.pick(DIMS),
  });
}

/** One problem of these sizes; the options are drawn. */
export function caseOf(random: Random, label: string, sizes: Sizes): Case {
  const { batch, heads, kvHeads, queryLength, keyLength, headDim, valueDim } = sizes;
  const layout = random.pick<Layout>(["bhnd", "bhnd", "bnhd", "packed"]);
  const rank = layout === "packed" ? 3 : rankFor(random, batch, heads, kvHeads);
  const tensor = (h: number, length: number, dim: number): TensorLike => ({
    data: random.floats(batch * h * length * dim),
    shape: shapeOf(layout, rank, [batch, h, length, dim]),
  });
  const target = [batch, heads, queryLength, keyLength];
  const score = random.chance(0.5) ? drawScore(random, heads, headDim) : null;
  const queryDim = score?.queryDim ?? headDim;
  const options: CaseOptions = {
    layout,
    ...(layout === "packed" ? { heads, kvHeads } : {}),
    ...(random.chance(0.3) ? { scale: random.next() * 2 - 0.5 } : {}),
    ...(random.chance(0.2) ? { temperature: 0.25 + random.next() * 2 } : {}),
    ...(score === null ? {} : { score: score.score }),
    ...(random.chance(0.4) ? { causal: random.pick([true, "lower-right", "upper-left", false]) } : {}),
    ...structureOf(random, sizes),
    ...(random.chance(0.15) ? { blocks: blocksOf(random, target) } : {}),
    ...(random.chance(0.4) ? { mask: broadcast(random, target, (count) => random.bits(count)) } : {}),
    ...(random.chance(0.4) ? { bias: broadcast(random, target, (count) => biasOf(random, count)) } : {}),
  };
  const name = `${label}: ${layout} rank ${rank} ${JSON.stringify(sizes)} ${describe(options)}`;
  return {
    name,
    query: tensor(heads, queryLength, queryDim),
    key: tensor(kvHeads, keyLength, headDim),
    value: tensor(kvHeads, keyLength, valueDim),
    options,
    sizes: { ...sizes, queryDim },
  };
}

type MaskMod = NonNullable<AttentionOptions["maskMod"]>;

/** Mask functions of several kinds: by ranges, by remainders, by batch entry and head. */
const MASK_MODS: readonly [MaskMod, ...MaskMod[]] = [
  ({ q, k }) => lessEqual(k, add(q, 5)),
  ({ q, k }) => equal(floorDiv(q, 24), floorDiv(k, 40)),
  ({ q, k }) => or(lessEqual(abs(sub(q, k)), 9), equal(mod(k, 7), 0)),
  ({ b, h, k }) => notEqual(mod(add(k, h), 3), b),
];

/** The steepness of the score function that some cases have. */
const SLANT = 0.05;
const slanted: NonNullable<AttentionOptions["scoreMod"]> = ({ score, q, k }) => add(score, mul(SLANT, sub(q, k)));

/** Leaves every third query without a score above -Infinity. */
const forlorn: NonNullable<AttentionOptions["scoreMod"]> = ({ score, q }) =>
  select(equal(mod(q, 3), 0), Number.NEGATIVE_INFINITY, score);

/** Options that go by position, batch entry or head: each in some cases, several together in few. */
function structureOf(random: Random, { batch, heads, queryLength, keyLength }: Sizes): CaseOptions {
  const perBatch = (least: number, most: number): number[] =>
    Array.from({ length: batch }, () => random.whole(least, most));
  const packed = batch === 1 && random.chance(0.15) ? random.whole(1, 5) : 0;
  const perEntry = (least: number, most: number): number[] =>
    Array.from({ length: packed === 0 ? batch : packed }, () => random.whole(least, most));
  const starts = (total: number): number[] => [
    0,
    ...Array.from({ length: packed - 1 }, () => random.whole(0, total)).sort((a, b) => a - b),
    total,
  ];
  const side = (): number => random.pick([-1, 0, 1, 3, 40]);
  return {
    ...(random.chance(0.15) ? { dropout: { p: random.pick([0.1, 0.5, 1]), seed: random.whole(0, 2 ** 32 - 1) } } : {}),
    ...(random.chance(0.15) ? { softcap: random.pick([0.5, 3, 30]) } : {}),
    ...(random.chance(0.15) ? { window: [side(), side()] as const } : {}),
    ...(random.chance(0.15) ? { maskMod: random.pick(MASK_MODS) } : {}),
    ...(random.chance(0.15) ? { scoreMod: random.pick([slanted, forlorn]) } : {}),
    ...(random.chance(0.15) ? { qOffset: random.pick([0, 2, perEntry(-3, keyLength)]) } : {}),
    ...(packed > 0 ? { cuSeqlensQ: starts(queryLength), cuSeqlensK: starts(keyLength) } : {}),
    ...(packed === 0 && random.chance(0.1) ? { qLengths: perBatch(0, queryLength) } : {}),
    ...(packed === 0 && random.chance(0.15) ? { kvLengths: perBatch(0, keyLength) } : {}),
    ...(random.chance(0.15) ? { alibiSlopes: Array.from({ length: heads }, () => random.next()) } : {}),
    ...(random.chance(0.15) ? { sinks: Array.from({ length: heads }, () => random.next() * 8 - 4) } : {}),
  };
}

function rankFor(random: Random, batch: number, heads: number, kvHeads: number): number {
  if (batch !== 1) return 4;
  return heads === 1 && kvHeads === 1 ? random.pick([2, 3, 4]) : random.pick([3, 4]);
}

function shapeOf(layout: string, rank: number, [b = 0, h = 0, l = 0, d = 0]: readonly number[]): readonly number[] {
  if (layout === "packed") return [b, l, h * d];
  if (rank === 2) return [l, d];
  return (layout === "bhnd" ? [b, h, l, d] : [b, l, h, d]).slice(4 - rank);
}

/** A shape that broadcasts to the target: some axes 1, leading axes left out, the last one sometimes shorter. */
function broadcast<T>(
  random: Random,
  target: readonly number[],
  fill: (count: number) => T,
): { readonly data: T; readonly shape: readonly number[] } {
  const full = target.map((size, axis) => {
    if (axis === 3 && size > 2 && random.chance(0.2)) return random.whole(2, size - 1);
    return random.chance(0.35) ? 1 : size;
  });
  const leading = full.findIndex((size) => size !== 1);
  const shape = full.slice(random.chance(0.5) ? Math.min(leading === -1 ? 3 : leading, 3) : 0);
  return { data: fill(shape.reduce((total, size) => total * size, 1)), shape };
}

/** About half of the blocks, for all heads and batch entries or for each. */
function blocksOf(random: Random, [batch = 0, heads = 0, queries = 0, keys = 0]: readonly number[]): CaseBlocks {
  const size = [random.pick([1, 8, 16, 40]), random.pick([1, 7, 16, 32, 97])] as const;
  const counts = [Math.ceil(queries / size[0]), Math.ceil(keys / size[1])];
  const shape = random.chance(0.5) ? counts : [batch, heads, ...counts];
  return { size, keep: { data: random.bits(shape.reduce((total, count) => total * count, 1)), shape } };
}

/** Mostly small numbers, some -Infinity. */
function biasOf(random: Random, count: number): Float32Array {
  return random.floats(count, 2).map((value) => (random.chance(0.15) ? Number.NEGATIVE_INFINITY : value));
}

function describe(options: AttentionOptions): string {
  const { mask, bias, score, blocks, maskMod, scoreMod, ...rest } = options;
  const shapeText = (value: unknown): string =>
    typeof value === "object" && value !== null && "shape" in value ? JSON.stringify(value.shape) : "none";
  const scoreText = typeof score === "object" ? `${score.type} ${Object.keys(score)}` : (score ?? "");
  return `${JSON.stringify(rest)} ${scoreText} mask ${shapeText(mask)} bias ${shapeText(bias)} blocks ${blocks?.size ?? "none"} maskMod ${maskMod ?? "none"} scoreMod ${scoreMod ?? "none"}`;
}

/** What a check compares: every result. */
export const EVERYTHING = { return: { weights: true, lse: true, scores: "masked", entropy: true } } as const;

export type EverythingResult = AttentionResult<typeof EVERYTHING>;

export function computeSync(heed: Heed, one: Case): EverythingResult {
  return heed.attentionSync(one.query, one.key, one.value, { ...one.options, ...EVERYTHING });
}

export function compute(heed: Heed, one: Case): Promise<EverythingResult> {
  return heed.attention(one.query, one.key, one.value, { ...one.options, ...EVERYTHING });
}

const known = new WeakMap<Case, ReferenceResult>();

/** The reference's results, computed once a case: it is slow. */
export function expectedOf(one: Case): ReferenceResult {
  const expected = known.get(one) ?? reference(one.query, one.key, one.value, one.options);
  known.set(one, expected);
  return expected;
}

/** How far the results of a case may be from the reference's. */
export function boundsOf({ options, sizes, query, key, value, isInt8 = false }: Case, arithmetic = EXACT): Bounds {
  const { headDim, queryDim = headDim, keyLength, queryLength } = sizes;
  const type = typeof options.score === "object" ? options.score.type : options.score;
  const own = type === undefined || type === "scaled-dot" ? 1 / Math.sqrt(headDim) : 1;
  const scale = (options.scale ?? own) / (options.temperature ?? 1);
  const slopes = Array.from(options.alibiSlopes ?? [0], Math.abs);
  const slant = options.scoreMod === undefined ? 0 : SLANT * (keyLength + queryLength);
  const alibi = slant + Math.max(...slopes) * (2 * keyLength + queryLength);
  const plain = scoreBound(options.score, scale, { query, key, queryDim, headDim });
  const score = isInt8 ? withInt16Query(plain, headDim) : plain;
  return boundsFor(
    keyLength,
    { value, bias: options.bias },
    score,
    alibi,
    options.dropout?.p,
    arithmetic,
    options.softcap,
  );
}

/** The first number that is further from the reference than the error model allows, in words; null when all are within. */
export function firstError(one: Case, got: EverythingResult, arithmetic = EXACT): string | null {
  const expected = expectedOf(one);
  const bounds = boundsOf(one, arithmetic);
  const checks = [
    ["output", withinOutput],
    ["weights", withinWeight],
    ["lse", withinLse],
    ["scores", withinScore],
    ["entropy", withinEntropy],
  ] as const;
  for (const [name, within] of checks) {
    const { data, shape } = got[name];
    const wanted = name === "scores" ? expected.scores.masked : expected[name];
    if (String(shape) !== String(wanted.shape))
      return `${one.name}: ${name} has shape [${shape}], not [${wanted.shape}]`;
    if (data.length !== wanted.data.length)
      return `${one.name}: ${name} has ${data.length} elements, not ${wanted.data.length}`;
    for (const [index, exact] of wanted.data.entries()) {
      const is = data[index] ?? Number.NaN;
      if (!within(is, exact, bounds))
        return `${one.name}: ${name}[${index}] is ${is}, not ${exact}, bound ${bounds[name]}`;
    }
  }
  return null;
}

/** What a call threw or rejected with, which must be a HeedError. */
export async function errorOf(call: Promise<unknown> | (() => unknown)): Promise<HeedError> {
  try {
    await (typeof call === "function" ? call() : call);
  } catch (error) {
    if (error instanceof HeedError) return error;
    throw error;
  }
  throw new Error("the call succeeded");
}

/** Where two results differ in any bit or shape, in words; null where they do not. Quicker than a test runner's comparison. */
export function firstDifferentBit(got: EverythingResult, wanted: EverythingResult): string | null {
  for (const name of ["output", "weights", "lse", "scores", "entropy"] as const) {
    if (String(got[name].shape) !== String(wanted[name].shape)) return `${name} has shape [${got[name].shape}]`;
    const index = differentIndex(got[name].data, wanted[name].data);
    if (index !== -1) return `${name}[${index}] is ${got[name].data[index]}, not ${wanted[name].data[index]}`;
  }
  return null;
}

/** The first index at which two arrays differ; -1 where they do not. */
export function differentIndex(got: Float32Array, wanted: Float32Array): number {
  if (got.length !== wanted.length) return Math.min(got.length, wanted.length);
  return got.findIndex((value, index) => !Object.is(value, wanted[index]));
}
