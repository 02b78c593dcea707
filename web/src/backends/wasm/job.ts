// A problem as one block of the heap: the packed call, its inputs, room for its outputs. Pure layout: nothing is allocated here.

import { HeedError } from "../../api/errors.js";
import { MAX_BLOCK_BYTES } from "../../memory/arena.js";
import { bytesIn } from "../../memory/heap-view.js";
import type {
  AttentionProblem,
  CausalRule,
  Normalizer,
  Operand,
  OutputView,
  ScoreKind,
  ScoreStage,
} from "../backend.js";
import { ATTENTION_CALL } from "./generated/attention-call.js";
import { WasmResident } from "./residents.js";

/** Bytes of an input's own: `word` of the call is to hold their address. */
export interface InputPart {
  readonly word: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** A view's, which a slice has some of; or numbers by batch entry, head or sequence, which it has all of. */
  readonly of: "view" | "numbers";
}

/** An input that lives in the engine already. */
export interface ResidentPart {
  readonly word: number;
  readonly resident: WasmResident;
}

export interface OutputPart {
  readonly word: number;
  readonly offset: number;
  readonly elements: number;
}

/** Offsets count bytes from the block's start; the call itself is at 0. */
export interface Job {
  /** The call with every address still 0. */
  readonly call: Int32Array<ArrayBuffer>;
  readonly inputs: readonly InputPart[];
  readonly residents: readonly ResidentPart[];
  /** Bytes of the call and the inputs, which is what has to be written. */
  readonly inputBytes: number;
  readonly output: OutputPart;
  readonly weights: OutputPart | null;
  readonly lse: OutputPart | null;
  readonly scores: OutputPart | null;
  readonly entropy: OutputPart | null;
  /** Bytes of the whole block. */
  readonly bytes: number;
}

const CAUSAL: Readonly<Record<CausalRule, number>> = { none: 0, "lower-right": 1, "upper-left": 2 };

const SCORE: Readonly<Record<ScoreKind, number>> = {
  "scaled-dot": 0,
  dot: 1,
  cosine: 2,
  general: 3,
  additive: 4,
  gated: 5,
  rbf: 6,
  distance: 7,
};

const NORMALIZER: Readonly<Record<Normalizer, number>> = { softmax: 0, sparsemax: 1, sigmoid: 2, hard: 3, none: 4 };

const STAGE: Readonly<Record<ScoreStage, number>> = { raw: 0, capped: 1, masked: 2 };

const DTYPE: Readonly<Record<Operand["dtype"], number>> = { f32: 0, f16: 1, bool: 0 };

/** Says that a side of the window, or a range of rows, has no end. */
const OPEN = -1;

/** Every part starts on a cache line, which is also the widest vector. */
const ALIGNMENT = 64;

/** The next place where a part may start. */
export function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** `call` is written over: an array of its own where the job has to last, or one that is used for every job that is not. */
export function jobOf(problem: AttentionProblem, call = new Int32Array(ATTENTION_CALL.words)): Job {
  call.fill(0);
  const inputs: InputPart[] = [];
  const residents: ResidentPart[] = [];
  let end = aligned(call.byteLength);

  const input = (word: number, operand: Operand | null): void => {
    if (operand === null) return;
    writeWalk(call, word, operand);
    const { source } = operand;
    if (source.kind === "resident") {
      residents.push({ word, resident: ownResident(source.resident) });
      return;
    }
    const bytes = bytesOf(source.array, operand.elements);
    inputs.push({ word, offset: end, bytes, of: "view" });
    end = aligned(end + bytes.length);
  };
  const numbers = (word: number, array: Int32Array | Float32Array | null): void => {
    if (array === null) return;
    const { buffer, byteOffset, byteLength } = array;
    inputs.push({ word, offset: end, bytes: new Uint8Array(buffer, byteOffset, byteLength), of: "numbers" });
    end = aligned(end + byteLength);
  };
  const output = (word: number, view: OutputView): OutputPart => {
    writeWalk(call, word, view);
    const part = { word, offset: end, elements: view.elements };
    end = aligned(end + view.elements * Float32Array.BYTES_PER_ELEMENT);
    return part;
  };

  input(ATTENTION_CALL.query, problem.query);
  input(ATTENTION_CALL.key, problem.key);
  input(ATTENTION_CALL.value, problem.value);
  input(ATTENTION_CALL.mask, problem.mask);
  input(ATTENTION_CALL.bias, problem.bias);
  const { score, structure } = problem;
  input(ATTENTION_CALL.scoreW, score.w);
  input(ATTENTION_CALL.scoreWq, score.wq);
  input(ATTENTION_CALL.scoreWk, score.wk);
  input(ATTENTION_CALL.scoreB, score.b);
  input(ATTENTION_CALL.scoreV, score.v);
  input(ATTENTION_CALL.scoreBandwidth, score.bandwidth);
  numbers(ATTENTION_CALL.queryLengths, structure.qLengths);
  numbers(ATTENTION_CALL.keyLengths, structure.kvLengths);
  numbers(ATTENTION_CALL.queryOffsets, structure.qOffsets);
  numbers(ATTENTION_CALL.queryStarts, structure.sequences?.queryStarts ?? null);
  numbers(ATTENTION_CALL.keyStarts, structure.sequences?.keyStarts ?? null);
  numbers(ATTENTION_CALL.alibiSlopes, structure.alibiSlopes);
  numbers(ATTENTION_CALL.sinks, structure.sinks);
  const inputBytes = end;
  call[ATTENTION_CALL.scale] = bitsOf(problem.scale);
  call[ATTENTION_CALL.softcap] = bitsOf(problem.softcap ?? 0);
  call[ATTENTION_CALL.dropoutP] = bitsOf(problem.dropout?.p ?? 0);
  call[ATTENTION_CALL.dropoutSeed] = problem.dropout?.seed ?? 0;
  call[ATTENTION_CALL.queryType] = DTYPE[problem.query.dtype];
  call[ATTENTION_CALL.keyType] = DTYPE[problem.key.dtype];
  call[ATTENTION_CALL.valueType] = DTYPE[problem.value.dtype];
  call[ATTENTION_CALL.sequences] = (structure.sequences?.queryStarts.length ?? 1) - 1;
  call[ATTENTION_CALL.windowLeft] = structure.windowLeft ?? OPEN;
  call[ATTENTION_CALL.windowRight] = structure.windowRight ?? OPEN;
  call[ATTENTION_CALL.scoreStage] = STAGE[problem.scoreStage];
  call[ATTENTION_CALL.score] = SCORE[score.kind];
  call[ATTENTION_CALL.normalizer] = NORMALIZER[problem.normalizer];
  call[ATTENTION_CALL.topK] = problem.topK ?? 0;
  call[ATTENTION_CALL.causal] = CAUSAL[problem.causal];
  const form = problem.weights?.form ?? null;
  call[ATTENTION_CALL.weightRowsBegin] = form?.of === "rows" ? form.from : 0;
  call[ATTENTION_CALL.weightRowsEnd] = form?.of === "rows" ? form.to : OPEN;
  const weights = form?.of === "mean" ? ATTENTION_CALL.meanWeights : ATTENTION_CALL.weights;
  const outputs = {
    output: output(ATTENTION_CALL.output, problem.output),
    weights: problem.weights && output(weights, problem.weights),
    lse: problem.lse && output(ATTENTION_CALL.lse, problem.lse),
    scores: problem.scores && output(ATTENTION_CALL.scores, problem.scores),
    entropy: problem.entropy && output(ATTENTION_CALL.entropy, problem.entropy),
  };
  // Beyond, addresses would wrap around.
  if (end > MAX_BLOCK_BYTES) {
    throw new HeedError("memory", `attention: inputs and results of ${end} bytes do not fit into the engine's 2 GiB`);
  }
  return { call, inputs, residents, inputBytes, ...outputs, bytes: end };
}

