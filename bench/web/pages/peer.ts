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

/** A GPT-2 to train: heads of 32, each layer as wide as `dim`. */
export interface Model {
  readonly dim: number;
  readonly layers: number;
}

/** As [heads, length, dim], row after row. */
export interface Inputs {
  readonly query: Float32Array;
  readonly key: Float32Array;
  readonly value: Float32Array;
  /** That of the output, for the backward pass. */
  readonly gradient: Float32Array;
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
  /** "bnhd": an output is [length, heads, dim]. */
  readonly layout: "bhnd" | "bnhd";
  /** Everything that a user does once: models, tensors, compilation. Throws when it cannot do the problem. */
  prepare(problem: Problem, inputs: Inputs): Promise<void>;
  /** Makes one call, and gives its output in a JavaScript array; or, after the backward pass, the gradients of query, key and value. */
  run(): Promise<Float32Array | readonly Float32Array[]>;
  release(): Promise<void>;
}

/** Trains a model as a user of that library does. */
export interface Learner {
  readonly about: Readonly<Record<string, unknown>>;
  /** Of all steps so far. */
  readonly losses: readonly number[];
  prepare(model: Model): Promise<void>;
  /** Takes one step: its loss is read, and the new parameters are ready. */
  run(): Promise<void>;
  release(): Promise<void>;
}

/** A loop that shows the machine's peak or read bandwidth. It times itself, in workers, off the page's thread. */
export interface Peak {
  readonly about: Readonly<Record<string, unknown>>;
  prepare(problem: Problem): Promise<void>;
  /** Work (floating-point operations, or bytes) a second. */
  rate(): Promise<number>;
}
