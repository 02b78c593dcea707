// Parameters of layers: their shapes, their numbers, and the residents that are made of them.

import { product } from "../api/operands.js";
import type { Backend, Dims4, Operand, Resident, RootBackend, Source } from "../backends/backend.js";
import { PANEL } from "../backends/wasm/generated/operation-calls.js";
import { showShape } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { bytesIn } from "../memory/heap-view.js";
import { type MatrixSizes, PACK, unpacked } from "../operations/affine.js";
import type { Rows } from "../operations/rows.js";
import type { WeightFormat } from "./formats/format.js";
import { type AnyTensor, floatsOf, type ParameterTensor } from "./formats/stored.js";
import { type Keeper, Numbers } from "./numbers.js";
import type { ParameterRule } from "./parameter-rule.js";
import { releaseModule } from "./passes.js";
import { StoredNumbers } from "./stored-numbers.js";
import type { Variable } from "./variable.js";

/** The numbers of a parameter: f32, or in a format of weights. */
export type AnyNumbers = Numbers | StoredNumbers;

/**
 * How kernels read a parameter: as it is, or as so many packed matrices, which are stacked along its first axis. A table is read as it is, and
 * as one packed matrix where it is in a format of weights.
 */
export type ParameterLayout = "plain" | "table" | { readonly matrices: number };

/** In messages, where the name of a parameter is not known. */
const WHERE = "heed/layers: a parameter";

/** What kernels read of a parameter. */
export interface Kept {
  readonly resident: Resident;
  readonly format: WeightFormat;
}

/** A parameter in the engine's memory, as one row of all its numbers. */
export interface ResidentParameter extends Rows, Kept {
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
  #numbers: AnyNumbers | null = null;
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

  /** How a parameter of a layer of one's own is drawn. Absent: its layer knows. */
  readonly rule: ParameterRule | undefined;

  constructor(shape: readonly number[], layout: ParameterLayout = "plain", rule?: ParameterRule) {
    this.shape = shape;
    this.layout = layout;
    this.rule = rule;
  }

  /** Those that were loaded; null: none. */
  get numbers(): AnyNumbers | null {
    return this.#isUnloaded ? null : this.#numbers;
  }

  /** The format of its numbers; f32 where there are none. */
  get format(): WeightFormat {
    return this.#numbers instanceof StoredNumbers ? this.#numbers.format : "f32";
  }

  /** Returns the tensor, or throws unless it has the parameter's shape. */
  fitting<T extends { readonly shape: readonly number[] }>(where: string, read: T): T {
    if (read.shape.length !== this.shape.length || read.shape.some((size, axis) => size !== this.shape[axis])) {
      throw new HeedError("shape", `${where} must be ${showShape(this.shape)}, got ${showShape(read.shape)}`);
    }
    return read;
  }

  /** Takes a tensor of the right shape, numbers, or null for none. */
  set(value: ParameterTensor | AnyNumbers | null): void {
    this.#take(value !== null && "data" in value ? Numbers.of(value.data) : value);
  }

  /** Takes the numbers of another parameter, so that they are one where they learn. */
  tie(other: Parameter | undefined): void {
    this.#take(other?.numbers ?? null);
  }

