// The tape of a pass: its steps that a gradient goes through, and the parameters that it computes with.

import { Tensor } from "../api/tensor.js";
import type { Operand, Program, Resident } from "../backends/backend.js";
import { HeedError } from "../base/errors.js";
import { type Parameter, residentSource } from "../layers/parameters.js";
import type { Step, Tape } from "../layers/tape.js";
import type { Variable } from "../layers/variable.js";
import { PACK } from "../operations/affine.js";
import { isLearning, type Learning } from "./variables.js";

export class Recorder implements Tape {
  readonly steps: Step[] = [];
  /** What loss functions gave, learning or not. */
  readonly losses = new Set<Tensor>();
  readonly #program: Program;
  readonly #isCheckpointing: boolean;
  readonly #wantsGradients: boolean;
  readonly #known = new Map<Parameter, Learning>();
  readonly #plain = new Map<Parameter | Variable, Resident>();
  readonly #packed = new Map<Parameter, Resident>();
  readonly #needed = new Set<Tensor>();
  readonly #cut = new Set<Tensor>();
  readonly #tensors = new Map<Resident, Tensor>();

  constructor(
    program: Program,
    learning: readonly Learning[],
    rule: { readonly isCheckpointing: boolean; readonly wantsGradients: boolean },
  ) {
    this.#program = program;
    this.#isCheckpointing = rule.isCheckpointing;
    this.#wantsGradients = rule.wantsGradients;
    for (const one of learning) for (const parameter of one.parameters.values()) this.#known.set(parameter, one);
  }

  /** The values of a parameter, in their order, as they were when the pass first used them. */
  plain(parameter: Parameter, where: string): Resident {
    const { root } = this.#program;
    // A parameter of a layer beside the model keeps its values, whatever they are.
    const variable = this.#known.get(parameter)?.variable ?? parameter.variableIn(root, where);
    const known = this.#plain.get(variable ?? parameter);
    const numbers = parameter.loaded(where);
    const there = variable?.value ?? numbers.plainIn(root);
    const made = known ?? there ?? this.#program.upload(numbers.read(where));
    if (known === undefined && there !== null) this.#program.hold(made);
    this.#plain.set(variable ?? parameter, made);
    return made;
  }

  async use(parameter: Parameter, where: string): Promise<Resident> {
    const plain = this.plain(parameter, where);
    if (parameter.layout === "plain") return plain;
    const known = this.#packed.get(parameter);
    if (known?.live === true) return known;
    const [packed] = await this.#program.run(PACK, parameter.matrices(residentSource(plain)));
    if (packed === undefined) throw new TypeError("packing has one result");
    this.#packed.set(parameter, packed.resident);
    return packed.resident;
  }

  /** What learns of a parameter; null where it keeps its values. */
  learning(parameter: Parameter | null): Learning | null {
    const known = parameter === null || !this.#wantsGradients ? undefined : this.#known.get(parameter);
    return known !== undefined && isLearning(known) ? known : null;
  }

  /** Whether a parameter of the model learns. */
  get learns(): boolean {
    return [...this.#known.keys()].some((parameter) => this.learning(parameter) !== null);
  }

  /** Asks for the gradient of a tensor. */
  want(x: Tensor): void {
    this.#needed.add(x);
    this.#tensors.set(this.residentOf(x), x);
  }

  residentOf(x: Tensor): Resident {
    return Tensor.residentOf(x, this.#program, "gradients: a tensor");
  }

  /** The tensor of an operand, if a gradient goes through it. */
  tensorOf(operand: Operand | null): Tensor | null {
    return operand?.source.kind === "resident" ? (this.#tensors.get(operand.source.resident) ?? null) : null;
  }

  /** Whether a gradient goes through this tensor. */
  needs(x: Tensor | null): x is Tensor {
    return x !== null && this.#needed.has(x);
  }

  cut(x: Tensor): void {
    this.#cut.add(x);
  }

  record(step: Step, steps: Step[] = this.steps): void {
    if (step.kind === "loss") this.losses.add(step.made[0]);
    const { tensors, parameters } = sourcesOf(step, (operand) => this.tensorOf(operand));
    if (step.kind !== "block" && tensors.some((x) => x !== null && this.#cut.has(x))) {
      throw new HeedError("unsupported", "gradients: none go through weights, scores, lse or entropy of attention");
    }
    const isNeeded = tensors.some((x) => this.needs(x)) || parameters.some((one) => this.learning(one) !== null);
    if (!isNeeded) return;
    for (const made of step.made) this.want(made);
    steps.push(step);
  }

  fork(): Tape | null {
    return this.#isCheckpointing ? new BlockTape(this) : null;
  }
}

/** The tape of a block: its own steps, and what else there is of the pass. */
export class BlockTape implements Tape {
  readonly steps: Step[] = [];
  readonly #pass: Recorder;

  constructor(pass: Recorder) {
    this.#pass = pass;
  }

  use(parameter: Parameter, where: string): Promise<Resident> {
    return this.#pass.use(parameter, where);
  }

  needs(x: Tensor): boolean {
    return this.#pass.needs(x);
  }

  cut(x: Tensor): void {
    this.#pass.cut(x);
  }

  record(step: Step): void {
    this.#pass.record(step, this.steps);
  }

  fork(): null {
    return null;
  }
}

interface Sources {
  readonly tensors: readonly (Tensor | null)[];
  readonly parameters: readonly (Parameter | null)[];
}

function sourcesOf(step: Step, tensorOf: (operand: Operand | null) => Tensor | null): Sources {
  switch (step.kind) {
    case "affine":
      return { tensors: [step.x, step.addend], parameters: [step.weight, step.bias] };
    case "pointwise":
      return { tensors: [step.x, step.factor, step.addend], parameters: [] };
    case "norm":
      return { tensors: [step.x], parameters: [step.weight, step.bias] };
    case "gather":
      return "layout" in step.table
        ? { tensors: [], parameters: [step.table] }
        : { tensors: [step.table], parameters: [] };
    case "gru":
      return { tensors: [step.gates, step.state], parameters: [step.weights, step.bias] };
    case "attention": {
      const { bias, score } = step.problem;
      const options = [bias, score.w, score.wq, score.wk, score.b, score.v, score.bandwidth];
      return { tensors: [step.query, step.key, step.value, ...options.map(tensorOf)], parameters: [] };
    }
    case "parameter":
      return { tensors: [], parameters: [step.parameter] };
    case "block":
      // Its own steps have found out what is needed.
      return { tensors: step.made, parameters: [] };
    default:
      return { tensors: [step.x], parameters: [] };
  }
}
