// Reads the options of attention: checked values with defaults filled in. validate.ts reads what depends on shapes.

import type { AttentionRules, CausalRule, Dropout, ScoreStage } from "../backends/backend.js";
import { HeedError } from "../base/errors.js";
import {
  isOptions,
  readBoolean,
  readChoice,
  readCount,
  readFinite,
  readOut,
  readPositive,
  readRecord,
  readSignal,
  refusal,
} from "../base/read-values.js";
import { readLayout } from "./layout.js";
import { readMods } from "./mods.js";
import {
  ATTENTION_OPTIONS,
  DEFAULTS,
  DROPOUT_OPTIONS,
  type Layout,
  NORMALIZERS,
  RETURN_OPTIONS,
  SCORE_STAGES,
  WEIGHT_OPTIONS,
} from "./options.js";
import { type GivenScore, readScore } from "./score.js";
import type { GivenStructure } from "./structure.js";

/** Which weights to return: none, all, their mean over heads, or the unchecked rows. */
export type WantedWeights = boolean | "mean" | { readonly rows: unknown };

/** The checked options of one call of attention. `bias` and `mask` are read with the tensors. */
export interface ReadOptions {
  /** The parameters are read with the shapes. */
  readonly score: GivenScore;
  /** null: 1 / sqrt(head_dim). */
  readonly scale: number | null;
  readonly temperature: number;
  readonly bias: unknown;
  readonly mask: unknown;
  readonly rules: AttentionRules;
  /** Read with the shapes. */
  readonly blocks: unknown;
  /** Read with the shapes. */
  readonly structure: GivenStructure;
  readonly output: boolean;
  /** The rows are read with the shapes. */
  readonly weights: WantedWeights;
  readonly lse: boolean;
  readonly scores: ScoreStage | null;
  readonly entropy: boolean;
  readonly layout: Layout;
  readonly heads: number | null;
  readonly kvHeads: number | null;
  readonly out: Float32Array | null;
  readonly signal: AbortSignal | null;
}

export function readAttentionOptions(where: string, options: unknown): ReadOptions {
  const given = readRecord(where, "options", options, ATTENTION_OPTIONS);
  const returned = readReturn(where, given["return"]);
  const score = readScore(where, given["score"]);
  const read: ReadOptions = {
    score,
    scale: readFinite(where, "scale", given["scale"], score.kind === "scaled-dot" ? null : 1),
    temperature: readPositive(where, "temperature", given["temperature"], DEFAULTS.temperature),
    bias: given["bias"],
    mask: given["mask"],
    rules: readRules(where, given),
    blocks: given["blocks"],
    structure: {
      window: given["window"],
      qOffset: given["qOffset"],
      qLengths: given["qLengths"],
      kvLengths: given["kvLengths"],
      cuSeqlensQ: given["cuSeqlensQ"],
      cuSeqlensK: given["cuSeqlensK"],
      alibiSlopes: given["alibiSlopes"],
      sinks: given["sinks"],
    },
    ...returned,
    layout: readLayout(where, given["layout"]),
    heads: readCount(where, "heads", given["heads"], null),
    kvHeads: readCount(where, "kvHeads", given["kvHeads"], null),
    out: readOut(where, "out", given["out"]),
    signal: readSignal(where, given["signal"]),
  };
  checkNormalizer(where, read);
  if (read.out !== null && read.rules.keep) throw new HeedError("option", `${where}: out and keep exclude each other`);
  if (read.out !== null && !read.output) {
    throw new HeedError("option", `${where}: out needs the output, not return.output: false`);
  }
  return read;
}

function readRules(where: string, given: Readonly<Record<string, unknown>>): AttentionRules {
  return {
    softcap: readSoftcap(where, given["softcap"]),
    normalizer: readChoice(where, "normalize", given["normalize"], NORMALIZERS, DEFAULTS.normalize),
    topK: readCount(where, "topK", given["topK"], null),
    causal: readCausal(where, given["causal"]),
    programs: readMods(where, given),
    dropout: readDropout(where, given["dropout"]),
    keep: readBoolean(where, "keep", given["keep"], DEFAULTS.keep),
    retry: readBoolean(where, "retry", given["retry"], DEFAULTS.retry),
  };
}

/** Throws where another option has no meaning with this normalizer. */
function checkNormalizer(where: string, { rules, structure, lse, entropy }: ReadOptions): void {
  const { normalizer } = rules;
  const fail = (rule: string): never => {
    throw new HeedError("option", `${where}: ${rule}, got normalize "${normalizer}"`);
  };
  if (normalizer === "softmax") return;
  if (structure.sinks !== undefined) fail("sinks join a sum that only normalize softmax divides by");
  if (lse) fail("lse is that of a softmax");
  if (entropy && (normalizer === "sigmoid" || normalizer === "none")) {
    fail("entropy is that of weights which add up to 1");
  }
}

function readReturn(
  where: string,
  value: unknown,
): Pick<ReadOptions, "output" | "weights" | "lse" | "scores" | "entropy"> {
  const given = readRecord(where, "return", value, RETURN_OPTIONS);
  return {
    output: readBoolean(where, "return.output", given["output"], DEFAULTS.output),
    weights: readWeights(where, given["weights"]),
    lse: readBoolean(where, "return.lse", given["lse"], DEFAULTS.lse),
    scores: readScores(where, given["scores"]),
    entropy: readBoolean(where, "return.entropy", given["entropy"], DEFAULTS.entropy),
  };
}

function readWeights(where: string, value: unknown): WantedWeights {
  if (value === undefined) return DEFAULTS.weights;
  if (typeof value === "boolean" || value === "mean") return value;
  if (isOptions(value)) {
    const { rows } = readRecord(where, "return.weights", value, WEIGHT_OPTIONS);
    if (rows !== undefined) return { rows };
  }
  throw refusal(where, "return.weights", 'true or false, "mean" or { rows: [from, to] }', value);
}

function readScores(where: string, value: unknown): ScoreStage | null {
  if (value === undefined || value === false) return null;
  return readChoice(where, "return.scores", value, SCORE_STAGES, "raw");
}

function readSoftcap(where: string, value: unknown): number | null {
  const softcap = readFinite(where, "softcap", value, null);
  if (softcap === null || (softcap >= 1e-30 && softcap <= 1e30)) return softcap;
  throw refusal(where, "softcap", "between 1e-30 and 1e30", value);
}

/** Null: nothing is dropped. */
function readDropout(where: string, value: unknown): Dropout | null {
  if (value === undefined) return null;
  const { p, seed } = readRecord(where, "dropout", value, DROPOUT_OPTIONS);
  if (typeof p !== "number" || !(p >= 0 && p <= 1)) {
    throw refusal(where, "dropout.p", "between 0 and 1", p);
  }
  const isSeed = typeof seed === "number" && Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32;
  if (!isSeed && (p > 0 || seed !== undefined)) {
    throw refusal(where, "dropout.seed", "a whole number from 0 to 2^32 - 1", seed);
  }
  const single = Math.fround(p);
  return isSeed && single > 0 ? { p: single, seed } : null;
}

function readCausal(where: string, value: unknown): CausalRule {
  if (value === undefined || value === false) return DEFAULTS.causal;
  if (value === true || value === "lower-right") return "lower-right";
  if (value === "upper-left") return "upper-left";
  throw refusal(where, "causal", 'true, false, "lower-right" or "upper-left"', value);
}
