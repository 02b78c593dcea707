// What the operations of a pass take: tensors of the pass, arrays, parameters, numbers, and promises of tensors.

import { product } from "../../api/operands.js";
import type { TensorInput } from "../../api/options.js";
import type { Tensor } from "../../api/tensor.js";
import type { Resident } from "../../backends/backend.js";
import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { isRecord } from "../../base/read-values.js";
import { isTypedArray, listOf, MOST_LISTED } from "../../base/typed-array.js";
import { copied } from "../../layers/affine.js";
import type { LayerParameter } from "../../layers/parameter-rule.js";
import { Parameter } from "../../layers/parameters.js";
import type { Scope } from "../../layers/scope.js";
import { vectorOf } from "../../operations/training/vectors.js";

/** A tensor of the pass, or of the engine; an array with its shape; a parameter of a layer; a number, whose shape is []. */
export type PassValue = TensorInput | LayerParameter | number | Promise<Tensor>;

/** The tensors that parameters are in a pass. */
const PARAMETERS = new WeakMap<Scope, Map<Parameter, Promise<Tensor>>>();

/** Brings values into the pass, arrays before this returns. Throws where one has no numbers. */
export async function bring<const V extends readonly unknown[]>(
  scope: Scope,
  where: string,
  names: readonly string[],
  values: V,
): Promise<{ [At in keyof V]: Tensor }> {
  const tensors = await Promise.all(values.map((value, at) => bringOne(scope, where, names[at] ?? "x", value)));
  return tensors as { [At in keyof V]: Tensor };
}

export async function bringOne(scope: Scope, where: string, name: string, given: unknown): Promise<Tensor> {
  const value = given instanceof Promise ? await given : given;
  if (value instanceof Parameter) {
    checkFilled(where, name, value);
    return parameterIn(scope, value);
  }
  const tensor = await (typeof value === "number" ? one(scope, where, name, value) : scope.take(where, name, value));
  checkFilled(where, name, tensor);
  return tensor;
}

function checkFilled(where: string, name: string, { shape }: { readonly shape: readonly number[] }): void {
  if (product(shape) > 0) return;
  throw new HeedError("shape", `${where}: ${name} must have a number at least, got ${showShape(shape)}`);
}

/** Gives a handler to promises, of which another argument's error may keep the call from waiting for them. */
export function handle(values: readonly unknown[]): void {
  for (const value of values) if (value instanceof Promise) value.catch(() => {});
}

/** A copy of options with the arrays in them, which the caller may change meanwhile. Promises in it have handlers. */
export function copyOf<T>(value: T, depth?: number): T;
export function copyOf(value: unknown, depth = 4): unknown {
  handle([value]);
  if (depth === 0 || !isRecord(value)) return value;
  const copy = (one: unknown): unknown => copyOf(one, depth - 1);
  if (isTypedArray(value)) return (value as unknown as Float32Array).slice();
  if (Array.isArray(value)) return listOf(value, MOST_LISTED, () => true)?.map(copy) ?? value;
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(value));
  return isPlain ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, copy(one)])) : value;
}

function one(scope: Scope, where: string, name: string, value: number): Tensor {
  if (Number.isNaN(value)) throw new HeedError("option", `${where}: ${name} must be a number, got NaN`);
  return scope.upload(Float32Array.of(value), []);
}

/** Its values as a tensor of the pass, to which all that reads it adds gradients. */
function parameterIn(scope: Scope, parameter: Parameter): Promise<Tensor> {
  const known = PARAMETERS.get(scope) ?? new Map<Parameter, Promise<Tensor>>();
  PARAMETERS.set(scope, known);
  const make = async (): Promise<Tensor> => {
    const resident = await scope.parameter(parameter, "heed/train: a parameter");
    return copied(scope, resident, parameter.shape, resident);
  };
  const tensor = known.get(parameter) ?? make();
  known.set(parameter, tensor);
  return tensor;
}

export function residentOf(scope: Scope, x: Tensor): Resident {
  return scope.rows(x).resident;
}

/** The same numbers in another shape. */
export function reshaped(scope: Scope, x: Tensor, shape: readonly number[]): Promise<Tensor> {
  return copied(scope, vectorOf(residentOf(scope, x)), shape);
}
