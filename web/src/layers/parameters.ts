// Parameters of layers: a flat map from PyTorch's names to arrays with shapes, and the parameters of one layer.

import { product, readNumbers, readShape } from "../api/operands.js";
import type { Backend, Dims4, Operand, Resident, RootBackend, Source } from "../backends/backend.js";
import { showShape, showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { fromF16 } from "../base/f16.js";
import { isOptions, isRecord } from "../base/read-values.js";
import { plainDType } from "../base/typed-array.js";
import { type MatrixSizes, PACK, unpacked } from "../operations/affine.js";
import type { Rows } from "../operations/rows.js";
import type { FileTensor } from "./io/load-safetensors.js";
import { isMap } from "./io/save-safetensors.js";
import { type Keeper, Numbers } from "./numbers.js";
import { releaseModule } from "./passes.js";
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

/** In messages, where the name of a parameter is not known. */
const WHERE = "heed/layers: a parameter";

/** A parameter in the engine's memory, as one row of all its numbers. */
export interface ResidentParameter extends Rows {
  readonly parameter: Parameter;
}

/** A resident that is on its way, or there. */
interface Upload {
  readonly making: Promise<Resident>;
  resident: Resident | null;
}

/** One parameter of a layer: its shape, its numbers, and the residents that are made of them when they are first needed. */
export class Parameter implements Keeper {
  readonly shape: readonly number[];
  readonly layout: ParameterLayout;
  readonly #self = new WeakRef<Keeper>(this);
  #numbers: Numbers | null = null;
  /** By engine, because a layer may also be a part of a model with another one. */
  readonly #uploads = new Map<RootBackend, Upload>();
  #variable: Variable | null = null;
  /** The version of the variable of which the resident was made. */
  #version = 0;
  /** Passes under way that may need it. */
  #passes = 0;
  #isUnloaded = false;
  /** Whether it keeps its values where others learn. */
  isFrozen = false;

  constructor(shape: readonly number[], layout: ParameterLayout = "plain") {
    this.shape = shape;
    this.layout = layout;
  }

  /** Those that were loaded; null: none. */
  get numbers(): Numbers | null {
    return this.#isUnloaded ? null : this.#numbers;
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
    this.#take(value === null ? null : Numbers.of(value.data));
  }

  /** Takes the numbers of another parameter, so that they are one where they learn. */
  tie(other: Parameter | undefined): void {
    this.#take(other?.numbers ?? null);
  }

  #take(numbers: Numbers | null): void {
    this.#free();
    this.#variable?.dispose();
    this.#variable = null;
    this.#numbers?.leave(this.#self);
    this.#numbers = numbers;
    numbers?.join(this.#self);
    this.#isUnloaded = false;
  }

  /** Its values, where they learn. */
  get variable(): Variable | null {
    return this.#variable;
  }

  /** Begins to learn: the variable's values are its own from now on. */
  learn(variable: Variable): void {
    this.#numbers?.hold(WHERE);
    this.#free();
    this.#variable = variable;
  }

  /** The loaded numbers. Throws a HeedError where there are none. */
  loaded(where: string): Numbers {
    if (this.#numbers !== null) return this.#numbers;
    throw notLoaded(where, this.#isUnloaded);
  }

  /** What it has learnt in this engine; null: nothing. */
  variableIn(root: RootBackend, where: string): Variable | null {
    if (this.#variable === null || this.#variable.backend === root) return this.#variable;
    throw new HeedError("option", `${where} has learnt on another engine: a part needs that of its model`);
  }

  /** The parameter in the engine's memory, where it stays until it is set again or disposed of. */
  async residentIn({ root }: Backend, where: string): Promise<Resident> {
    const numbers = this.loaded(where);
    const variable = this.variableIn(root, where);
    if (variable !== null) {
      if (this.layout === "plain") return variable.value;
      if (this.#version !== variable.version) this.#free();
      this.#version = variable.version;
    }
    const upload = this.#uploads.get(root) ?? { making: this.#upload(root, numbers, where), resident: null };
    this.#uploads.set(root, upload);
    try {
      upload.resident = await upload.making;
      if (this.#variable === null) numbers.settle();
      return upload.resident;
    } catch (error) {
      if (this.#uploads.get(root) === upload) this.#uploads.delete(root);
      throw error;
    }
  }

  get keeps(): boolean {
    return this.#variable === null && this.#kept().length > 0;
  }

  recall(): Float32Array | null {
    if (this.#variable !== null) return null;
    for (const [root, resident] of this.#kept()) {
      const bytes = root.bytesOf(WHERE, resident);
      // A copy, whose buffer is not shared.
      if (this.layout === "plain") return new Float32Array(new Uint8Array(bytes).buffer);
      return unpacked(new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4), this.#sizes());
    }
    return null;
  }

  plainIn(root: RootBackend): Resident | null {
    if (this.layout !== "plain" || this.#variable !== null) return null;
    return this.#kept().find(([other]) => other === root)?.[1] ?? null;
  }

  /** Those in memories that still are. */
  #kept(): (readonly [RootBackend, Resident])[] {
    return [...this.#uploads].flatMap(([root, { resident }]) => (resident?.live ? [[root, resident] as const] : []));
  }

  /** Whether it waits for passes under way, to be forgotten. */
  get isLeaving(): boolean {
    return this.#isUnloaded && this.#numbers !== null;
  }

  /** A pass begins that may need it. */
  enter(): void {
    this.#passes += 1;
  }

  leave(): void {
    this.#passes -= 1;
    if (this.#passes === 0 && this.#isUnloaded) this.unload();
  }

  /** Frees it in the engine, which may then free its whole memory. What was loaded is uploaded again when it is next needed; what was learnt is lost. */
  dispose(): void {
    // Where its engine is disposed of, nobody will need it.
    if (this.keeps) this.#numbers?.hold(WHERE);
    const variable = this.#variable;
    this.#variable = null;
    variable?.dispose();
    if (variable !== null) releaseModule(variable.backend);
    this.#free(releaseModule);
  }

  /** The same, and forgets what was loaded, once the passes under way have ended. */
  unload(): void {
    if (this.#numbers === null) return;
    if (this.#passes === 0) {
      const numbers = this.#numbers;
      this.#numbers = null;
      numbers.leave(this.#self);
      this.dispose();
    }
    this.#isUnloaded = true;
  }

  /** `then` is told each engine whose memory it was in. */
  #free(then?: (root: RootBackend) => void): void {
    for (const [root, { making, resident }] of this.#uploads) {
      const free = (made: Resident): void => {
        root.free(made);
        then?.(root);
      };
      if (resident === null) making.then(free, () => {});
      else free(resident);
    }
    this.#uploads.clear();
  }

  async #upload(root: RootBackend, numbers: Numbers, where: string): Promise<Resident> {
    if (this.layout === "plain") return root.upload(numbers.read(where));
    // That of a tied parameter need not be copied into the engine once more.
    const plain = this.#variable?.value ?? numbers.plainIn(root);
    const source = plain === null ? ({ kind: "array", array: numbers.read(where) } as const) : residentSource(plain);
    const [packed] = await root.run(PACK, this.matrices(source), null);
    if (packed?.kind !== "resident") throw new TypeError("packed matrices stay in the engine");
    return packed.resident;
  }

  #sizes(): MatrixSizes {
    const count = this.layout === "plain" ? 1 : this.layout.matrices;
    const [rows = 0, inputs = 0] = this.shape;
    return { count, outputs: rows / count, inputs };
  }

  /** Its matrices, as PACK takes them. */
  matrices(source: Source): Operand {
    const { count, outputs, inputs } = this.#sizes();
    const shape: Dims4 = [1, count, outputs, inputs];
    const strides: Dims4 = [0, outputs * inputs, inputs, 1];
    return { source, dtype: "f32", elements: count * outputs * inputs, shape, strides };
  }
}

const NOT_LOADED = new WeakSet<object>();

/** `rule`: what to do about it. */
export function notLoaded(where: string, isUnloaded: boolean, rule = ""): HeedError {
  const error = isUnloaded
    ? new HeedError("disposed", `${where} was disposed of${rule}`)
    : new HeedError("option", `${where} has not been loaded${rule}`);
  NOT_LOADED.add(error);
  return error;
}

export function isNotLoaded(error: unknown): error is HeedError {
  return error instanceof HeedError && NOT_LOADED.has(error);
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
