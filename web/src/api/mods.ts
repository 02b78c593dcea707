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
  const treeOf = (name: keyof ModTrees): Expr | null => {
    const given = options[name];
    if (given === undefined) return null;
    const made: unknown =
      typeof given === "function" ? step("option", `${where}: ${name}`, () => given(LEAVES)) : given;
    const isMade = made !== given;
    if (isMade && isCompilable(made)) return made;
    const isMask = name === "maskMod";
    if (isMade && typeof made === (isMask ? "boolean" : "number") && !Number.isNaN(made)) {
      return { type: isMask ? "bool" : "float", op: "const", args: [], value: Number(made) };
    }
    const leaf = Object.keys(LEAVES).find((name) => LEAVES[name] === made);
    // The score as it is, or the weight.
    if (name === `${leaf}Mod`) return null;
    throw new HeedError(
      "option",
      `${where}: ${name} must be a function that returns ${isMask ? "a boolean" : "a number"} or an expression made with heed/expr, got ${leaf ? `${leaf} alone` : showValue(made)}`,
    );
  };
  const trees = { scoreMod: treeOf("scoreMod"), maskMod: treeOf("maskMod"), probMod: treeOf("probMod") };
  const all = [trees.scoreMod, trees.maskMod, trees.probMod];
  const expression = all.find(isCompilable);
  return expression ? expression.compile(where, trees) : constants(all);
}

/** Programs of nothing but constants, laid out as heed/expr does, which need not be there for them. */
function constants(trees: readonly (Expr | null)[]): Programs | null {
  const words = [0, 0, 0, 0];
  for (const [n, tree] of trees.entries()) {
    if (tree === null) continue;
    words[n] = words.length;
    const [bits = 0] = new Int32Array(Float32Array.of(tree.value ?? 0).buffer);
    // One instruction and one register, beside that of what is rewritten: the constant.
    words.push(1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, bits);
  }
  return words.length > 4 ? { words: Int32Array.from(words), tables: new Float32Array() } : null;
}

function isCompilable(value: unknown): value is Compilable {
  return isRecord(value) && typeof value["compile"] === "function";
}
