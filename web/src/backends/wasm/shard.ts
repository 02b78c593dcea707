// What one worker with its own memory computes of a call, or of a program, and the buffers that it keeps for it.

import type { BlockMessage, Patch } from "./protocol.js";
import type { WorkerLink } from "./worker-link.js";

/** A worker keeps the buffers of a tensor until that is freed, and those of a call until the call is over. */
export interface CachedBuffer {
  readonly id: number;
  /** Counts the changes of its bytes. */
  readonly version: number;
  /** What changed after a version, with the bytes as they are now. */
  changes(since: number): readonly Patch[];
  /** A copy to send; `isLast` when nobody will ask again. */
  bytes(isLast: boolean): ArrayBuffer;
}

export interface Shard {
  /** Shards of one affinity read the same inputs, so one worker should compute them. */
  readonly affinity: number;
  /** The only worker that may compute it, because no other has what it reads; absent: any. */
  readonly only?: WorkerLink;
  readonly buffers: ReadonlySet<CachedBuffer>;
  /** Asked for when it is sent. */
  message(): Omit<BlockMessage, "buffers">;
  /** Takes the results, in the message's order. */
  take(outputs: readonly ArrayBuffer[]): void;
}
