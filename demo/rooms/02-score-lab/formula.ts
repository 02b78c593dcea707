// A function of a score in plain arithmetic, read into the operators of heed/expr: nothing that is typed is ever run.

import type { Expr, Leaf } from "heed/expr";
import * as ops from "heed/expr";

const leaf = (op: Leaf): Expr => ({ op, type: op === "score" ? "float" : "int", args: [] });
const LEAVES: ReadonlyMap<string, Expr> = new Map((["score", "b", "h", "q", "k"] as const).map((op) => [op, leaf(op)]));

type Operators<Operands extends readonly Expr[]> = ReadonlyMap<string, (...operands: Operands) => Expr>;

const { abs, exp, floor, log, sqrt, tanh, min, max } = ops;
const OF_ONE: Operators<[Expr]> = new Map(Object.entries({ abs, exp, floor, log, sqrt, tanh }));
const OF_MANY: Operators<[Expr, ...Expr[]]> = new Map(Object.entries({ min, max }));
const PREFIX: Operators<[Expr]> = new Map(Object.entries({ "-": ops.neg, "!": ops.not }));

const { or, and, equal, notEqual, lessEqual, greaterEqual, less, greater, add, sub, mul, floorDiv, div, mod } = ops;
const OF_TWO = { or, and, equal, notEqual, lessEqual, greaterEqual, less, greater, add, sub, mul, floorDiv, div, mod };
/** Operators of two by their signs, weakest first; those of a line bind alike, from the left. */
export const SIGNS = [
  { "||": "or" },
  { "&&": "and" },
  { "==": "equal", "!=": "notEqual", "<=": "lessEqual", ">=": "greaterEqual", "<": "less", ">": "greater" },
  { "+": "add", "-": "sub" },
  { "*": "mul", "//": "floorDiv", "/": "div", "%": "mod" },
] as const;
const BINARY: readonly Operators<[Expr, Expr]>[] = SIGNS.map(
  (signs) => new Map(Object.entries(signs).map(([sign, op]) => [sign, OF_TWO[op]])),
);

const TOKEN = /\s*(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+|[a-z]+|\|\||&&|==|!=|<=|>=|\/\/|[-+*/%<>!?:(),])/giy;

/** Longer ones are no fun to read. */
export const MOST_CHARACTERS = 200;

/** What it throws tells whoever typed it what is wrong. */
export function readFormula(text: string): Expr {
  if (text.length > MOST_CHARACTERS) throw new Error(`at most ${MOST_CHARACTERS} characters`);
  const found = text.match(TOKEN) ?? [];
  const rest = text.slice(found.join("").length).trim();
  if (rest !== "") throw new Error(`cannot read “${rest.slice(0, 8)}”`);
  const tokens = found.map((token) => token.trim());
  let next = 0;

  const take = (token: string): boolean => {
    const isThere = tokens[next] === token;
    if (isThere) next++;
    return isThere;
  };
  const need = (token: string): void => {
    if (!take(token)) throw new Error(`“${token}” is missing`);
  };

  function choice(): Expr {
    const condition = binary(0);
    if (!take("?")) return condition;
    const yes = choice();
    need(":");
    return ops.select(condition, yes, choice());
  }

  function binary(strength: number): Expr {
    const operators = BINARY[strength];
    if (operators === undefined) return unary();
    let left = binary(strength + 1);
    for (;;) {
      const operator = operators.get(tokens[next] ?? "");
      if (operator === undefined) return left;
      next++;
      left = operator(left, binary(strength + 1));
    }
  }

  function unary(): Expr {
    const token = tokens[next++];
    if (token === undefined) throw new Error("something is missing at the end");
    const operator = PREFIX.get(token);
    if (operator !== undefined) return operator(unary());
    if (/^[\d.]/.test(token)) return ops.constant(Number(token));
    if (token !== "(") return named(token);
    const inner = choice();
    need(")");
    return inner;
  }

  function named(name: string): Expr {
    const known = LEAVES.get(name);
    if (known !== undefined) return known;
    if (name === "infinity") return ops.constant(Number.POSITIVE_INFINITY);
    const [ofOne, ofMany] = [OF_ONE.get(name), OF_MANY.get(name)];
    if (ofOne === undefined && ofMany === undefined) throw new Error(`there is no “${name}”`);
    need("(");
    const [first, more]: [Expr, Expr[]] = [choice(), []];
    while (take(",")) more.push(choice());
    need(")");
    if (ofOne !== undefined && more.length === 0) return ofOne(first);
    if (ofMany !== undefined && more.length > 0) return ofMany(first, ...more);
    throw new Error(`${name} takes ${ofOne === undefined ? "two or more" : "one"}`);
  }

  const read = choice();
  if (next < tokens.length) throw new Error(`“${tokens[next]}” is too much`);
  if (read.type === "bool") throw new Error("it is true or false; condition ? number : number makes it a number");
  // A function must return what an operator made.
  return read.args.length === 0 ? ops.add(read, 0) : read;
}
