// The layout of a call as one block of the heap: packed parameters, inputs, room for outputs. Nothing is allocated here.

import { HeedError } from "../../base/errors.js";
import { MAX_BLOCK_BYTES } from "../../memory/arena.js";
import { bytesIn } from "../../memory/heap-view.js";
import type { CallBuilder, Operand, Operation, OutputView, Resident } from "../backend.js";
import type { Cut } from "../cut.js";
import { DTYPE } from "./generated/attention-call.js";
import { WasmResident } from "./resident.js";
import type { Shard } from "./shards.js";

/** An input that is written into the block. `word` of the call takes its address. */
export interface InputPart {
  readonly word: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** A slice reads a part of a view, but numbers by batch entry, head or sequence whole. A table is at the end of the call. */
  readonly of: "view" | "numbers" | "table";
}

/** An input that is in the engine's memory already. */
export interface ResidentPart {
  readonly word: number;
  readonly resident: WasmResident;
}

/** Where an output goes: to a new array of the caller's, to a resident, or to an array that the caller gave. */
export type Destination = "array" | "resident" | Float32Array;

export interface OutputPart {
  readonly word: number;
  /** In the block; a resident is outside of it. */
  readonly offset: number;
  readonly elements: number;
  readonly to: Destination;
}

/** Offsets are bytes from the block's start, where the call itself is. */
export interface Job {
  /** The caller's function, for messages. */
  readonly operation: string;
  /** The call, in which every address is still 0. A nonzero first word aborts it. */
  readonly call: Int32Array<ArrayBuffer>;
  readonly inputs: readonly InputPart[];
  readonly residents: readonly ResidentPart[];
  /** Size of the call and the inputs, which is the part that has to be written. */
  readonly inputBytes: number;
  /** In block order. */
  readonly outputs: readonly OutputPart[];
  /** The residents that outputs are written to, once they are allocated. */
  readonly made: Map<OutputPart, WasmResident>;
  /** Size of the whole block. */
  readonly bytes: number;
  /** As Operation's. */
  readonly cut: (workers: number, most: number) => Cut;
  /** The bytes of an element in views of inputs that are not f32, by word. */
  readonly narrow: readonly number[];
  /** What computes it in place of the call. */
  readonly shard?: Shard;
}

/** A cache line, which is also the widest vector. */
const ALIGNMENT = 64;

/** Rounds up to the next offset at which a part may start. */
export function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** Copies the call, which the next job may overwrite. */
export function lasting(job: Job): Job {
  return { ...job, call: job.call.slice() };
}

/** Copies the inputs as well, for a job that waits while its caller may overwrite them. Throws HeedError `memory`. */
export function snapshot(job: Job): Job {
  try {
    return { ...lasting(job), inputs: job.inputs.map((part) => ({ ...part, bytes: part.bytes.slice() })) };
  } catch (cause) {
    throw new HeedError("memory", `${job.operation}: no room for a copy of ${job.inputBytes} bytes of inputs`, {
      cause,
    });
  }
}

/** Writes the call to the start of `words`, with addresses for a block that starts at `base`. */
export function writeCall(job: Job, words: Int32Array, base: number): void {
  words.set(job.call);
  // Stores keep the low 32 bits, which is how C++ reads an address beyond 2 GiB.
  for (const part of job.inputs) words[part.word] = base + part.offset;
  for (const part of job.outputs) words[part.word] = job.made.get(part)?.address ?? base + part.offset;
  for (const { word, resident } of job.residents) words[word] = resident.address;
}

/** Writes the inputs that are not residents into `block`. */
export function writeInputs(job: Job, block: Uint8Array): void {
  for (const part of job.inputs) block.set(part.bytes, part.offset);
}

/** Lays a job out part by part. Inputs must come before outputs. */
export class JobBuilder implements CallBuilder {
  readonly #operation: string;
  #call: Int32Array<ArrayBuffer>;
  readonly #inputs: InputPart[] = [];
  readonly #residents: ResidentPart[] = [];
  readonly #outputs: OutputPart[] = [];
  readonly #narrow: number[] = [];
  #inputBytes: number;
  #end: number;

  /** Overwrites `call`. */
  constructor(operation: string, call: Int32Array<ArrayBuffer>) {
    this.#operation = operation;
    this.#call = call.fill(0);
    this.#end = this.#inputBytes = aligned(call.byteLength);
  }

  integer(word: number, value: number | boolean): void {
    this.#call[word] = Number(value);
  }

  float(word: number, value: number): void {
    this.#call[word] = bitsOf(value);
  }

  dtype(word: number, operand: Pick<Operand, "dtype">): void {
    this.#call[word] = DTYPE[operand.dtype];
  }

