// Rotary embedding: a thread a number, which with the other one of its pair makes its own part of the turned pair.

import type { RopeKernel } from "../kernel.js";
import { type Bound, bindings, GROUP_INDEX, operandType, WORKGROUP } from "./common.js";

/** Strides count numbers. */
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
  /** From one batch entry's places to the next; 0: all have the same. */
  "positions_b",
  "elements",
  "groups_x",
] as const;

export function ropeBindings({ dtype }: RopeKernel): readonly Bound[] {
  return [
    { name: "x_data", type: operandType({ dtype, vec4: false }), access: "read" },
    { name: "cosines", type: "f32", access: "read" },
    { name: "sines", type: "f32", access: "read" },
    { name: "positions", type: "u32", access: "read" },
    { name: "rotated", type: "f32", access: "read_write" },
  ];
}

export function ropeShader(kernel: RopeKernel): string {
  const { dtype, interleaved, inverse } = kernel;
  const one = dtype === "f32" ? "x_data[at]" : "unpack2x16float(x_data[at >> 1u])[at & 1u]";
  const pair = interleaved ? "d / 2u" : "d % pairs";
  const isSecond = interleaved ? "(d & 1u) == 1u" : "d >= pairs";
  const other = interleaved ? "(d ^ 1u)" : "select(d + pairs, d - pairs, is_second)";
  return `${bindings(ropeBindings(kernel), ROPE_FIELDS)}
fn one_of_x(at: u32) -> f32 { return ${one}; }
${GROUP_INDEX}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let index = group_index(group) * ${WORKGROUP}u + thread;
  if (index >= P.elements) { return; }
  let d = index % P.dim;
  let l = (index / P.dim) % P.length;
  let h = (index / P.dim / P.length) % P.heads;
  let b = index / P.dim / P.length / P.heads;
  let input_at = b * P.input_b + h * P.input_h + l * P.input_l;
  let own = one_of_x(input_at + d);
  var result = own;
  if (d < P.rotary_dim) {
    let pairs = P.rotary_dim / 2u;
    let is_second = ${isSecond};
    let other = one_of_x(input_at + ${other});
    let angle_at = positions[b * P.positions_b + l] * pairs + ${pair};
    let sine = sines[angle_at];
    result = own * cosines[angle_at] + select(${inverse ? "other, -other" : "-other, other"}, is_second) * sine;
  }
  rotated[b * P.output_b + h * P.output_h + l * P.output_l + d] = result;
}`;
}
