// The base class of layers: parameters by name, inner layers, an engine, and dispose.

import type { Heed } from "../api/heed.js";
import { checkRoom, readShape } from "../api/operands.js";
import type { NoOptions, Returned } from "../api/results.js";
import type { ArrayTensor, Tensor } from "../api/tensor.js";
import type { ModuleName, Resident } from "../backends/backend.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { asF32 } from "../base/f16.js";
import { guard, guardAsync } from "../base/guard.js";
import {
  isOptions,
  readBoolean,
  readChoice,
  readRecord,
  readSignal,
  refusal,
  throwIfAborted,
} from "../base/read-values.js";
import { listOf, MOST_LISTED } from "../base/typed-array.js";
import { DISPOSE } from "../memory/disposable.js";
import { cachesIn, type HeldCaches, withLocks } from "./cache-locks.js";
import { Draw, type DrawRule, drawnBy } from "./draw.js";
import { ELSEWHERE } from "./elsewhere.js";
import { LayerEngine } from "./engine-of.js";
import { areEqual, type ParameterTensor } from "./formats/stored.js";
import { handOut } from "./hand-out.js";
import { describe, type ModelDescription } from "./model-description.js";
import type { LayerParameter, ParameterRule } from "./parameter-rule.js";
import {
  type AnyNumbers,
  isNotLoaded,
  notLoaded,
  onlyFloats,
  Parameter,
  type ResidentParameter,
} from "./parameters.js";
import { Pass } from "./pass.js";
import { endPass } from "./passes.js";
import { type LoadableTensor, PendingTensor } from "./pending-tensor.js";
import { readCopy, readOnce } from "./read.js";
import {
  type Filling,
  type GivenParameters,
  type ParameterSource,
  readParameters,
  requireFloats,
  requireLoadable,
} from "./read-parameters.js";
import { assertRoom } from "./room.js";
import { Scope } from "./scope.js";
import { StoredNumbers } from "./stored-numbers.js";
import { type Expected, readWeights, type Taken, Taking, type Weights } from "./taking.js";
import { Watch } from "./watch.js";

/** The options that any layer takes. */
export interface LayerOptions {
  /** The engine that computes it. Default the one that the function `attention` uses. */
  readonly engine?: Heed | undefined;
}

/** The options that a call of any layer takes. */
export interface ForwardOptions {
  /** Leaves the result in the engine, where other layers take it without a copy. Default false. */
  readonly keep?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The pass of `gradients`, of heed/train, to which the results then belong. */
  readonly pass?: Pass | undefined;
}

/** The options of `load`. */
export interface LoadWeightsOptions {
  /** What the names in the map begin with. Default "". */
  readonly prefix?: string | undefined;
  /**
   * How matrices and tables are kept: rounded to a format, or "as stored", in the formats that the map has. Vectors are f32, and so are matrices
   * whose rows have no whole number of blocks. Default "f32".
   */
  readonly weights?: Weights | undefined;
}

/** The options of `init`. */
export interface InitOptions {
  /** A whole number of 32 bits. Default 0. */
  readonly seed?: number | undefined;
}

const LOADING = ["prefix", "weights"] as const;

const INITS = ["zeros", "ones"] as const;

export const FORWARD_OPTIONS = ["keep", "signal", "pass"] as const;

/** How often layers have gained or lost a parameter or a part. */
let changes = 0;

/** What all layers are: named parameters, which can be loaded, drawn, frozen and read, and layers within them. */
export abstract class Layer {
  /** The class's name in messages, which a minifier would shorten. */
  protected readonly where: string;
  protected readonly engine: LayerEngine;
  readonly #own = new Map<string, Parameter>();
  readonly #absent = new Set<string>();
  readonly #parts = new Map<string, Layer>();
  #known: { readonly changes: number; readonly parameters: readonly Parameter[] } = { changes: 0, parameters: [] };

  /** The name is for messages. Default that of the class, which a minifier may shorten. */
  constructor(where: string = new.target.name, engine?: Heed | undefined) {
    this.where = where;
    this.engine = new LayerEngine(where, engine);
  }

  /** The loaded parameters by name, not copied. Those that only the engine still has are read back. */
  parameters(): Map<string, ParameterTensor> {
    const all = new Map<string, ParameterTensor>();
    for (const [name, { numbers, shape }] of this.#all()) {
      if (numbers !== null) all.set(name, { data: numbers.read(`${this.where}: parameter ${name}`), shape });
    }
    return all;
  }

