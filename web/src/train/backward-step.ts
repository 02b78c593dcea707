// A step as its adjoint sees it: where the gradients of its operands go.

import type { Operation, Resident } from "../backends/backend.js";
import type { Parameter } from "../layers/parameters.js";
import type { Step } from "../layers/tape.js";
import { COMBINE } from "../operations/training/combine.js";
import { ROW_SUMS } from "../operations/training/row-sums.js";
import { rowsOf, vectorOf } from "../operations/training/vectors.js";
import type { BackwardStep, Make, Place } from "./adjoints/adjoint.js";
import type { BackwardPass } from "./backward-pass.js";

export class StepBackward<P extends object> implements BackwardStep<P> {
  readonly problem: P;
  readonly made: readonly Resident[];
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

  needs(place: Place): place is Resident {
    if (place === undefined) return false;
    const { recorder } = this.#pass;
    const parameter = this.#parameters.get(place);
    return parameter === undefined ? recorder.needs(place) : recorder.learning(parameter) !== null;
  }

  plain(resident: Resident): Resident {
    const parameter = this.#parameters.get(resident);
    if (parameter === undefined) throw new TypeError("the step has no such parameter");
    return this.#pass.recorder.plain(parameter, "gradients");
  }

  async add(place: Place, make: Make): Promise<void> {
    if (!this.needs(place)) return;
    const parameter = this.#parameters.get(place);
    if (parameter !== undefined) await this.#pass.learn(parameter, make);
    else this.#pass.set(place, await make(this.#pass.of(place)));
  }

  async share(place: Place, gradient: Resident): Promise<void> {
    if (!this.needs(place)) return;
    const { elements } = place;
    if (this.#parameters.has(place) || elements !== gradient.elements) {
      const rows = rowsOf(gradient, elements);
      return this.add(place, (sum) => this.one(ROW_SUMS, { rows, addend: sum && vectorOf(sum) }));
    }
    if (this.#pass.of(place) === null) return this.#pass.set(place, gradient);
    const y = vectorOf(gradient);
    await this.add(place, (sum) => this.one(COMBINE, { x: sum ? vectorOf(sum) : y, y, a: 1, b: 1 }));
  }

  async give(place: Place, gradient: Resident | undefined): Promise<void> {
    if (gradient === undefined) return;
    await this.share(place, gradient);
    this.#pass.freeUnused(gradient);
  }
}
