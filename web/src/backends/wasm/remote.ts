// What a program needs of workers with memories of their own.

import type { Span } from "../backend.js";
import type { ResidentBuffers } from "./cached-buffers.js";
import type { CallBlock } from "./call-block.js";
import type { BlockMessage } from "./protocol.js";
import type { WasmResident } from "./resident.js";
import type { ShardQueue } from "./shard-queue.js";
import type { WorkerLink, WorkerLost } from "./worker-link.js";

/** A worker, the buffers that it holds, and the shards that it computes. */
export interface Member {
  readonly link: WorkerLink;
  /** One entry for each shard that was sent and is not answered: the queue of its call. All are of one call. */
  readonly inFlight: ShardQueue[];
  /** The versions of the cached buffers that it holds, by their ids. */
  readonly stored: Map<number, number>;
  /** Programs on it, and residents that it has alone. It is not terminated when a call of others is aborted. */
  readonly tenants: Set<object>;
  memoryBytes: number;
}

export interface Remote {
  readonly lost: WorkerLost | null;
  readonly members: readonly Member[];
  readonly buffers: ResidentBuffers;
  /** For calls that are written one by one. */
  block(): CallBlock;
  /** Sends a message, and gives what comes back. Rejects with WorkerLost when the worker is gone. */
  request(member: Member, message: BlockMessage, operation: string): Promise<readonly ArrayBuffer[]>;
  /** Tells the workers to free buffers, by their numbers. */
  drop(buffers: readonly number[]): void;
  /** Called when a resident was freed, or when some of its bytes changed. */
  forget(resident: WasmResident, changed?: readonly Span[]): void;
}
