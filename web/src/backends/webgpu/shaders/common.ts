// What every kernel begins with: numbers of the call, buffers, how operands are read, functions that WGSL defines too loosely.

import type { Load } from "../kernel.js";
import { PARAMS_STRUCT } from "../params.js";

export const WORKGROUP = 64;

/** In the order of their bindings, from 1 on; 0 is the uniform. */
export interface Bound {
  readonly name: string;
  readonly type: string;
  readonly access: "read" | "read_write";
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

export function operandType({ dtype, vec4 }: Load): string {
  if (dtype === "f16") return vec4 ? "vec2u" : "u32";
  const type = dtype === "f32" ? "f32" : "f16";
  return vec4 ? `vec4<${type}>` : type;
}

/** What a shader has to ask for before anything else. */
export function enabled(code: string, bound: readonly Bound[]): string {
  const half = bound.some(({ type }) => type.includes("f16")) ? "enable f16;\n" : "";
  return code.includes("subgroup_invocation_id") ? `enable subgroups;\n${half}` : half;
}

/** `load_x(row, d, dim)`: numbers d to d + 3 of the row that starts at `row`; zeros beyond dim. */
export function loader(name: string, { dtype, vec4 }: Load): string {
  const data = `${name}_data`;
  const head = `fn load_${name}(row: u32, d: u32, dim: u32) -> vec4f {`;
  if (vec4 && dtype === "f16") {
    return `${head} let bits = ${data}[(row + d) >> 2u]; return vec4f(unpack2x16float(bits.x), unpack2x16float(bits.y)); }`;
  }
  if (vec4) return `${head} return vec4f(${data}[(row + d) >> 2u]); }`;
  const one =
    dtype !== "f16"
      ? `f32(${data}[row + d])`
      : `select(unpack2x16float(${data}[(row + d) >> 1u]).x, unpack2x16float(${data}[(row + d) >> 1u]).y, ((row + d) & 1u) == 1u)`;
  // Beyond the buffer reads are clamped by WebGPU, and what was read is not taken.
  return `fn one_of_${name}(row: u32, d: u32, dim: u32) -> f32 { return select(0.0, ${one}, d < dim); }
${head} return vec4f(one_of_${name}(row, d, dim), one_of_${name}(row, d + 1u, dim), one_of_${name}(row, d + 2u, dim), one_of_${name}(row, d + 3u, dim)); }`;
}

/** Indices of a workgroup among all, whatever the grid's width. */
export const GROUP_INDEX = `fn group_index(group: vec3u) -> u32 { return group.x + group.y * P.groups_x; }`;

/**
 * Scores that stand for none. Shaders may assume that there are neither NaN nor infinities, so nothing here is decided by
 * comparing with one: what a key is worth is a number and a flag.
 */
export const NUMBERS = `const NONE = -3.0e38;
const BIAS_LIMIT = 2.3e38;
const SMALLEST_WEIGHT = 0x1p-80f;
const MINUS_INFINITY = 0xff800000u;
fn number(value: f32) -> u32 { return bitcast<u32>(value); }`;

/** WGSL grants its own tanh an absolute error of 1e-5. Cephes' polynomial below 0.625, the exponential beyond. */
export const TANH = ["f32", "vec4f"]
  .map(
    (type) => `fn tanh_${type}(x: ${type}) -> ${type} {
  let a = abs(x);
  let z = x * x;
  let low = x + x * z * ((((-5.70498872745e-3 * z + 2.06390887954e-2) * z - 5.37397155531e-2) * z + 1.33314422036e-1) * z - 3.33332819422e-1);
  let bounded = select(a, ${type}(15.0), a > ${type}(15.0));
  let high = 1.0 - 2.0 / (exp(2.0 * bounded) + 1.0);
  return select(select(high, -high, x < ${type}(0.0)), low, a < ${type}(0.625));
}`,
  )
  .join("\n");

export const SIGMOID = `fn sigmoid(x: f32) -> f32 { return 1.0 / (1.0 + exp(select(-x, 88.0, x < -88.0))); }`;

/** docs/semantics.md, dropout. */
export const DROPOUT = `fn mix_bits(given: u32) -> u32 {
  var x = given;
  x = (x ^ (x >> 16u)) * 0x7feb352du;
  x = (x ^ (x >> 15u)) * 0x846ca68bu;
  return x ^ (x >> 16u);
}
fn is_dropped(row: Row, j: u32) -> bool { return mix_bits(row.drop ^ (j * 0x9e3779b9u)) <= P.drop_last; }`;

/** In a loop: written out, what holds registers in a large kernel takes some compilers seconds. */
export function each(index: string, count: number | string, text: string): string {
  const end = typeof count === "number" ? `${count}u` : count;
  return `for (var ${index} = 0u; ${index} < ${end}; ${index}++) { ${text} }`;
}

/** The same for each number below `count`, written out. */
export function times(count: number, text: (n: number) => string, between = "\n"): string {
  return Array.from({ length: count }, (_, n) => text(n)).join(between);
}

export function when(condition: boolean, text: string): string {
  return condition ? text : "";
}
