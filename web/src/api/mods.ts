// scoreMod, maskMod and probMod: functions of the caller's that make expressions. What they are made with, heed/expr, brings what
// compiles them along, so that whoever has none loads nothing for them.

import type { Programs } from "../backends/backend.js";
import type { Expr, ModTrees } from "../expr/tree.js";
import { showValue } from "./describe.js";
import { step } from "./door.js";
import { HeedError } from "./errors.js";
import { isRecord } from "./read-values.js";

type Made = Compilable | number | boolean;

interface Compilable extends Expr {
  compile(where: string, made: ModTrees<Made>): Programs;
}

/** What each is given; a score where there is none is refused as it is compiled. */
const LEAVES = Object.fromEntries(
  ["score", "prob", "b", "h", "q", "k"].map((op) => [op, { op, type: op.length > 1 ? "float" : "int", args: [] }]),
);

/** Of the options as they were given; null where none of them is. Runs the caller's functions. */
export function readMods(where: string, options: Readonly<Record<string, unknown>>): Programs | null {
  const read = (name: keyof ModTrees): Made | null => {
    const given = options[name];
    if (given === undefined) return null;
    const made: unknown =
      typeof given === "function" ? step("option", `${where}: ${name}`, () => given(LEAVES)) : given;
    if (made !== given && (isCompilable(made) || isConstant(name, made))) return made;
    const leaf = Object.keys(LEAVES).find((name) => LEAVES[name] === made);
    // The score as it is, or the weight.
    if (name === `${leaf}Mod`) return null;
    throw new HeedError(
      "option",
      `${where}: ${name} must be a function that returns an expression made with heed/expr, got ${leaf ? `${leaf} alone` : showValue(made)}`,
    );
  };
  const made = { scoreMod: read("scoreMod"), maskMod: read("maskMod"), probMod: read("probMod") };
  const all = Object.values(made);
  return all.find(isCompilable)?.compile(where, made) ?? constants(all);
}

/** Programs of constants alone as heed/expr lays them out, which need not be there for them. */
function constants(values: readonly unknown[]): Programs | null {
  const words = [0, 0, 0, 0];
  for (const [n, value] of values.entries()) {
    if (value === null) continue;
    words[n] = words.length;
    const [bits = 0] = new Int32Array(Float32Array.of(Number(value)).buffer);
    // One instruction, whose one register is the result.
    words.push(1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, bits);
  }
  return words[4] ? { words: Int32Array.from(words), tables: new Float32Array() } : null;
}

function isConstant(name: keyof ModTrees, value: unknown): value is number | boolean {
  return name === "maskMod" ? typeof value === "boolean" : typeof value === "number" && !Number.isNaN(value);
}

function isCompilable(value: unknown): value is Compilable {
  return isRecord(value) && typeof value["compile"] === "function";
}
