// Reads the score function and its parameters: checked operands, one for all query heads or one for each.

import type { Backend, Dims4, Operand, ScoreFunction, ScoreKind } from "../backends/backend.js";
import { showShape } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isOptions, readChoice, readRecord, refusal } from "../base/read-values.js";
import { isFloat32Array, lengthOf, numbersOf } from "../base/typed-array.js";
import { denseView } from "./layout.js";
import { operandOf, type ReadTensor, readF32 } from "./operands.js";
import { DEFAULTS, SCORE_PARAMETERS } from "./options.js";

/** A kind of score, and its unchecked parameters. */
export interface GivenScore {
  readonly kind: ScoreKind;
  readonly parameters: Readonly<Record<string, unknown>>;
}

const KINDS = Object.keys(SCORE_PARAMETERS) as readonly ScoreKind[];

/** Takes a name, or an object with the name as its `type`. */
export function readScore(where: string, value: unknown): GivenScore {
  const isNamed = isOptions(value) && value["type"] !== undefined;
  const kind = readChoice(where, "score", isNamed ? value["type"] : value, KINDS, DEFAULTS.score);
  const names = SCORE_PARAMETERS[kind];
  const parameters = isNamed ? readRecord(where, `score ${kind}`, value, ["type", ...names]) : {};
  const [first] = names;
  if (first !== undefined && kind !== "additive" && parameters[first] === undefined) {
    throw new HeedError("option", `${where}: score ${kind} needs ${first}`);
  }
  return { kind, parameters };
}

/** Whether query and key may differ in head_dim, because matrices map them to a common length. */
export function hasMatrices({ kind }: GivenScore): boolean {
  return kind === "general" || kind === "additive";
}

/** `query` and `key` are [batch, heads, length, dim]. */
export function readScoreFunction(
  where: string,
  { kind, parameters }: GivenScore,
  query: Dims4,
  key: Dims4,
  backend: Backend | null,
): ScoreFunction {
  const [, heads, , queryDim] = query;
  const keyDim = key[3];
  const reader = new ParameterReader(where, parameters, heads, backend);
  const none: ScoreFunction = { kind, hidden: keyDim, w: null, wq: null, wk: null, b: null, v: null, bandwidth: null };
  switch (kind) {
    case "general":
      return { ...none, w: reader.matrix("w", queryDim, keyDim) };
    case "additive": {
      const wq = reader.matrix("wq", null, queryDim);
      const wk = reader.matrix("wk", null, keyDim);
      const hidden = wq?.shape[2] ?? queryDim;
      const ofKey = wk?.shape[2] ?? keyDim;
      if (hidden !== ofKey || hidden === 0) {
        throw new HeedError(
          "shape",
          `${where}: score.wq and score.wk must give queries and keys as many numbers, at least 1, got ${hidden} and ${ofKey}`,
        );
      }
      return { ...none, hidden, wq, wk, b: reader.vector("b", hidden), v: reader.vector("v", hidden) };
    }
    case "gated":
      return { ...none, w: reader.vector("w", queryDim + keyDim), b: reader.number("b", Number.isFinite, "finite") };
    case "rbf":
      return { ...none, bandwidth: reader.number("bandwidth", isBandwidth, "between 1e-15 and 1e15") };
    default:
      return none;
  }
}

/** In f32, as C++ checks it. */
function isBandwidth(width: number): boolean {
  return width >= Math.fround(1e-15) && width <= Math.fround(1e15);
}

/** Reads parameters by name. An absent one is null. */
class ParameterReader {
  readonly #where: string;
  readonly #given: Readonly<Record<string, unknown>>;
  readonly #heads: number;
  readonly #backend: Backend | null;

  constructor(where: string, given: Readonly<Record<string, unknown>>, heads: number, backend: Backend | null) {
    this.#where = where;
    this.#given = given;
    this.#heads = heads;
    this.#backend = backend;
  }

  /** [rows, columns] or [H, rows, columns]. Where `rows` is null, any number will do. */
  matrix(name: string, rows: number | null, columns: number): Operand | null {
    const value = this.#given[name];
    if (value === undefined) return null;
    const read = this.#tensor(name, value);
    const { shape } = read;
    const own = rows ?? shape[shape.length - 2] ?? 0;
    return this.#operand(name, read, [own, columns], [own, columns]);
  }

  /** [length] or [H, length]; bare numbers of either count will do. */
  vector(name: string, length: number): Operand | null {
    const value = this.#given[name];
    if (value === undefined) return null;
    const isBare = isFloat32Array(value);
    const bareShape = isBare && lengthOf(value) === length ? [length] : [this.#heads, length];
    const read = this.#tensor(name, isBare ? { data: value, shape: bareShape } : value);
    return this.#operand(name, read, [length], [1, length]);
  }

  /** A number or H of them. */
  number(name: string, isGood: (number: number) => boolean, rule: string): Operand | null {
    const value = this.#given[name];
    if (value === undefined) return null;
    const numbers = typeof value === "number" ? [value] : numbersOf(value, this.#heads);
    const isOfHeads = numbers !== null && (numbers.length === 1 || numbers.length === this.#heads);
    if (!isOfHeads || !numbers.every((number) => isGood(Math.fround(number)))) {
      throw refusal(
        this.#where,
        `score.${name}`,
        `${rule}, a number or one for each of ${this.#heads} query heads`,
        value,
      );
    }
    const array = Float32Array.from(numbers);
    const elements = array.length;
    return { source: { kind: "array", array }, dtype: "f32", elements, ...denseView("bhnd", [1, elements, 1, 1]) };
  }

  #tensor(name: string, value: unknown): ReadTensor {
    return readF32(this.#where, `score.${name}`, value, this.#backend);
  }

  /** Checks that a parameter is of `shape`, or of that with an axis of heads before it. C++ takes it as [1, 1 or H, ...full]. */
  #operand(name: string, read: ReadTensor, shape: readonly number[], full: readonly [number, number]): Operand {
    const [rows, columns] = full;
    const isShared = String(read.shape) === String(shape);
    const perHead = [this.#heads, ...shape];
    if (!isShared && String(read.shape) !== String(perHead)) {
      throw new HeedError(
        "shape",
        `${this.#where}: score.${name} must be ${showShape(shape)} or ${showShape(perHead)}, got ${showShape(read.shape)}`,
      );
    }
    return operandOf(read, denseView("bhnd", [1, isShared ? 1 : this.#heads, rows, columns]));
  }
}
