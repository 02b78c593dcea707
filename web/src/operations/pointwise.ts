// activation(x + bias) * factor + addend, elementwise.

import type { CallBuilder, Operation } from "../backends/backend.js";
import type { CutAxis } from "../backends/cut.js";
import { ACTIVATION, OPERATION, PANEL, POINTWISE_CALL } from "../backends/wasm/generated/operation-calls.js";
import { byRow, COLUMNS, MEMORY_BOUND, operandIf, operandOf, POINTWISE_COST, type Rows, rowsView } from "./rows.js";

export type Activation = keyof typeof ACTIVATION;

/** A null one is left out, and one with fewer rows repeats them. */
export interface PointwiseRule {
  readonly activation: Activation;
  readonly bias: Rows | null;
  readonly factor: Rows | null;
  readonly addend: Rows | null;
}

export interface PointwiseProblem {
  readonly input: Rows;
  readonly rule: PointwiseRule;
}

export const POINTWISE: Operation<PointwiseProblem> = {
  name: "pointwise",
  call: POINTWISE_CALL,
  pack({ input, rule }, builder) {
    builder.integer(POINTWISE_CALL.operation, OPERATION.pointwise);
    builder.input(POINTWISE_CALL.input, operandOf(input));
    packRule(builder, POINTWISE_CALL, rule);
    builder.output(POINTWISE_CALL.output, rowsView(input.count, input.length), true);
  },
  work: ({ input }) => POINTWISE_COST * input.count * input.length,
  cut: ({ input, rule }) => ({
    axes: [
      rowsOfRule(input.count, [POINTWISE_CALL.input, POINTWISE_CALL.output], POINTWISE_CALL, rule),
      panelsOfRule(input.length, [POINTWISE_CALL.input, POINTWISE_CALL.output], POINTWISE_CALL),
    ],
    memoryBound: MEMORY_BOUND,
  }),
};

interface RuleWords {
  readonly bias: number;
  readonly factor: number;
  readonly addend: number;
  readonly activation: number;
}

export function packRule(
  builder: CallBuilder,
  words: RuleWords,
  { activation, bias, factor, addend }: PointwiseRule,
): void {
  builder.input(words.bias, operandIf(bias));
  builder.input(words.factor, operandIf(factor));
  builder.input(words.addend, operandIf(addend));
  builder.integer(words.activation, ACTIVATION[activation]);
}

/** The axis of rows of a call with this rule, of which the views of `words` have one for each. */
export function rowsOfRule(
  count: number,
  words: readonly number[],
  { factor, addend }: RuleWords,
  rule: PointwiseRule,
): CutAxis & { readonly step: number } {
  const given = [
    { word: factor, rows: rule.factor?.count ?? 1 },
    { word: addend, rows: rule.addend?.count ?? 1 },
  ];
  const own = given.filter(({ rows }) => rows === count).map(({ word }) => word);
  // A slice begins with the first of the rows that are repeated.
  const repeated = given.map(({ rows }) => rows).filter((rows) => rows > 1 && rows < count);
  return { ...byRow(count, [...words, ...own]), step: repeated.reduce(leastCommonMultiple, 1) };
}

/** The axis of columns, in panels of so many. */
export function panelsOfRule(
  columns: number,
  words: readonly number[],
  { bias, factor, addend }: RuleWords,
  panel: number = PANEL,
): CutAxis {
  return {
    count: Math.ceil(columns / panel),
    views: [...words, bias, factor, addend].map((word) => [word, COLUMNS, panel]),
  };
}

function leastCommonMultiple(a: number, b: number): number {
  let multiple = a;
  while (multiple % b !== 0) multiple += a;
  return multiple;
}
