// What an adjoint is: it leads the gradients of what a step made to what the step read.

import type { Operand, Operation, Resident } from "../../backends/backend.js";

/** Makes a gradient that begins with `addend`, or with zeros. */
export type Make = (addend: Resident | null) => Promise<Resident>;

/** An operand's resident, which is a tensor of the pass or a parameter; undefined where the step has no such operand. */
export type Place = Resident | undefined;

/** A step of a pass, for its adjoint. What goes to a place without a gradient is dropped. */
export interface BackwardStep<P extends object> {
  readonly problem: P;
  readonly made: readonly Resident[];
  /** Of what it made; null: none. At least one is there. */
  readonly gradients: readonly (Resident | null)[];
  /** That of its first result, or of its only one. */
  readonly gradient: Resident;
  run<Q extends object>(operation: Operation<Q>, problem: Q): Promise<readonly Resident[]>;
  /** Runs an operation of one result. */
  one<Q extends object>(operation: Operation<Q>, problem: Q): Promise<Resident>;
  free(resident: Resident): void;
  /** Whether a gradient goes through an operand. */
  needs(place: Place): place is Resident;
  /** The values of a parameter that kernels read packed. */
  plain(parameter: Resident): Resident;
  /** Adds a gradient that is made for this operand alone. */
  add(place: Place, make: Make): Promise<void>;
  /** Adds a gradient that also others have, of as many numbers or a multiple of them, which repeat. */
  share(place: Place, gradient: Resident): Promise<void>;
  /** Adds a gradient, and frees it where it is not needed any more. */
  give(place: Place, gradient: Resident | undefined): Promise<void>;
}

export type Adjoint<P extends object> = (step: BackwardStep<P>) => Promise<void>;

/** The place of an operand. */
export function placeOf(operand: Operand | null): Place {
  return operand?.source.kind === "resident" ? operand.source.resident : undefined;
}
