// The options of the reference's attention: all forms that `heed.attention` takes, and one plain form for the computation.

import { makeLeaves, type ReferenceExpr, type ReferenceLeaf, readTree, type ScoreInputs } from "./expressions.js";
import type { Dims } from "./heads.js";
import type { ReferenceNormalizer } from "./normalizers.js";
import { numbersOf, type ReferenceNumbers } from "./numbers.js";
import type { ReferenceScore } from "./scores.js";

/** As in `heed.attention`: a function that returns an expression of heed/expr, or one that takes no argument and returns a constant. */
export type ReferenceMod =
  | ((leaves: Readonly<Record<"score" | "prob" | "b" | "h" | "q" | "k", ReferenceLeaf>>) => ReferenceExpr)
  | (() => number | boolean);

/** 1 or true where a query may attend to a key. */
export interface ReferenceMask {
  readonly data: Uint8Array | readonly boolean[];
  readonly shape: readonly number[];
}

/** A mask with its shape, or bare values of [L, S] or [B, H, L, S]. */
export type ReferenceMaskInput = ReferenceMask | Uint8Array | readonly boolean[];

/** The options of `heed.attention`, with the same meaning. */
export interface ReferenceOptions {
  readonly scale?: number | undefined;
  readonly temperature?: number | undefined;
  readonly score?: ReferenceScore | undefined;
  readonly softcap?: number | undefined;
  readonly normalize?: ReferenceNormalizer | undefined;
  readonly topK?: number | undefined;
  readonly causal?: boolean | "lower-right" | "upper-left" | undefined;
  readonly qOffset?: number | ReferenceNumbers | undefined;
  readonly window?: readonly [number, number] | undefined;
  readonly qLengths?: ReferenceNumbers | undefined;
  readonly kvLengths?: ReferenceNumbers | undefined;
  readonly cuSeqlensQ?: ReferenceNumbers | undefined;
  readonly cuSeqlensK?: ReferenceNumbers | undefined;
  readonly alibiSlopes?: ReferenceNumbers | undefined;
  readonly sinks?: ReferenceNumbers | undefined;
  readonly dropout?: { readonly p: number; readonly seed?: number | undefined } | undefined;
  readonly blocks?: { readonly size: readonly [number, number]; readonly keep: ReferenceMaskInput } | undefined;
  readonly scoreMod?: ReferenceMod | undefined;
  readonly maskMod?: ReferenceMod | undefined;
  readonly probMod?: ReferenceMod | undefined;
  readonly mask?: ReferenceMaskInput | undefined;
  /** With its shape, or bare values as for a mask. */
  readonly bias?: ReferenceNumbers | undefined;
  readonly layout?: "bhnd" | "bnhd" | "packed" | undefined;
  readonly heads?: number | undefined;
  readonly kvHeads?: number | undefined;
  /** Throws: give the reference all keys and values. */
  readonly cache?: unknown;
  /** The options from here on have no effect: everything is computed, and returned in arrays. */
  readonly return?: unknown;
  readonly keep?: unknown;
  readonly retry?: unknown;
  readonly out?: unknown;
  readonly signal?: unknown;
}

type Numbers = ArrayLike<number> | undefined;

interface Shaped<T> {
  readonly data: ArrayLike<T>;
  readonly shape: readonly number[];
}

type Evaluated = ((inputs: ScoreInputs) => number) | undefined;

/** The options that the computation uses for each score, in one form each. */
export interface PlainOptions
  extends Pick<ReferenceOptions, "softcap" | "normalize" | "topK" | "causal" | "window" | "dropout"> {
  readonly qOffset?: number | Numbers;
  readonly qLengths?: Numbers;
  readonly kvLengths?: Numbers;
  readonly cuSeqlensQ?: Numbers;
  readonly cuSeqlensK?: Numbers;
  readonly alibiSlopes?: Numbers;
  readonly sinks?: Numbers;
  readonly mask?: Shaped<unknown> | undefined;
  readonly bias?: Shaped<number> | undefined;
  readonly blocks?: { readonly size: readonly [number, number]; readonly keep: Shaped<unknown> } | undefined;
  readonly scoreMod?: Evaluated;
  readonly maskMod?: Evaluated;
  readonly probMod?: Evaluated;
}

/** `scores` is [batch, query heads, query length, key length]. Throws a RangeError. */
export function plainOptions(options: ReferenceOptions, scores: Dims): PlainOptions {
  if (options.cache !== undefined) throw new RangeError("heed/reference takes no cache: give it all keys and values");
  const { qOffset, mask, bias, blocks } = options;
  const [batch, heads, queries, keys] = scores;
  const grid = ([ofQueries, ofKeys]: readonly [number, number]): Dims => {
    return [batch, heads, Math.ceil(queries / ofQueries), Math.ceil(keys / ofKeys)];
  };
  return {
    ...options,
    qOffset: typeof qOffset === "number" ? qOffset : list(qOffset),
    qLengths: list(options.qLengths),
    kvLengths: list(options.kvLengths),
    cuSeqlensQ: list(options.cuSeqlensQ),
    cuSeqlensK: list(options.cuSeqlensK),
    alibiSlopes: list(options.alibiSlopes),
    sinks: list(options.sinks),
    mask: mask && shapedMask(mask, scores),
    bias: bias && shaped(bias, numbersOf(bias), scores),
    blocks: blocks && { size: blocks.size, keep: shapedMask(blocks.keep, grid(blocks.size)) },
    scoreMod: evaluated("scoreMod", options.scoreMod),
    maskMod: evaluated("maskMod", options.maskMod),
    probMod: evaluated("probMod", options.probMod),
  };
}

function evaluated(name: string, mod: ReferenceMod | undefined): Evaluated {
  if (mod === undefined) return undefined;
  const tree = mod(makeLeaves());
  if (mod.length === 0 || typeof tree === "object") return readTree(name, tree);
  throw new RangeError(`heed/reference: ${name} takes arguments, so it must return an expression, got ${tree}`);
}

function list(numbers: ReferenceNumbers | undefined): Numbers {
  return numbers && numbersOf(numbers);
}

function shapedMask(mask: ReferenceMaskInput, target: Dims): Shaped<unknown> {
  return shaped<unknown>(mask, "data" in mask ? mask.data : mask, target);
}

/** Values without a shape are exactly [L, S] or [B, H, L, S]. */
function shaped<T>(given: object, data: ArrayLike<T>, target: Dims): Shaped<T> {
  if ("shape" in given) return { data, shape: given.shape as readonly number[] };
  const fits = [target.slice(2), target].find(
    (shape) => data.length === shape.reduce((total, size) => total * size, 1),
  );
  if (fits !== undefined) return { data, shape: fits };
  throw new RangeError(`heed/reference: ${data.length} values without a shape are not those of [${target}]`);
}
