// Typed access to the fields of a tokenizer.json. A field of another type is refused with its name.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { isOptions } from "../../base/read-values.js";
import { listOf } from "../../base/typed-array.js";

export const WHERE = "loadTokenizer";

/** The most steps in all sequences of a file together. Published files have about ten. */
const MOST_STEPS = 256;

/** An object in the file, and its name in messages. */
export class Component {
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly what: string;
  /** Shared by all components of the file. */
  readonly #steps: { count: number };

  constructor(what: string, fields: unknown, steps = { count: 0 }) {
    if (!isOptions(fields)) throw refusal(`${what} must be an object`, fields);
    this.what = what;
    this.#fields = fields;
    this.#steps = steps;
  }

  /** The component's type; empty where it has none. */
  get type(): string {
    return this.text("type", "");
  }

  get(name: string): unknown {
    return Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
  }

  text<D extends string | undefined>(name: string, absent: D): string | D {
    const value = this.get(name) ?? absent;
    if (typeof value === "string" || value === absent) return value as string | D;
    throw refusal(`${this.what}: ${name} must be a text`, value);
  }

  flag(name: string, absent: boolean): boolean {
    const value = this.get(name) ?? absent;
    if (typeof value === "boolean") return value;
    throw refusal(`${this.what}: ${name} must be true or false`, value);
  }

  whole(name: string, absent?: number): number {
    const value = this.get(name) ?? absent;
    if (isWhole(value)) return value;
    throw refusal(`${this.what}: ${name} must be a whole number from 0 to 2^26`, value);
  }

  list(name: string): readonly unknown[] {
    const value = this.get(name);
    const list = listOf(value);
    if (list !== null) return list;
    throw refusal(`${this.what}: ${name} must be an array`, value);
  }

  /** A component within it. */
  part(name: string): Component {
    return new Component(`${this.what}: ${name}`, this.get(name), this.#steps);
  }

  parts(name: string): Component[] {
    return this.list(name).map((value, at) => new Component(`${this.what}: ${name}[${at}]`, value, this.#steps));
  }

  /** Components that are applied to the whole text one after another. */
  steps(name: string): Component[] {
    this.#steps.count += this.list(name).length;
    if (this.#steps.count <= MOST_STEPS) return this.parts(name);
    throw refusal(`the tokenizer must have at most ${MOST_STEPS} steps in its sequences`, this.#steps.count);
  }

  /** A component that may be null or absent. */
  optional(name: string): Component | null {
    return (this.get(name) ?? null) === null ? null : this.part(name);
  }

  entries(name: string): [string, unknown][] {
    const value = this.get(name);
    if (isOptions(value)) return Object.entries(value);
    throw refusal(`${this.what}: ${name} must be an object`, value);
  }

  /** Ids by token. */
  vocabulary(name: string): Map<string, number> {
    const vocabulary = new Map<string, number>();
    for (const [token, id] of this.entries(name)) {
      if (!isWhole(id))
        throw refusal(`${this.what}: ${name} must have whole numbers from 0 to 2^26, that of ${showValue(token)}`, id);
      vocabulary.set(token, id);
    }
    return vocabulary;
  }

  /** The error for a type that heed does not support. */
  unsupported(): HeedError {
    const type = this.get("type");
    return new HeedError("unsupported", `${WHERE}: ${this.what} of type ${showValue(type)} is not supported`);
  }
}

/** Ids are below 2^26, so that a pair of them fits exactly into one number. */
export const isWhole = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 26;

export function refusal(rule: string, got: unknown): HeedError {
  return new HeedError("load", `${WHERE}: ${rule}, got ${showValue(got)}`);
}
