// Whether the parameters of a model fit into the memory of an engine, before any of them is read.

import { product } from "../api/operands.js";
import { PANEL } from "../backends/wasm/generated/operation-calls.js";
import { HeedError } from "../base/errors.js";
import { MAX_BLOCK_BYTES } from "../memory/arena.js";
import type { ParameterTensor } from "./formats/stored.js";
import { formatIn } from "./model-description.js";
import { isPlain, type Parameter } from "./parameters.js";
import { packedBytes, StoredNumbers } from "./stored-numbers.js";
import type { Taken, Weights } from "./taking.js";

/** What an engine of 2 GiB has for parameters: passes need the rest. */
const ROOM = MAX_BLOCK_BYTES - 2 ** 26;

/** Formats to be recommended, the most exact first. */
const NARROWER: readonly Weights[] = ["f16", "int8", "int4"];

export function assertRoom(where: string, taken: readonly Taken[]): void {
  const loaded = taken.flatMap(([parameter, value]) => (value === null ? [] : [[parameter, value] as const]));
  const needed = sumOf(
    new Map(loaded.map(([parameter, value]) => [keyOf(parameter, value), bytesFor(parameter, value)])),
  );
  const bytesAs = (weights: Weights): number =>
    sumOf(new Map(loaded.map(([parameter, value]) => [placeOf(value), bytesIn(parameter, weights)])));
  assertBytes(where, needed, () => remedyOf(bytesAs));
}

/** Throws where parameters of so many bytes do not fit into an engine. `remedy` tells what would. */
export function assertBytes(where: string, needed: number, remedy: () => string): void {
  if (needed <= ROOM) return;
  const rule = `the parameters must fit into ${gigabytes(ROOM)} of an engine's memory`;
  throw new HeedError("memory", `${where}: ${rule}, and take ${gigabytes(needed)}: ${remedy()}`);
}

/** Those of some formats that would fit, of which `bytesIn` tells the bytes. */
export function remedyOf(bytesIn: (weights: Weights) => number, formats: readonly Weights[] = NARROWER): string {
  const fitting = formats.flatMap((weights) => {
    const bytes = bytesIn(weights);
    return bytes <= ROOM ? [`"${weights}" takes ${gigabytes(bytes)}`] : [];
  });
  return fitting.length > 0 ? `as option weights, ${fitting.join(", ")}` : "no format of weights is small enough";
}

/** Parameters that are tied share what is packed in a format of weights, but not what is f32. */
const keyOf = (parameter: Parameter, value: ParameterTensor | StoredNumbers): unknown =>
  value instanceof StoredNumbers ? value : parameter;

const placeOf = (value: ParameterTensor | StoredNumbers): unknown =>
  value instanceof StoredNumbers ? value : value.data;

function bytesFor(parameter: Parameter, value: ParameterTensor | StoredNumbers): number {
  return value instanceof StoredNumbers ? value.packedBytes : floatBytes(parameter);
}

function bytesIn(parameter: Parameter, weights: Weights): number {
  const format = formatIn(parameter, weights);
  return format === "f32" ? floatBytes(parameter) : packedBytes(format, parameter.sizes());
}

function floatBytes(parameter: Parameter): number {
  const { count, outputs, inputs } = parameter.sizes();
  const elements = isPlain(parameter.layout)
    ? product(parameter.shape)
    : count * Math.ceil(outputs / PANEL) * PANEL * inputs;
  return elements * Float32Array.BYTES_PER_ELEMENT;
}

const sumOf = (bytes: ReadonlyMap<unknown, number>): number => [...bytes.values()].reduce((sum, one) => sum + one, 0);

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(2)} GB`;
