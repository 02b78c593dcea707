// Reads the rotary embedding of a config.json: `rope_parameters`, flat or by the type of layer, or what older files have in its place.

import type { RopeScaling } from "../../api/operations/options.js";
import { isRecord } from "../../base/read-values.js";
import type { InnerRope } from "../multi-head-attention.js";
import type { ConfigReader } from "./config.js";

/** The types of layers, each with its mask and perhaps with its rope. */
export type LayerType = "full_attention" | "sliding_attention";

/** The fields of older files for a type of layer. */
export interface RopeFields {
  readonly theta: string;
  readonly absentTheta: number;
  /** Whether `rope_scaling` is for it. */
  readonly isScaled: boolean;
  /** Whether the types differ, so that rope_parameters must be by type. */
  readonly isOneOfTwo?: boolean;
}

/** The rope of layers of a type. */
export function readRope(
  read: ConfigReader,
  type: LayerType,
  { theta, absentTheta, isScaled, isOneOfTwo = false }: RopeFields,
): InnerRope {
  const given = read.part("rope_parameters");
  const isByType = given !== null && TYPES.some((one) => isRecord(given.value(one)));
  if (given !== null && !isByType && isOneOfTwo) throw read.unsupported("rope_parameters", "be by the type of layer");
  const rules = (isByType ? given.part(type) : given) ?? (isScaled ? read.part("rope_scaling") : null);
  rules?.only(WHOLE);
  const base = read.number(theta, absentTheta);
  if (rules === null) return { base };
  const longest = read.value("max_position_embeddings") === undefined ? 2048 : read.count("max_position_embeddings");
  const scaling = scalingOf(rules, longest);
  return { base: rules.number("rope_theta", base), ...(scaling === null ? {} : { scaling }) };
}

const TYPES: readonly LayerType[] = ["full_attention", "sliding_attention"];

/** No model here turns a part of its heads. */
const WHOLE = { partial_rotary_factor: [1] };

const KINDS = { default: "default", linear: "linear", llama3: "llama3", yarn: "yarn" } as const;

function scalingOf(rules: ConfigReader, longest: number): RopeScaling | null {
  const type = rules.choice(rules.value("rope_type") === undefined ? "type" : "rope_type", KINDS, "default");
  if (type === "default") return null;
  const factor = rules.number("factor");
  if (type === "linear") return { type, factor };
  const originalLength = rules.count("original_max_position_embeddings", longest);
  if (type === "llama3") {
    const lowFrequencyFactor = rules.number("low_freq_factor", 1);
    return {
      type,
      factor,
      originalLength,
      lowFrequencyFactor,
      highFrequencyFactor: rules.number("high_freq_factor", 4),
    };
  }
  const [mscale, ofAll] = [rules.number("mscale", 0), rules.number("mscale_all_dim", 0)];
  const grown = (by: number): number => (factor > 1 ? 0.1 * by * Math.log(factor) + 1 : 1);
  return {
    type,
    factor,
    originalLength,
    betaFast: rules.number("beta_fast", 32),
    betaSlow: rules.number("beta_slow", 1),
    attentionFactor: rules.number("attention_factor", mscale * ofAll === 0 ? grown(1) : grown(mscale) / grown(ofAll)),
    truncate: rules.flag("truncate", true),
  };
}
