// What learns of options of attention that kernels take as numbers: sinks, the temperature, tables of expressions, numbers of scores.

import type { ModTrees } from "../../api/operations/record-functions.js";
import type { Resident } from "../../backends/backend.js";
import type { Step } from "../../layers/tape.js";
import type { WantedGradient } from "../../operations/attention-vjp.js";

export interface LearntOptions {
  /** By the name of the gradient, which for the temperature is that of the logarithm of the scale. */
  readonly numbers: ReadonlyMap<WantedGradient, Resident>;
  /** By the `table` of the nodes that read it. */
  readonly tables: ReadonlyMap<unknown, Resident>;
}

/** By the functions of a call, an object of its own for each. */
export const LEARNT_OPTIONS = new WeakMap<ModTrees, LearntOptions>();

/** What a step reads beside its operands. */
export function learntReads({ problem }: Step): readonly Resident[] {
  const learnt = "trees" in problem ? LEARNT_OPTIONS.get(problem.trees as ModTrees) : undefined;
  if (learnt === undefined) return [];
  return [...learnt.numbers.values(), ...learnt.tables.values()];
}
