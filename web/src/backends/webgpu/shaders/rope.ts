// The shader of rotary embedding.

import type { RopeKernel } from "../kernel.js";
import { type Bound, bindings, loader, operand, WORKGROUP } from "./common.js";
import { compose } from "./compose.js";
import grid from "./grid.wgsl?raw";
import rope from "./rope.wgsl?raw";

/** Strides count elements. */
export const ROPE_FIELDS = [
  "heads",
  "length",
  "dim",
  "rotary_dim",
  "input_b",
  "input_h",
  "input_l",
  "output_b",
  "output_h",
  "output_l",
  /** From one batch entry's positions to the next; 0: all have the same. */
  "positions_b",
  "elements",
  "groups_x",
] as const;

export function ropeBindings({ dtype }: RopeKernel): readonly Bound[] {
  return [
    operand("x", { dtype, vec4: false }),
    { name: "cosines", type: "f32", access: "read" },
    { name: "sines", type: "f32", access: "read" },
    { name: "positions", type: "u32", access: "read" },
    { name: "rotated", type: "f32", access: "read_write" },
  ];
}

export function ropeShader(kernel: RopeKernel): string {
  const { dtype, interleaved, inverse } = kernel;
  const x = loader("x", { dtype, vec4: false });
  return compose([bindings(ropeBindings(kernel), ROPE_FIELDS), grid, ...x.files, rope], {
    ...x.constants,
    WORKGROUP,
    INTERLEAVED: interleaved,
    INVERSE: inverse,
  });
}
