// scoreMod, maskMod and probMod: functions of the caller that make expressions. The compiler comes with heed/expr, which makes the
// expressions, so a page without any does not load it.

import type { Programs } from "../backends/backend.js";
import { COMPILER, type ModTrees } from "../expr/tree.js";
import { showValue } from "./describe.js";
import { HeedError } from "./errors.js";
import { guard } from "./guard.js";
import { isRecord } from "./read-values.js";

const NAMES = ["scoreMod", "maskMod", "probMod"] as const;

/** The arguments of a function: new objects each time, because the function may change them. The compiler refuses those that it should not use. */
const makeLeaves = (): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    ["score", "prob", "b", "h", "q", "k"].map((op) => [op, { op, type: op.length > 1 ? "float" : "int", args: [] }]),
  );

/** Calls the functions among the options. Null where there is none. */
export function readMods(where: string, options: Readonly<Record<string, unknown>>): Programs | null {
  const compile = Reflect.get(globalThis, COMPILER);
  let trees: ModTrees | null = null;
  // A constant is a program of one instruction, for which heed/expr need not be loaded.
  const words = [0, 0, 0, 0];
  for (const [at, name] of NAMES.entries()) {
    const given = options[name];
    if (given === undefined) continue;
    const leaves = makeLeaves();
    const made: unknown =
      typeof given === "function" ? guard("option", `${where}: ${name}`, () => given(leaves)) : given;
    // The function returned the score, or the weight, unchanged.
    if (made && made === leaves[name.slice(0, -3)]) continue;
    const isConstant = typeof made === (name === "maskMod" ? "boolean" : "number") && !Number.isNaN(made);
    if (made === given || !(isConstant || (compile && isRecord(made)))) {
      throw new HeedError(
        "option",
        `${where}: ${name} must be a function that returns an expression of heed/expr, got ${showValue(made)}`,
      );
    }
    trees ??= {};
    trees[name] = made;
    if (isConstant) words[at] = words.push(1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, ...bitsOf(Number(made))) - 14;
  }
  return trees && (compile?.(where, trees) ?? { words: Int32Array.from(words), tables: new Float32Array() });
}

const bitsOf = (value: number): Int32Array => new Int32Array(Float32Array.of(value).buffer);
