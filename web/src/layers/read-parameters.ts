// Reads parameters of the caller: flat maps from PyTorch's names to tensors, in f32 or as they are stored.

import { product, readNumbers, readShape } from "../api/operands.js";
import { showShape, showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isOptions, isRecord } from "../base/read-values.js";
import { isUint8Array, isUint16Array, plainBytes, plainDType, plainF16 } from "../base/typed-array.js";
import type { Format } from "./formats/format.js";
import { type AnyTensor, bytesOf, floatsOf, type ParameterTensor, type StoredTensor } from "./formats/stored.js";
import { FORMATS, formatNamed } from "./formats/table.js";
import type { FileTensor } from "./io/load-safetensors.js";
import { isMap } from "./io/save-safetensors.js";
import type { Parameter } from "./parameters.js";
import { type LoadableTensor, PendingTensor } from "./pending-tensor.js";

/** A tensor from which a parameter may be loaded. One of a file must be f32, f16 or bf16 if a layer needs it. */
export type ParameterInput = ParameterTensor | FileTensor | StoredTensor;

/** Parameters by name, as in safetensors files. */
export type ParameterMap = ReadonlyMap<string, ParameterInput>;

/** The same, unchecked. */
export type GivenParameters = ReadonlyMap<string, unknown>;

/** The argument of `load`. */
export type ParameterSource = ParameterMap | Readonly<Record<string, ParameterInput>>;

/** Parameters with their new values. */
export type Filling = Iterable<readonly [Parameter, LoadableTensor | null]>;

/** Checks a parameter, of which nothing is copied. */
export function readParameter(where: string, name: string, value: unknown): AnyTensor {
  const called = `parameter ${name}`;
  if (!isRecord(value) || !("data" in value) || !("shape" in value)) {
    throw new HeedError("dtype", `${where}: ${called} must be { data, shape }, got ${showValue(value)}`);
  }
  const shape = readShape(where, called, value["shape"]);
  const tensor = readData(where, called, value, shape);
  const { data } = tensor;
  const format = FORMATS["format" in tensor ? tensor.format : "f32"];
  const bytes = bytesOf(format.name, product(shape));
  const isWhole = format.numbers === 1 || (shape.at(-1) ?? 1) % format.numbers === 0;
  if (isWhole && data.byteLength === bytes) return tensor;
  if (format.numbers === 1) {
    throw new HeedError(
      "shape",
      `${where}: ${called} of shape ${showShape(shape)} must have ${product(shape)} elements, got ${data.length}`,
    );
  }
  const rule = isWhole ? `must have ${bytes} bytes` : `must have rows with a multiple of ${format.numbers} numbers`;
  const got = isWhole ? data.byteLength : showShape(shape);
  throw new HeedError(
    "shape",
    `${where}: ${called} of shape ${showShape(shape)} in ${format.name} ${rule}, got ${got}`,
  );
}

function readData(
  where: string,
  called: string,
  value: Readonly<Record<string, unknown>>,
  shape: readonly number[],
): AnyTensor {
  const dtype = plainDType(value["dtype"]);
  const { data } = value;
  const named = value["format"] ?? (dtype === "bf16" && isUint16Array(data) ? dtype : undefined);
  const format = named === undefined ? undefined : formatNamed(named);
  if (named !== undefined && format === undefined) {
    const known = Object.keys(FORMATS).join(", ");
    throw new HeedError("dtype", `${where}: ${called} must be of a format among ${known}, got ${showValue(named)}`);
  }
  if (format !== undefined && format.name !== "f32" && format.name !== "f16") {
    return { data: readBits(where, called, data, format), shape, format: format.name };
  }
  const isF16 = format === undefined ? dtype === "f16" : format.name === "f16";
  const numbers = readNumbers(where, called, data, isF16 ? "f16" : "f32");
  return numbers instanceof Uint16Array ? { data: numbers, shape, format: "f16" } : { data: numbers, shape };
}

function readBits(where: string, called: string, data: unknown, { name }: Format): Uint16Array | Uint8Array {
  if (name === "bf16" && isUint16Array(data)) return plainF16(data);
  if (name !== "bf16" && isUint8Array(data)) return plainBytes(data);
  const wanted = name === "bf16" ? "a Uint16Array of the bits" : "a Uint8Array of the blocks";
  throw new HeedError("dtype", `${where}: ${called} in ${name} must have data in ${wanted}, got ${showValue(data)}`);
}

/** Parameters by name, from a Map or an object. */
export function readParameters(where: string, value: unknown, prefix: unknown): GivenParameters {
  if (typeof prefix !== "string") {
    throw new HeedError("option", `${where}: prefix must be a string, got ${showValue(prefix)}`);
  }
  if (isMap(value)) return value as GivenParameters;
  if (isOptions(value)) return new Map(Object.entries(value));
  throw new HeedError("option", `${where}: parameters must be a Map or an object, got ${showValue(value)}`);
}

/** The parameter of that name. Throws a HeedError where it is missing. */
export function requireParameter(where: string, parameters: GivenParameters, name: string): AnyTensor {
  const found = parameters.get(name);
  if (found !== undefined) return readParameter(where, name, found);
  throw new HeedError("option", `${where}: parameter ${name} is missing among the ${parameters.size} that were given`);
}

/** The parameter of that name, which may be still to come. */
export function requireLoadable(where: string, parameters: GivenParameters, name: string): LoadableTensor {
  const found = parameters.get(name);
  return found instanceof PendingTensor ? found : requireParameter(where, parameters, name);
}

/** The same in f32. */
export function requireFloats(where: string, parameters: GivenParameters, name: string): ParameterTensor {
  return floatsOf(requireParameter(where, parameters, name));
}
