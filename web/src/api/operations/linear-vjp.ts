// The gradients of linear attention. Its states are computed again, so nothing is kept of a forward call.

import type { Backend } from "../../backends/backend.js";
import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guard, guardAsync } from "../../base/guard.js";
import { readRecord, throwIfAborted } from "../../base/read-values.js";
import { LINEAR_VJP, type LinearGradient } from "../../operations/linear-vjp.js";
import { operandOf, readF32, readTensor } from "../operands.js";
import { returned } from "../results.js";
import type { ArrayTensor, Tensor } from "../tensor.js";
import { checkLinear, LINEAR_OPTIONS, readState } from "./linear-attention.js";
import { readOptional, sameShape } from "./read-tensors.js";

type Gradient = ArrayTensor | Tensor;

interface Gradients {
  readonly query: Gradient;
  readonly key: Gradient;
  readonly value: Gradient;
  readonly decay: Gradient | undefined;
  readonly beta: Gradient | undefined;
  readonly initialState: Gradient | undefined;
}

export async function linearAttentionVjp(
  backend: Backend,
  tensors: readonly unknown[],
  options: unknown,
): Promise<Gradients> {
  const where = "linearAttentionVjp";
  const { problem, shapes, signal } = guard("option", `${where}: reading its arguments`, () =>
    check(where, backend, tensors, options),
  );
  throwIfAborted(where, signal);
  return guardAsync("memory", `${where}: computing`, async () => {
    const computed = await backend.run(LINEAR_VJP, problem, signal);
    const made = new Map(computed.map((one, at) => [problem.wanted[at], one]));
    const result = (name: LinearGradient): Gradient | undefined => {
      const one = made.get(name);
      return one && returned(backend, one, shapes.get(name) ?? []);
    };
    const must = (name: LinearGradient): Gradient => {
      const gradient = result(name);
      if (gradient === undefined) throw new TypeError(`the gradient of ${name} is missing`);
      return gradient;
    };
    return {
      query: must("query"),
      key: must("key"),
      value: must("value"),
      decay: result("decay"),
      beta: result("beta"),
      initialState: result("state"),
    };
  });
}

function check(where: string, backend: Backend, tensors: readonly unknown[], options: unknown) {
  const given = readRecord(where, "options", options, [...LINEAR_OPTIONS, "outputGradient", "finalStateGradient"]);
  const { problem: forward, shapes, signal } = checkLinear(where, backend, tensors, given);
  const outputGradient = readF32(where, "outputGradient", given["outputGradient"], backend);
  if (!sameShape(outputGradient.shape, shapes.output)) {
    const got = `got ${showShape(outputGradient.shape)}`;
    throw new HeedError(
      "shape",
      `${where}: outputGradient must have the output's shape, ${showShape(shapes.output)}, ${got}`,
    );
  }
  const finalState = readOptional(where, "finalStateGradient", given["finalStateGradient"], backend);
  // What was given, in the shapes in which gradients are returned.
  const optional = (["decay", "beta", "state"] as const).filter((name) => forward[name] !== null);
  const [query, key, value] = tensors;
  const all = { query, key, value, ...Object.fromEntries(optional.map((name) => [name, given[name]])) };
  const shapesOf = Object.entries(all).map(
    ([name, one]) => [name, readTensor(where, name, one, backend).shape] as const,
  );
  return {
    problem: {
      forward,
      outputGradient: operandOf(outputGradient, forward.output),
      newStateGradient: readState(where, "finalStateGradient", finalState, {
        view: forward.newState.shape,
        own: shapes.state,
      }),
      wanted: ["query", "key", "value", ...optional] as const,
    },
    shapes: new Map<string, readonly number[]>(shapesOf),
    signal,
  };
}
