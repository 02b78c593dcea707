// All formats of stored numbers, by their names.

import { BF16 } from "./bf16.js";
import { F16 } from "./f16.js";
import { F32 } from "./f32.js";
import type { Format, NarrowFormat, WeightFormat } from "./format.js";
import { INT4 } from "./int4.js";
import { INT4_MIN } from "./int4-min.js";
import { INT8 } from "./int8.js";
import { Q4_K } from "./q4-k.js";

/** Those that the engine's products read as they are. */
export const NARROW = {
  f16: F16,
  bf16: BF16,
  int8: INT8,
  int4: INT4,
  "int4-min": INT4_MIN,
  "q4-k": Q4_K,
} as const satisfies {
  readonly [Name in Exclude<WeightFormat, "f32">]: NarrowFormat<Name>;
};

export const FORMATS: { readonly [Name in WeightFormat]: Format<Name> } = { f32: F32, ...NARROW };

export const formatNamed = (name: unknown): Format | undefined =>
  Object.values<Format>(FORMATS).find((format) => format.name === name);
