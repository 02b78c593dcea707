// Renames published parameters to the names of heed's layers.

import { HeedError } from "../../base/errors.js";
import { type GivenParameters, type ParameterTensor, requireParameter } from "../parameters.js";

/** The prefix of a file's names, one of `starts`: that with which the file has `name`. */
export function prefixOf(
  where: string,
  parameters: GivenParameters,
  prefix: string,
  starts: readonly string[],
  name: string,
): string {
  const found = starts.find((start) => parameters.has(prefix + start + name));
  if (found !== undefined) return prefix + found;
  const tried = starts.map((start) => prefix + start + name).join(" or ");
  throw new HeedError("option", `${where}: parameter ${tried} is missing among the ${parameters.size} that were given`);
}

/** Entries of files that are not parameters: masks and tables that follow from the configuration. */
const BUFFERS = /\.(?:attn\.(?:masked_)?bias|rotary_emb\.(?:inv_freq|(?:cos|sin)_cached))$/;

/** The name up to the number of its layer, or without its last part. */
const partOf = (name: string): string | undefined => /^(?:.*?\.\d+\.|.*\.)/.exec(name)?.[0];

/** Published parameters under the names of a model. */
export class Renamed {
  readonly map = new Map<string, ParameterTensor>();
  readonly #where: string;
  readonly #parameters: GivenParameters;
  readonly #prefix: string;
  readonly #names: ReadonlySet<string>;
  readonly #taken = new Set<string>();

  /** `names`: the names of the model's parameters. */
  constructor(where: string, parameters: GivenParameters, prefix: string, names: ReadonlySet<string>) {
    this.#where = where;
    this.#parameters = parameters;
    this.#prefix = prefix;
    this.#names = names;
  }

  get(name: string): ParameterTensor {
    this.#taken.add(name);
    return requireParameter(this.#where, this.#parameters, name);
  }

  has(name: string): boolean {
    return this.#parameters.has(name);
  }

  /** Takes a weight, and a bias where the model has one. Old files call those of a norm gamma and beta. */
  take(ours: string, theirs: string, change: (parameter: ParameterTensor) => ParameterTensor = (same) => same): void {
    const isOld = this.has(`${theirs}.gamma`);
    this.map.set(`${ours}.weight`, change(this.get(`${theirs}.${isOld ? "gamma" : "weight"}`)));
    if (this.#names.has(`${ours}.bias`)) this.map.set(`${ours}.bias`, this.get(`${theirs}.${isOld ? "beta" : "bias"}`));
  }

  /** All parameters that were taken. Throws where one of their layers has more, because the file is then of another model. */
  all(): GivenParameters {
    const inside = (name: string): string | undefined => partOf(name.slice(this.#prefix.length));
    const parts = new Set([...this.#taken].map(inside));
    for (const name of this.#parameters.keys()) {
      if (this.#taken.has(name) || BUFFERS.test(name)) continue;
      if (!name.startsWith(this.#prefix) || !parts.has(inside(name))) continue;
      throw new HeedError("option", `${this.#where}: a model of this config must have no parameter ${name}, got one`);
    }
    return this.map;
  }
}
