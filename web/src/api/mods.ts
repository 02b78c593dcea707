// scoreMod, maskMod and probMod: functions of the caller's that make expressions. What they are made with, heed/expr, brings what
// compiles them along, so that whoever has none loads nothing for them.

import type { Programs } from "../backends/backend.js";
import type { Expr, ModTrees } from "../expr/tree.js";
import { showValue } from "./describe.js";
import { step } from "./door.js";
import { HeedError } from "./errors.js";
import { isRecord } from "./read-values.js";

interface Compilable extends Expr {
  compile(where: string, trees: ModTrees): Programs;
}

/** What each is given; a score where there is none is refused as it is compiled. */
const LEAVES = Object.fromEntries(
  ["score", "prob", "b", "h", "q", "k"].map((op) => [op, { op, type: op.length > 1 ? "float" : "int", args: [] }]),
);

/** Of the options as they were given; null where none of them is. Runs the caller's functions. */
export function readMods(where: string, options: Readonly<Record<string, unknown>>): Programs | null {
  const treeOf = (name: keyof ModTrees): Compilable | null => {
    const given = options[name];
    if (given === undefined) return null;
    const made: unknown =
      typeof given === "function" ? step("option", `${where}: ${name}`, () => given(LEAVES)) : given;
    if (made !== given && isCompilable(made)) return made;
    const leaf = Object.keys(LEAVES).find((name) => LEAVES[name] === made);
    // The score as it is, or the weight.
    if (name === `${leaf}Mod`) return null;
    throw new HeedError(
      "option",
      `${where}: ${name} must be a function that returns an expression made with heed/expr, got ${leaf ? `${leaf} alone` : showValue(made)}`,
    );
  };
  const trees = { scoreMod: treeOf("scoreMod"), maskMod: treeOf("maskMod"), probMod: treeOf("probMod") };
  return (trees.scoreMod ?? trees.maskMod ?? trees.probMod)?.compile(where, trees) ?? null;
}

function isCompilable(value: unknown): value is Compilable {
  return isRecord(value) && typeof value["compile"] === "function";
}
