// Optimizers: a step takes the gradients that are there, and clears them.

import type { Program, Resident } from "../backends/backend.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guard, guardAsync } from "../base/guard.js";
import { readBoolean } from "../base/read-values.js";
import { numbersOf } from "../base/typed-array.js";
import { Layer } from "../layers/layer.js";
import { readAtLeastZero, readOnce } from "../layers/read.js";
import type { Variable } from "../layers/variable.js";
import { finalise } from "../memory/disposable.js";
import { ADAM, SGD } from "../operations/training/optimizers.js";
import { vectorOf } from "../operations/training/vectors.js";
import { groupOf, type ParameterGroup, readGroups } from "./groups.js";
import { inProgram, inTurn } from "./in-program.js";
import { checkModel, isLearning, learn } from "./variables.js";

/** Options of every optimizer. */
interface CommonOptions {
  /** Default 0; 0.01 for AdamW. */
  readonly weightDecay?: number | undefined;
  /** Parameters with rules of their own: of several groups that match, the first. */
  readonly groups?: readonly ParameterGroup[] | undefined;
}

/** Of one parameter in a step. */
export interface StepRule {
  readonly learningRate: number;
  readonly weightDecay: number;
}

/** The options of a step. */
export interface StepOptions {
  /** Of this step and those after it. */
  readonly learningRate?: number | undefined;
}

/** What an optimizer keeps of a variable: residents by name, and how many steps it has taken. */
export interface State {
  readonly parts: Readonly<Record<string, Resident>>;
  readonly steps: number;
}

/** What all optimizers are: a step for the parameters of a model, and averages that a checkpoint keeps. */
export abstract class Optimizer {
  readonly model: Layer;
  /** The steps that it has taken, of whatever parameters. */
  steps = 0;
  protected readonly where: string;
  protected readonly states = new Map<Variable, State>();
  readonly #weightDecay: number;
  readonly #groups: ReturnType<typeof readGroups>;
  #learningRate: number;

  protected constructor(where: string, model: Layer, given: Readonly<Record<string, unknown>>, decay = 0) {
    checkModel(where, model);
    this.where = where;
    this.model = model;
    this.#learningRate = readAtLeastZero(where, "learningRate", given["learningRate"], 1e-3);
    this.#weightDecay = readAtLeastZero(where, "weightDecay", given["weightDecay"], decay);
    this.#groups = readGroups(where, given["groups"], model);
    const { states } = this;
    finalise(this, () => forgetAllBut(new Set(), states));
  }

  /** @internal Throws unless it is an optimizer of the model. */
  static check(where: string, optimizer: unknown, model: unknown): asserts optimizer is Optimizer {
    const isOptimizer = typeof optimizer === "object" && optimizer !== null && #learningRate in optimizer;
    if (isOptimizer && optimizer.model === model) return;
    throw new HeedError("option", `${where}: optimizer must be one of this model, got ${showValue(optimizer)}`);
  }

  get learningRate(): number {
    return this.#learningRate;
  }

