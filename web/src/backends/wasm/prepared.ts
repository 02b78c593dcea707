// A call that is ready to be computed, and what computes it.

import type { ModuleName } from "../backend.js";
import type { Job } from "./job.js";
import type { Finished } from "./kernels.js";

/** A call with its layout, and what becomes of its results. */
export interface Outcome<C> {
  /** Residents that it has made already are those to which it writes. */
  readonly job: Job;
  /** Takes the results out of the block. */
  readonly collect: (finished: Finished) => C;
  /** Called when nothing computes it any more: later than an aborted call rejects. What the job has made by then is freed. */
  readonly over?: () => void;
}

export interface Prepared<C> extends Outcome<C> {
  readonly module: ModuleName;
  readonly multiplications: number;
  /** Throws when the call must not begin any more. */
  readonly begin?: () => void;
}

export interface Caller {
  /** Computes a call of any operation, which `prepare` lays out once the engine can take it. `operation` is the caller's function. */
  compute<C extends object>(operation: string, signal: AbortSignal | null, prepare: () => Prepared<C>): Promise<C>;
}
