// What learns of options of attention that kernels take as numbers: sinks, the temperature, tables of expressions.

import type { Resident } from "../../backends/backend.js";
import type { ModTrees } from "../../expr/tree.js";
import type { Step } from "../../layers/tape.js";

export interface LearntOptions {
  readonly sinks?: Resident | undefined;
  readonly temperature?: Resident | undefined;
  /** By the `table` of the nodes that read it. */
  readonly tables: ReadonlyMap<unknown, Resident>;
}

/** By the functions of a call, an object of its own for each. */
export const LEARNT_OPTIONS = new WeakMap<ModTrees, LearntOptions>();

/** What a step reads beside its operands. */
export function learntReads({ problem }: Step): readonly Resident[] {
  const learnt = "trees" in problem ? LEARNT_OPTIONS.get(problem.trees as ModTrees) : undefined;
  if (learnt === undefined) return [];
  return [learnt.sinks, learnt.temperature, ...learnt.tables.values()].filter((one) => one !== undefined);
}
