// How the weights of a model may stay in memory, of those ways that heed has.

import type { Weights } from "heed/models";

export const FORMATS = ["as stored", "f32", "int8", "int4"] as const satisfies readonly Weights[];
export type Format = (typeof FORMATS)[number];
