// Typed access to the metadata of a GGUF file. A value of another type is refused with its name.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import type { GgufValue } from "./values.js";

export class Metadata {
  readonly where: string;
  readonly #values: ReadonlyMap<string, GgufValue>;

  constructor(where: string, values: ReadonlyMap<string, GgufValue>) {
    this.where = where;
    this.#values = values;
  }

  refusal(rule: string, got: unknown): HeedError {
    return new HeedError("load", `${this.where}: ${rule}, got ${showValue(got)}`);
  }

  unsupported(rule: string, got: unknown): HeedError {
    return new HeedError("unsupported", `${this.where}: ${rule}, got ${showValue(got)}`);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  text(name: string): string | undefined {
    return this.#read(name, "a text", (value) => typeof value === "string");
  }

  flag(name: string): boolean | undefined {
    return this.#read(name, "a boolean", (value) => typeof value === "boolean");
  }

  number(name: string): number | undefined {
    return this.#read(name, "a finite number", (value) => typeof value === "number" && Number.isFinite(value));
  }

  /** A whole number, 0 or more. */
  whole(name: string): number | undefined {
    return this.#read(name, "a whole number, 0 or more", (value) => Number.isSafeInteger(value) && Number(value) >= 0);
  }

  texts(name: string): readonly string[] | undefined {
    return this.#list(name, "texts", (value) => typeof value === "string");
  }

  numbers(name: string): readonly number[] | undefined {
    return this.#list(name, "numbers", (value) => typeof value === "number");
  }

  /** What `read` gave of a field that must be there. */
  required<T>(name: string, value: T | undefined): T {
    if (value !== undefined) return value;
    throw new HeedError("load", `${this.where}: metadata must have ${showValue(name)}, got none`);
  }

  #list<T extends GgufValue>(
    name: string,
    what: string,
    isGood: (value: GgufValue) => boolean,
  ): readonly T[] | undefined {
    return this.#read(name, `an array of ${what}`, (value) => Array.isArray(value) && value.every(isGood));
  }

  #read<T extends GgufValue>(name: string, rule: string, isGood: (value: GgufValue) => boolean): T | undefined {
    const value = this.#values.get(name);
    if (value === undefined || isGood(value)) return value as T | undefined;
    throw this.refusal(`metadata ${showValue(name)} must be ${rule}`, value);
  }
}
