// Parameters of layers: a flat map from names as PyTorch writes them to numbers and shapes, and each layer's part of one.

import { showShape, showValue } from "../api/describe.js";
import { HeedError } from "../api/errors.js";
import { fromF16 } from "../api/f16.js";
import { product, readNumbers, readShape } from "../api/operands.js";
import { isOptions, isRecord } from "../api/read-values.js";
import { plainDType } from "../api/typed-array.js";
import type { Dims4, Resident } from "../backends/backend.js";
import type { LayerBackend } from "../backends/layer-backend.js";
import type { FileTensor } from "./io/load-safetensors.js";

/** The numbers of one parameter, row-major, and its shape. */
export interface ParameterTensor {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

/** A tensor that a parameter may be loaded from: one of a file's among them must be of floats if a layer needs it. */
export type ParameterInput = ParameterTensor | FileTensor;

/** By name: what safetensors files hold. */
export type ParameterMap = ReadonlyMap<string, ParameterInput>;

/** Before anyone has looked at what it holds. */
export type GivenParameters = ReadonlyMap<string, unknown>;

/** What `load` takes. */
export type ParameterSource = ParameterMap | Readonly<Record<string, ParameterInput>>;

/** How the kernels want a parameter: as it is, or as so many packed matrices one below the other. */
export type Form = "plain" | { readonly matrices: number };

/** One parameter of a layer: what it must be, what was loaded, and that in the engine's memory once it was needed. */
export class Parameter {
  readonly shape: readonly number[];
  readonly #form: Form;
  #value: ParameterTensor | null = null;
  #resident: Promise<Resident> | null = null;
  #backend: LayerBackend | null = null;

  constructor(shape: readonly number[], form: Form = "plain") {
    this.shape = shape;
    this.#form = form;
  }

  get value(): ParameterTensor | null {
    return this.#value;
  }

  /** What was read, if it is of this shape. */
  fitting(where: string, read: ParameterTensor): ParameterTensor {
    if (read.shape.length !== this.shape.length || read.shape.some((size, axis) => size !== this.shape[axis])) {
      throw new HeedError("shape", `${where} must be ${showShape(this.shape)}, got ${showShape(read.shape)}`);
    }
    return read;
  }

  /** To what fits, or to nothing. */
  set(value: ParameterTensor | null): void {
    this.#free();
    this.#value = value;
  }

  /** What was loaded, or a HeedError. */
  loaded(where: string): ParameterTensor {
    if (this.#value !== null) return this.#value;
    throw new HeedError("option", `${where} has not been loaded`);
  }

  /** In the engine's memory, where it stays until it is set again or disposed of. */
  async residentIn(backend: LayerBackend, where: string): Promise<Resident> {
    const value = this.loaded(where);
    this.#backend = backend;
    this.#resident ??= this.#place(backend, value);
    try {
      return await this.#resident;
    } catch (error) {
      this.#resident = null;
      throw error;
    }
  }

  /** Frees its place in the engine, which may let its memory go; it is put there again when it is needed again. */
  dispose(): void {
    this.#free((backend) => backend.rest());
  }

  #free(then?: (backend: LayerBackend) => void): void {
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

  async #place(backend: LayerBackend, { data }: ParameterTensor): Promise<Resident> {
    if (this.#form === "plain") return backend.core.upload(data);
    const { matrices } = this.#form;
    const [rows = 0, columns = 0] = this.shape;
    const outputs = rows / matrices;
    const shape: Dims4 = [1, matrices, outputs, columns];
    const strides: Dims4 = [0, outputs * columns, columns, 1];
    return backend.pack({
      source: { kind: "array", array: data },
      dtype: "f32",
      elements: data.length,
      shape,
      strides,
    });
  }
}

/** Parameters, each with what it is to be. */
export type Filling = Iterable<readonly [Parameter, ParameterTensor | null]>;

/** A parameter that someone gave, with as many numbers as its shape has. Floats are not copied, f16 is widened. */
export function readParameter(where: string, name: string, value: unknown): ParameterTensor {
  const called = `parameter ${name}`;
  if (!isRecord(value) || !("data" in value) || !("shape" in value)) {
    throw new HeedError("dtype", `${where}: ${called} must be { data, shape }, got ${showValue(value)}`);
  }
  const shape = readShape(where, called, value["shape"]);
  const numbers = readNumbers(where, called, value["data"], plainDType(value["dtype"]) === "f16" ? "f16" : "f32");
  const data = numbers instanceof Uint16Array ? fromF16(numbers) : numbers;
  if (data.length !== product(shape)) {
    throw new HeedError(
      "shape",
      `${where}: ${called} of shape ${showShape(shape)} must have ${product(shape)} elements, got ${data.length}`,
    );
  }
  return { data, shape };
}

/** Parameters by name, whichever way they came. */
export function readParameters(where: string, value: unknown, prefix: unknown): GivenParameters {
  if (typeof prefix !== "string") {
    throw new HeedError("option", `${where}: prefix must be a string, got ${showValue(prefix)}`);
  }
  if (isMap(value)) return value;
  if (isOptions(value)) return new Map(Object.entries(value));
  throw new HeedError("option", `${where}: parameters must be a Map or an object, got ${showValue(value)}`);
}

/** Of any realm. */
const isMap = (value: unknown): value is GivenParameters => Object.prototype.toString.call(value) === "[object Map]";

/** A parameter of that name, or a HeedError that names the nearest thing to it. */
export function requireParameter(where: string, parameters: GivenParameters, name: string): ParameterTensor {
  const found = parameters.get(name);
  if (found !== undefined) return readParameter(where, name, found);
  throw new HeedError("option", `${where}: parameter ${name} is missing among the ${parameters.size} that were given`);
}

/** Columns as rows: GPT-2's matrices lie as [in, out], Keras's likewise. */
export function transposed({ data, shape }: ParameterTensor): ParameterTensor {
  const [rows = 0, columns = 0] = shape;
  const swapped = new Float32Array(data.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) swapped[j * rows + i] = data[i * columns + j] ?? 0;
  return { data: swapped, shape: [columns, rows] };
}

/** Some rows of a parameter, from its first axis. */
export function rowsOf({ data, shape }: ParameterTensor, from: number, to: number): ParameterTensor {
  const [rows = 1, ...rest] = shape;
  const width = data.length / rows;
  return { data: data.subarray(from * width, to * width), shape: [to - from, ...rest] };
}
