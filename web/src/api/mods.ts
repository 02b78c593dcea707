// scoreMod, maskMod and probMod: functions of the caller that make expressions. The compiler comes with heed/expr, which makes the
// expressions, so a page without any does not load it.

import type { Programs } from "../backends/backend.js";
import { guard } from "../base/guard.js";
import { isRecord, refusal } from "../base/read-values.js";
import { COMPILER, type ModTrees } from "../expr/tree.js";

const NAMES = ["scoreMod", "maskMod", "probMod"] as const;

/** Calls the functions among the options. Null where there is none. */
export function readMods(where: string, options: Readonly<Record<string, unknown>>): Programs | null {
  const expr = Reflect.get(globalThis, COMPILER);
  let trees: ModTrees | null = null;
  const checks: ((() => void) | undefined)[] = [];
  // A constant is a program of one instruction, for which heed/expr need not be loaded.
  const words = [0, 0, 0, 0];
  for (const [at, name] of NAMES.entries()) {
    const given = options[name];
    if (given === undefined) continue;
    const called = `${where}: ${name}`;
    // Without heed/expr nothing can be made of them.
    const { leaves, check } = expr?.begin(called) ?? { leaves: { score: {}, prob: {} } };
    checks.push(check);
    const made: unknown = typeof given === "function" ? guard("option", called, () => given(leaves)) : given;
    // The function returned the score, or the weight, unchanged.
    if (made && made === leaves[name.slice(0, -3)]) continue;
    // With arguments, a constant may be what `k <= q` or `!k` gives, which are operators of JavaScript.
    const isConstant =
      typeof made === (name === "maskMod" ? "boolean" : "number") && !Number.isNaN(made) && !Object(given).length;
    if (made === given || !(isConstant || (isRecord(made) && expr))) {
      throw refusal(where, name, "a function that returns an expression of heed/expr, as lessEqual(k, q)", made);
    }
    trees ??= {};
    trees[name] = made;
    if (!isConstant) continue;
    const bits = new Int32Array(Float32Array.of(Number(made)).buffer);
    words[at] = words.push(1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, ...bits) - 14;
  }
  const programs =
    trees && (expr?.compile(where, trees) ?? { words: Int32Array.from(words), tables: new Float32Array() });
  for (const check of checks) check?.();
  return programs;
}
