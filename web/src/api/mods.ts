// scoreMod and maskMod: functions of the caller's that make expressions. What they are made with, heed/expr, brings what compiles them
// along, so that whoever has none loads nothing for them.

import type { Programs } from "../backends/backend.js";
import type { Expr, ExprType, Leaf, ModTrees } from "../expr/tree.js";
import { showValue } from "./describe.js";
import { HeedError } from "./errors.js";
import { isRecord } from "./read-values.js";

/** The options as they were given. */
export interface GivenMods {
  readonly scoreMod: unknown;
  readonly maskMod: unknown;
}

type Compile = (where: string, trees: ModTrees) => Programs;

const leaf = (op: Leaf, type: ExprType): Expr => ({ type, op, args: [] });
const PLACE = { b: leaf("b", "int"), h: leaf("h", "int"), q: leaf("q", "int"), k: leaf("k", "int") };

/** Null where there are none. Runs the caller's functions. */
export function readMods(where: string, { scoreMod, maskMod }: GivenMods): Programs | null {
  if (scoreMod === undefined && maskMod === undefined) return null;
  let compile: Compile | null = null;
  const treeOf = (name: string, given: unknown, leaves: object): Expr | null => {
    if (given === undefined) return null;
    if (typeof given !== "function") {
      throw new HeedError("option", `${where}: ${name} must be a function, got ${showValue(given)}`);
    }
    const made: unknown = Reflect.apply(given, undefined, [leaves]);
    if (!isCompilable(made)) {
      throw new HeedError(
        "option",
        `${where}: ${name} must return an expression made with heed/expr, got ${showValue(made)}`,
      );
    }
    compile ??= made.compile.bind(made);
    return made;
  };
  const trees: ModTrees = {
    scoreMod: treeOf("scoreMod", scoreMod, { score: leaf("score", "float"), ...PLACE }),
    maskMod: treeOf("maskMod", maskMod, PLACE),
  };
  // The compiler does not see that it was set above.
  return (compile as Compile | null)?.(where, trees) ?? null;
}

function isCompilable(value: unknown): value is Expr & { readonly compile: Compile } {
  return isRecord(value) && typeof value["compile"] === "function";
}
