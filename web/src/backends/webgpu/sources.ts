// Where the numbers of a problem's operands are, seen as one: walked, copied, exchanged.

import { HeedError } from "../../api/errors.js";
import type { AttentionProblem, Operand, Resident, Source } from "../backend.js";

/** Every operand of a problem, with its name in messages. */
export function operandsOf({
  query,
  key,
  value,
  mask,
  bias,
  score,
}: AttentionProblem): readonly (readonly [string, Operand])[] {
  const { w, wq, wk, b, v, bandwidth } = score;
  const all = { query, key, value, mask, bias, ...scoreNames({ w, wq, wk, b, v, bandwidth }) };
  return Object.entries(all).flatMap(([name, operand]) => (operand === null ? [] : [[name, operand] as const]));
}

function scoreNames(parameters: Readonly<Record<string, Operand | null>>): Readonly<Record<string, Operand | null>> {
  return Object.fromEntries(Object.entries(parameters).map(([name, operand]) => [`score.${name}`, operand]));
}

export function residentsOf(problem: AttentionProblem): readonly Resident[] {
  return operandsOf(problem).flatMap(([, { source }]) => (source.kind === "resident" ? [source.resident] : []));
}

/** The same problem, its arrays copied: for one that has to wait while its caller may write on. */
export function snapshot(problem: AttentionProblem): AttentionProblem {
  return withSources(problem, (source) => {
    if (source.kind !== "array") return source;
    try {
      return { kind: "array", array: source.array.slice() };
    } catch (cause) {
      throw new HeedError("memory", `attention: no room for a copy of ${source.array.byteLength} bytes of inputs`, {
        cause,
      });
    }
  });
}

/** The same problem, its residents exchanged. */
export function withResidents(problem: AttentionProblem, exchanged: ReadonlyMap<Resident, Resident>): AttentionProblem {
  return withSources(problem, (source) => {
    const other = source.kind === "resident" ? exchanged.get(source.resident) : undefined;
    return other === undefined ? source : { kind: "resident", resident: other };
  });
}

function withSources(problem: AttentionProblem, change: (source: Source) => Source): AttentionProblem {
  const changed = (operand: Operand): Operand => ({ ...operand, source: change(operand.source) });
  const maybe = (operand: Operand | null): Operand | null => operand && changed(operand);
  const { query, key, value, mask, bias, score } = problem;
  return {
    ...problem,
    query: changed(query),
    key: changed(key),
    value: changed(value),
    mask: maybe(mask),
    bias: maybe(bias),
    score: {
      ...score,
      w: maybe(score.w),
      wq: maybe(score.wq),
      wk: maybe(score.wk),
      b: maybe(score.b),
      v: maybe(score.v),
      bandwidth: maybe(score.bandwidth),
    },
  };
}
