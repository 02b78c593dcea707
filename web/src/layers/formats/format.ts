// What a format of stored numbers is.

import type { Blocks } from "./blocks.js";

/** GGML's names: "int8" is Q8_0, "int4" Q4_0, "int4-min" Q4_1, "q4-k" Q4_K. */
export type WeightFormat = "f32" | "f16" | "bf16" | "int8" | "int4" | "int4-min" | "q4-k";

export interface Format<Name extends WeightFormat = WeightFormat> extends Blocks {
  readonly name: Name;
  /** As `data` of a stored tensor. */
  array(bytes: Uint8Array<ArrayBuffer>): Float32Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;
  /** Absent where heed does not round to it. */
  readonly rounding?: Rounding;
}

/** How f32 becomes a format. */
export interface Rounding {
  /** Numbers of this magnitude, or a larger one, do not fit. */
  readonly limit: number;
  /** Whether NaN and infinities fit. */
  readonly isOpen: boolean;
  quantize(floats: Float32Array): Uint8Array<ArrayBuffer>;
}

/** A format that the engine's products read as it is. */
export interface NarrowFormat<Name extends Exclude<WeightFormat, "f32"> = Exclude<WeightFormat, "f32">>
  extends Format<Name> {
  /** The bytes of the engine's memory for an input of sixteen outputs. */
  readonly panelBytes: number;
}
