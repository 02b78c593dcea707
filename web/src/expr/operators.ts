// The operators that expressions are built with: small pure functions that check types and make nodes.

import { showValue } from "../api/describe.js";
import { HeedError } from "../api/errors.js";
import { type HalfArray, isTypedArray, isUint16Array, numbersOf, typedArrayName } from "../api/typed-array.js";
import { type CompiledMods, compile } from "./compile.js";
import type { BinaryOp, Expr, ExprType, ModTrees, Op, TableData, UnaryOp } from "./tree.js";

/** An expression, or a constant: whole numbers up to 2^24 are whole, others are not. */
export type Operand = Expr | number | boolean;

/** A node knows how a call's expressions are compiled, so that those who make no expressions load nothing for them. */
class Node implements Expr {
  readonly type: ExprType;
  readonly op: Op;
  readonly args: readonly Expr[];
  readonly value?: number;
  readonly table?: TableData;

  constructor(type: ExprType, op: Op, args: readonly Expr[], more: { value?: number; table?: TableData } = {}) {
    this.type = type;
    this.op = op;
    this.args = args;
    if (more.value !== undefined) this.value = more.value;
    if (more.table !== undefined) this.table = more.table;
  }

  compile(where: string, trees: ModTrees): CompiledMods {
    return compile(where, trees);
  }
}

/** Largest whole number up to which all are exact in single precision. */
const MOST_WHOLE = 2 ** 24;

export function constant(value: number | boolean): Expr {
  if (typeof value === "boolean") return new Node("bool", "const", [], { value: Number(value) });
  if (typeof value !== "number" || Number.isNaN(value)) {
    throw new HeedError("option", `heed/expr: a constant must be a number or true or false, got ${showValue(value)}`);
  }
  const isWhole = Number.isInteger(value) && Math.abs(value) <= MOST_WHOLE;
  return new Node(isWhole ? "int" : "float", "const", [], { value });
}

function exprOf(name: string, operand: unknown): Expr {
  if (typeof operand === "number" || typeof operand === "boolean") return constant(operand);
  if (isExpr(operand)) return operand;
  throw new HeedError(
    "option",
    `heed/expr: ${name} takes expressions, numbers, true and false, got ${showValue(operand)}`,
  );
}

function isExpr(value: unknown): value is Expr {
  return typeof value === "object" && value !== null && "op" in value && "args" in value && "type" in value;
}

function numeric(name: string, operand: Operand): Expr {
  const expr = exprOf(name, operand);
  if (expr.type !== "bool") return expr;
  throw new HeedError("option", `heed/expr: ${name} takes numbers, got one that is true or false`);
}

function whole(name: string, operand: Operand): Expr {
  const expr = exprOf(name, operand);
  if (expr.type === "int") return expr;
  throw new HeedError("option", `heed/expr: ${name} takes whole numbers, got one of type ${expr.type}`);
}

function truth(name: string, operand: Operand): Expr {
  const expr = exprOf(name, operand);
  if (expr.type === "bool") return expr;
  throw new HeedError("option", `heed/expr: ${name} takes what is true or false, got one of type ${expr.type}`);
}

const common = (args: readonly Expr[]): ExprType => (args.every(({ type }) => type === "int") ? "int" : "float");

/** Arithmetic that keeps whole numbers whole, of all operands. */
function arithmetic(op: BinaryOp, first: Operand, rest: readonly Operand[]): Expr {
  return rest
    .map((operand) => numeric(op, operand))
    .reduce(
      (left, right) => {
        const args = [left, right];
        return new Node(common(args), op, args);
      },
      numeric(op, first),
    );
}

const unary = (op: UnaryOp, type: ExprType | null, x: Operand): Expr => {
  const arg = numeric(op, x);
  return new Node(type ?? arg.type, op, [arg]);
};

const compared = (op: BinaryOp, a: Expr, b: Expr): Expr => new Node("bool", op, [a, b]);

function logical(op: "and" | "or", first: Operand, rest: readonly Operand[]): Expr {
  return rest
    .map((operand) => truth(op, operand))
    .reduce((left, right) => new Node("bool", op, [left, right]), truth(op, first));
}

export const add = (a: Operand, ...more: readonly Operand[]): Expr => arithmetic("add", a, more);
export const sub = (a: Operand, b: Operand): Expr => arithmetic("sub", a, [b]);
export const mul = (a: Operand, ...more: readonly Operand[]): Expr => arithmetic("mul", a, more);
export const min = (a: Operand, ...more: readonly Operand[]): Expr => arithmetic("min", a, more);
export const max = (a: Operand, ...more: readonly Operand[]): Expr => arithmetic("max", a, more);
/** Of any numbers; the result is none that is whole. */
export const div = (a: Operand, b: Operand): Expr => new Node("float", "div", [numeric("div", a), numeric("div", b)]);
/** The largest whole number that is not above a / b, of whole numbers; 0 where b is 0. */
export const floorDiv = (a: Operand, b: Operand): Expr =>
  new Node("int", "floorDiv", [whole("floorDiv", a), whole("floorDiv", b)]);
/** a - b * floorDiv(a, b): between 0 and b. 0 where b is 0. */
export const mod = (a: Operand, b: Operand): Expr => new Node("int", "mod", [whole("mod", a), whole("mod", b)]);

export const neg = (x: Operand): Expr => unary("neg", null, x);
export const abs = (x: Operand): Expr => unary("abs", null, x);
export const floor = (x: Operand): Expr => unary("floor", "int", x);
export const sqrt = (x: Operand): Expr => unary("sqrt", "float", x);
export const exp = (x: Operand): Expr => unary("exp", "float", x);
export const log = (x: Operand): Expr => unary("log", "float", x);
export const tanh = (x: Operand): Expr => unary("tanh", "float", x);

