// scoreMod, maskMod and probMod: functions of the caller's that make expressions. What compiles those comes with heed/expr, which they are
// made with, so that whoever has none loads nothing for them.

import type { Programs } from "../backends/backend.js";
import { COMPILER, type ModTrees } from "../expr/tree.js";
import { showValue } from "./describe.js";
import { HeedError } from "./errors.js";
import { guard } from "./guard.js";
import { isRecord } from "./read-values.js";

const NAMES = ["scoreMod", "maskMod", "probMod"] as const;

/** What a function is given, anew for each, which may do to them what it likes. One that it should not have is refused by the compiler. */
const makeLeaves = (): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    ["score", "prob", "b", "h", "q", "k"].map((op) => [op, { op, type: op.length > 1 ? "float" : "int", args: [] }]),
  );

/** Of the options as they were given; null where none of them is. Runs the caller's functions. */
export function readMods(where: string, options: Readonly<Record<string, unknown>>): Programs | null {
  const compile = Reflect.get(globalThis, COMPILER);
  let trees: ModTrees | null = null;
  // Without heed/expr there are constants alone, each a program of one instruction.
  const words = [0, 0, 0, 0];
  for (const [at, name] of NAMES.entries()) {
    const given = options[name];
    if (given === undefined) continue;
    const leaves = makeLeaves();
    const made: unknown =
      typeof given === "function" ? guard("option", `${where}: ${name}`, () => given(leaves)) : given;
    // The score as it is, or the weight.
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
