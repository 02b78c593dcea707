// The operators that expressions are built with: small pure functions that check types and make nodes.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { type HalfArray, isUint16Array, listOf, MOST_LISTED, numbersOf, typedArrayName } from "../base/typed-array.js";
import { compile } from "./compile.js";
import { begin, born } from "./family.js";
import { reading as readingOf } from "./reading.js";
import { checkCount, type Fail, MOST_WHOLE, RULES, ruleOfTable, sizesOf, typeOf, typeOfConstant } from "./rules.js";
import { COMPILER, type Expr, type ExprType, type Learnt, type LearntTable, type TableData } from "./tree.js";

// Engines find the compiler here. Bundlers keep this statement with the operators, but would drop it from an index of re-exports.
Reflect.defineProperty(globalThis, COMPILER, { value: { begin, compile } });

/** An expression or a constant. Whole numbers up to 2^24 are of type int. */
export type Operand = Expr | number | boolean;

const fail: Fail = (rule) => {
  throw new HeedError("option", `heed/expr: ${rule}`);
};

/** A number or a boolean as an expression. */
export function constant(value: number | boolean): Expr {
  return born({ type: typeOfConstant(value, fail), op: "const", args: [], value: Number(value) });
}

function exprOf(name: string, operand: unknown): Expr {
  if (typeof operand === "number" || typeof operand === "boolean") return constant(operand);
  if (isExpr(operand)) return operand;
  return fail(`${name} takes expressions, numbers, true and false, got ${showValue(operand)}`);
}

function isExpr(value: unknown): value is Expr {
  return typeof value === "object" && value !== null && "op" in value && "args" in value && "type" in value;
}

/** Reads values of the caller, whose getters may throw. */
const reading = <T>(name: string, act: () => T): T => readingOf(`heed/expr: ${name}`, act);

const typesOf = (args: readonly Expr[]): readonly ExprType[] => args.map(({ type }) => type);

function node(op: keyof typeof RULES, operands: readonly Operand[], name: string = op): Expr {
  return reading(name, () => {
    const args = operands.map((operand) => exprOf(name, operand));
    return born({ type: typeOf(name, RULES[op], typesOf(args), fail), op, args });
  });
}

/** Applies an operator to any number of operands, from the left. One operand is the result itself. */
function chain(op: "add" | "mul" | "min" | "max" | "and" | "or", first: Operand, rest: readonly Operand[]): Expr {
  return reading(op, () => {
    const start = exprOf(op, first);
    typeOf(op, RULES[op], [start.type, start.type], fail);
    return rest.reduce<Expr>((left, right) => node(op, [left, right]), start);
  });
}

/** The sum of its arguments. */
export const add = (a: Operand, ...more: readonly Operand[]): Expr => chain("add", a, more);
/** a - b. */
export const sub = (a: Operand, b: Operand): Expr => node("sub", [a, b]);
/** The product of its arguments. */
export const mul = (a: Operand, ...more: readonly Operand[]): Expr => chain("mul", a, more);
/** The smallest of its arguments. */
export const min = (a: Operand, ...more: readonly Operand[]): Expr => chain("min", a, more);
/** The largest of its arguments. */
export const max = (a: Operand, ...more: readonly Operand[]): Expr => chain("max", a, more);
/** a / b of any numbers. The result is of type float. */
export const div = (a: Operand, b: Operand): Expr => node("div", [a, b]);
/** The largest whole number that is not above a / b, for whole numbers; 0 where b is 0. */
export const floorDiv = (a: Operand, b: Operand): Expr => node("floorDiv", [a, b]);
/** a - b * floorDiv(a, b), between 0 and b; 0 where b is 0. */
export const mod = (a: Operand, b: Operand): Expr => node("mod", [a, b]);

/** -x. */
export const neg = (x: Operand): Expr => node("neg", [x]);
/** x without its sign. */
export const abs = (x: Operand): Expr => node("abs", [x]);
/** The largest whole number that is not above x. */
export const floor = (x: Operand): Expr => node("floor", [x]);
/** The square root of x. */
export const sqrt = (x: Operand): Expr => node("sqrt", [x]);
/** e to the power of x. */
export const exp = (x: Operand): Expr => node("exp", [x]);
/** The natural logarithm of x. */
export const log = (x: Operand): Expr => node("log", [x]);
/** The hyperbolic tangent of x. */
export const tanh = (x: Operand): Expr => node("tanh", [x]);

/** Whether a < b. */
export const less = (a: Operand, b: Operand): Expr => node("less", [a, b]);
/** Whether a <= b. */
export const lessEqual = (a: Operand, b: Operand): Expr => node("lessEqual", [a, b]);
/** Whether a > b. */
export const greater = (a: Operand, b: Operand): Expr => node("less", [b, a], "greater");
/** Whether a >= b. */
export const greaterEqual = (a: Operand, b: Operand): Expr => node("lessEqual", [b, a], "greaterEqual");
/** Compares two numbers, or two booleans. */
export const equal = (a: Operand, b: Operand): Expr => node("equal", [a, b]);
/** Whether two numbers, or two booleans, differ. */
export const notEqual = (a: Operand, b: Operand): Expr => node("notEqual", [a, b]);

