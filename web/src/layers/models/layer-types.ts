// Reads what differs between the layers of a config.json.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import type { ConfigReader } from "./config.js";
import type { LayerType } from "./rope-config.js";

/** The type of each layer, by `layer_types` or, where it is absent, by its number. */
export function readLayerTypes(
  read: ConfigReader,
  layers: number,
  absent: (layer: number) => LayerType,
): readonly LayerType[] {
  const given = read.each("layer_types", layers, (value, called): LayerType => {
    if (value === "full_attention" || value === "sliding_attention") return value;
    const rule = 'must be "full_attention" or "sliding_attention"';
    throw new HeedError("unsupported", `${called} ${rule}, got ${showValue(value)}`);
  });
  return given ?? Array.from({ length: layers }, (_, layer) => absent(layer));
}

/** The window of causal layers that see so many tokens, their own among them. */
export const lastTokens = (count: number): readonly [number, number] => [count - 1, -1];
