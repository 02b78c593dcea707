// Parameters of layers: a flat map from PyTorch's names to arrays with shapes, and the parameters of one layer.

import { showShape, showValue } from "../api/describe.js";
import { HeedError } from "../api/errors.js";
import { fromF16 } from "../api/f16.js";
import { product, readNumbers, readShape } from "../api/operands.js";
import { isOptions, isRecord } from "../api/read-values.js";
import { plainDType } from "../api/typed-array.js";
import type { Backend, Dims4, Operand, Resident, Source } from "../backends/backend.js";
import { PACK } from "../operations/affine.js";
import type { FileTensor } from "./io/load-safetensors.js";
import { isMap } from "./io/save-safetensors.js";
import { rest } from "./passes.js";
import type { Variable } from "./variable.js";

/** The numbers of one parameter, row-major, and its shape. */
export interface ParameterTensor {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

/** A tensor from which a parameter may be loaded. One of a file must be f32 or f16 if a layer needs it. */
export type ParameterInput = ParameterTensor | FileTensor;

/** Parameters by name, as in safetensors files. */
export type ParameterMap = ReadonlyMap<string, ParameterInput>;

/** The same, unchecked. */
export type GivenParameters = ReadonlyMap<string, unknown>;

/** The parameters of one `load`. f16 numbers are widened once for all that share them, because parameters are tied by sharing an array. */
class OfOneLoad extends Map<string, unknown> {
  readonly #widened: { readonly f16: Uint16Array; readonly f32: Float32Array }[] = [];

  widen(f16: Uint16Array): Float32Array {
    const isIt = ({ f16: { buffer, byteOffset, length } }: { readonly f16: Uint16Array }): boolean =>
      buffer === f16.buffer && byteOffset === f16.byteOffset && length === f16.length;
    const known = this.#widened.find(isIt);
    const f32 = known?.f32 ?? fromF16(f16);
    if (known === undefined) this.#widened.push({ f16, f32 });
    return f32;
  }
}

/** The argument of `load`. */
export type ParameterSource = ParameterMap | Readonly<Record<string, ParameterInput>>;

/** How kernels read a parameter: as it is, or as so many packed matrices, which are stacked along its first axis. */
export type ParameterLayout = "plain" | { readonly matrices: number };

/** One parameter of a layer: its shape, the tensor that was loaded, and the resident, which is made when it is first needed. */
export class Parameter {
  readonly shape: readonly number[];
  readonly layout: ParameterLayout;
  #value: ParameterTensor | null = null;
  #resident: Promise<Resident> | null = null;
  #backend: Backend | null = null;
  #variable: Variable | null = null;
  /** The version of the variable of which the resident was made. */
  #version = 0;
  /** Whether it keeps its values where others learn. */
  isFrozen = false;

  constructor(shape: readonly number[], layout: ParameterLayout = "plain") {
    this.shape = shape;
    this.layout = layout;
  }

  get value(): ParameterTensor | null {
    return this.#value;
  }

  /** Returns the tensor, or throws unless it has the parameter's shape. */
  fitting(where: string, read: ParameterTensor): ParameterTensor {
    if (read.shape.length !== this.shape.length || read.shape.some((size, axis) => size !== this.shape[axis])) {
      throw new HeedError("shape", `${where} must be ${showShape(this.shape)}, got ${showShape(read.shape)}`);
    }
    return read;
  }

  /** Takes a tensor of the right shape, or null for none. */
  set(value: ParameterTensor | null): void {
    this.#free();
    this.#variable?.dispose();
    this.#variable = null;
    this.#value = value;
  }

  /** Its values, where they learn. */
  get variable(): Variable | null {
    return this.#variable;
  }

  /** Begins to learn: the variable's values are its own from now on. */
  learn(variable: Variable): void {
    this.#free();
    this.#variable = variable;
  }

  /** The loaded tensor. Throws a HeedError where there is none. */
  loaded(where: string): ParameterTensor {
    if (this.#value !== null) return this.#value;
    throw new HeedError("option", `${where} has not been loaded`);
  }

  /** The parameter in the engine's memory, where it stays until it is set again or disposed of. */
  async residentIn(backend: Backend, where: string): Promise<Resident> {
    const value = this.loaded(where);
    const variable = this.#variable;
    if (variable !== null) {
      if (variable.backend !== backend.root) {
        throw new HeedError("option", `${where} has learnt on another engine: a part needs that of its model`);
      }
      if (this.layout === "plain") return variable.value;
      if (this.#version !== variable.version) this.#free();
      this.#version = variable.version;
    }
    this.#backend = backend;
    this.#resident ??= this.#upload(backend, value);
    try {
      return await this.#resident;
    } catch (error) {
      this.#resident = null;
      throw error;
    }
  }

  /** Frees it in the engine, which may then free its whole memory. What was loaded is uploaded again when it is next needed; what was learnt is lost. */
  dispose(): void {
    const variable = this.#variable;
    this.#variable = null;
    variable?.dispose();
    if (variable !== null) rest(variable.backend);
    this.#free((backend) => rest(backend.root));
  }

  #free(then?: (backend: Backend) => void): void {
    const backend = this.#backend;
    this.#resident?.then(
      (resident) => {
        backend?.free(resident);
        if (backend !== null) then?.(backend);
      },
      () => {},
    );
    this.#resident = null;
  }