export const less = (a: Operand, b: Operand): Expr => compared("less", numeric("less", a), numeric("less", b));
export const lessEqual = (a: Operand, b: Operand): Expr =>
  compared("lessEqual", numeric("lessEqual", a), numeric("lessEqual", b));
export const greater = (a: Operand, b: Operand): Expr => compared("less", numeric("greater", b), numeric("greater", a));
export const greaterEqual = (a: Operand, b: Operand): Expr =>
  compared("lessEqual", numeric("greaterEqual", b), numeric("greaterEqual", a));
/** Of two numbers, or of two that are true or false. */
export const equal = (a: Operand, b: Operand): Expr => compared("equal", ...alike("equal", a, b));
export const notEqual = (a: Operand, b: Operand): Expr => compared("notEqual", ...alike("notEqual", a, b));

export const and = (a: Operand, ...more: readonly Operand[]): Expr => logical("and", a, more);
export const or = (a: Operand, ...more: readonly Operand[]): Expr => logical("or", a, more);
export const not = (x: Operand): Expr => new Node("bool", "not", [truth("not", x)]);

/** `yes` where the condition is true, else `no`: two numbers, or two that are true or false. */
export function select(condition: Operand, yes: Operand, no: Operand): Expr {
  const [a, b] = alike("select", yes, no);
  return new Node(a.type === "bool" ? "bool" : common([a, b]), "select", [truth("select", condition), a, b]);
}

function alike(name: string, left: Operand, right: Operand): [Expr, Expr] {
  const [a, b] = [exprOf(name, left), exprOf(name, right)];
  if ((a.type === "bool") === (b.type === "bool")) return [a, b];
  throw new HeedError("option", `heed/expr: ${name} takes two of a kind, got types ${a.type} and ${b.type}`);
}

/** Numbers that expressions read by index. */
export interface Table {
  /** The number at these whole indices, one an axis; beyond an end, that at the end. */
  at(...indices: readonly Operand[]): Expr;
}

const MOST_AXES = 4;

/** What a table is made of: of booleans it is true or false, of an Int32Array or Uint8Array whole. The rest is in single precision. */
export type TableInput =
  | {
      readonly data: Float32Array | Float64Array | HalfArray | Int32Array | Uint8Array | readonly boolean[];
      readonly shape: readonly number[];
    }
  | { readonly data: Uint16Array; readonly shape: readonly number[]; readonly dtype: "f16" };

/** A table of one to four axes. Its numbers are copied here and now. */
export function table(tensor: TableInput): Table {
  const read = readTable(tensor);
  return {
    at: (...indices) => {
      if (indices.length !== read.shape.length) {
        throw new HeedError(
          "option",
          `heed/expr: a table of shape [${read.shape}] takes ${read.shape.length} indices, got ${indices.length}`,
        );
      }
      return new Node(
        read.type,
        "at",
        indices.map((index) => whole("at", index)),
        { table: read },
      );
    },
  };
}

const TYPES: Readonly<Record<string, ExprType>> = {
  Float32Array: "float",
  Float64Array: "float",
  Float16Array: "float",
  Int32Array: "int",
  Uint8Array: "int",
};

function typeOf(data: unknown, dtype: unknown): ExprType | undefined {
  if (Array.isArray(data)) return data.every((value) => typeof value === "boolean") ? "bool" : undefined;
  return isUint16Array(data) && dtype === "f16" ? "float" : TYPES[typedArrayName(data) ?? ""];
}

/** Of data that has a type: of a typed array itself, which may be large. */
function numbersIn(data: unknown): Float32Array | readonly number[] | null {
  if (Array.isArray(data)) return data.map(Number);
  if (isUint16Array(data)) return numbersOf({ data, dtype: "f16" });
  return isTypedArray(data) ? (data as unknown as Float32Array) : null;
}

function readTable(tensor: unknown): TableData {
  if (typeof tensor !== "object" || tensor === null || !("data" in tensor) || !("shape" in tensor)) {
    const hint = "; read() gives the data of a tensor that lives in an engine";
    throw new HeedError("dtype", `heed/expr: a table must be { data, shape }, got ${showValue(tensor)}${hint}`);
  }
  const { data: given, shape } = tensor;
  const type = typeOf(given, "dtype" in tensor && tensor.dtype);
  const numbers = numbersIn(given);
  if (type === undefined || numbers === null) {
    throw new HeedError(
      "dtype",
      `heed/expr: the data of a table must be a Float32Array, Float64Array, Int32Array or Uint8Array, halves or boolean[], got ${showValue(given)}`,
    );
  }
  const sizes: number[] = [];
  for (const size of Array.isArray(shape) ? shape : [])
    if (Number.isInteger(size) && size > 0 && size <= MOST_WHOLE) sizes.push(size);
  const isShape =
    Array.isArray(shape) && sizes.length === shape.length && sizes.length > 0 && sizes.length <= MOST_AXES;
  if (!isShape || sizes.reduce((total, size) => total * size, 1) !== numbers.length) {
    throw new HeedError(
      "shape",
      `heed/expr: a table must have one to ${MOST_AXES} axes, each of 1 or more, and as many numbers, got [${shape}] and ${numbers.length}`,
    );
  }
  if (type === "int" && numbers.some((value) => Math.abs(value) > MOST_WHOLE)) {
    throw new HeedError("option", "heed/expr: whole numbers of a table must be between -2^24 and 2^24");
  }
  return { data: Float32Array.from(numbers), shape: sizes, type };
}
