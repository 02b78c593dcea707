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

/** Weight and bias, where there is one, of one published part under another name. */
export class Renamed {
  readonly map = new Map<string, ParameterTensor>();
  readonly #where: string;
  readonly #parameters: GivenParameters;

  constructor(where: string, parameters: GivenParameters) {
    this.#where = where;
    this.#parameters = parameters;
  }

  get(name: string): ParameterTensor {
    return requireParameter(this.#where, this.#parameters, name);
  }

  has(name: string): boolean {
    return this.#parameters.has(name);
  }

  /** Old files call a norm's weight and bias gamma and beta. */
  take(ours: string, theirs: string, change: (parameter: ParameterTensor) => ParameterTensor = (same) => same): void {
    const isOld = this.has(`${theirs}.gamma`);
    const bias = `${theirs}.${isOld ? "beta" : "bias"}`;
    this.map.set(`${ours}.weight`, change(this.get(`${theirs}.${isOld ? "gamma" : "weight"}`)));
    if (this.has(bias)) this.map.set(`${ours}.bias`, this.get(bias));
  }
}