  input(word: number, operand: Operand | null): void {
    if (operand === null) return;
    writeView(this.#call, word, operand);
    const { source, dtype } = operand;
    if (dtype !== "f32") this.#narrow[word] = dtype === "f16" ? 2 : 1;
    if (source.kind === "resident") {
      this.#residents.push({ word, resident: ownResident(source.resident) });
      return;
    }
    if (source.kind === "paged") {
      this.#call[word] = source.offset;
      return;
    }
    this.#add(word, bytesOf(this.#operation, source.array, operand.elements), "view");
  }

  table(word: number, residents: readonly Resident[]): void {
    const { length, byteLength } = this.#call;
    this.#call = new Int32Array(length + residents.length);
    this.#end = this.#inputBytes = aligned(this.#call.byteLength);
    this.#inputs.push({ word, offset: byteLength, bytes: new Uint8Array(0), of: "table" });
    for (const [at, resident] of residents.entries()) {
      this.#residents.push({ word: length + at, resident: ownResident(resident) });
    }
  }

  numbers(word: number, array: Int32Array | Float32Array | Float64Array | null): void {
    if (array === null) return;
    const { buffer, byteOffset, byteLength } = array;
    this.#add(word, new Uint8Array(buffer, byteOffset, byteLength), "numbers");
  }

  output(word: number, view: OutputView, keep: boolean, into: Float32Array | null = null): OutputPart {
    writeView(this.#call, word, view);
    const to: Destination = into ?? (keep ? "resident" : "array");
    const part = { word, offset: this.#end, elements: view.elements, to };
    this.#outputs.push(part);
    if (to !== "resident") this.#end = aligned(this.#end + view.elements * Float32Array.BYTES_PER_ELEMENT);
    return part;
  }

  /** Throws HeedError `memory` when the block would not fit into the heap. */
  build(cut: Job["cut"] = () => ({ axes: [] })): Job {
    // Addresses in a larger block would wrap around.
    if (this.#end > MAX_BLOCK_BYTES) {
      throw new HeedError(
        "memory",
        `${this.#operation}: inputs and results of ${this.#end} bytes do not fit into the engine's 2 GiB`,
      );
    }
    return {
      operation: this.#operation,
      call: this.#call,
      inputs: this.#inputs,
      residents: this.#residents,
      inputBytes: this.#inputBytes,
      outputs: this.#outputs,
      made: new Map(),
      bytes: this.#end,
      narrow: this.#narrow,
      cut,
    };
  }

  #add(word: number, bytes: Uint8Array, of: InputPart["of"]): void {
    this.#inputs.push({ word, offset: this.#end, bytes, of });
    this.#end = aligned(this.#end + bytes.length);
    this.#inputBytes = this.#end;
  }
}

/** Calls by their number of words, each of which the next job of that length overwrites: allocating a typed array is slow. */
export type Scratch = Int32Array<ArrayBuffer>[];

export function jobOf<P extends object>(operation: Operation<P>, problem: P, scratch: Scratch): Job {
  const { words } = operation.call;
  scratch[words] ??= new Int32Array(words);
  const builder = new JobBuilder(operation.name, scratch[words]);
  operation.pack(problem, builder);
  return builder.build((workers, most) => operation.cut(problem, workers, most));
}

const one = new Float32Array(1);
const oneBits = new Int32Array(one.buffer);

/** The bits of a number as f32. */
function bitsOf(number: number): number {
  one[0] = number;
  return oneBits[0] ?? 0;
}

/** A loop, because TypedArray.set takes ten times as long for four numbers. */
function writeView(call: Int32Array, word: number, { shape, strides }: Pick<OutputView, "shape" | "strides">): void {
  for (let axis = 0; axis < 4; axis++) {
    call[word + 1 + axis] = shape[axis] ?? 0;
    call[word + 5 + axis] = strides[axis] ?? 0;
  }
}

/** The bytes of an operand. Reading the arguments runs getters of the caller's, which may have detached the buffer of an earlier one. */
function bytesOf(operation: string, array: Float32Array | Uint16Array | Uint8Array, elements: number): Uint8Array {
  if (array.length !== elements) {
    throw new HeedError(
      "shape",
      `${operation}: an input of ${elements} elements lost its buffer or shrank while it was read`,
    );
  }
  // A detached buffer allows no view, not even an empty one.
  if (elements === 0) return new Uint8Array(0);
  return bytesIn(array);
}

function ownResident(resident: unknown): WasmResident {
  if (resident instanceof WasmResident) return resident;
  throw new TypeError("a resident of another backend reached the wasm backend");
}
