// Of attention, in its tensors, in options that are tensors, and in those that learn although kernels take them as numbers.

import type { ModTrees } from "../../api/operations/record-functions.js";
import type { Resident } from "../../backends/backend.js";
import type { CompiledVjp } from "../../expr/compile-vjp.js";
import type { RecordedAttention } from "../../layers/attention-rule.js";
import { ATTENTION_VJP, SCORE_GRADIENTS, type Slopes, type WantedGradient } from "../../operations/attention-vjp.js";
import { placed } from "../../operations/rows.js";
import { ATTENTION_VJP_TABLES } from "../../operations/training/attention-vjp-tables.js";
import { COMBINE } from "../../operations/training/combine.js";
import { ELEMENTWISE } from "../../operations/training/elementwise.js";
import { MOVE } from "../../operations/training/move.js";
import { vectorOf } from "../../operations/training/vectors.js";
import { type Adjoint, type BackwardStep, type Place, placeOf } from "../backward-step.js";
import { LEARNT_OPTIONS, type LearntOptions } from "../pass/learnt-options.js";

const PLACES = ["query", "key", "value", "bias", ...SCORE_GRADIENTS] as const;

const NOTHING: LearntOptions = { numbers: new Map(), tables: new Map() };

export const attention: Adjoint<RecordedAttention> = async (step) => {
  const { trees, ...problem } = step.problem;
  const [output, lse] = step.made;
  if (output === undefined) throw new TypeError("a call of attention had no output");
  const { numbers, tables } = LEARNT_OPTIONS.get(trees) ?? NOTHING;
  const wantsTables = [...tables.values()].some((table) => step.needs(table));
  const functions = await functionsOf(trees, wantsTables);
  const operands = { ...problem.score, ...problem };
  const places = new Map<WantedGradient, Place>(PLACES.map((name) => [name, placeOf(operands[name])]));
  for (const [name, place] of numbers) places.set(name, place);
  // The gradient of the scale comes with that of the query, which is dropped where it is not needed.
  const wantsQuery = step.needs(places.get("logScale"));
  const wanted = [...places].filter(([name, place]) => step.needs(place) || (name === "query" && wantsQuery));
  const hasTables = wantsTables && (functions?.tableGradientNumbers ?? 0) > 0;
  const gradients = await step.run(hasTables ? ATTENTION_VJP_TABLES : ATTENTION_VJP, {
    forward: functions === null ? problem : { ...problem, programs: functions },
    output: placed(problem.output, output),
    lse: lse && problem.lse ? placed(problem.lse, lse) : null,
    outputGradient: placed(problem.output, step.gradient),
    weightsGradient: null,
    slopes: functions,
    wanted: wanted.map(([name]) => name),
    keep: true,
  });
  for (const [at, [name, place]] of wanted.entries()) {
    const gradient = gradients[at];
    await step.give(place, name === "logScale" ? await ofTemperature(step, place, gradient) : gradient);
  }
  if (hasTables && functions !== null) await giveTables(step, tables, functions, gradients.at(-1));
};

/** d / dT = -(d / d log scale) / T. */
async function ofTemperature(
  step: BackwardStep<RecordedAttention>,
  temperature: Place,
  gradient: Resident | undefined,
): Promise<Resident | undefined> {
  if (temperature === undefined || gradient === undefined) return undefined;
  const operands = [gradient, temperature];
  const quotient = await step.one(ELEMENTWISE, { function: "div", operands, length: 1 });
  const negative = await step.one(COMBINE, { x: vectorOf(quotient), y: null, a: -1, b: 0 });
  for (const used of [gradient, quotient]) step.free(used);
  return negative;
}

async function giveTables(
  step: BackwardStep<RecordedAttention>,
  tables: ReadonlyMap<unknown, Resident>,
  { tableGradients, tableGradientNumbers: all }: CompiledVjp,
  input: Resident | undefined,
): Promise<void> {
  if (input === undefined) return;
  for (const { table, start } of tableGradients) {
    const place = tables.get(table);
    if (start === null || !step.needs(place)) continue;
    const move = { kind: "cut", shape: [all], axis: 0, from: start, to: start + place.elements } as const;
    await step.give(place, await step.one(MOVE, { input, move }));
  }
  step.free(input);
}

const FUNCTIONS = new WeakMap<ModTrees, CompiledVjp>();

/** The functions of scores and weights with their derivatives, which all blocks of a stack share; null: there are none. */
async function functionsOf(trees: ModTrees, wantsTables: boolean): Promise<(CompiledVjp & Slopes) | null> {
  if (trees.scoreMod === undefined && trees.probMod === undefined) return null;
  const { compileVjp, TABLE_READ_WORDS } = await import("../../expr/compile-vjp.js");
  const compiled = FUNCTIONS.get(trees) ?? compileVjp("gradients", trees, { wantsTables });
  FUNCTIONS.set(trees, compiled);
  return { ...compiled, readWords: TABLE_READ_WORDS };
}
