// What every layer has: parameters by name, parts, an engine, and an end.

import { HeedError } from "../api/errors.js";
import { guard, guardAsync } from "../api/guard.js";
import type { Heed } from "../api/heed.js";
import { checkRoom } from "../api/operands.js";
import { readBoolean, readRecord, readSignal, throwIfAborted } from "../api/read-values.js";
import type { NoOptions, Returned } from "../api/results.js";
import type { ArrayTensor, Tensor } from "../api/tensor.js";
import { DISPOSE } from "../memory/disposable.js";
import { cachesIn, type HeldCaches, withLocks } from "./cache-locks.js";
import { LayerEngine } from "./engine-of.js";
import {
  type Filling,
  type GivenParameters,
  type Parameter,
  type ParameterSource,
  type ParameterTensor,
  readParameters,
  requireParameter,
} from "./parameters.js";
import { handOut, type Placed, Scope } from "./scope.js";

export interface LayerOptions {
  /** Where it computes; default the engine that `attention` shares. */
  readonly engine?: Heed | undefined;
}

export interface ForwardOptions {
  /** Leave the result in the engine, where other layers take it without a copy. Default false. */
  readonly keep?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const FORWARD_OPTIONS = ["keep", "signal"] as const;

/** Layers keep nothing of a pass: what a backward pass needs follows from inputs and parameters. */
export abstract class Layer {
  /** Its name in messages, whatever a minifier calls the class. */
  protected readonly where: string;
  protected readonly engine: LayerEngine;
  readonly #own = new Map<string, Parameter>();
  readonly #absent = new Set<string>();
  readonly #parts = new Map<string, Layer>();

  protected constructor(where: string, engine: Heed | undefined) {
    this.where = where;
    this.engine = new LayerEngine(where, engine);
  }

  /** What was loaded, by name; nothing is copied. */
  parameters(): Map<string, ParameterTensor> {
    const all = new Map<string, ParameterTensor>();
    for (const [name, { value }] of this.#all()) if (value !== null) all.set(name, value);
    return all;
  }

  /**
   * Takes its parameters from a map that may hold others as well: all of them, or none where one is refused, as is one that it would
   * have with other options. The numbers are not copied: they must not change.
   */
  load(parameters: ParameterSource, prefix = ""): this {
    const filled = guard("option", `${this.where}: reading parameters`, () => [
      ...this.fill(readParameters(this.where, parameters, prefix), prefix),
    ]);
    for (const [parameter, value] of filled) parameter.set(value);
    return this;
  }

  /** What the parameters are to be, each of it checked; those of parts that are `missing` are to be nothing. */
  protected *fill(parameters: GivenParameters, prefix: string, missing: readonly string[] = []): Filling {
    for (const name of this.#absent) {
      if ((parameters.get(prefix + name) ?? null) === null) continue;
      const rule = `with its options it must have no parameter ${prefix}${name}`;
      throw new HeedError("option", `${this.where}: ${rule}, got one`);
    }
    for (const [name, parameter] of this.#own) {
      const found = requireParameter(this.where, parameters, prefix + name);
      yield [parameter, parameter.fitting(`${this.where}: parameter ${prefix}${name}`, found)];
    }
    for (const [part, layer] of this.#parts) {
      if (missing.includes(part)) for (const [, parameter] of layer.#all()) yield [parameter, null];
      else yield* layer.fill(parameters, `${prefix}${part}.`);
    }
  }

  /** The names of all parameters, loaded or not. */
  protected names(): Set<string> {
    return new Set([...this.#all()].map(([name]) => name));
  }

  *#all(): Generator<[string, Parameter]> {
    yield* this.#own;
    for (const [part, layer] of this.#parts) {
      for (const [name, parameter] of layer.#all()) yield [`${part}.${name}`, parameter];
    }
  }

  /** Frees what it holds of the engine's memory. It can be used again. */
  dispose(): void {
    for (const [, parameter] of this.#all()) parameter.dispose();
  }

  [DISPOSE](): void {
    this.dispose();
  }

  protected parameter(name: string, parameter: Parameter): Parameter {
    checkRoom(this.where, `parameter ${name}`, parameter.shape);
    this.#own.set(name, parameter);
    return parameter;
  }

  /** Names that a file has where the layer would be another one: without them it would compute something else. */
  protected without(...names: readonly string[]): null {
    for (const name of names) this.#absent.add(name);
    return null;
  }

  protected part<L extends Layer>(name: string, layer: L): L {
    this.#parts.set(name, layer);
    return layer;
  }

  protected async place(scope: Scope, name: string): Promise<Placed> {
    const parameter = this.#own.get(name);
    if (parameter === undefined) throw new TypeError(`${this.where} has no parameter ${name}`);
    const resident = await parameter.residentIn(scope.backend, `${this.where}: parameter ${name}`);
    return { resident, length: parameter.shape.reduce((total, size) => total * size, 1) };
  }

  /** The same of one that the layer may lack. */
  protected async placeIf(scope: Scope, name: string): Promise<Placed | null> {
    return this.#own.has(name) ? this.place(scope, name) : null;
  }

  /** A pass from options to results. `act` is called at once where the engine is open already. */
  protected pass<R>(
    options: unknown,
    names: readonly string[],
    act: (scope: Scope, given: Readonly<Record<string, unknown>>, keep: boolean) => Promise<R>,
  ): Promise<R> {
    return guardAsync("option", `${this.where}: reading its arguments`, () => this.#pass(options, names, act));
  }

  async #pass<R>(
    options: unknown,
    names: readonly string[],
    act: (scope: Scope, given: Readonly<Record<string, unknown>>, keep: boolean) => Promise<R>,
  ): Promise<R> {
    const given = readRecord(this.where, "options", options, [...FORWARD_OPTIONS, ...names]);
    const keep = readBoolean(this.where, "keep", given["keep"], false);
    const signal = readSignal(this.where, given["signal"]);
    throwIfAborted(this.where, signal);
    const compute = async (held: HeldCaches): Promise<R> => {
      const scope = new Scope({ ...(await this.engine.begin()), signal, held });
      try {
        return await guardAsync("memory", `${this.where}: computing`, () => act(scope, given, keep));
      } finally {
        scope.close();
        scope.backend.end();
      }
    };
    return withLocks({ where: this.where, caches: cachesIn(given), signal, act: compute });
  }

  /** A pass of one tensor to one tensor. */
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

/** The result's type for a layer of one tensor to one tensor. */
export type Forwarded<O> = Promise<Returned<O>>;
export type { NoOptions };
