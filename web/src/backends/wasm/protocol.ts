// The messages between the backend and its workers: plain data.

/** The first message. With a shared memory comes the worker's slot in the pool; without one the worker makes its own memory. */
export interface StartMessage {
  readonly kind: "start";
  readonly module: WebAssembly.Module;
  readonly shared: PoolSlot | null;
}

export interface PoolSlot {
  readonly memory: WebAssembly.Memory;
  /** The top of a stack that only this worker uses. */
  readonly stackTop: number;
  /** Its index. From now on it is called through its mailbox and reads no messages. */
  readonly worker: number;
  /** Whether worker 0 spins for a moment before it sleeps. */
  readonly spins: boolean;
  /** Whether it posts a message when a call is done: for realms without Atomics.waitAsync. */
  readonly answers: boolean;
}

/** Private memory: calls, computed one after the other. */
export interface BlockMessage {
  readonly kind: "block";
  /** The written part of the block: packed calls and their arrays. */
  readonly block: ArrayBuffer;
  /** Size of the whole block, outputs included. */
  readonly bytes: number;
  /** What the worker lacks of the buffers that the calls read. */
  readonly buffers: readonly BufferUse[];
  /**
   * A call to compute: 0, where in the block it is, how many of its words take addresses, and for each the word, a buffer, and an offset
   * into that. A buffer to make: its number and bytes. One to free: its number, 0.
   */
  readonly steps: Int32Array;
  /** What to send back. */
  readonly outputs: readonly Range[];
}

/** Bytes of a buffer. Buffer 0 is the block. */
export type Range = readonly [buffer: number, from: number, bytes: number];

/** New bytes of a cached buffer, from an offset on. */
export type Patch = readonly [offset: number, data: ArrayBuffer];

/** `data` comes with the buffer's first use; later uses bring patches. */
export interface BufferUse {
  readonly id: number;
  readonly data: ArrayBuffer | null;
  readonly patches: readonly Patch[];
}

/** Private memory: cached buffers that no later call will use. */
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
  /** The status that C++ returned, TRAPPED when the call trapped, or NO_ROOM when the worker's memory was full. */
  readonly status: number;
  readonly message: string;
  /** Private memory: the outputs, in the order of the request. */
  readonly outputs: readonly ArrayBuffer[];
  /** Private memory: cached buffers for which there was no room. */
  readonly refused: readonly number[];
  /** Size of the worker's memory. */
  readonly memoryBytes: number;
}

export type FromWorker = ReadyMessage | FailedMessage | DoneMessage;

/** C++ returns statuses of 0 and more. */
export const TRAPPED = -1;
export const NO_ROOM = -2;
