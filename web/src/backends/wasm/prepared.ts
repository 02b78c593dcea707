// A call that is ready to be computed, and what computes it.

import type { Computed, ModuleName } from "../backend.js";
import type { Job } from "./job.js";

/** A call that is computed. */
export interface Begun {
  /** Residents that it has made already are those to which it writes. */
  readonly job: Job;
  /** Called when nothing computes it any more: later than an aborted call rejects. What the job has made by then is freed. */
  readonly over?: () => void;
}

export interface Prepared extends Begun {
  readonly module: ModuleName;
  readonly multiplications: number;
  /** Throws when the call must not begin any more. */
  readonly begin?: () => void;
}

export interface Caller {
  /** Computes a call of any operation, which `prepare` lays out once the engine can take it. `operation` is the caller's function. */
  compute(operation: string, signal: AbortSignal | null, prepare: () => Prepared): Promise<readonly Computed[]>;
}
