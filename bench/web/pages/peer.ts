// What every page offers, whoever computes in it, and the problems they are given.

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

/** How a participant is set up: threads, and what is its own. */
export interface Setup {
  readonly threads: number;
  readonly options: Readonly<Record<string, string | undefined>>;
}

/** The same call, made as a user of that library makes it. */
export interface Peer {
  /** What it says of itself. */
  readonly about: Readonly<Record<string, unknown>>;
  /** "bnhd": the output is [length, heads, dim]. */
  readonly layout: "bhnd" | "bnhd";
  /** Everything that a user does once: models, tensors, compilation. Throws when it cannot do the problem. */
  prepare(problem: Problem, inputs: Inputs): Promise<void>;
  /** One call, its output in an array of JavaScript's. */
  run(): Promise<Float32Array>;
  release(): Promise<void>;
}

/** A loop that shows what the machine can do: it times itself, in workers, away from the page. */
export interface Ceiling {
  readonly about: Readonly<Record<string, unknown>>;
  prepare(problem: Problem): Promise<void>;
  /** Work (floating-point operations, or bytes) a second. */
  rate(): Promise<number>;
}
