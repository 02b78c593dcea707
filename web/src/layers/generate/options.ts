// Reads the options of generation.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { readBoolean, readCount, readFinite, readRecord, readSignal } from "../../base/read-values.js";
import { MOST_LISTED, numbersOf } from "../../base/typed-array.js";

/**
 * The logits of the next token of a sequence. Its first `past` tokens were in the call before, 0 in the first call, so a model with a KV
 * cache computes the tokens from `past` on. `ids` is one array, which grows after every call: a step that keeps it keeps a copy.
 */
export type NextLogits = (ids: readonly number[], past: number) => Float32Array | Promise<Float32Array>;

/** When generation ends. */
export interface GenerateOptions {
  /** The most new tokens. Default 256. */
  readonly maxTokens?: number | undefined;
  /** Tokens that end a sequence, and are its last token. Default none. */
  readonly eos?: number | readonly number[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** How the next token is drawn. */
export interface SampleOptions extends GenerateOptions {
  /** Divides the logits; 0 takes the best token. Default 1. */
  readonly temperature?: number | undefined;
  /** Keeps so many of the best tokens; of equals, the first. */
  readonly topK?: number | undefined;
  /** Keeps the fewest of the best tokens whose probabilities add up to this, above 0 and up to 1. */
  readonly topP?: number | undefined;
  /** Keeps tokens of at least this share of the best one's probability, from 0 to 1. */
  readonly minP?: number | undefined;
  /** Divides the positive logits of tokens that are in the sequence, and multiplies negative ones. Above 0, default 1. */
  readonly repetitionPenalty?: number | undefined;
  /** A whole number of 32 bits. The same seed draws the same tokens. Default a random one. */
  readonly seed?: number | undefined;
}

/** The options of `beamSearch`. */
export interface BeamOptions extends GenerateOptions {
  /** The number of sequences that are followed and returned. Default 4. */
  readonly beams?: number | undefined;
  /** The score of a sequence is log-probability / new tokens ** lengthPenalty. Default 1; with 0 it is the log-probability. */
  readonly lengthPenalty?: number | undefined;
  /**
   * Every call of the step has `beams` sequences, as a cache needs that has so many batch entries. Where there are fewer, the first is
   * repeated, and its continuations count once. Default false.
   */
  readonly fullBatch?: boolean | undefined;
}

/** Every call of the step has so many sequences. */
const MOST_BEAMS = 4096;

const COMMON = ["maxTokens", "eos", "signal"];

export interface ReadCommon {
  readonly maxTokens: number;
  readonly eos: ReadonlySet<number>;
  readonly signal: AbortSignal | null;
}

export interface ReadSampling {
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
  readonly repetitionPenalty: number;
  readonly seed: number;
}

export function readGreedyOptions(where: string, options: unknown): ReadCommon {
  return readCommon(where, readRecord(where, "options", options, COMMON));
}

export function readSampleOptions(where: string, options: unknown): ReadCommon & ReadSampling {
  const names = ["temperature", "topK", "topP", "minP", "repetitionPenalty", "seed"];
  const given = readRecord(where, "options", options, [...COMMON, ...names]);
  const number = (name: string, absent: number, isAllowed: (value: number) => boolean, rule: string): number => {
    const value = readFinite(where, name, given[name], absent);
    if (isAllowed(value)) return value;
    throw new HeedError("option", `${where}: ${name} must be ${rule}, got ${value}`);
  };
  return {
    ...readCommon(where, given),
    temperature: number("temperature", 1, (value) => value >= 0, "0 or more"),
    topK: readCount(where, "topK", given["topK"], Infinity),
    topP: number("topP", 1, (value) => value > 0 && value <= 1, "above 0 and at most 1"),
    minP: number("minP", 0, (value) => value >= 0 && value <= 1, "from 0 to 1"),
    repetitionPenalty: number("repetitionPenalty", 1, (value) => value > 0, "above 0"),
    seed: number("seed", Math.floor(Math.random() * 2 ** 32), isSeed, "a whole number of 32 bits"),
  };
}

const isSeed = (value: number): boolean => value === value >> 0 || value === value >>> 0;

export function readBeamOptions(
  where: string,
  options: unknown,
): ReadCommon & { readonly beams: number; readonly lengthPenalty: number; readonly fullBatch: boolean } {
  const given = readRecord(where, "options", options, [...COMMON, "beams", "lengthPenalty", "fullBatch"]);
  return {
    ...readCommon(where, given),
    beams: readCount(where, "beams", given["beams"], 4, MOST_BEAMS),
    lengthPenalty: readFinite(where, "lengthPenalty", given["lengthPenalty"], 1),
    fullBatch: readBoolean(where, "fullBatch", given["fullBatch"], false),
  };
}

function readCommon(where: string, given: Readonly<Record<string, unknown>>): ReadCommon {
  const { eos = [] } = given;
  return {
    maxTokens: readCount(where, "maxTokens", given["maxTokens"], 256),
    eos: new Set(readIds(where, "eos", typeof eos === "number" ? [eos] : eos)),
    signal: readSignal(where, given["signal"]),
  };
}

/** A copy of token ids. */
export function readIds(where: string, name: string, value: unknown): number[] {
  const ids = numbersOf(value);
  const wrong = ids?.find((id) => !Number.isSafeInteger(id) || id < 0);
  if (ids !== null && wrong === undefined) return [...ids];
  throw new HeedError(
    "option",
    `${where}: ${name} must be tokens, whole numbers from 0 on, at most ${MOST_LISTED}, got ${showValue(wrong ?? value)}`,
  );
}