/** Whether all of its arguments are true. */
export const and = (a: Operand, ...more: readonly Operand[]): Expr => chain("and", a, more);
/** Whether one of its arguments is true. */
export const or = (a: Operand, ...more: readonly Operand[]): Expr => chain("or", a, more);
/** Whether x is false. */
export const not = (x: Operand): Expr => node("not", [x]);

/** `yes` where the condition is true, else `no`: two numbers, or two booleans. */
export const select = (condition: Operand, yes: Operand, no: Operand): Expr => node("select", [condition, yes, no]);

/** Numbers that expressions read by index. */
export interface Table {
  /** The number at these whole indices, one for each axis. An index beyond an end reads the number at that end. */
  at(...indices: readonly Operand[]): Expr;
}

/** The numbers of a table. Booleans make a table of type bool, Int32Array and Uint8Array one of int, all others one of float, in f32. */
export type TableInput =
  | {
      readonly data: Float32Array | Float64Array | HalfArray | Int32Array | Uint8Array | readonly boolean[];
      readonly shape: readonly number[];
    }
  | { readonly data: Uint16Array; readonly shape: readonly number[]; readonly dtype: "f16" };

/** A parameter of a layer of one's own, or a tensor. */
export type LearntInput = Learnt & ({ readonly isFrozen: boolean } | { read(): Promise<Float32Array> });

/**
 * Makes a table of one to four axes, and copies its numbers. Those of a parameter or a tensor are read when `pass.attention` of heed/train runs,
 * and learn by it; other calls refuse such a table.
 */
export function table(tensor: TableInput | LearntInput): Table {
  // One of what learns lacks its numbers, and a call that does not read them refuses it.
  const read = reading("table", () => readTable(tensor)) as TableData;
  return {
    at: (...indices) =>
      reading("at", () => {
        const args = indices.map((index) => exprOf("at", index));
        const rule = ruleOfTable(read);
        checkCount("at", rule, args.length, fail);
        return born({ type: typeOf("at", rule, typesOf(args), fail), op: "at", args, table: read });
      }),
  };
}

const TYPES: ReadonlyMap<unknown, ExprType> = new Map([
  ["Float32Array", "float"],
  ["Float64Array", "float"],
  ["Float16Array", "float"],
  ["Int32Array", "int"],
  ["Uint8Array", "int"],
]);

/** Copies data without calling its methods, so that the copy is what was checked. Null where data cannot make a table. */
function copyOf(data: unknown, dtype: unknown): { readonly type: ExprType; readonly numbers: Float64Array } | null {
  const truths = listOf<boolean>(data, MOST_LISTED, (value) => typeof value === "boolean");
  if (truths !== null) return { type: "bool", numbers: Float64Array.from(truths, Number) };
  const f16 = isUint16Array(data) && dtype === "f16" ? numbersOf({ data, dtype }) : null;
  if (f16 !== null) return { type: "float", numbers: Float64Array.from(f16) };
  const type = TYPES.get(typedArrayName(data));
  return type === undefined ? null : { type, numbers: new Float64Array(data as Float32Array) };
}

function readTable(tensor: unknown): TableData | LearntTable {
  const refuse: Fail = (rule) => {
    throw new HeedError("shape", `heed/expr: ${rule}`);
  };
  if (
    typeof tensor === "object" &&
    tensor !== null &&
    "shape" in tensor &&
    ("isFrozen" in tensor || "read" in tensor)
  ) {
    const { shape } = tensor;
    return { of: tensor as Learnt, shape: sizesOf(shape, null, refuse), type: "float" };
  }
  if (typeof tensor !== "object" || tensor === null || !("data" in tensor) || !("shape" in tensor)) {
    const rule = "a table must be { data, shape }, a parameter or a tensor";
    throw new HeedError("dtype", `heed/expr: ${rule}, got ${showValue(tensor)}`);
  }
  const { data: given, shape } = tensor;
  const copy = copyOf(given, "dtype" in tensor && tensor.dtype);
  if (copy === null) {
    throw new HeedError(
      "dtype",
      `heed/expr: the data of a table must be a Float32Array, Float64Array, Int32Array or Uint8Array, f16 numbers or boolean[], got ${showValue(given)}`,
    );
  }
  const { type, numbers } = copy;
  const sizes = sizesOf(shape, numbers.length, refuse);
  if (type === "int" && numbers.some((value) => Math.abs(value) > MOST_WHOLE)) {
    throw new HeedError("option", "heed/expr: whole numbers of a table must be between -2^24 and 2^24");
  }
  return { data: new Float32Array(numbers), shape: sizes, type };
}
