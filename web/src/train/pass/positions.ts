// Linear attention and rotary embedding in a pass, by the engine's functions for them, which are loaded at the first call of one.

import { Tensor } from "../../api/tensor.js";
import type { Backend, Computed, Operation, Resident } from "../../backends/backend.js";
import type { Scope } from "../../layers/scope.js";
import { rope as ropeAdjoint } from "../adjoints/rope.js";
import type { Adjoint, BackwardStep } from "../backward-step.js";
import { residentOf } from "./values.js";

/** The operations are not the table's: the bundle has copies of them beside the functions. */
type Recorded<P extends object> = Operation<P> & { readonly adjoint: Adjoint<never> };

/** A backend whose calls are those of the pass. What it makes stays until the pass ends. */
function passBackend(scope: Scope, adjoint: Adjoint<never>): Backend {
  const made = new Map<Resident, Tensor>();
  const run = async <P extends object>(operation: Operation<P>, problem: P): Promise<readonly Computed[]> => {
    const recorded: Recorded<P> = { ...operation, adjoint };
    const tensors = await scope.run(recorded, problem, []);
    return tensors.map((tensor) => {
      const resident = residentOf(scope, tensor);
      made.set(resident, tensor);
      return { kind: "resident", resident };
    });
  };
  const download = (resident: Resident): Promise<Float32Array> | undefined => made.get(resident)?.read();
  return { root: scope.backend.root, run, download, free: () => {} } as unknown as Backend;
}

/** The same on the way back. */
function stepBackend(scope: Scope, step: BackwardStep<object>): Backend {
  const run = async <P extends object>(operation: Operation<P>, problem: P): Promise<readonly Computed[]> =>
    (await step.run(operation, problem)).map((resident) => ({ kind: "resident", resident }));
  return { root: scope.backend.root, run, free: () => {} } as unknown as Backend;
}

/** `options`: those of `linearAttention`, with tensors of the pass. */
export async function linearAttention(
  scope: Scope,
  tensors: readonly [Tensor, Tensor, Tensor],
  options: { readonly decay?: unknown; readonly beta?: unknown; readonly state?: unknown },
): Promise<{ readonly output: Tensor; readonly state: Tensor }> {
  const given = { ...options, keep: true };
  const shapes: (readonly number[])[] = [];
  const adjoint = async (step: BackwardStep<object>): Promise<void> => {
    const { linearAttentionVjp } = await import("../../api/operations/linear-vjp.js");
    const backend = stepBackend(scope, step);
    const gradientOf = (at: number): Tensor => {
      const [made, gradient] = [step.made[at], step.gradients[at]];
      const resident = gradient ?? step.upload(new Float32Array(made?.elements ?? 0));
      return new Tensor(backend, resident, shapes[at] ?? []);
    };
    const [outputGradient, finalStateGradient] = [gradientOf(0), gradientOf(1)];
    const made = await linearAttentionVjp(backend, tensors, { ...given, outputGradient, finalStateGradient });
    const { initialState: state, decay, beta } = made;
    const [q, k, v] = tensors;
    const all = [
      [q, made.query],
      [k, made.key],
      [v, made.value],
      [given.decay, decay],
      [given.beta, beta],
      [given.state, state],
    ] as const;
    for (const [x, gradient] of all) {
      if (Tensor.is(x) && Tensor.is(gradient)) await step.give(residentOf(scope, x), residentOf(scope, gradient));
    }
  };
  const { linearAttention: run } = await import("../../api/operations/linear-attention.js");
  const { output, state } = await run(passBackend(scope, adjoint), tensors, given);
  if (!Tensor.is(output) || !Tensor.is(state)) throw new TypeError("what is kept is a tensor");
  shapes.push(output.shape, state.shape);
  return { output, state };
}

/** `options`: those of `rope`. */
export async function rope(scope: Scope, x: Tensor, options: object): Promise<Tensor> {
  const { rope: run } = await import("../../api/operations/rope.js");
  const made = await run(passBackend(scope, ropeAdjoint as Adjoint<never>), [x], { ...options, keep: true });
  if (!Tensor.is(made)) throw new TypeError("what is kept is a tensor");
  return made;
}
