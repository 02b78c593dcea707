// An operation of the caller's, in JavaScript, on arrays.

import { product, readTensor } from "../../api/operands.js";
import type { TensorLike } from "../../api/options.js";
import type { ArrayTensor, Tensor } from "../../api/tensor.js";
import type { Resident } from "../../backends/backend.js";
import { showShape, showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { fromF16 } from "../../base/f16.js";
import { guardAsync } from "../../base/guard.js";
import type { Scope } from "../../layers/scope.js";
import type { Recorded } from "../../layers/tape.js";
import { operandOf } from "../../operations/rows.js";
import { vectorOf } from "../../operations/training/vectors.js";
import { residentOf } from "./values.js";

/** What `backward` is given. */
export interface ApplyGradients {
  readonly inputs: readonly ArrayTensor[];
  readonly output: ArrayTensor;
  /** Of the loss in the output. */
  readonly gradient: ArrayTensor;
}

/** An operation of one's own: its result, and its gradients. */
export interface ApplyFunctions {
  /** Computes the result. It must not change the arrays. */
  readonly forward: (inputs: readonly ArrayTensor[]) => TensorLike | Promise<TensorLike>;
  /** Computes the gradients of the inputs, in their order and shapes; undefined: none goes through an input. */
  readonly backward: (
    given: ApplyGradients,
  ) => readonly (Float32Array | TensorLike | undefined)[] | Promise<readonly (Float32Array | TensorLike | undefined)[]>;
}

export interface ApplyProblem {
  readonly where: string;
  readonly inputs: readonly { readonly resident: Resident; readonly tensor: ArrayTensor }[];
  readonly output: ArrayTensor;
  readonly backward: ApplyFunctions["backward"];
}

/** It is recorded, and run by nobody but the caller. */
export const APPLY: Recorded<ApplyProblem> = {
  name: "apply",
  pack({ inputs }, builder) {
    for (const [at, { resident }] of inputs.entries()) builder.input(at, operandOf(vectorOf(resident)));
  },
};

export async function apply(
  scope: Scope,
  where: string,
  tensors: readonly Tensor[],
  { forward, backward }: ApplyFunctions,
): Promise<Tensor> {
  const inputs: ApplyProblem["inputs"][number][] = [];
  for (const tensor of tensors) {
    const read = { data: await tensor.read(), shape: tensor.shape, dtype: "f32" } as const;
    inputs.push({ resident: residentOf(scope, tensor), tensor: read });
  }
  // What it changes although it must not stays its own.
  const copies = inputs.map(({ tensor }) => ({ ...tensor, data: tensor.data.slice() }));
  const returned = await guardAsync("option", `${where}: forward`, async () => forward(copies));
  const { data, shape } = readArray(where, "the result of forward", returned);
  const made = scope.upload(data, shape);
  const problem = { where, inputs, output: { data, shape, dtype: "f32" } as const, backward };
  scope.tape?.record({
    operation: APPLY,
    problem,
    reads: inputs.map(({ resident }) => resident),
    made: [residentOf(scope, made)],
    parameters: [],
  });
  return made;
}

/** The gradients that the caller's function gives, checked; null: none. */
export async function applyBackward(
  { where, inputs, output, backward }: ApplyProblem,
  gradient: Float32Array,
): Promise<readonly (Float32Array | null)[]> {
  const given = { inputs: inputs.map(({ tensor }) => tensor), output };
  const made: unknown = await guardAsync("option", `${where}: backward`, async () => {
    return backward({ ...given, gradient: { ...output, data: gradient } });
  });
  if (!Array.isArray(made) || made.length !== inputs.length) {
    const rule = `backward must give ${inputs.length} gradients in an array, one an input`;
    throw new HeedError("option", `${where}: ${rule}, got ${showValue(made)}`);
  }
  return inputs.map(({ tensor: { shape } }, at) => {
    const one: unknown = made[at];
    if (one === undefined) return null;
    const name = `gradient ${at} of backward`;
    const { data, shape: own } = readArray(where, name, one instanceof Float32Array ? { data: one, shape } : one);
    if (own.join() === shape.join()) return data;
    throw new HeedError("shape", `${where}: ${name} must be ${showShape(shape)}, got ${showShape(own)}`);
  });
}

/** A copy of an array of the caller's. */
function readArray(where: string, name: string, value: unknown): { data: Float32Array; shape: readonly number[] } {
  const { source, shape } = readTensor(where, name, value, null);
  if (source.kind !== "array" || source.array instanceof Uint8Array) throw new TypeError("numbers were read");
  if (product(shape) === 0) throw new HeedError("shape", `${where}: ${name} must have a number at least`);
  return { data: source.array instanceof Uint16Array ? fromF16(source.array) : source.array.slice(), shape };
}
