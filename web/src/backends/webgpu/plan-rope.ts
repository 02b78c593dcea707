// The plan of rope: one step. Cosines and sines come from tables, because WGSL guarantees too little of its own. Pure.

import type { RopeProblem } from "../../operations/rope.js";
import type { Given } from "./gpu-call.js";
import { gridOf, type Machine, operandBytes, type Plan, type Role, tooLarge } from "./plan.js";
import type { RopeAngles } from "./rope-angles.js";
import { WORKGROUP } from "./shaders/common.js";
import { ROPE_FIELDS } from "./shaders/rope.js";

/** The operands of a call on a device: tables of cosines and sines beside the input. */
export interface RopeGiven extends Given {
  readonly input: RopeProblem["input"];
}

export function givenOf({ input, tables, keep }: RopeProblem): RopeGiven {
  return { input, cosines: tables?.cosines ?? null, sines: tables?.sines ?? null, into: null, keep };
}

/** A problem without tables of its own needs `angles`. */
export function planRope(problem: RopeProblem, angles: RopeAngles | null, { limits }: Machine): Plan {
  const { input, output, tables, rotaryDim, interleaved, inverse } = problem;
  const [, heads, length, dim] = input.shape;
  const positions = positionRows(problem);
  const grid = gridOf(Math.ceil(input.elements / WORKGROUP), limits);
  const fields: Record<(typeof ROPE_FIELDS)[number], number> = {
    heads,
    length,
    dim,
    rotary_dim: rotaryDim,
    input_b: input.strides[0],
    input_h: input.strides[1],
    input_l: input.strides[2],
    output_b: output.strides[0],
    output_h: output.strides[1],
    output_l: output.strides[2],
    positions_b: positions.length > length ? length : 0,
    elements: input.elements,
    groups_x: grid[0],
  };
  const uniform = new Uint32Array(Math.ceil(ROPE_FIELDS.length / 4) * 4);
  uniform.set(ROPE_FIELDS.map((name) => fields[name]));
  const buffers = ["input", "cosines", "sines", "positions", "results"] as const;
  const dtype = input.dtype === "f16" ? "f16" : "f32";
  const steps = [{ kernel: { kind: "rope", dtype, interleaved, inverse } as const, buffers, uniform, grid }];
  const bytes = new Map<Role, number>([
    ["input", operandBytes(input)],
    ["cosines", angles?.cosines.byteLength ?? operandBytes(tables?.cosines ?? null)],
    ["sines", angles?.sines.byteLength ?? operandBytes(tables?.sines ?? null)],
    ["positions", positions.byteLength],
    ["results", output.elements * 4],
  ]);
  const uploads = new Map<Role, Uint32Array<ArrayBuffer> | Float32Array<ArrayBuffer>>([["positions", positions]]);
  if (angles !== null) uploads.set("cosines", angles.cosines).set("sines", angles.sines);
  return {
    steps,
    bytes,
    uploads,
    results: [{ at: 0, elements: output.elements }],
    summary: "computed by a thread for each number of its result",
    tooLarge: tooLarge(bytes, steps, limits),
  };
}

/** The row of the tables for each position, or for each batch entry and position where those differ. */
function positionRows({ input, tables, positions, positionsByBatch }: RopeProblem): Uint32Array<ArrayBuffer> {
  const [batch, , length] = input.shape;
  const [entries, , rows] = tables?.cosines.shape ?? [1, 1, 0];
  const count = positionsByBatch || entries > 1 ? batch * length : length;
  return Uint32Array.from({ length: count }, (_, at) => {
    // Computed tables have one row a position.
    if (tables === null) return at;
    const row = positions?.[positionsByBatch ? at : at % length] ?? at % length;
    return entries > 1 ? Math.floor(at / length) * rows + row : row;
  });
}
