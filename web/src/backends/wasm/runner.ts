// Where an async call computes: in workers on the front's memory, in workers with their own, or right here. One interface.

import { HeedError } from "../../api/errors.js";
import type { Span } from "../backend.js";
import type { Job } from "./job.js";
import { type Finished, throwStatus } from "./kernels.js";
import { type DoneMessage, NO_ROOM } from "./protocol.js";
import type { WasmResident } from "./residents.js";
import type { WorkerLost } from "./worker-link.js";

/** Some jobs at a time. `run` reads the job's inputs before it returns; it rejects with WorkerLost when the runner is gone. */
export interface Runner {
  /** `multiplications` are what the job takes, about. */
  run(job: Job, multiplications: number): Promise<Finished>;
  /** Why it can run nothing more; null while it can. */
  readonly lost: WorkerLost | null;
  /** Threads that compute a call. */
  readonly threads: number;
  /** Why it is not more. */
  readonly threadReasons: readonly string[];
  /** Jobs that it takes at a time. */
  readonly calls: number;
  /** Bytes of memories beside the front instance's, as of the last that was heard of them. */
  readonly memoryBytes: number;
  /** Pieces of work that one of several workers has done so far. For tests. */
  tasksDone(worker: number): number;
  /** Stops a job that runs, where that leaves the runner whole. */
  interrupt(job: Job): void;
  /** A resident was freed, or some of its bytes are others. */
  forget(resident: WasmResident, changed?: readonly Span[]): void;
  dispose(): void;
}

/** Nothing for a computation that went well. */
export function throwOutcome({ status, message }: DoneMessage, operation: string): void {
  if (status === NO_ROOM) throw new HeedError("memory", `${operation}: the worker's memory has no room for the call`);
  throwStatus(status, message);
}
