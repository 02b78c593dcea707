// Fills a layer from tensors as these arrive: what is made of one is in the engine before the next is read, and nowhere else.

import type { Backend } from "../backends/backend.js";
import { NARROW_PANEL } from "../backends/wasm/generated/operation-calls.js";
import { HeedError } from "../base/errors.js";
import { digestOf } from "./digest.js";
import type { WeightFormat } from "./formats/format.js";
import { type AnyTensor, formatOf } from "./formats/stored.js";
import { type ArrivingTensor, piecesOf, whole } from "./io/arriving-tensor.js";
import { Layer } from "./layer.js";
import { Numbers } from "./numbers.js";
import { type AnyNumbers, isPlain, type Parameter } from "./parameters.js";
import { endPass } from "./passes.js";
import { PendingTensor } from "./pending-tensor.js";
import { readParameter } from "./read-parameters.js";
import { StoredNumbers } from "./stored-numbers.js";
import { assertNumbersFit, type Expected, Taking, type Weights } from "./taking.js";

export class Arrivals {
  readonly #where: string;
  readonly #weights: Weights;
  readonly #backend: Backend;
  /** By the file's names. */
  readonly #expected = new Map<string, Expected[]>();
  /** Names of tensors that may have the same numbers, both ways. */
  readonly #twins = new Map<string, string>();
  /** Of those that are there, a parameter that has them. */
  readonly #seen = new Map<string, { readonly digest: string; readonly parameter: Parameter }>();

  /** Expects all parameters of a layer from tensors with these names. The numbers then go to the layer's engine. */
  static async at(
    layer: Layer,
    where: string,
    names: Iterable<string>,
    weights: Weights,
    signal: AbortSignal | null,
  ): Promise<Arrivals> {
    const expected = Layer.expectedBy(layer, new Map([...names].map((name) => [name, new PendingTensor(name)])));
    const { backend, program } = await Layer.engineOf(layer).begin(signal, weights === "f32" ? "full" : "narrow");
    await program.close();
    endPass(backend.root);
    return new Arrivals(where, weights, backend, expected);
  }

  private constructor(where: string, weights: Weights, backend: Backend, expected: readonly Expected[]) {
    this.#where = where;
    this.#weights = weights;
    this.#backend = backend;
    for (const one of expected) {
      const { name } = one.tensor;
      this.#expected.set(name, [...(this.#expected.get(name) ?? []), one]);
      const { twin } = one.tensor;
      if (twin !== null) this.#twins.set(name, twin.name).set(twin.name, name);
    }
  }

  /** Whether a parameter is made of a tensor. */
  wants(name: string): boolean {
    return this.#expected.has(name);
  }

  /** Takes a tensor: in pieces, unless its rows are moved, or may be those of a twin. */
  async take(name: string, arriving: ArrivingTensor<unknown>): Promise<void> {
    const expected = this.#expected.get(name) ?? [];
    this.#expected.delete(name);
    const taking = new Taking(this.#weights);
    const none = readParameter(this.#where, name, arriving.make(new Uint8Array(0), [0, ...arriving.shape.slice(1)]));
    const [format = "f32", ...others] = new Set(expected.map(({ parameter }) => taking.formatFor(parameter, none)));
    const canBePieces = expected.every(({ tensor, parameter }) => tensor.isPlain && parameter.sizes().count === 1);
    if (!canBePieces || others.length > 0 || this.#twins.has(name))
      await this.#takeWhole(name, arriving, expected, taking);
    else await this.#takePieces(name, arriving, expected, format);
  }

  async #takePieces(
    name: string,
    arriving: ArrivingTensor<unknown>,
    expected: readonly Expected[],
    format: WeightFormat,
  ): Promise<void> {
    // What is packed in f32 is made of what is plain, which is to come first.
    const ordered = [...expected].sort(
      (a, b) => Number(isPlain(b.parameter.layout)) - Number(isPlain(a.parameter.layout)),
    );
    let numbers: AnyNumbers | null = null;
    for (const { where, parameter } of ordered) parameter.fitting(where, arriving);
    for (const { where, parameter } of ordered) {
      if (numbers === null) {
        const pieces = this.#piecesOf(name, arriving, where, format);
        numbers = format === "f32" ? Numbers.arriving(pieces) : new StoredNumbers(pieces, format, parameter.sizes());
      }
      parameter.set(numbers);
    }
    for (const { where, parameter } of ordered) await parameter.residentIn(this.#backend, where);
  }

  /** The pieces of a tensor, checked. */
  async *#piecesOf(
    name: string,
    arriving: ArrivingTensor<unknown>,
    where: string,
    format: WeightFormat,
  ): AsyncGenerator<AnyTensor, void, undefined> {
    for await (const piece of piecesOf(arriving, NARROW_PANEL)) {
      const tensor = readParameter(this.#where, name, piece);
      if (format !== formatOf(tensor)) assertNumbersFit(where, tensor, format);
      yield tensor;
    }
  }

  async #takeWhole(
    name: string,
    arriving: ArrivingTensor<unknown>,
    expected: readonly Expected[],
    taking: Taking,
  ): Promise<void> {
    const tensor = readParameter(this.#where, name, await whole(arriving));
    const made = new Map();
    const taken = expected.map(({ where, parameter, tensor: pending }) => {
      const own = parameter.fitting(where, pending.of(tensor, made));
      return { where, parameter, value: taking.of(where, parameter, own) };
    });
    const same = this.#sameAs(name, tensor, expected[0]?.parameter);
    for (const { parameter, value: numbers } of taken) {
      if (same === null) parameter.set(numbers);
      else parameter.tie(same);
    }
    for (const { where, parameter } of taken) await parameter.residentIn(this.#backend, where);
  }

  /** A parameter that has the numbers of a tensor already; null: none. */
  #sameAs(name: string, { data }: AnyTensor, parameter: Parameter | undefined): Parameter | null {
    const twin = this.#twins.get(name);
    if (twin === undefined || parameter === undefined) return null;
    const digest = digestOf(data);
    this.#seen.set(name, { digest, parameter });
    const other = this.#seen.get(twin);
    return other?.digest === digest ? other.parameter : null;
  }

  /** Throws unless all tensors have arrived. */
  finish(): void {
    const [missing] = this.#expected.keys();
    if (missing === undefined) return;
    throw new HeedError("load", `${this.#where}: the files must have tensor ${missing}, got none`);
  }
}
