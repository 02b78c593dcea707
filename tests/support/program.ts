// Programs of expressions, one number at a time in double precision, with the rules by which kernels take them.

import {
  HEADER_WORDS,
  INSTRUCTION_WORDS,
  OPCODES,
  PROGRAMS,
  REGISTERS_OF_KIND,
  TABLE_WORDS,
} from "../../web/src/backends/wasm/generated/expression-program.js";

/** What `taken` is: the score or the weight. */
export interface ProgramInputs {
  readonly taken: number;
  readonly b: number;
  readonly h: number;
  readonly q: number;
  readonly k: number;
}

export interface ProgramWords {
  readonly words: Int32Array;
  readonly tables: Float32Array;
}

type Opcode = (typeof OPCODES)[number];

const [ROWS, KEYS, TILES] = [0, 1, 2] as const;

const COMPUTED: Readonly<Partial<Record<Opcode, (a: number, b: number, c: number) => number>>> = {
  select: (a, b, c) => (a === 0 ? c : b),
  multiplyAdd: (a, b, c) => a * b + c,
  abs: (a) => Math.abs(a),
  floor: (a) => Math.floor(a),
  sqrt: (a) => Math.sqrt(a),
  exp: (a) => Math.exp(a),
  log: (a) => Math.log(a),
  tanh: (a) => Math.tanh(a),
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
  less: (a, b) => Number(a < b),
  lessEqual: (a, b) => Number(a <= b),
  equal: (a, b) => Number(a === b),
};

/** How many instructions the program at `start` has. */
export function lengthOf({ words }: ProgramWords, start: number): number {
  return words.subarray(start, start + 3).reduce((total, count) => total + count, 0);
}

/** Runs the program that starts there. Throws where it breaks a rule of the kernels. */
export function runProgram(of: ProgramWords, start: number, inputs: ProgramInputs): number {
  const header = of.words.subarray(start, start + HEADER_WORDS);
  const registers = new Map<number, number>([[TILES * REGISTERS_OF_KIND, inputs.taken]]);
  let at = start + HEADER_WORDS;
  for (const kind of [ROWS, KEYS, TILES]) {
    for (let n = 0; n < (header[kind] ?? 0); n++, at += INSTRUCTION_WORDS) {
      const [opcode = -1, result = -1, ...rest] = of.words.subarray(at, at + INSTRUCTION_WORDS);
      const isOwn = kindOf(result) === kind && result % REGISTERS_OF_KIND < (header[3 + kind] ?? 0);
      if (!isOwn) throw new Error(`register ${result} cannot be written here`);
      const operand = (n: number, from: number = kind): number => read(registers, rest[n] ?? -1, from);
      registers.set(result, computeInstruction(of, OPCODES[opcode], operand, rest[4] ?? -1, inputs));
    }
  }
  return read(registers, header[6] ?? -1, TILES);
}

const kindOf = (register: number): number => Math.floor(register / REGISTERS_OF_KIND);

/** A register of the kind or of rows. */
function read(registers: ReadonlyMap<number, number>, name: number, kind: number): number {
  const value = registers.get(name);
  if (value === undefined || (kindOf(name) !== kind && kindOf(name) !== ROWS)) {
    throw new Error(`register ${name} cannot be read here`);
  }
  return value;
}

function computeInstruction(
  of: ProgramWords,
  op: Opcode | undefined,
  operand: (n: number, from?: number) => number,
  immediate: number,
  inputs: ProgramInputs,
): number {
  if (op === "const") return new Float32Array(Int32Array.of(immediate).buffer)[0] ?? Number.NaN;
  if (op === "b" || op === "h" || op === "q" || op === "k") return inputs[op];
  if (op === "broadcast") return operand(0, KEYS);
  if (op === "at") return of.tables[numberIn(of, immediate, operand)] ?? Number.NaN;
  const compute = op && COMPUTED[op];
  if (compute === undefined) throw new Error(`there is no opcode ${op}`);
  const [a = 0, b = 0, c = 0] = Array.from({ length: compute.length }, (_, n) => operand(n));
  return compute(a, b, c);
}

/** Which of the numbers of all tables a read finds, given its indices. */
export function numberIn({ words }: ProgramWords, table: number, index: (axis: number) => number): number {
  const at = PROGRAMS + 1 + table * TABLE_WORDS;
  const [offset = 0, axes = 0, ...sizes] = words.subarray(at, at + TABLE_WORDS);
  return (
    offset +
    sizes.slice(0, axes).reduce((found, size, axis) => {
      const given = index(axis);
      return found * size + (given > 0 ? Math.min(given, size - 1) : 0);
    }, 0)
  );
}
