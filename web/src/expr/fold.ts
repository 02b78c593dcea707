// Folds operators of constants.

import type { Op } from "./tree.js";

/** In double precision; the program rounds the result once. True is 1. */
export function fold(op: Op, args: readonly (number | null)[]): number {
  const [a = 0, b = 0, c = 0] = args.map((arg) => arg ?? 0);
  switch (op) {
    case "neg":
      return -a;
    case "abs":
      return Math.abs(a);
    case "floor":
      return Math.floor(a);
    case "sqrt":
      return Math.sqrt(a);
    case "exp":
      return Math.exp(a);
    case "log":
      return Math.log(a);
    case "tanh":
      return Math.tanh(a);
    case "not":
      return 1 - a;
    case "add":
      return a + b;
    case "sub":
      return a - b;
    case "mul":
      return a * b;
    case "div":
      return a / b;
    case "floorDiv":
      return b === 0 ? 0 : Math.floor(a / b);
    case "mod":
      return b === 0 ? 0 : a - b * Math.floor(a / b);
    case "min":
    case "and":
      return Math.min(a, b);
    case "max":
    case "or":
      return Math.max(a, b);
    case "less":
      return Number(a < b);
    case "lessEqual":
      return Number(a <= b);
    case "equal":
      return Number(a === b);
    case "notEqual":
      return Number(a !== b);
    case "select":
      return a === 0 ? c : b;
    default:
      throw new TypeError(`${op} has no constant value`);
  }
}
