// The messages between the backend and its workers: plain data, a worker's whole vocabulary.

/** First of all: what to run. A shared memory comes with a place in the pool; without one a worker makes a memory of its own. */
export interface StartMessage {
  readonly kind: "start";
  readonly module: WebAssembly.Module;
  readonly shared: PoolPlace | null;
}

export interface PoolPlace {
  readonly memory: WebAssembly.Memory;
  /** Of a stack for this worker alone. */
  readonly stackTop: number;
  /** Its number. It hears no message any more. */
  readonly worker: number;
  /** Whether worker 0 is to look for the next call before it sleeps. */
  readonly looks: boolean;
  /** Whether it is to say by message that a call of its is done: for who cannot wait for its door's word. */
  readonly answers: boolean;
}

/** Private memory: the block's written part travels, addresses in it relative to its start. */
export interface BlockMessage {
  readonly kind: "block";
  readonly block: ArrayBuffer;
  /** Bytes of the whole block, outputs included. */
  readonly bytes: number;
  /** Words of the call that hold addresses relative to the block. */
  readonly relative: readonly number[];
  readonly pieces: readonly PieceUse[];
  /** Byte offset and length of each output. */
  readonly outputs: readonly (readonly [offset: number, bytes: number])[];
}

/** Bytes that take the place of others, from an offset on. */
export type Patch = readonly [offset: number, data: ArrayBuffer];

/** A word of the call that takes an address: of a piece, from some bytes on. Its `data` come once, with the first use, later what changed of them. */
export interface PieceUse {
  readonly word: number;
  readonly id: number;
  readonly offset: number;
  readonly data: ArrayBuffer | null;
  readonly patches: readonly Patch[];
}

/** Private memory: pieces are of no use any more. */
export interface ForgetMessage {
  readonly kind: "forget";
  readonly ids: readonly number[];
}

export type ToWorker = StartMessage | BlockMessage | ForgetMessage;

export interface ReadyMessage {
  readonly kind: "ready";
}

/** The worker could not start at all. */
export interface FailedMessage {
  readonly kind: "failed";
  readonly message: string;
}

export interface DoneMessage {
  readonly kind: "done";
  /** C++'s status; TRAPPED when the call trapped, NO_ROOM when the block found no memory. */
  readonly status: number;
  readonly message: string;
  /** Private memory: the outputs, in the order asked. */
  readonly outputs: readonly ArrayBuffer[];
  /** Private memory: pieces for which there was no room. */
  readonly refused: readonly number[];
  /** Bytes of the worker's memory. */
  readonly memoryBytes: number;
}

export type FromWorker = ReadyMessage | FailedMessage | DoneMessage;

/** Statuses beside C++'s own, which are positive. */
export const TRAPPED = -1;
export const NO_ROOM = -2;
