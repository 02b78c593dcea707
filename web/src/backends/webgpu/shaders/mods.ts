// Compiles programs of expressions to WGSL, an instruction a line. Instructions that depend on the row or the key alone are repeated for every
// score; compilers move them out of loops.

import {
  HEADER_WORDS,
  IN_OUT,
  INSTRUCTION_WORDS,
  OPCODES,
  type Opcode,
  PROGRAMS,
  TABLE_WORDS,
} from "../../../expr/layout.js";

/** Shaders know no infinity; score_mod's results beyond BIAS_LIMIT count as one. */
const LARGEST = "3.4028234e38f";

const OPERATORS: Readonly<Partial<Record<Opcode, (a: string, b: string, c: string) => string>>> = {
  b: () => "row.indices.x",
  h: () => "row.indices.y",
  q: () => "row.indices.z",
  k: () => "k",
  broadcast: (a) => a,
  select: (a, b, c) => `select(${c}, ${b}, ${a} != 0.0)`,
  multiplyAdd: (a, b, c) => `${a} * ${b} + ${c}`,
  abs: (a) => `abs(${a})`,
  floor: (a) => `floor(${a})`,
  sqrt: (a) => `sqrt(${a})`,
  exp: (a) => `exp(${a})`,
  log: (a) => `log(${a})`,
  tanh: (a) => `tanh_f32(${a})`,
  add: (a, b) => `${a} + ${b}`,
  sub: (a, b) => `${a} - ${b}`,
  mul: (a, b) => `${a} * ${b}`,
  div: (a, b) => `${a} / ${b}`,
  min: (a, b) => `min(${a}, ${b})`,
  max: (a, b) => `max(${a}, ${b})`,
  less: (a, b) => `select(0.0, 1.0, ${a} < ${b})`,
  lessEqual: (a, b) => `select(0.0, 1.0, ${a} <= ${b})`,
  equal: (a, b) => `select(0.0, 1.0, ${a} == ${b})`,
};

/** The body of a function of `score`, `row` and `k`; null: there is no such program. */
export function modBody(words: Int32Array, program: number): string | null {
  const start = words[program] ?? 0;
  if (start === 0) return null;
  const word = (at: number): number => words[at] ?? 0;
  const values = new Map<number, string>([[IN_OUT, "score"]]);
  const quotients = new Map<string, string>();
  const lines: string[] = [];
  const count = word(start) + word(start + 1) + word(start + 2);
  for (let n = 0; n < count; n++) {
    const at = start + HEADER_WORDS + n * INSTRUCTION_WORDS;
    const opcode = OPCODES[word(at)];
    const operands = [2, 3, 4, 5].map((of) => values.get(word(at + of)) ?? "0.0");
    const [a = "", b = "", c = ""] = operands;
    const name = `x${n}`;
    values.set(word(at + 1), name);
    if (opcode === "div") quotients.set(name, `floor_div(${a}, ${b})`);
    const plain = opcode && OPERATORS[opcode]?.(a, b, c);
    const made =
      (opcode === "const" && literal(word(at + 6))) ||
      (opcode === "at" && entry(words, word(at + 6), operands)) ||
      (opcode === "floor" && quotients.get(a)) ||
      plain;
    if (!made) throw new TypeError(`an instruction of opcode ${word(at)} reached the GPU`);
    lines.push(`let ${name} = ${made};`);
  }
  return `${lines.join("\n  ")}\n  return ${values.get(word(start + 6)) ?? "score"};`;
}

function literal(bits: number): string {
  const value = new Float32Array(Int32Array.of(bits).buffer)[0] ?? 0;
  if (Number.isFinite(value)) return `f32(${value})`;
  return value < 0 ? `-${LARGEST}` : LARGEST;
}

/** Reads a table. Indices are clamped to it, and NaN counts as 0, whatever a device makes of NaN. */
function entry(words: Int32Array, table: number, indices: readonly string[]): string {
  const at = PROGRAMS + 1 + table * TABLE_WORDS;
  const [offset = 0, axes = 0, ...sizes] = words.subarray(at, at + TABLE_WORDS);
  const index = indices.slice(0, axes).reduce((before, one, axis) => {
    const size = sizes[axis] ?? 1;
    const last = size - 1;
    return `(${before}) * ${size}u + min(u32(min(select(0.0, ${one}, ${one} > 0.0), ${last}.0)), ${last}u)`;
  }, "0u");
  return `float_at(P.mods_at + ${offset}u + ${index})`;
}
