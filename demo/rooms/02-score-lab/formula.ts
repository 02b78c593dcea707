// A function of a score in plain arithmetic, read into the operators of heed/expr: nothing that is typed is ever run.

import type { Expr, Leaf } from "heed/expr";
import * as ops from "heed/expr";

const leaf = (op: Leaf): Expr => ({ op, type: op === "score" ? "float" : "int", args: [] });
const LEAVES: ReadonlyMap<string, Expr> = new Map((["score", "b", "h", "q", "k"] as const).map((op) => [op, leaf(op)]));

type Of<Operands extends readonly Expr[]> = ReadonlyMap<string, (...operands: Operands) => Expr>;

const { abs, exp, floor, log, sqrt, tanh, min, max } = ops;
const OF_ONE: Of<[Expr]> = new Map(Object.entries({ abs, exp, floor, log, sqrt, tanh }));
const OF_MANY: Of<[Expr, ...Expr[]]> = new Map(Object.entries({ min, max }));

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
const BINARY: readonly Of<[Expr, Expr]>[] = SIGNS.map(
  (signs) => new Map(Object.entries(signs).map(([sign, op]) => [sign, OF_TWO[op]])),
);

const TOKEN = /\s*(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+|[a-z]+|\|\||&&|==|!=|<=|>=|\/\/|[-+*/%<>!?:(),])/giy;

/** Longer ones are no fun to read. */
export const MOST_CHARACTERS = 200;

/** What it throws tells whoever typed it what is wrong. */
export function readFormula(text: string): Expr {
  if (text.length > MOST_CHARACTERS) throw new Error(`at most ${MOST_CHARACTERS} characters`);
  const reader = new Reader(tokensOf(text));
  const read = reader.choice();
  reader.end();
  if (read.type === "bool") throw new Error("it is true or false; condition ? number : number makes it a number");
  // A function must return what an operator made.
  return read.args.length === 0 ? ops.add(read, 0) : read;
}

function tokensOf(text: string): readonly string[] {
  const tokens = text.match(TOKEN) ?? [];
  const rest = text.slice(tokens.join("").length).trim();
  if (rest !== "") throw new Error(`cannot read “${rest.slice(0, 8)}”`);
  return tokens.map((token) => token.trim());
}

class Reader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  choice(): Expr {
    const condition = this.#binary(0);
    if (!this.#take("?")) return condition;
    const yes = this.choice();
    this.#need(":");
    return ops.select(condition, yes, this.choice());
  }

  end(): void {
    const left = this.#tokens[this.#at];
    if (left !== undefined) throw new Error(`“${left}” is too much`);
  }

  #binary(strength: number): Expr {
    const operators = BINARY[strength];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(strength + 1);
    for (;;) {
      const operator = operators.get(this.#tokens[this.#at] ?? "");
      if (operator === undefined) return left;
      this.#at++;
      left = operator(left, this.#binary(strength + 1));
    }
  }

  #unary(): Expr {
    if (this.#take("-")) return ops.neg(this.#unary());
    if (this.#take("!")) return ops.not(this.#unary());
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new Error("something is missing at the end");
    if (token === "(") {
      const inner = this.choice();
      this.#need(")");
      return inner;
    }
    return /^[\d.]/.test(token) ? ops.constant(Number(token)) : this.#named(token);
  }

  #named(name: string): Expr {
    const found = LEAVES.get(name);
    if (found !== undefined) return found;
    if (name === "infinity") return ops.constant(Number.POSITIVE_INFINITY);
    const [ofOne, ofMany] = [OF_ONE.get(name), OF_MANY.get(name)];
    if (ofOne === undefined && ofMany === undefined) throw new Error(`there is no “${name}”`);
    const [first, ...more] = this.#operands();
    if (ofOne !== undefined && more.length === 0) return ofOne(first);
    if (ofMany !== undefined && more.length > 0) return ofMany(first, ...more);
    throw new Error(`${name} takes ${ofOne === undefined ? "two or more" : "one"}`);
  }

  #operands(): [Expr, ...Expr[]] {
    this.#need("(");
    const all: [Expr, ...Expr[]] = [this.choice()];
    while (this.#take(",")) all.push(this.choice());
    this.#need(")");
    return all;
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  #need(token: string): void {
    if (!this.#take(token)) throw new Error(`“${token}” is missing`);
  }
}
