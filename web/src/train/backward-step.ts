// A step as its adjoint sees it: where the gradients of its operands go.

import type { Operand, Operation, Resident } from "../backends/backend.js";
import type { Parameter } from "../layers/parameters.js";
import type { Step } from "../layers/tape.js";
import { COMBINE } from "../operations/training/combine.js";
import { vectorOf } from "../operations/training/vectors.js";
import type { BackwardPass, Make } from "./backward-pass.js";
import { summed } from "./sums.js";

/** An operand's resident, which is a tensor of the pass or a parameter; undefined where the step has no such operand. */
export type Place = Resident | undefined;

/** Leads the gradients of what a step made to what the step read. What goes to a place without a gradient is dropped. */
export type Adjoint<P extends object> = (step: BackwardStep<P>) => Promise<void>;

export class BackwardStep<P extends object> {
  readonly problem: P;
  readonly made: readonly Resident[];
  /** Of what it made; null: none. At least one is there. */
  readonly gradients: readonly (Resident | null)[];
  readonly #pass: BackwardPass;
  readonly #parameters = new Map<Resident, Parameter>();

  constructor(pass: BackwardPass, { problem, made, parameters }: Step<P>) {
    this.problem = problem;
    this.made = made;
    this.gradients = made.map((one) => pass.of(one));
    this.#pass = pass;
    for (const one of parameters) if (one !== null) this.#parameters.set(one.resident, one.parameter);
  }

  /** That of its first result, or of its only one. */
  get gradient(): Resident {
    const [gradient] = this.gradients;
    if (gradient) return gradient;
    throw new TypeError("the first result has no gradient");
  }

  run<Q extends object>(operation: Operation<Q>, problem: Q): Promise<readonly Resident[]> {
    return this.#pass.run(operation, problem);
  }

  one<Q extends object>(operation: Operation<Q>, problem: Q): Promise<Resident> {
    return this.#pass.one(operation, problem);
  }

  free(resident: Resident): void {
    this.#pass.free(resident);
  }

  read(resident: Resident): Promise<Float32Array> {
    return this.#pass.read(resident);
  }

  upload(data: Float32Array): Resident {
    return this.#pass.upload(data);
  }

  /** Whether a gradient goes through an operand. */
  needs(place: Place): place is Resident {
    if (place === undefined) return false;
    const { recorder } = this.#pass;
    const parameter = this.#parameters.get(place);
    return parameter === undefined ? recorder.needs(place) : recorder.learning(parameter) !== null;
  }

  /** The values of a parameter that kernels read packed. */
  plain(resident: Resident): Resident {
    const parameter = this.#parameters.get(resident);
    if (parameter === undefined) throw new TypeError("the step has no such parameter");
    return this.#pass.recorder.plain(parameter, "gradients");
  }

  /** Adds a gradient that is made for this operand alone. */
  async add(place: Place, make: Make): Promise<void> {
    if (!this.needs(place)) return;
    const parameter = this.#parameters.get(place);
    if (parameter !== undefined) await this.#pass.learn(parameter, make);
    else this.#pass.set(place, await make(this.#pass.of(place)));
  }

  /** Adds a gradient that also others have, of as many numbers or a multiple of them, which repeat. */
  async share(place: Place, gradient: Resident): Promise<void> {
    if (!this.needs(place)) return;
    const { elements } = place;
    if (this.#parameters.has(place) || elements !== gradient.elements) {
      return this.add(place, (sum) => summed(this, gradient, elements, sum));
    }
    if (this.#pass.of(place) === null) return this.#pass.set(place, gradient);
    const y = vectorOf(gradient);
    await this.add(place, (sum) => this.one(COMBINE, { x: sum ? vectorOf(sum) : y, y, a: 1, b: 1 }));
  }

  /** Adds a gradient, and frees it where it is not needed any more. */
  async give(place: Place, gradient: Resident | undefined): Promise<void> {
    if (gradient === undefined) return;
    await this.share(place, gradient);
    this.#pass.freeUnused(gradient);
  }
}

/** The place of an operand. */
export function placeOf(operand: Operand | null): Place {
  return operand?.source.kind === "resident" ? operand.source.resident : undefined;
}
