// Masks worth starting from.

import { BARE, type MaskState } from "./state.js";

export interface Preset {
  readonly name: string;
  readonly patch: Partial<MaskState>;
}

const preset = (name: string, patch: Partial<MaskState>): Preset => ({
  name,
  patch: { ...BARE, hiding: "before", ...patch },
});

const row = (index: number, keys: number): readonly number[] =>
  Array.from({ length: keys }, (_, col) => index * keys + col);

export const PRESETS: readonly Preset[] = [
  preset("No mask", {}),
  preset("Causal", { causal: "lower-right" }),
  preset("Causal with a cache", { causal: "lower-right", queries: 4 }),
  preset("Sliding window", { causal: "lower-right", left: 3 }),
  preset("Prefix", { causal: "lower-right", prefix: 5 }),
  preset("Documents", { causal: "lower-right", cuts: [5, 9] }),
  preset("Padding", { padding: 3 }),
  preset("Blocks", { causal: "lower-right", block: 3 }),
  preset("A row that sees nothing", { painted: row(6, 12) }),
];
