// How the calls of a program are computed, one after the other: a list for a worker, blocks for one with its own memory, or a chain.

import type { Job } from "./job.js";

export interface Calls {
  /** Reads the job, which may be overwritten afterwards, before it returns. */
  add(job: Job, multiplications: number): void;
  /** Resolves when nothing is computed any more, because all is done or the program failed. */
  settled(): Promise<void>;
  /** Ends what is computed as soon as possible. */
  stop(): void;
  /** Frees what they hold, when nothing is computed any more. */
  dispose(): void;
}

/** Computes a job, and resolves when that is over, failed or not. */
export type Compute = (job: Job, multiplications: number) => Promise<void>;