  /**
   * Takes all of its parameters from a map, which may have others as well. Throws, and takes none, where one does not fit, or where the map
   * has one that the layer would have with other options. The numbers are not copied and must not change. Options are the prefix alone, or an object.
   */
  load(parameters: ParameterSource, options: string | LoadWeightsOptions = {}): this {
    const filled = guard("option", `${this.where}: reading parameters`, () => this.#taken(parameters, options));
    assertRoom(this.where, filled);
    for (const [parameter, value] of filled) parameter.set(value);
    return this;
  }

  #taken(parameters: unknown, options: unknown): readonly Taken[] {
    const { where } = this;
    const given = isOptions(options) ? readOnce(`${where}.load`, "options", options, LOADING) : { prefix: options };
    const { prefix = "", weights } = given;
    const taking = new Taking(readWeights(`${where}.load`, weights));
    const names = new Map([...this.#all()].map(([name, parameter]) => [parameter, `${where}: parameter ${name}`]));
    return [...this.fill(readParameters(where, parameters, prefix), String(prefix))].map(([parameter, tensor]) => {
      if (tensor instanceof PendingTensor) throw new TypeError("what is loaded at once is there");
      return [parameter, tensor && taking.of(names.get(parameter) ?? where, parameter, tensor)];
    });
  }

  /** @internal What `load` would make of tensors that are still to come. */
  static expectedBy(layer: Layer, tensors: ReadonlyMap<string, PendingTensor>): readonly Expected[] {
    const { where } = layer;
    return guard("option", `${where}: reading parameters`, () => {
      const names = new Map([...layer.#all()].map(([name, parameter]) => [parameter, `${where}: parameter ${name}`]));
      return [...layer.fill(tensors, "")].flatMap(([parameter, tensor]) => {
        return tensor instanceof PendingTensor ? [{ where: names.get(parameter) ?? where, parameter, tensor }] : [];
      });
    });
  }

  /** What the layer has, or will have: numbers, bytes, formats. What is tied is counted once. */
  describe(options?: Pick<LoadWeightsOptions, "weights">): ModelDescription {
    const given = readOnce(`${this.where}.describe`, "options", options, ["weights"]);
    const weights = given["weights"] === undefined ? null : readWeights(`${this.where}.describe`, given["weights"]);
    const layers = [...Layer.layersOf(this)].map(([name, layer]) => [name, layer.#own] as const);
    return describe(layers, new Map(this.#allTies()), weights);
  }

  *#allTies(path = ""): Generator<readonly [string, string]> {
    for (const [name, to] of this.ties()) yield [path + name, path + to];
    for (const [part, layer] of this.#parts) yield* layer.#allTies(`${path}${part}.`);
  }

  /** Parameters that have the numbers of others, by the names of both. */
  protected ties(): readonly (readonly [name: string, to: string])[] {
    return [];
  }

  /** Draws all parameters by the layer's own rule, which is PyTorch's. The same seed gives the same numbers. */
  init(options?: InitOptions): this {
    const { where } = this;
    const { seed = 0 } = readOnce(`${where}.init`, "options", options, ["seed"]);
    if (typeof seed !== "number" || !Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32) {
      throw new HeedError("option", `${where}.init: seed must be a whole number of 32 bits, got ${showValue(seed)}`);
    }
    this.#assertFloats("init", this.#all());
    this.draw(new Draw(seed));
    return this;
  }

  /** The rule of layers without one: that of each parameter which has one, and of each inner layer. */
  protected draw(draw: Draw): void {
    for (const [name, parameter] of this.#own) {
      const { rule, shape } = parameter;
      if (rule === undefined) continue;
      const drawn = new Map([[name, { data: drawnBy(rule, draw, shape), shape }]]);
      parameter.set(requireFloats(this.where, drawn, name));
    }
    for (const part of this.#parts.values()) part.draw(draw);
  }

  /** Draws every parameter, those of inner layers too. */
  protected drawBy(rule: DrawRule): void {
    for (const [name, parameter] of this.#all()) {
      parameter.set({ data: rule(name, parameter.shape), shape: parameter.shape });
    }
  }

  /** Throws where a parameter is in a format of weights. */
  #assertFloats(method: string, parameters: Iterable<readonly [string, Parameter]>): void {
    for (const [name, { format }] of parameters)
      if (format !== "f32") throw onlyFloats(`${this.where}.${method}`, name, format);
  }

  /** Gives one parameter the numbers of another, so that they are one where they learn. */
  protected tie(name: string, to: string): void {
    const all = new Map(this.#all());
    all.get(name)?.tie(all.get(to));
  }

  /** The parameters as they are now, learnt or loaded, copied; tied ones share an array. */
  readParameters(): Promise<Map<string, ParameterTensor>> {
    return this.#readAll(({ variable }) => variable?.value ?? null, true);
  }

  /** The gradients that are there, by the names of parameters. */
  readGradients(): Promise<Map<string, ParameterTensor>> {
    return this.#readAll(({ variable }) => variable?.gradient ?? null, false);
  }

  async #readAll(
    residentOf: (parameter: Parameter) => Resident | null,
    isAll: boolean,
  ): Promise<Map<string, ParameterTensor>> {
    const read = new Map<string, ParameterTensor>();
    // Tied parameters have one array, so that they are tied where it is loaded.
    const known = new Map<Resident | AnyNumbers, Float32Array>();
    for (const [name, parameter] of this.#all()) {
      const { shape, numbers, variable } = parameter;
      const resident = residentOf(parameter);
      const from = variable === null || resident === null ? (isAll ? numbers : null) : resident;
      if (from === null) continue;
      const called = `${this.where}: parameter ${name}`;
      const data =
        known.get(from) ??
        ("read" in from
          ? await (from instanceof StoredNumbers ? from.readSoon(called) : from.read(called).slice())
          : asF32((await variable?.backend.download(from)) ?? new Float32Array()));
      known.set(from, data);
      read.set(name, { data, shape });
    }
    return read;
  }

  /** The parameters whose names are these, or begin with one of them and a dot, keep their values where others learn. */
  freeze(names: readonly string[]): this {
    return this.#setFrozen("freeze", names, true);
  }

  /** Those parameters learn again. */
  unfreeze(names: readonly string[]): this {
    return this.#setFrozen("unfreeze", names, false);
  }

  #setFrozen(method: string, names: unknown, isFrozen: boolean): this {
    const where = `${this.where}.${method}`;
    const wanted = guard("option", `${where}: reading names`, () => {
      return listOf<string>(names, MOST_LISTED, (name) => typeof name === "string");
    });
    if (wanted === null) {
      throw new HeedError("option", `${where}: names must be an array of strings, got ${showValue(names)}`);
    }
    const all = [...this.#all()];
    const chosen = [...new Set(wanted)].map((name) => {
      const found = all.filter(([one]) => one === name || one.startsWith(`${name}.`));
      if (found.length > 0) return found;
      throw new HeedError("option", `${where}: no parameter is named ${showValue(name)}, or begins so`);
    });
    if (!isFrozen) this.#assertFloats(method, chosen.flat());
    for (const [, parameter] of chosen.flat()) parameter.isFrozen = isFrozen;
    return this;
  }

  /** The new values of all parameters, checked. Those of the inner layers named in `missing` become null. */
  protected *fill(parameters: GivenParameters, prefix: string, missing: readonly string[] = []): Filling {
    for (const name of this.#absent) {
      if ((parameters.get(prefix + name) ?? null) === null) continue;
      const rule = `with its options it must have no parameter ${prefix}${name}`;
      throw new HeedError("option", `${this.where}: ${rule}, got one`);
    }
    for (const [name, parameter] of this.#own) {
      const found = requireLoadable(this.where, parameters, prefix + name);
      const called = `${this.where}: parameter ${prefix}${name}`;
      yield [parameter, found instanceof PendingTensor ? found : parameter.fitting(called, found)];
    }
    for (const [part, layer] of this.#parts) {
      if (missing.includes(part)) for (const parameter of layer.#parameters()) yield [parameter, null];
      else yield* layer.fill(parameters, `${prefix}${part}.`);
    }
  }

  /** Gives one parameter the tensor of another where their numbers are the same, so that they are tied although a file has both. */
  protected *tying(filling: Filling, name: string, to: string): Filling {
    const filled = new Map(filling);
    const all = new Map(this.#all());
    const [one, other] = [all.get(name), all.get(to)];
    const [a, b] = [one && filled.get(one), other && filled.get(other)];
    if (one && a && b) filled.set(one, tied(a, b));
    yield* filled;
  }

  /** The names of all parameters. */
  protected names(): Set<string> {
    return new Set([...this.#all()].map(([name]) => name));
  }

  /** @internal Unlike `instanceof`, it runs no code of a proxy, which is none. */
  static is(value: unknown): value is Layer {
    return typeof value === "object" && value !== null && #own in value;
  }

  /** @internal For heed/train. */
  static allOf(layer: Layer): Generator<[string, Parameter]> {
    return layer.#all();
  }

  /** @internal Likewise: the layer and those in it, by their paths. */
  static *layersOf(layer: Layer, path = ""): Generator<[string, Layer]> {
    yield [path, layer];
    for (const [name, part] of layer.#parts) yield* Layer.layersOf(part, path === "" ? name : `${path}.${name}`);
  }

  /** @internal Whether it has any parameter. */
  static isLoaded(layer: Layer): boolean {
    return layer.#parameters().some(({ numbers }) => numbers !== null);
  }

  /** @internal For heed/train. */
  static engineOf({ engine }: Layer): LayerEngine {
    return engine;
  }

  /** @internal What computes it: this module, or that of stored weights where it has some. */
  static moduleOf<M extends ModuleName>(layer: Layer, least: M): M | "narrow" {
    return layer.#parameters().some(({ format }) => format !== "f32") ? "narrow" : least;
  }

  *#all(): Generator<[string, Parameter]> {
    yield* this.#own;
    for (const [part, layer] of this.#parts) {
      for (const [name, parameter] of layer.#all()) yield [`${part}.${name}`, parameter];
    }
  }

  /** The same without names, which every pass would make anew, kept until any layer changes. */
  #parameters(): readonly Parameter[] {
    if (this.#known.changes !== changes) {
      const inner = [...this.#parts.values()].flatMap((part) => part.#parameters());
      this.#known = { changes, parameters: [...this.#own.values(), ...inner] };
    }
    return this.#known.parameters;
  }

  /** Frees its parameters in the engine. The layer can be used again, as it was loaded: what it has learnt is lost unless it was read before. */
  dispose(): void {
    for (const parameter of this.#parameters()) parameter.dispose();
  }

  /** Frees its parameters, and forgets what was loaded, once the passes under way have ended. */
  protected unload(): void {
    for (const parameter of this.#parameters()) parameter.unload();
  }

  [DISPOSE](): void {
    this.dispose();
  }

  /** @public Adds a parameter of one's own, which is this layer's under `name`, and a parent's under the path to it. */
  protected parameter(name: string, rule: ParameterRule): LayerParameter;
  protected parameter(name: string, parameter: Parameter): Parameter;
  protected parameter(name: string, given: Parameter | ParameterRule): Parameter {
    const parameter = given instanceof Parameter ? given : this.#ruled(name, given);
    checkRoom(this.where, `parameter ${name}`, parameter.shape);
    this.#own.set(name, parameter);
    changes += 1;
    return parameter;
  }

  /** A parameter of a layer of the caller's. */
  #ruled(name: unknown, rule: unknown): Parameter {
    const { where } = this;
    if (typeof name !== "string" || name === "" || name.includes(".")) {
      throw refusal(where, "the name of a parameter", "a string without dots, not empty", name);
    }
    if (this.#own.has(name) || this.#parts.has(name)) {
      throw new HeedError("option", `${where}: two parameters or parts must not have one name, got ${showValue(name)}`);
    }
    const called = `parameter ${name}`;
    const { shape, init } = readCopy(where, called, rule, ["shape", "init"]) as Partial<ParameterRule>;
    if (init !== undefined && typeof init !== "function") readChoice(where, `${called}.init`, init, INITS, "zeros");
    const sizes = readShape(where, called, shape);
    return new Parameter(sizes, "plain", { shape: sizes, init });
  }

  /** Names of parameters that the layer would have with other options. A map with one of them is for another layer. */
  protected without(...names: readonly string[]): null {
    for (const name of names) this.#absent.add(name);
    return null;
  }

  /** @public Makes another layer a part of this one: its parameters are this layer's, under `name`. */
  protected part<L extends Layer>(name: string, layer: L): L {
    this.#parts.set(name, layer);
    changes += 1;
    return layer;
  }

  /** Takes away an inner layer. */
  protected withoutPart(name: string): void {
    this.#parts.delete(name);
    changes += 1;
  }

  /** A parameter in the engine's memory. */
  protected async resident(scope: Scope, name: string): Promise<ResidentParameter> {
    const parameter = this.#own.get(name);
    if (parameter === undefined) throw new TypeError(`${this.where} has no parameter ${name}`);
    return scope.parameter(parameter, `${this.where}: parameter ${name}`);
  }

  /** The same, or null where the layer has no such parameter. */
  protected async residentOrNull(scope: Scope, name: string): Promise<ResidentParameter | null> {
    return this.#own.has(name) ? this.resident(scope, name) : null;
  }

  /** Runs a pass, from options to results. `act` is called at once where the engine is open already. */
  protected pass<R>(
    options: unknown,
    names: readonly string[],
    act: (scope: Scope, given: Readonly<Record<string, unknown>>, keep: boolean) => Promise<R>,
  ): Promise<R> {
    return guardAsync("option", `${this.where}: reading its arguments`, async () => {
      try {
        return await this.#pass(options, names, act);
      } catch (error) {
        throw this.#refused(error);
      }
    });
  }

  async #pass<R>(
    options: unknown,
    names: readonly string[],
    act: (scope: Scope, given: Readonly<Record<string, unknown>>, keep: boolean) => Promise<R>,
  ): Promise<R> {
    const given = readRecord(this.where, "options", options, [...FORWARD_OPTIONS, ...names], ELSEWHERE);
    const keep = readBoolean(this.where, "keep", given["keep"], false);
    const signal = readSignal(this.where, given["signal"]);
    throwIfAborted(this.where, signal);
    const caches = cachesIn(given);
    const watch = Watch.of(this.where, given, () => Layer.layersOf(this));
    if (given["pass"] !== undefined) {
      if (caches.some((cache) => cache !== undefined && cache !== false)) {
        throw new HeedError("option", `${this.where}: a pass of gradients must have no cache, got both`);
      }
      const scope = Pass.scopeOf(this.where, given["pass"]);
      if (watch === null) return scope.called((called) => act(called, given, true));
      if (given["hooks"] !== undefined) {
        throw new HeedError("option", `${this.where}: a pass of gradients must have no hooks, got both`);
      }
      return scope.called((called) => called.watching(watch, (watched) => act(watched, given, true)));
    }
    const compute = async (held: HeldCaches): Promise<R> => {
      const begun = await this.engine.begin(signal, Layer.moduleOf(this, "full"));
      const { program } = begun;
      const released: Tensor[] = [];
      const scope = new Scope({ ...begun, signal, held, released, ...(watch && { watch }) });
      try {
        return await guardAsync("memory", `${this.where}: computing`, async () => {
          const result = await act(scope, given, keep);
          await program.flush();
          return result;
        });
      } catch (error) {
        for (const tensor of released) tensor.dispose();
        throw error;
      } finally {
        scope.close();
        await program.close();
        endPass(program.root);
      }
    };
    const parameters = this.#parameters();
    if (parameters.some(({ isLeaving }) => isLeaving)) throw notLoaded(this.where, true, this.#remedy);
    for (const parameter of parameters) parameter.enter();
    try {
      return await withLocks({ where: this.where, caches, signal, act: compute });
    } finally {
      for (const parameter of parameters) parameter.leave();
    }
  }

  /** Names the layer that was called, where nothing of it is loaded, rather than one inside. */
  #refused(error: unknown): unknown {
    if (!isNotLoaded(error) || this.#parts.size === 0 || Layer.isLoaded(this)) return error;
    return notLoaded(this.where, error.code === "disposed", this.#remedy);
  }

  get #remedy(): string {
    return `: call ${this.where}.load, or init, first`;
  }

  /** Runs a pass from one tensor to one tensor. */
  protected async passOne(
    x: unknown,
    options: unknown,
    act: (scope: Scope, x: Tensor) => Promise<Tensor>,
  ): Promise<Tensor | ArrayTensor> {
    return this.pass(options, [], async (scope, _given, keep) => {
      return handOut(scope, await act(scope, await scope.take(this.where, "x", x)), keep);
    });
  }
}

/** A tensor, or another that is it. */
function tied(a: LoadableTensor, b: LoadableTensor): LoadableTensor {
  if (a instanceof PendingTensor) return b instanceof PendingTensor && a.name !== b.name ? a.like(b) : a;
  return !(b instanceof PendingTensor) && a.data.buffer !== b.data.buffer && areEqual(a, b) ? b : a;
}

/** The type of the result of a layer with one input and one output. */
export type Forwarded<O> = Promise<Returned<O>>;
export type { NoOptions, Returned };
