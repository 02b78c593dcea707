// Llama 3's scaling of rope. Files do not name it: they have its factors, one for each pair of dimensions, as a tensor.

import { HeedError } from "../../base/errors.js";
import type { RopeConfig } from "../models/config.js";

/** The tensor of the factors. */
export const ROPE_FACTORS = "rope_freqs.weight";

/** Of all models published with it. */
const LOW = 1;
const HIGH = 4;
const LENGTH = 8192;

/** The scaling of which these are the factors. Throws where they are those of another one. */
export function llama3Of(where: string, factors: Float32Array, base: number): RopeConfig {
  const factor = factors.at(-1) ?? 1;
  const waves = Array.from(factors, (_, i) => 2 * Math.PI * base ** (i / factors.length));
  const original = Math.round(lengthOf(factors, waves, factor));
  const isIt = waves.every((wave, i) => Math.abs(factorOf(wave, factor, original) / (factors[i] ?? 0) - 1) < 1e-4);
  if (isIt) {
    return {
      rope_type: "llama3",
      rope_theta: base,
      factor,
      low_freq_factor: LOW,
      high_freq_factor: HIGH,
      original_max_position_embeddings: original,
    };
  }
  throw new HeedError("unsupported", `${where}: ${ROPE_FACTORS} must be the factors of Llama 3's scaling, got others`);
}

/** From a factor between 1 and the last one, which tells the original length of texts. */
function lengthOf(factors: Float32Array, waves: readonly number[], factor: number): number {
  const between = factors.findIndex((one) => one > 1 && one < factor);
  if (between < 0) return LENGTH;
  const share = (1 / (factors[between] ?? 1) - 1 / factor) / (1 - 1 / factor);
  return (share * (HIGH - LOW) + LOW) * (waves[between] ?? 0);
}

function factorOf(wave: number, factor: number, length: number): number {
  if (wave < length / HIGH) return 1;
  if (wave > length / LOW) return factor;
  const share = (length / wave - LOW) / (HIGH - LOW);
  return 1 / ((1 - share) / factor + share);
}
