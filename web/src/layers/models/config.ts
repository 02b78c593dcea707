// Reads the fields of a config.json.

import { showValue } from "../../api/describe.js";
import { HeedError } from "../../api/errors.js";
import { guard } from "../../api/guard.js";
import type { Heed } from "../../api/heed.js";
import { isRecord, readBoolean, readFinite } from "../../api/read-values.js";
import { MOST_LAYERS, readOnce, readSize, required } from "../read.js";

export interface ModelOptions {
  readonly engine?: Heed | undefined;
}

/** Reads the options of a model. */
export function readEngine(where: string, options: ModelOptions | undefined): Heed | undefined {
  // The constructor of Layer checks it.
  return readOnce(where, "options", options, ["engine"])["engine"] as Heed | undefined;
}

/** A model's config.json. heed reads only the fields that it needs. */
export type ModelConfig = Readonly<Record<string, unknown>>;

export class ConfigReader {
  readonly #where: string;
  readonly #config: ModelConfig;

  constructor(where: string, config: unknown) {
    if (!isRecord(config)) {
      throw new HeedError(
        "option",
        `${where}: config must be an object as config.json has it, got ${showValue(config)}`,
      );
    }
    this.#where = where;
    this.#config = config;
  }

  /** Throws where a field has a value other than those listed. It may be absent. */
  only(computed: Readonly<Record<string, readonly unknown[]>>): this {
    for (const [name, values] of Object.entries(computed)) {
      const value = this.value(name);
      if (value === undefined || values.includes(value)) continue;
      const list = values.map(showValue).join(" or ");
      throw new HeedError("unsupported", `${this.#where}: config.${name} must be ${list}, got ${showValue(value)}`);
    }
    return this;
  }

  /** null counts as undefined. */
  value(name: string): unknown {
    const doing = `${this.#where}: reading config.${name}`;
    return guard("option", doing, () => this.#config[name]) ?? undefined;
  }

  count(name: string, absent?: number, most?: number): number {
    return readSize(this.#where, `config.${name}`, this.value(name) ?? absent, most);
  }

  layers(name: string): number {
    return this.count(name, undefined, MOST_LAYERS);
  }

  number(name: string, absent: number | null = null): number {
    return required(this.#where, `config.${name}`, readFinite(this.#where, `config.${name}`, this.value(name), absent));
  }

  flag(name: string, absent: boolean): boolean {
    return readBoolean(this.#where, `config.${name}`, this.value(name), absent);
  }

  /** The value in `choices` under the name in the field. */
  choice<T>(name: string, choices: Readonly<Record<string, T>>, absent: string): T {
    const value = this.value(name) ?? absent;
    const found = Object.entries(choices).find(([known]) => known === value)?.[1];
    if (found !== undefined) return found;
    const list = Object.keys(choices).join(", ");
    throw new HeedError(
      "unsupported",
      `${this.#where}: config.${name} must be one of ${list}, got ${showValue(value)}`,
    );
  }

  /** A field that is an object; null where it is absent. */
  part(name: string): ConfigReader | null {
    const value = this.value(name);
    return value === undefined ? null : new ConfigReader(`${this.#where}: config.${name}`, value);
  }
}
