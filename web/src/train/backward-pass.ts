// The backward pass of a recorded pass: the gradients of its tensors so far, and those of its parameters.

import type { Tensor } from "../api/tensor.js";
import type { Operation, Program, Resident } from "../backends/backend.js";
import type { Parameter } from "../layers/parameters.js";
import type { Variable } from "../layers/variable.js";
import type { Rows } from "../operations/rows.js";
import { COMBINE } from "../operations/training/combine.js";
import { ROW_SUMS } from "../operations/training/row-sums.js";
import { vectorOf } from "../operations/training/vectors.js";
import type { Recorder } from "./recorder.js";

/** Makes a gradient that begins with `addend`, or with zeros. */
type Make = (addend: Resident | null) => Promise<Resident>;

export class BackwardPass {
  readonly recorder: Recorder;
  readonly #program: Program;
  readonly #gradients = new Map<Tensor, Resident>();
  /** How many tensors have a resident as their gradient. */
  readonly #users = new Map<Resident, number>();
  readonly #learnt = new Map<Variable, Resident>();

  constructor(program: Program, recorder: Recorder) {
    this.#program = program;
    this.recorder = recorder;
  }

  /** The new gradients of variables, what they had before included. */
  get learnt(): ReadonlyMap<Variable, Resident> {
    return this.#learnt;
  }

  async run<P extends object>(operation: Operation<P>, problem: P): Promise<readonly Resident[]> {
    return (await this.#program.run(operation, problem)).map(({ resident }) => resident);
  }

  async one<P extends object>(operation: Operation<P>, problem: P): Promise<Resident> {
    const [resident] = await this.run(operation, problem);
    if (resident === undefined) throw new TypeError("a call of one result had none");
    return resident;
  }

  free(resident: Resident): void {
    this.#program.free(resident);
  }

  /** The gradient of a tensor so far; null: none. */
  of(x: Tensor): Resident | null {
    return this.#gradients.get(x) ?? null;
  }

  /** Forgets the gradient of a tensor, and frees it unless another tensor shares it. */
  drop(x: Tensor): void {
    const known = this.#gradients.get(x);
    if (known === undefined) return;
    this.#gradients.delete(x);
    const users = (this.#users.get(known) ?? 0) - 1;
    this.#users.set(known, users);
    if (users > 0) return;
    this.#users.delete(known);
    this.free(known);
  }

  /** Adds a gradient that is made for it alone. */
  async add(x: Tensor | null, make: Make): Promise<void> {
    if (!this.recorder.needs(x)) return;
    const made = await make(this.of(x));
    this.drop(x);
    this.#set(x, made);
  }

  /** Adds a result that is a gradient already, and frees it where it is not needed. */
  async give(x: Tensor | null, gradient: Resident): Promise<void> {
    if (this.recorder.needs(x) && this.of(x) === null) return this.#set(x, gradient);
    await this.add(x, (addend) => this.#sum(addend ?? gradient, gradient));
    this.free(gradient);
  }

  /** Adds the gradient of another tensor, of as many numbers or a multiple of them, which repeat. */
  async share(x: Tensor | null, gradient: Resident): Promise<void> {
    if (!this.recorder.needs(x)) return;
    const length = x.shape.reduce((total, size) => total * size, 1);
    if (length !== gradient.elements) {
      const rows = { resident: gradient, count: gradient.elements / length, length };
      await this.add(x, (addend) => this.one(ROW_SUMS, { rows, addend: addend && vectorOf(addend) }));
    } else if (this.of(x) === null) {
      this.#set(x, gradient);
    } else {
      await this.add(x, (addend) => this.#sum(addend ?? gradient, gradient));
    }
  }

  /** Begins with the gradient that a loss has of its own. */
  begin(x: Tensor, gradient: Resident): Promise<void> {
    // The tape has it as well.
    this.#users.set(gradient, 1);
    return this.share(x, gradient);
  }

  /** Adds to the gradient of a parameter. */
  async learn(parameter: Parameter | null, make: Make): Promise<void> {
    const learning = this.recorder.learning(parameter);
    if (learning === null) return;
    const { variable } = learning;
    const made = this.#learnt.get(variable);
    this.#learnt.set(variable, await make(made ?? variable.gradient));
    if (made !== undefined) this.free(made);
  }

  #set(x: Tensor, gradient: Resident): void {
    this.#gradients.set(x, gradient);
    this.#users.set(gradient, (this.#users.get(gradient) ?? 0) + 1);
  }

  #sum(x: Resident, y: Resident): Promise<Resident> {
    return this.one(COMBINE, { x: vectorOf(x), y: vectorOf(y), a: 1, b: 1 });
  }
}

/** A resident as rows of a width. */
export function rowsOf(resident: Resident, length: number): Rows {
  return { resident, count: resident.elements / length, length };
}
