// Published parameter names in the names of heed's layers.

import { HeedError } from "../../api/errors.js";
import { type GivenParameters, type ParameterTensor, requireParameter } from "../parameters.js";

/** The beginning that all names of a file have, of several that are published: that with which `name` is there. */
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

/** What files keep in a layer beside its parameters: masks and tables that follow from the configuration. */
const BUFFERS = /\.(?:attn\.(?:masked_)?bias|rotary_emb\.(?:inv_freq|(?:cos|sin)_cached))$/;

/** The layer that a name belongs to, or else its last part. */
const partOf = (name: string): string | undefined => /^(?:.*?\.\d+\.|.*\.)/.exec(name)?.[0];

/** Weight and bias, where the model has one, of published parts under other names. */
export class Renamed {
  readonly map = new Map<string, ParameterTensor>();
  readonly #where: string;
  readonly #parameters: GivenParameters;
  readonly #prefix: string;
  readonly #names: ReadonlySet<string>;
  readonly #taken = new Set<string>();

  /** `names`: the model's own. */
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

  /** Old files call a norm's weight and bias gamma and beta. */
  take(ours: string, theirs: string, change: (parameter: ParameterTensor) => ParameterTensor = (same) => same): void {
    const isOld = this.has(`${theirs}.gamma`);
    this.map.set(`${ours}.weight`, change(this.get(`${theirs}.${isOld ? "gamma" : "weight"}`)));
    if (this.#names.has(`${ours}.bias`)) this.map.set(`${ours}.bias`, this.get(`${theirs}.${isOld ? "beta" : "bias"}`));
  }

  /** All that was taken, unless a part of which something was taken has more: without it, it would be another model's. */
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
