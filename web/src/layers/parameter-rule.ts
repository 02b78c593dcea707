// Parameters of layers of one's own: public types.

/** Draws numbers from the seed of `init`. */
export interface Drawing {
  /** Evenly from -bound to bound. */
  uniform(shape: readonly number[], bound: number): Float32Array;
  /** Normally distributed around 0. */
  normal(shape: readonly number[], deviation: number): Float32Array;
}

/** A parameter of a layer of one's own: its shape, and what it begins with. */
export interface ParameterRule {
  readonly shape: readonly number[];
  /** What `init` begins with: "zeros", "ones", or a function that makes the numbers. Default PyTorch's for as many inputs as the last axis has. */
  readonly init?: "zeros" | "ones" | ((draw: Drawing, shape: readonly number[]) => Float32Array) | undefined;
}

/** A parameter, which the operations of a pass take as they take tensors. */
export interface LayerParameter {
  readonly shape: readonly number[];
  /** Whether it keeps its values where others learn. */
  readonly isFrozen: boolean;
}
