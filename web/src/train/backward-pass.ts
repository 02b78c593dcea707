// The backward pass of a recorded pass: the gradients of its tensors so far, and those of its parameters.

import type { Operation, Program, Resident } from "../backends/backend.js";
import { asF32 } from "../base/f16.js";
import type { Parameter } from "../layers/parameters.js";
import type { Variable } from "../layers/variable.js";
import { COMBINE } from "../operations/training/combine.js";
import { vectorOf } from "../operations/training/vectors.js";
import type { Loss } from "./loss.js";
import type { Recorder } from "./recorder.js";

/** Makes a gradient that begins with `addend`, or with zeros. */
export type Make = (addend: Resident | null) => Promise<Resident>;

export class BackwardPass {
  readonly recorder: Recorder;
  readonly #program: Program;
  readonly #gradients = new Map<Resident, Resident>();
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

  /** Begins with the gradient of a loss, which the loss made itself. */
  async begin({ x, gradient }: Loss, scale: number): Promise<void> {
    // The tape has it as well.
    this.#users.set(gradient, 1);
    const scaled = { x: vectorOf(gradient), y: null, a: scale, b: 0 };
    this.set(x, scale === 1 ? gradient : await this.one(COMBINE, scaled));
  }

  /** Begins at a tensor that is no loss, with a gradient of the caller's. */
  async seed(x: Resident, gradient: Resident, scale: number): Promise<void> {
    const sum = this.of(x);
    const both = { x: vectorOf(gradient), y: sum && vectorOf(sum), a: scale, b: 1 };
    this.set(x, await this.one(COMBINE, both));
  }

  async read(resident: Resident): Promise<Float32Array> {
    return asF32(await this.#program.download(resident));
  }

  upload(data: Float32Array): Resident {
    return this.#program.upload(data);
  }

  /** The gradient of a tensor so far; null: none. */
  of(x: Resident): Resident | null {
    return this.#gradients.get(x) ?? null;
  }

  /** Takes a gradient, which may be that of other tensors as well. */
  set(x: Resident, gradient: Resident): void {
    this.drop(x);
    this.#gradients.set(x, gradient);
    this.#users.set(gradient, (this.#users.get(gradient) ?? 0) + 1);
  }

  /** Forgets the gradient of a tensor, and frees it unless another tensor shares it. */
  drop(x: Resident): void {
    const known = this.#gradients.get(x);
    if (known === undefined) return;
    this.#gradients.delete(x);
    const users = (this.#users.get(known) ?? 0) - 1;
    this.#users.set(known, users);
    this.freeUnused(known);
  }

  /** Frees a gradient that no tensor has. */
  freeUnused(gradient: Resident): void {
    if ((this.#users.get(gradient) ?? 0) > 0) return;
    this.#users.delete(gradient);
    this.free(gradient);
  }

  /** Adds to the gradient of a parameter. */
  async learn(parameter: Parameter, make: Make): Promise<void> {
    const learning = this.recorder.learning(parameter);
    if (learning === null) return;
    const { variable } = learning;
    const made = this.#learnt.get(variable);
    this.#learnt.set(variable, await make(made ?? variable.gradient));
    if (made !== undefined) this.free(made);
  }
}