  /** Changes the parameters that have gradients, and clears these. */
  step(options?: StepOptions): Promise<void> {
    const { where } = this;
    return guardAsync("option", `${where}.step: reading its arguments`, async () => {
      const given = options === undefined ? {} : readOnce(`${where}.step`, "options", options, ["learningRate"]);
      this.#learningRate = readAtLeastZero(`${where}.step`, "learningRate", given["learningRate"], this.#learningRate);
      await inTurn(this.model, () => inProgram(this.model, `${where}.step`, (program) => this.#step(program)));
    });
  }

  /** Forgets the gradients that are there. */
  async clear(): Promise<void> {
    await inTurn(this.model, async () => {
      for (const [, { variable }] of Layer.allOf(this.model)) variable?.setGradient(null);
    });
  }

  async #step(program: Program): Promise<void> {
    const all = learn(`${this.where}.step`, this.model, program.root);
    forgetAllBut(new Set(all.map(({ variable }) => variable)), this.states);
    const changes: (readonly [Variable, readonly Resident[]])[] = [];
    for (const one of all.filter(isLearning)) {
      const { variable } = one;
      const { gradient } = variable;
      if (gradient === null) continue;
      const { factor = 1, decay = this.#weightDecay } = groupOf(this.#groups, one) ?? {};
      const rule = { learningRate: this.#learningRate * factor, weightDecay: decay };
      changes.push([variable, await this.change(program, variable, gradient, rule)]);
    }
    await program.bring(changes.flatMap(([, [value]]) => value ?? []));
    for (const [variable, [value, ...parts]] of changes) {
      if (value === undefined) throw new TypeError("a step gives a value");
      const steps = (this.states.get(variable)?.steps ?? 0) + 1;
      const kept = parts.map((one) => program.keep(one));
      this.restore(variable, {
        parts: Object.fromEntries(this.names.flatMap((name, at) => pairOf(name, kept[at]))),
        steps,
      });
      variable.set(program.keep(value));
    }
    for (const { variable } of all) variable.setGradient(null);
    if (changes.length > 0) this.steps += 1;
  }

  /** @internal For checkpoints. */
  stateOf(variable: Variable): State | undefined {
    return this.states.get(variable);
  }

  /** @internal Takes a state, and frees the one before. */
  restore(variable: Variable, state: State): void {
    for (const old of Object.values(this.states.get(variable)?.parts ?? {})) variable.backend.free(old);
    this.states.set(variable, state);
  }

  /** @internal The names of what it keeps of a variable, in the order in which `change` gives them. */
  abstract readonly names: readonly string[];

  /** The new value, and what is kept. */
  protected abstract change(
    program: Program,
    variable: Variable,
    gradient: Resident,
    rule: StepRule,
  ): Promise<readonly Resident[]>;

  /** Frees what it keeps. */
  dispose(): void {
    forgetAllBut(new Set(), this.states);
  }
}

/** Frees what is kept of variables that the model no longer has, because others were loaded. */
function forgetAllBut(present: ReadonlySet<Variable>, states: Map<Variable, State>): void {
  for (const [variable, { parts }] of states) {
    if (present.has(variable)) continue;
    for (const one of Object.values(parts)) variable.backend.free(one);
    states.delete(variable);
  }
}

const COMMON = ["learningRate", "weightDecay", "groups"];

function pairOf(name: string, resident: Resident | undefined): [string, Resident][] {
  return resident === undefined ? [] : [[name, resident]];
}

/** The options of `Sgd`. */
export interface SgdOptions extends CommonOptions {
  readonly learningRate: number;
  /** Default 0. */
  readonly momentum?: number | undefined;
  /** Nesterov's momentum. Default false. */
  readonly nesterov?: boolean | undefined;
}

/** Stochastic gradient descent. */
export class Sgd extends Optimizer {
  readonly names = ["velocities"];
  readonly #momentum: number;
  readonly #isNesterov: boolean;

  constructor(model: Layer, options: SgdOptions) {
    const where = "Sgd";
    const given = readOnce(where, "options", options, ["momentum", "nesterov", ...COMMON]);
    super(where, model, given);
    this.#momentum = readFraction(where, "momentum", given["momentum"], 0);
    this.#isNesterov = readBoolean(where, "nesterov", given["nesterov"], false);
    if (this.#isNesterov && this.#momentum === 0) {
      throw new HeedError("option", `${where}: nesterov needs a momentum above 0`);
    }
  }

  protected async change(
    program: Program,
    variable: Variable,
    gradient: Resident,
    rule: StepRule,
  ): Promise<readonly Resident[]> {
    const velocities = this.states.get(variable)?.parts["velocities"];
    const kept = await program.run(SGD, {
      parameters: vectorOf(variable.value),
      gradients: vectorOf(gradient),
      velocities: velocities === undefined ? null : vectorOf(velocities),
      rule: { ...rule, momentum: this.#momentum, isNesterov: this.#isNesterov },
    });
    return kept.map(({ resident }) => resident);
  }
}

/** The options of `Adam`. */
export interface AdamOptions extends CommonOptions {
  /** Default 1e-3. */
  readonly learningRate?: number | undefined;
  /** Default [0.9, 0.999]. */
  readonly betas?: readonly [number, number] | undefined;
  /** Default 1e-8. */
  readonly epsilon?: number | undefined;
}

/** Adam, by PyTorch's formulas. It adds weight decay to the gradient; AdamW takes it off the parameter. */
export class Adam extends Optimizer {
  readonly names = ["means", "squares"];
  readonly #betas: readonly [number, number];
  readonly #epsilon: number;
  readonly #isDecoupled: boolean;

  constructor(model: Layer, options: AdamOptions = {}, isDecoupled = false) {
    const where = isDecoupled ? "AdamW" : "Adam";
    const given = readOnce(where, "options", options, ["betas", "epsilon", ...COMMON]);
    super(where, model, given, isDecoupled ? 0.01 : 0);
    this.#betas = readBetas(where, given["betas"]);
    this.#epsilon = readAtLeastZero(where, "epsilon", given["epsilon"], 1e-8);
    this.#isDecoupled = isDecoupled;
  }

  protected async change(
    program: Program,
    variable: Variable,
    gradient: Resident,
    rule: StepRule,
  ): Promise<readonly Resident[]> {
    const [beta1, beta2] = this.#betas;
    const zeros = (): Resident => program.upload(new Float32Array(gradient.elements));
    const { parts, steps } = this.states.get(variable) ?? { parts: {}, steps: 0 };
    const { means = zeros(), squares = zeros() } = parts;
    const kept = await program.run(ADAM, {
      parameters: vectorOf(variable.value),
      gradients: vectorOf(gradient),
      means: vectorOf(means),
      squares: vectorOf(squares),
      rule: {
        ...rule,
        beta1,
        beta2,
        epsilon: this.#epsilon,
        rest1: 1 - beta1,
        rest2: 1 - beta2,
        correction1: 1 - beta1 ** (steps + 1),
        correction2: 1 - beta2 ** (steps + 1),
        isDecoupled: this.#isDecoupled,
      },
    });
    return kept.map(({ resident }) => resident);
  }
}

/** Adam with decoupled weight decay. */
export class AdamW extends Adam {
  constructor(model: Layer, options: AdamOptions = {}) {
    super(model, options, true);
  }
}

function readFraction(where: string, name: string, value: unknown, absent: number): number {
  const number = readAtLeastZero(where, name, value, absent);
  if (number < 1) return number;
  throw new HeedError("option", `${where}: ${name} must be below 1, got ${number}`);
}

function readBetas(where: string, value: unknown): readonly [number, number] {
  if (value === undefined) return [0.9, 0.999];
  const [beta1 = -1, beta2 = -1] = guard("option", `${where}: reading betas`, () => numbersOf(value, 2)) ?? [];
  if ([beta1, beta2].every((beta) => beta >= 0 && beta < 1)) return [beta1, beta2];
  throw new HeedError("option", `${where}: betas must be two numbers from 0 to below 1, got ${showValue(value)}`);
}