  async #upload(backend: Backend, { data }: ParameterTensor): Promise<Resident> {
    const { root } = backend;
    if (this.layout === "plain") return root.upload(data);
    const learnt = this.#variable?.backend === root ? this.#variable.value : null;
    const source = learnt === null ? ({ kind: "array", array: data } as const) : residentSource(learnt);
    const [packed] = await root.run(PACK, this.matrices(source), null);
    if (packed?.kind !== "resident") throw new TypeError("packed matrices stay in the engine");
    return packed.resident;
  }

  /** Its matrices, as PACK takes them. */
  matrices(source: Source): Operand {
    const matrices = this.layout === "plain" ? 1 : this.layout.matrices;
    const [rows = 0, columns = 0] = this.shape;
    const outputs = rows / matrices;
    const shape: Dims4 = [1, matrices, outputs, columns];
    return { source, dtype: "f32", elements: rows * columns, shape, strides: [0, outputs * columns, columns, 1] };
  }
}

export function residentSource(resident: Resident): Source {
  return { kind: "resident", resident };
}

/** Parameters with their new values. */
export type Filling = Iterable<readonly [Parameter, ParameterTensor | null]>;

/** Checks a parameter. f32 is not copied, f16 is widened. */
function readParameter(
  where: string,
  name: string,
  value: unknown,
  widen: (f16: Uint16Array) => Float32Array,
): ParameterTensor {
  const called = `parameter ${name}`;
  if (!isRecord(value) || !("data" in value) || !("shape" in value)) {
    throw new HeedError("dtype", `${where}: ${called} must be { data, shape }, got ${showValue(value)}`);
  }
  const shape = readShape(where, called, value["shape"]);
  const numbers = readNumbers(where, called, value["data"], plainDType(value["dtype"]) === "f16" ? "f16" : "f32");
  const data = numbers instanceof Uint16Array ? widen(numbers) : numbers;
  if (data.length !== product(shape)) {
    throw new HeedError(
      "shape",
      `${where}: ${called} of shape ${showShape(shape)} must have ${product(shape)} elements, got ${data.length}`,
    );
  }
  return { data, shape };
}

/** Parameters by name, from a Map or an object. */
export function readParameters(where: string, value: unknown, prefix: unknown): GivenParameters {
  if (typeof prefix !== "string") {
    throw new HeedError("option", `${where}: prefix must be a string, got ${showValue(prefix)}`);
  }
  if (isMap(value)) return new OfOneLoad(value as GivenParameters);
  if (isOptions(value)) return new OfOneLoad(Object.entries(value));
  throw new HeedError("option", `${where}: parameters must be a Map or an object, got ${showValue(value)}`);
}

/** The parameter of that name. Throws a HeedError where it is missing. */
export function requireParameter(where: string, parameters: GivenParameters, name: string): ParameterTensor {
  const found = parameters.get(name);
  const widen = parameters instanceof OfOneLoad ? parameters.widen.bind(parameters) : fromF16;
  if (found !== undefined) return readParameter(where, name, found, widen);
  throw new HeedError("option", `${where}: parameter ${name} is missing among the ${parameters.size} that were given`);
}

/** The transpose, for the matrices of GPT-2 and Keras, which are [in, out]. */
export function transposed({ data, shape }: ParameterTensor): ParameterTensor {
  const [rows = 0, columns = 0] = shape;
  const swapped = new Float32Array(data.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) swapped[j * rows + i] = data[i * columns + j] ?? 0;
  return { data: swapped, shape: [columns, rows] };
}

/** Rows of a parameter, along its first axis. */
export function rowsOf({ data, shape }: ParameterTensor, from: number, to: number): ParameterTensor {
  const [rows = 1, ...rest] = shape;
  const width = data.length / rows;
  return { data: data.subarray(from * width, to * width), shape: [to - from, ...rest] };
}
