// What parameters take of the tensors of one `load`: each in the format that was asked for, and one for all that share a tensor.

import { readChoice } from "../base/read-values.js";
import type { WeightFormat } from "./formats/format.js";
import { type AnyTensor, assertFit, fits, floatsOf, formatOf, type ParameterTensor } from "./formats/stored.js";
import type { Parameter } from "./parameters.js";
import type { PendingTensor } from "./pending-tensor.js";
import { StoredNumbers } from "./stored-numbers.js";

/** How weights are to be stored: rounded to a format, or as they were given. Vectors, and matrices that cannot have a format, are f32. */
export type Weights = "f32" | "as stored" | "f16" | "bf16" | "int8" | "int4";

const WEIGHTS = ["f32", "as stored", "f16", "bf16", "int8", "int4"] as const;

export function readWeights(where: string, value: unknown): Weights {
  return readChoice(where, "weights", value, WEIGHTS, "f32");
}

/** Numbers that are looked at together. */
const PIECE = 2 ** 16;

/** What a parameter takes; null: nothing. */
export type Taken = readonly [Parameter, ParameterTensor | StoredNumbers | null];

/** A parameter, and what it is made of. */
export interface Expected {
  /** Its name, in messages. */
  readonly where: string;
  readonly parameter: Parameter;
  readonly tensor: PendingTensor;
}

export class Taking {
  readonly #weights: Weights;
  /** What was taken of an array, by its buffer, its place and the format. */
  readonly #taken = new Map<ArrayBufferLike, Map<string, ParameterTensor | StoredNumbers>>();

  constructor(weights: Weights) {
    this.#weights = weights;
  }

  /** Throws where the numbers do not fit the format. `where` names the parameter. */
  of(where: string, parameter: Parameter, tensor: AnyTensor): ParameterTensor | StoredNumbers {
    const format = this.formatFor(parameter, tensor);
    if (format === "f32" && formatOf(tensor) === "f32") return floatsOf(tensor);
    const { buffer, byteOffset, byteLength } = tensor.data;
    const sizes = parameter.sizes();
    const place = [byteOffset, byteLength, formatOf(tensor), format, format === "f32" || sizes.count].join();
    const others = this.#taken.get(buffer) ?? new Map<string, ParameterTensor | StoredNumbers>();
    this.#taken.set(buffer, others);
    const known = others.get(place);
    if (known !== undefined) return known;
    if (formatOf(tensor) !== format) assertNumbersFit(where, tensor, format);
    const made = format === "f32" ? floatsOf(tensor) : new StoredNumbers(tensor, format, sizes);
    others.set(place, made);
    return made;
  }

  /** The format in which a parameter takes a tensor. */
  formatFor({ layout, shape }: Parameter, tensor: AnyTensor): WeightFormat {
    if (layout === "plain") return "f32";
    const wanted = this.#weights === "as stored" ? formatOf(tensor) : this.#weights;
    return fits(wanted, shape.at(-1) ?? 0) ? wanted : "f32";
  }
}

/** Numbers are rounded when an engine takes them, and refused before. What lies in blocks has numbers of a bounded size. */
export function assertNumbersFit(where: string, { data, shape, ...rest }: AnyTensor, format: WeightFormat): void {
  if (data instanceof Uint8Array || format === "f32") return;
  for (let at = 0; at < data.length; at += PIECE) {
    assertFit(where, floatsOf({ data: data.subarray(at, at + PIECE), shape, ...rest } as AnyTensor).data, format);
  }
}
