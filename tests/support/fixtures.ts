// Layers and models as PyTorch computed them: tests/fixtures has the scripts that made them.

import { readFileSync } from "node:fs";
import type { ParameterTensor } from "../../web/src/layers/index.js";

export interface PackedTensor {
  readonly shape: readonly number[];
  /** Little-endian floats in base64. */
  readonly data: string;
}

export interface PackedCase {
  readonly parameters: Readonly<Record<string, PackedTensor>>;
  readonly inputs: Readonly<Record<string, PackedTensor>>;
  readonly outputs: Readonly<Record<string, PackedTensor>>;
}

export interface LayerCase {
  readonly parameters: ReadonlyMap<string, ParameterTensor>;
  readonly inputs: (name: string) => ParameterTensor;
  readonly outputs: (name: string) => ParameterTensor;
}

export const readFixture = (name: string): Readonly<Record<string, unknown>> =>
  JSON.parse(readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8"));

export function unpack({ shape, data }: PackedTensor): ParameterTensor {
  const bytes = Uint8Array.from(Buffer.from(data, "base64"));
  return { data: new Float32Array(bytes.buffer), shape };
}

export const unpackAll = (tensors: Readonly<Record<string, PackedTensor>>): Map<string, ParameterTensor> =>
  new Map(Object.entries(tensors).map(([name, tensor]) => [name, unpack(tensor)]));

export function unpackCase({ parameters, inputs, outputs }: PackedCase): LayerCase {
  return { parameters: unpackAll(parameters), inputs: getter(unpackAll(inputs)), outputs: getter(unpackAll(outputs)) };
}

const getter =
  (tensors: ReadonlyMap<string, ParameterTensor>) =>
  (name: string): ParameterTensor => {
    const found = tensors.get(name);
    if (found === undefined) throw new Error(`no tensor ${name}`);
    return found;
  };

/**
 * The largest difference in units of the f32 error: fixtures are computed in double precision and rounded once. A chain of
 * `depth` sums of at most 24 products of numbers of size 1 to 4 each passes its error on; `share` counts them in 2^-24.
 */
export function worstDifference(
  got: { readonly data: Float32Array; readonly shape: readonly number[] } | undefined,
  wanted: ParameterTensor,
  depth: number,
): number {
  if (String(got?.shape) !== String(wanted.shape)) return Number.POSITIVE_INFINITY;
  const share = 32 * 2 ** -24 * depth;
  let worst = 0;
  for (const [at, number] of wanted.data.entries()) {
    const error = Math.abs((got?.data[at] ?? Number.NaN) - number) / (share * Math.max(1, Math.abs(number)));
    worst = error >= 0 ? Math.max(worst, error) : Number.POSITIVE_INFINITY;
  }
  return worst;
}
