// Which operations the GPU computes, and how. support.ts says why it leaves the others to WebAssembly.

import { ATTENTION } from "../../operations/attention.js";
import { ROPE, type RopeProblem } from "../../operations/rope.js";
import type { AttentionProblem, Operation } from "../backend.js";
import { type Choice, choose } from "./choose.js";
import { type Costs, isSoonerThanAnyOnGpu } from "./costs.js";
import type { Given } from "./gpu-call.js";
import { residentsOf } from "./operands.js";
import type { Machine } from "./plan.js";
import { givenOf, planRope } from "./plan-rope.js";
import { RopeAngleCache } from "./rope-angles.js";
import { UNSUPPORTED, unsupported } from "./support.js";

/** How an operation runs on the GPU. */
export interface Planner<P extends object> {
  /** Whether wasm computes it in less time than comparing costs takes, if no tensor lives on the GPU. */
  isForWasm(problem: P, costs: Costs): boolean;
  /** Without costs it runs on the GPU if it can. */
  choose(problem: P, machine: Machine, costs: Costs | null): Choice;
  /** The operands by the buffers that hold them. */
  givenOf(problem: P): Given;
}

const attention: Planner<AttentionProblem> = {
  isForWasm: (problem, costs) => isSoonerThanAnyOnGpu(costs, problem) && unsupported(problem).length === 0,
  choose,
  givenOf: (problem) => problem,
};

/** It does little with each number, so moving the input would take longer: with costs it runs where that is. */
function rope(): Planner<RopeProblem> {
  const angles = new RopeAngleCache();
  return {
    isForWasm: () => true,
    choose(problem, machine, costs) {
      const isHere = residentsOf({ input: problem.input }).some(({ buffer }) => buffer !== undefined);
      if (costs !== null && !isHere) return { backend: "wasm", reasons: [], plan: null, isFallback: false };
      const plan = planRope(problem, angles.of(problem), machine);
      const { tooLarge } = plan;
      if (tooLarge === null && problem.input.elements > 0)
        return { backend: "webgpu", reasons: [], plan, isFallback: false };
      const why = tooLarge === null ? UNSUPPORTED.size.none : `too large for the GPU: ${tooLarge}`;
      return { backend: "wasm", reasons: [`rope runs on wasm: ${why}`], plan: null, isFallback: true };
    },
    givenOf,
  };
}

/** The planners of an engine, by the names of operations: each entry of the package may have records of its own. */
export class Planners {
  readonly #all: Readonly<Record<string, Planner<never>>> = { [ATTENTION.name]: attention, [ROPE.name]: rope() };

  /** Undefined: it runs on wasm. */
  of<P extends object>({ name }: Operation<P>): Planner<P> | undefined {
    // The problems of operations with one name have one type.
    return this.#all[name] as Planner<P> | undefined;
  }
}
