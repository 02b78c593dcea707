// The interface of every participant's page, and the problems that it is given.

/** Attention with `heads` a multiple of `kvHeads`; one batch entry. */
export interface Problem {
  readonly heads: number;
  readonly kvHeads: number;
  readonly queries: number;
  readonly keys: number;
  readonly dim: number;
  readonly causal: boolean;
}

/** Query, key and value as [heads, length, dim], row after row. */
export interface Inputs {
  readonly query: Float32Array;
  readonly key: Float32Array;
  readonly value: Float32Array;
}

/** How a participant is set up: threads, and its own options. */
export interface Setup {
  readonly threads: number;
  readonly options: Readonly<Record<string, string | undefined>>;
}

/** Makes the same call as a user of that library does. */
export interface Peer {
  /** The library's version, threads and the like. */
  readonly about: Readonly<Record<string, unknown>>;
  /** "bnhd": the output is [length, heads, dim]. */
  readonly layout: "bhnd" | "bnhd";
  /** Everything that a user does once: models, tensors, compilation. Throws when it cannot do the problem. */
  prepare(problem: Problem, inputs: Inputs): Promise<void>;
  /** Makes one call, and gives its output in a JavaScript array. */
  run(): Promise<Float32Array>;
  release(): Promise<void>;
}

/** A loop that shows the machine's peak or read bandwidth. It times itself, in workers, off the page's thread. */
export interface Peak {
  readonly about: Readonly<Record<string, unknown>>;
  prepare(problem: Problem): Promise<void>;
  /** Work (floating-point operations, or bytes) a second. */
  rate(): Promise<number>;
}