  #take(numbers: AnyNumbers | null): void {
    this.#numbers?.leave(this.#self);
    this.#free();
    this.#variable?.dispose();
    this.#variable = null;
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
    this.#floats?.hold(WHERE);
    this.#free();
    this.#variable = variable;
  }

  /** The loaded numbers. Throws a HeedError where there are none. */
  loaded(where: string): AnyNumbers {
    if (this.#numbers !== null) return this.#numbers;
    throw notLoaded(where, this.#isUnloaded);
  }

  /** The same, where they are f32. */
  loadedFloats(where: string): Numbers {
    const numbers = this.loaded(where);
    if (numbers instanceof Numbers) return numbers;
    throw new TypeError(`${where} is ${numbers.format}`);
  }

  get #floats(): Numbers | null {
    return this.#numbers instanceof Numbers ? this.#numbers : null;
  }

  /** What it has learnt in this engine; null: nothing. */
  variableIn(root: RootBackend, where: string): Variable | null {
    if (this.#variable === null || this.#variable.backend === root) return this.#variable;
    throw new HeedError("option", `${where} has learnt on another engine: a part needs that of its model`);
  }

  /** The parameter in the engine's memory, where it stays until it is set again or disposed of. */
  async residentIn({ root }: Backend, where: string): Promise<Kept> {
    const numbers = this.loaded(where);
    if (numbers instanceof Numbers) return { resident: await this.#floatsIn(root, numbers, where), format: "f32" };
    return { resident: await numbers.residentIn(root, this.#self, where), format: numbers.format };
  }

  async #floatsIn(root: RootBackend, numbers: Numbers, where: string): Promise<Resident> {
    const variable = this.variableIn(root, where);
    if (variable !== null) {
      if (isPlain(this.layout)) return variable.value;
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
      if (isPlain(this.layout)) return new Float32Array(new Uint8Array(bytes).buffer);
      return unpacked(new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4), this.sizes());
    }
    return null;
  }

  plainIn(root: RootBackend): Resident | null {
    if (!isPlain(this.layout) || this.#variable !== null) return null;
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
    if (this.keeps) this.#floats?.hold(WHERE);
    this.#release();
  }

  #release(): void {
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
      this.#numbers.leave(this.#self);
      this.#release();
      this.#numbers = null;
    }
    this.#isUnloaded = true;
  }

  /** `then` is told each engine whose memory it was in. */
  #free(then?: (root: RootBackend) => void): void {
    if (this.#numbers instanceof StoredNumbers) this.#numbers.free(this.#self, then);
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
    const pieces = numbers.pieces();
    if (pieces !== null) return this.#uploadPieces(root, pieces, where);
    if (isPlain(this.layout)) return root.upload(numbers.read(where));
    // That of a tied parameter need not be copied into the engine once more.
    const plain = this.#variable?.value ?? numbers.plainIn(root);
    const source = plain === null ? ({ kind: "array", array: numbers.read(where) } as const) : residentSource(plain);
    return packedOf(root, source, this.sizes());
  }

  /** Uploads a tensor that arrives in pieces. It must be one matrix, or have fewer axes. */
  async #uploadPieces(root: RootBackend, pieces: AsyncIterable<AnyTensor>, where: string): Promise<Resident> {
    const { outputs, inputs } = this.sizes();
    const floats = isPlain(this.layout) ? product(this.shape) : Math.ceil(outputs / PANEL) * PANEL * inputs;
    const whole = root.zeros(floats, "f32", false);
    let at = 0;
    const put = (bytes: Uint8Array): void => {
      root.bytesOf(where, whole).set(bytes, at);
      at += bytes.length;
    };
    try {
      for await (const piece of pieces) {
        const { data, shape } = floatsOf(piece);
        if (isPlain(this.layout)) put(bytesIn(data));
        else {
          const packed = await packedOf(
            root,
            { kind: "array", array: data },
            { count: 1, outputs: shape[0] ?? 0, inputs },
          );
          put(root.bytesOf(where, packed));
          root.free(packed);
        }
      }
      if (at !== floats * 4) throw new TypeError(`${at} bytes came of ${floats * 4}`);
      return whole;
    } catch (error) {
      root.free(whole);
      throw error;
    }
  }

  /** Of its matrices. */
  sizes(): MatrixSizes {
    const count = typeof this.layout === "string" ? 1 : this.layout.matrices;
    const [rows = 0, inputs = 0] = this.shape;
    return { count, outputs: rows / count, inputs };
  }

  /** Its matrices, as PACK takes them. */
  matrices(source: Source): Operand {
    return matricesOf(source, this.sizes());
  }
}

function matricesOf(source: Source, { count, outputs, inputs }: MatrixSizes): Operand {
  const shape: Dims4 = [1, count, outputs, inputs];
  const strides: Dims4 = [0, outputs * inputs, inputs, 1];
  return { source, dtype: "f32", elements: count * outputs * inputs, shape, strides };
}

async function packedOf(root: RootBackend, source: Source, sizes: MatrixSizes): Promise<Resident> {
  const [packed] = await root.run(PACK, matricesOf(source, sizes), null);
  if (packed?.kind !== "resident") throw new TypeError("packed matrices stay in the engine");
  return packed.resident;
}

/** Whether kernels read f32 numbers in their order. */
export const isPlain = (layout: ParameterLayout): boolean => typeof layout === "string";

/** Of a parameter that is to learn. */
export function onlyFloats(where: string, name: string, format: WeightFormat): HeedError {
  const rule = `parameter ${name} must be f32, because nothing else learns`;
  return new HeedError("option", `${where}: ${rule}, got ${format}: freeze it, as lora does, or load it as f32`);
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
