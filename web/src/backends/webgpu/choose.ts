// Decides where a call runs, and says why. A call runs on the GPU if the GPU supports it, has room for it, and is expected to be faster. Pure.

import type { AttentionProblem, Explanation } from "../backend.js";
import { type Costs, gpuTime, wasmTime } from "./costs.js";
import type { Machine, Plan } from "./plan.js";
import { planAttention } from "./plan-attention.js";
import { unsupported } from "./support.js";

export interface Choice extends Explanation {
  /** Null for a call that runs on wasm. */
  readonly plan: Plan | null;
  /** The GPU was asked for and cannot compute the call. */
  readonly isFallback: boolean;
}

/** Without `costs` every call that the GPU supports runs there. */
export function choose(problem: AttentionProblem, machine: Machine, costs: Costs | null): Choice {
  const refusals = unsupported(problem);
  if (refusals.length > 0) return { backend: "wasm", reasons: refusals, plan: null, isFallback: true };
  if (costs !== null) {
    const [gpu, wasm] = [gpuTime(costs, problem), wasmTime(costs, problem)];
    const reason = `about ${gpu.toFixed(2)} ms on the GPU and ${wasm.toFixed(2)} ms on wasm, as measured on this machine`;
    if (gpu >= wasm) return { backend: "wasm", reasons: [reason], plan: null, isFallback: false };
    return onGpu(problem, machine, reason);
  }
  return onGpu(problem, machine, 'backend "webgpu" was asked for');
}

function onGpu(problem: AttentionProblem, machine: Machine, reason: string): Choice {
  const plan = planAttention(problem, machine);
  if (plan.tooLarge === null) return { backend: "webgpu", reasons: [reason], plan, isFallback: false };
  return { backend: "wasm", reasons: [`too large for the GPU: ${plan.tooLarge}`], plan: null, isFallback: true };
}
