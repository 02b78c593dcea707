// The tape of a pass: its steps that a gradient goes through, and the parameters that it computes with.

import type { Program, Resident } from "../backends/backend.js";
import { HeedError } from "../base/errors.js";
import { isPlain, type Kept, type Parameter, residentSource } from "../layers/parameters.js";
import type { Block, Fork, Step, Tape } from "../layers/tape.js";
import type { Variable } from "../layers/variable.js";
import { PACK } from "../operations/affine.js";
import { learntReads } from "./pass/learnt-options.js";
import { isLearning, type Learning } from "./variables.js";

export class Recorder implements Tape {
  readonly steps: (Step | Block)[] = [];
  readonly #program: Program;
  readonly #isCheckpointing: boolean;
  readonly #wantsGradients: boolean;
  readonly #known = new Map<Parameter, Learning>();
  readonly #plain = new Map<Parameter | Variable, Resident>();
  readonly #packed = new Map<Parameter, Resident>();
  readonly #needed = new Set<Resident>();
  readonly #cut = new Set<Resident>();

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
    const numbers = parameter.loadedFloats(where);
    const there = variable?.value ?? numbers.plainIn(root);
    const made = known ?? there ?? this.#program.upload(numbers.read(where));
    if (known === undefined && there !== null) this.#program.hold(made);
    this.#plain.set(variable ?? parameter, made);
    return made;
  }

  async use(parameter: Parameter, where: string): Promise<Kept> {
    // What is in a format of weights keeps its values.
    if (parameter.format !== "f32") return parameter.residentIn(this.#program.root, where);
    const plain = this.plain(parameter, where);
    if (isPlain(parameter.layout)) return { resident: plain, format: "f32" };
    const known = this.#packed.get(parameter);
    if (known?.live === true) return { resident: known, format: "f32" };
    const [packed] = await this.#program.run(PACK, parameter.matrices(residentSource(plain)));
    if (packed === undefined) throw new TypeError("packing has one result");
    this.#packed.set(parameter, packed.resident);
    return { resident: packed.resident, format: "f32" };
  }

  /** What learns of a parameter; null where it keeps its values. */
  learning(parameter: Parameter): Learning | null {
    const known = this.#wantsGradients ? this.#known.get(parameter) : undefined;
    return known !== undefined && isLearning(known) ? known : null;
  }

  /** Whether a parameter of the model learns. */
  get learns(): boolean {
    return [...this.#known.keys()].some((parameter) => this.learning(parameter) !== null);
  }

  /** Asks for the gradient of a tensor. */
  want(x: Resident): void {
    this.#needed.add(x);
  }

  needs(x: Resident): boolean {
    return this.#needed.has(x);
  }

  cut(x: Resident): void {
    this.#needed.delete(x);
    this.#cut.add(x);
  }

  record(step: Step, steps: (Step | Block)[] = this.steps): void {
    const reads = [...step.reads, ...learntReads(step)];
    if (reads.some((x) => this.#cut.has(x))) {
      throw new HeedError("unsupported", "gradients: none go through weights, scores, lse or entropy of attention");
    }
    const learns = step.parameters.some((one) => one !== null && this.learning(one.parameter) !== null);
    if (learns || reads.some((x) => this.needs(x))) this.#take(step, steps);
  }

  #take(step: Step | Block, steps: (Step | Block)[]): void {
    for (const made of step.made) this.want(made);
    steps.push(step);
  }

  fork(): Fork | null {
    if (!this.#isCheckpointing) return null;
    const record = (block: Block): void => {
      // Its own steps have found out what is needed.
      if (block.made.some((x) => this.needs(x))) this.#take(block, this.steps);
    };
    return { tape: this.blockTape([]), record };
  }

  /** The tape of a block: its own steps, and what else there is of the pass. */
  blockTape(steps: (Step | Block)[]): Tape {
    return {
      use: (parameter, where) => this.use(parameter, where),
      record: (step) => this.record(step, steps),
      fork: () => null,
      needs: (x) => this.needs(x),
      cut: (x) => this.cut(x),
    };
  }
}
