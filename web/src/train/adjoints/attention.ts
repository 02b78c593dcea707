// Of attention, in its tensors and in options that are tensors.

import type { ModTrees } from "../../api/operations/record-functions.js";
import type { CompiledVjp } from "../../expr/compile-vjp.js";
import type { RecordedAttention } from "../../layers/attention-rule.js";
import { ATTENTION_VJP, SCORE_GRADIENTS } from "../../operations/attention-vjp.js";
import { placed } from "../../operations/rows.js";
import { type Adjoint, placeOf } from "../backward-step.js";

const PLACES = ["query", "key", "value", "bias", ...SCORE_GRADIENTS] as const;

export const attention: Adjoint<RecordedAttention> = async (step) => {
  const { trees, ...problem } = step.problem;
  const [output, lse] = step.made;
  if (output === undefined) throw new TypeError("a call of attention had no output");
  const functions = await functionsOf(trees);
  const operands = { ...problem.score, ...problem };
  const wanted = PLACES.filter((name) => step.needs(placeOf(operands[name])));
  const gradients = await step.run(ATTENTION_VJP, {
    forward: functions === null ? problem : { ...problem, programs: functions },
    output: placed(problem.output, output),
    lse: lse && problem.lse ? placed(problem.lse, lse) : null,
    outputGradient: placed(problem.output, step.gradient),
    weightsGradient: null,
    slopes: functions,
    wanted,
    keep: true,
  });
  for (const [at, name] of wanted.entries()) await step.give(placeOf(operands[name]), gradients[at]);
};

const FUNCTIONS = new WeakMap<ModTrees, CompiledVjp>();

/** The functions of scores and weights with their derivatives, which all blocks of a stack share; null: there are none. Tables are constants. */
async function functionsOf(trees: ModTrees): Promise<(CompiledVjp & { readonly readWords: number }) | null> {
  if (trees.scoreMod === undefined && trees.probMod === undefined) return null;
  const { compileVjp, TABLE_READ_WORDS } = await import("../../expr/compile-vjp.js");
  const compiled = FUNCTIONS.get(trees) ?? compileVjp("gradients", trees, { wantsTables: false });
  FUNCTIONS.set(trees, compiled);
  return { ...compiled, readWords: TABLE_READ_WORDS };
}