/** The same job with a call of its own. */
export function lasting(job: Job): Job {
  return { ...job, call: job.call.slice() };
}

/** The same job with its inputs copied, for one that has to wait while its caller may write on. Throws HeedError `memory`. */
export function snapshot(job: Job): Job {
  try {
    return { ...lasting(job), inputs: job.inputs.map((part) => ({ ...part, bytes: part.bytes.slice() })) };
  } catch (cause) {
    throw new HeedError("memory", `attention: no room for a copy of ${job.inputBytes} bytes of inputs`, { cause });
  }
}

/** The outputs that were asked for, in the order of the block. */
export function outputsOf(job: Job): readonly OutputPart[] {
  return [job.output, job.weights, job.lse, job.scores, job.entropy].filter((part) => part !== null);
}

/** The words that hold addresses relative to the block. */
export function relativeWords(job: Job): readonly number[] {
  return [...job.inputs, ...outputsOf(job)].map((part) => part.word);
}

/** Writes the call to the start of `words`, with addresses for a block that starts at `base`. */
export function writeCall(job: Job, words: Int32Array, base: number): void {
  words.set(job.call);
  // Stores keep the low 32 bits, which is how C++ reads an address beyond 2 GiB.
  for (const part of job.inputs) words[part.word] = base + part.offset;
  for (const part of outputsOf(job)) words[part.word] = base + part.offset;
  for (const { word, resident } of job.residents) words[word] = resident.address;
}

/** Writes the inputs that are not residents to their places in `block`. */
export function writeInputs(job: Job, block: Uint8Array): void {
  for (const part of job.inputs) block.set(part.bytes, part.offset);
}

const one = new Float32Array(1);
const oneBits = new Int32Array(one.buffer);

/** A number in single precision, by its bits. */
function bitsOf(number: number): number {
  one[0] = number;
  return oneBits[0] ?? 0;
}

/** By hand: setting a few numbers from an array takes ten times as long. */
function writeWalk(call: Int32Array, word: number, { shape, strides }: Pick<OutputView, "shape" | "strides">): void {
  for (let axis = 0; axis < 4; axis++) {
    call[word + 1 + axis] = shape[axis] ?? 0;
    call[word + 5 + axis] = strides[axis] ?? 0;
  }
}

/** The bytes of an operand. Reading the other arguments ran code of the caller's, which may have taken its buffer away. */
function bytesOf(array: Float32Array | Uint16Array | Uint8Array, elements: number): Uint8Array {
  if (array.length !== elements) {
    throw new HeedError(
      "shape",
      `attention: an input of ${elements} elements lost its buffer or shrank while it was read`,
    );
  }
  // A buffer that was transferred away takes no view, not even an empty one.
  if (elements === 0) return new Uint8Array(0);
  return bytesIn(array);
}

function ownResident(resident: unknown): WasmResident {
  if (resident instanceof WasmResident) return resident;
  throw new TypeError("a resident of another backend reached the wasm backend");
}
