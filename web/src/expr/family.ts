// The nodes that one call of a function makes, by which mistakes are told: JavaScript's own operators see objects in expressions.

import { HeedError } from "../base/errors.js";
import type { Expr, ExprType, Leaf } from "./tree.js";

/** The key of the nodes that were made of the arguments of a function. Global, because copies of heed/expr may meet. */
const UNREAD = Symbol.for("heed.unread");

/** What nodes inherit. JavaScript converts what it computes with or compares: `k <= q` would compare two texts, and be true. */
const familyOf = (where: string) => ({
  [Symbol.toPrimitive](): never {
    const instead = "lessEqual for <=, equal for ==, add for +, neg for -, table(...).at(h) for [h], and so on";
    throw new HeedError(
      "option",
      `${where}: expressions take the operators of heed/expr, not JavaScript's: ${instead}`,
    );
  },
});

const ORPHANS = familyOf("heed/expr");

/** A node of the family of its operands. */
export function born(node: Expr): Expr {
  const parent = node.args.find((arg) => UNREAD in arg);
  const made: Expr = Object.assign(Object.create(parent === undefined ? ORPHANS : Object.getPrototypeOf(parent)), node);
  Reflect.get(made, UNREAD)?.add(made);
  return made;
}

export interface Begun {
  /** The arguments of a function: new ones each time, because the function may change them. The compiler refuses those that it should not use. */
  readonly leaves: Readonly<Record<Leaf, Expr>>;
  /** To be called when the compiler has read the result. Throws where expressions were made in vain: of `a && b`, only b is returned. */
  readonly check: () => void;
}

/** The nodes of a function; `where` names it in messages. */
export function begin(where: string): Begun {
  const unread = new Set<Expr>();
  const family = { ...familyOf(where), [UNREAD]: unread };
  const leaf = (op: Leaf, type: ExprType): Expr => Object.assign(Object.create(family), { op, type, args: [] });
  const indices = { b: leaf("b", "int"), h: leaf("h", "int"), q: leaf("q", "int"), k: leaf("k", "int") };
  const leaves = { score: leaf("score", "float"), prob: leaf("prob", "float"), ...indices };
  const check = (): void => {
    const last = [...unread].at(-1);
    if (last === undefined) return;
    const rule = `${where} must use every expression that it makes, got ${last.op} unused`;
    throw new HeedError("option", `${rule}: in place of &&, ||, ! and ?: take and, or, not and select of heed/expr`);
  };
  return { leaves, check };
}

/** The compiler has read a node. */
export function markRead(node: object): void {
  Reflect.get(node, UNREAD)?.delete(node);
}
