// The frequency of each pair in radians per position, in double precision, from a base and a scaling.

import { HeedError } from "../../base/errors.js";
import { readBoolean, readChoice, readFinite, readPositive, readRecord, refusal } from "../../base/read-values.js";

export interface Frequencies {
  readonly frequencies: Float64Array<ArrayBuffer>;
  /** Multiplies the rotated numbers. */
  readonly magnitude: number;
}

/** The unchecked options. */
export interface GivenFrequencies {
  readonly base?: unknown;
  readonly scaling?: unknown;
}

export function frequenciesOf(where: string, options: GivenFrequencies, rotaryDim: number): Frequencies {
  const base = readPositive(where, "base", options.base, 10000);
  const { scaling } = options;
  const plain = (of: number): Float64Array<ArrayBuffer> =>
    Float64Array.from({ length: rotaryDim / 2 }, (_, i) => of ** ((-2 * i) / rotaryDim));
  if (scaling === undefined) return { frequencies: plain(base), magnitude: 1 };
  const given = typeof scaling === "number" ? { type: "linear", factor: scaling } : scaling;
  const names = readRecord(where, "scaling", given, SCALING_NAMES);
  if (names["type"] === "dynamic" || names["type"] === "longrope") {
    throw new HeedError(
      "unsupported",
      `${where}: scaling.type "${names["type"]}" is not supported by this version of heed`,
    );
  }
  const type = readChoice(where, "scaling.type", names["type"], ["linear", "ntk", "llama3", "yarn"], "linear");
  const read = (name: string, absent: number | null): number => readPart(where, name, names[name], absent);
  const factor = read("factor", null);
  if (type === "linear") return { frequencies: plain(base).map((one) => one / factor), magnitude: 1 };
  if (type === "ntk") {
    // A single pair is the fastest, which stays.
    const power = rotaryDim > 2 ? rotaryDim / (rotaryDim - 2) : 0;
    return { frequencies: plain(base * factor ** power), magnitude: 1 };
  }
  const length = read("originalLength", null);
  if (type === "llama3") {
    const low = read("lowFrequencyFactor", 1);
    const high = read("highFrequencyFactor", 4);
    if (low >= high) {
      const rule = "scaling.lowFrequencyFactor must be less than highFrequencyFactor";
      throw new HeedError("option", `${where}: ${rule}, got ${low} and ${high}`);
    }
    return { frequencies: plain(base).map((one) => llama3(one, factor, length, low, high)), magnitude: 1 };
  }
  if (base <= 1) throw new HeedError("option", `${where}: scaling "yarn" needs a base greater than 1, got ${base}`);
  const fast = pairWith(read("betaFast", 32), base, rotaryDim, length);
  const slow = pairWith(read("betaSlow", 1), base, rotaryDim, length);
  const isWhole = readBoolean(where, "scaling.truncate", names["truncate"], true);
  const [from, to] = isWhole ? [Math.floor(fast), Math.ceil(slow)] : [fast, slow];
  return {
    frequencies: yarn(plain(base), factor, Math.max(from, 0), Math.min(to, rotaryDim - 1)),
    magnitude: read("attentionFactor", factor > 1 ? 0.1 * Math.log(factor) + 1 : 1),
  };
}

const SCALING_NAMES = [
  "type",
  "factor",
  "originalLength",
  "lowFrequencyFactor",
  "highFrequencyFactor",
  "betaFast",
  "betaSlow",
  "attentionFactor",
  "truncate",
];

function readPart(where: string, name: string, value: unknown, absent: number | null): number {
  const read = readFinite(where, `scaling.${name}`, value, absent);
  if (read !== null && read > 0) return read;
  throw refusal(where, `scaling.${name}`, "greater than 0", value);
}

/** Llama 3.1: slow pairs are divided by the factor, fast ones are not, and those between are interpolated by their number of rotations. */
function llama3(frequency: number, factor: number, length: number, low: number, high: number): number {
  const rotations = (length * frequency) / (2 * Math.PI);
  if (rotations > high) return frequency;
  if (rotations < low) return frequency / factor;
  const share = (rotations - low) / (high - low);
  return (1 - share) * (frequency / factor) + share * frequency;
}

/** YaRN (Peng et al. 2023, arXiv 2309.00071): the fractional index of the pair with so many rotations within the length. */
function pairWith(rotations: number, base: number, rotaryDim: number, length: number): number {
  return (rotaryDim * Math.log(length / (rotations * 2 * Math.PI))) / (2 * Math.log(base));
}

/** Pairs from `slow` on are divided by the factor, those up to `fast` are not, and those between are interpolated by their index. */
function yarn(plain: Float64Array<ArrayBuffer>, factor: number, fast: number, slow: number): Float64Array<ArrayBuffer> {
  const width = fast === slow ? 0.001 : slow - fast;
  return plain.map((frequency, i) => {
    const share = Math.min(Math.max((i - fast) / width, 0), 1);
    return (frequency / factor) * share + frequency * (1 - share);
  });
}
