// What every shader begins with: the numbers of the call, its buffers, and how operands are read.

import type { Load } from "../kernel.js";
import { PARAMS_STRUCT } from "../params.js";
import { type Constants, renamed } from "./compose.js";
import loadElements from "./load.wgsl?raw";
import loadVectors from "./load-vectors.wgsl?raw";

export const WORKGROUP = 64;

/** Buffers in the order of their bindings, from 1 on; 0 is the uniform. */
export interface Bound {
  readonly name: string;
  readonly type: string;
  readonly access: "read" | "read_write";
}

/** WGSL files and the values of their overrides. */
export interface Parts {
  readonly files: readonly string[];
  readonly constants: Constants;
}

/** `own`: names of the whole numbers of a kernel that does not read those of the call. */
export function bindings(bound: readonly Bound[], own: readonly string[] | null = null): string {
  const lines = bound.map(
    ({ name, type, access }, index) =>
      `@group(0) @binding(${index + 1}) var<storage, ${access}> ${name}: array<${type}>;`,
  );
  const struct =
    own === null ? PARAMS_STRUCT : `struct Params {\n${own.map((name) => `  ${name}: u32,`).join("\n")}\n}`;
  return [struct, "@group(0) @binding(0) var<uniform> P: Params;", ...lines].join("\n");
}

/** The buffer of the operand that loader() reads. */
export function operand(name: string, { dtype, vec4 }: Load): Bound {
  const [element, vector] = { f16: ["u32", "vec2u"], f32: ["f32", "vec4f"], "native-f16": ["f16", "vec4<f16>"] }[dtype];
  return { name: `${name}_data`, type: (vec4 ? vector : element) ?? "", access: "read" };
}

/** `load_q(row, d, dim)`, for an operand named q. */
export function loader(name: string, { dtype, vec4 }: Load): Parts {
  return {
    files: [renamed(vec4 ? loadVectors : loadElements, name)],
    constants: { [`PACKED_${name.toUpperCase()}`]: dtype === "f16" },
  };
}

/** What a shader has to ask for before anything else. */
export function enabled(code: string, bound: readonly Bound[]): string {
  const half = bound.some(({ type }) => type.includes("f16")) ? "enable f16;\n" : "";
  return code.includes("subgroup_invocation_id") ? `enable subgroups;\n${half}` : half;
}
