// The interface of what runs async calls: workers on shared memory, workers with their own, or the calling thread.

import { HeedError } from "../../base/errors.js";
import type { Span } from "../backend.js";
import type { Job } from "./job.js";
import { type Finished, throwStatus } from "./kernels.js";
import { type DoneMessage, NO_ROOM } from "./protocol.js";
import type { Remote } from "./remote.js";
import type { WasmResident } from "./resident.js";
import type { WorkerLost } from "./worker-link.js";

/** `run` reads the job's inputs before it returns, and rejects with WorkerLost when the runner is gone. */
export interface Runner {
  /** `multiplications` is about what the job costs. */
  run(job: Job, multiplications: number): Promise<Finished>;
  /** Why it can run nothing more; null while it can. */
  readonly lost: WorkerLost | null;
  /** Threads that compute one call together. */
  readonly threads: number;
  /** Why there are no more. */
  readonly threadReasons: readonly string[];
  /** Jobs that can run at a time. */
  readonly calls: number;
  /** Size of the workers' own memories, as of their last answers. */
  readonly memoryBytes: number;
  /** Stops a running job early, if this runner can. */
  interrupt(job: Job): void;
  /** Called when a resident was freed, or when some of its bytes changed. */
  forget(resident: WasmResident, changed?: readonly Span[]): void;
  /** Itself, where a worker can keep what a program makes. */
  readonly remote?: Remote;
  dispose(): void;
}

/** Throws the error of a call that failed. */
export function throwOutcome({ status, message }: DoneMessage, operation: string): void {
  if (status === NO_ROOM) throw new HeedError("memory", `${operation}: the worker has no room for the call`);
  throwStatus(status, message);
}
