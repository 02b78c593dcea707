// What a pass records for its backward pass: the steps that its scopes took, in their order.

import type { CallBuilder, Operation, Resident } from "../backends/backend.js";
import type { Kept, Parameter, ResidentParameter } from "./parameters.js";

/** What a step knows of its operation. */
export type Recorded<P extends object> = Pick<Operation<P>, "name" | "pack">;

/** A call of an operation. */
export interface Step<P extends object = object> {
  readonly operation: Recorded<P>;
  readonly problem: P;
  /** The tensors and parameters that are its operands. */
  readonly reads: readonly Resident[];
  readonly made: readonly Resident[];
  readonly parameters: readonly (ResidentParameter | null)[];
}

/** A block of layers, of which only the results were kept. */
export interface Block {
  /** Computes it again, and frees it after `use` of its results. Its steps are recorded on `tape`. */
  readonly again: (tape: Tape, use: (made: readonly Resident[]) => Promise<void>) => Promise<void>;
  readonly made: readonly Resident[];
}

/** The steps of a block are recorded on a tape of their own, which is forgotten for the block. */
export interface Fork {
  readonly tape: Tape;
  record(block: Block): void;
}

export interface Tape {
  /** A parameter in the memory of the pass, in the layout that kernels read. */
  use(parameter: Parameter, where: string): Promise<Kept>;
  record(step: Step): void;
  /** For a block that is to be computed again in the backward pass; null where its steps are to be kept. */
  fork(): Fork | null;
  /** Whether a gradient goes through this tensor. */
  needs(x: Resident): boolean;
  /** No gradient goes through this tensor, which depends on what learns. */
  cut(x: Resident): void;
}

/** The residents among the operands of a call. */
export function readsOf<P extends object>(operation: Recorded<P>, problem: P): readonly Resident[] {
  const reads: Resident[] = [];
  const ignore = (): void => {};
  const reader: CallBuilder = {
    integer: ignore,
    float: ignore,
    dtype: ignore,
    numbers: ignore,
    output: ignore,
    table: ignore,
    input(_word, operand) {
      if (operand?.source.kind === "resident") reads.push(operand.source.resident);
    },
  };
  operation.pack(problem, reader);
  return reads;
}
