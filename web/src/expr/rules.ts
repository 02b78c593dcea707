// The types that operators take and return. operators.ts makes nodes by these rules, and compile.ts checks every node of a call again, because
// a node may come from anywhere.

import { showValue } from "../base/describe.js";
import type { ExprType, Op, TableData } from "./tree.js";

type Takes = "number" | "whole" | "truth" | "any";

export interface Rule {
  /** One for each operand. */
  readonly takes: readonly Takes[];
  /** Null: the common type of the operands, not counting a condition. */
  readonly gives: ExprType | null;
}

/** Throws an error that says this. */
export type Fail = (rule: string) => never;

const TAKES: Readonly<Record<Takes, readonly [words: string, ...types: unknown[]]>> = {
  number: ["numbers", "float", "int"],
  whole: ["whole numbers", "int"],
  truth: ["what is true or false", "bool"],
  any: ["expressions", "float", "int", "bool"],
};

const rule = (gives: ExprType | null, ...takes: readonly Takes[]): Rule => ({ gives, takes });

const index = rule("int");
const ofNumber = rule(null, "number");
const ofNumbers = rule(null, "number", "number");
const real = rule("float", "number");
const whole = rule("int", "whole", "whole");
const order = rule("bool", "number", "number");
const likeness = rule("bool", "any", "any");
const logic = rule("bool", "truth", "truth");

export const RULES: Readonly<Record<Exclude<Op, "const" | "at">, Rule>> = {
  score: rule("float"),
  prob: rule("float"),
  b: index,
  h: index,
  q: index,
  k: index,
  neg: ofNumber,
  abs: ofNumber,
  floor: rule("int", "number"),
  sqrt: real,
  exp: real,
  log: real,
  tanh: real,
  not: rule("bool", "truth"),
  add: ofNumbers,
  sub: ofNumbers,
  mul: ofNumbers,
  min: ofNumbers,
  max: ofNumbers,
  div: rule("float", "number", "number"),
  floorDiv: whole,
  mod: whole,
  less: order,
  lessEqual: order,
  equal: likeness,
  notEqual: likeness,
  and: logic,
  or: logic,
  select: rule(null, "truth", "any", "any"),
};

/** Undefined: there is no such operator. */
export function ruleOf(op: unknown): Rule | undefined {
  return typeof op === "string" && Object.hasOwn(RULES, op) ? RULES[op as keyof typeof RULES] : undefined;
}

/** The rule of `at`: one index for each axis of the table. */
export function ruleOfTable({ type, shape }: Pick<TableData, "type" | "shape">): Rule {
  return { gives: type, takes: shape.map(() => "whole") };
}

export function checkCount(name: string, { takes }: Rule, operands: number, fail: Fail): void {
  if (operands !== takes.length) fail(`${name} takes ${takes.length} operands, got ${operands}`);
}

/** The type of an operator's result, given those of its operands. */
export function typeOf(name: string, { takes, gives }: Rule, operands: readonly ExprType[], fail: Fail): ExprType {
  const alike: ExprType[] = [];
  for (const [n, taken] of takes.entries()) {
    const type = operands[n];
    const [words, ...types] = TAKES[taken];
    if (!types.includes(type)) fail(`${name} takes ${words}, got one of type ${showValue(type)}`);
    if (type !== undefined && taken !== "truth") alike.push(type);
  }
  const truths = alike.filter((type) => type === "bool").length;
  if (truths > 0 && truths < alike.length) fail(`${name} takes two of a kind, got types ${alike.join(" and ")}`);
  return gives ?? (["bool", "int"] as const).find((type) => alike.every((one) => one === type)) ?? "float";
}

/** Whole numbers up to here are exact in f32. */
export const MOST_WHOLE = 2 ** 24;

export function typeOfConstant(value: unknown, fail: Fail): ExprType {
  if (typeof value === "boolean") return "bool";
  if (typeof value !== "number" || Number.isNaN(value)) {
    return fail(`a constant must be a number or true or false, got ${showValue(value)}`);
  }
  return Number.isInteger(value) && Math.abs(value) <= MOST_WHOLE ? "int" : "float";
}

export const MOST_AXES = 4;

/** Checks the shape of a table with so many numbers, or with as many as it says. */
export function sizesOf(shape: unknown, numbers: number | null, fail: Fail): readonly number[] {
  const axes = Array.isArray(shape) ? shape.length : 0;
  const sizes = Array.from({ length: axes <= MOST_AXES ? axes : 0 }, (_, axis) => Reflect.get(Object(shape), axis));
  const areSizes = sizes.length > 0 && sizes.every((size) => Number.isInteger(size) && size > 0 && size <= MOST_WHOLE);
  if (areSizes && (numbers === null || sizes.reduce((total, size) => total * size, 1) === numbers)) return sizes;
  return fail(
    `a table must have one to ${MOST_AXES} axes, each of 1 or more, and as many numbers, got ${showValue(shape)} and ${numbers ?? "theirs"}`,
  );
}
