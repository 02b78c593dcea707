// Renames published parameters to the names of heed's layers.

import { HeedError } from "../../base/errors.js";
import { type AnyTensor, floatsOf, rowsOf, transposed } from "../formats/stored.js";
import { type LoadableTensor, through } from "../pending-tensor.js";
import { type GivenParameters, requireLoadable } from "../read-parameters.js";
import type { PublishedNames } from "./names.js";

/** Entries of files that are not parameters: masks and tables that follow from the configuration. */
const BUFFERS = /\.(?:attn\.(?:masked_)?bias|rotary_emb\.(?:inv_freq|(?:cos|sin)_cached))$/;

/** The name up to the number of its layer, or without its last part. */
const partOf = (name: string): string | undefined => /^(?:.*?\.\d+\.|.*\.)/.exec(name)?.[0];

function plusOne(tensor: AnyTensor): AnyTensor {
  const { data, shape } = floatsOf(tensor);
  return { data: data.map((weight) => 1 + weight), shape };
}

/** Published parameters under the names of a model. */
export class PublishedParameters {
  readonly map = new Map<string, LoadableTensor>();
  /** What their names begin with. */
  readonly start: string;
  readonly #where: string;
  readonly #parameters: GivenParameters;
  readonly #prefix: string;
  readonly #names: ReadonlySet<string>;
  readonly #taken = new Set<string>();
  #shifted: RegExp | undefined;

  /** `own`: the names of the model's parameters. */
  constructor(
    where: string,
    parameters: GivenParameters,
    prefix: string,
    own: ReadonlySet<string>,
    names: PublishedNames,
  ) {
    this.#where = where;
    this.#parameters = parameters;
    this.#prefix = prefix;
    this.#names = own;
    this.start = this.#startOf(names);
  }

  /** Takes the parts of the table, of so many layers. */
  takeAll({ parts, fused = {}, shifted, isTransposed = false }: PublishedNames, count: number): this {
    this.#shifted = shifted;
    for (let layer = 0; layer < count; layer++) {
      const numbered = (name: string): string => name.replace("*", String(layer));
      for (const [ours, theirs] of Object.entries(parts)) {
        const isOfLayer = ours.includes("*");
        if (!isOfLayer && layer > 0) continue;
        this.take(numbered(ours), this.start + numbered(theirs), isTransposed && isOfLayer);
      }
      for (const [theirs, ours] of Object.entries(fused)) {
        this.#split(ours.map(numbered), this.start + numbered(theirs), isTransposed);
      }
    }
    return this;
  }

  get(name: string): LoadableTensor {
    this.#taken.add(name);
    return requireLoadable(this.#where, this.#parameters, name);
  }

  has(name: string): boolean {
    return this.#parameters.has(name);
  }

  /** Takes a weight and a bias, where the model has them. Old files call those of a norm gamma and beta. */
  take(ours: string, theirs: string, isTransposed = false): void {
    if (!this.#names.has(`${ours}.weight`)) return;
    const isOld = this.has(`${theirs}.gamma`);
    const weight = this.#matrix(`${theirs}.${isOld ? "gamma" : "weight"}`, isTransposed);
    this.map.set(`${ours}.weight`, this.#shifted?.test(ours) ? through(weight, plusOne) : weight);
    if (this.#names.has(`${ours}.bias`)) this.map.set(`${ours}.bias`, this.get(`${theirs}.${isOld ? "beta" : "bias"}`));
  }

  #split(ours: readonly string[], theirs: string, isTransposed: boolean): void {
    for (const kind of ["weight", "bias"]) {
      if (!ours.every((name) => this.#names.has(`${name}.${kind}`))) continue;
      const whole = this.#matrix(`${theirs}.${kind}`, isTransposed);
      const part =
        (at: number) =>
        (tensor: AnyTensor): AnyTensor => {
          const rows = (tensor.shape[0] ?? 0) / ours.length;
          return rowsOf(tensor, at * rows, (at + 1) * rows);
        };
      for (const [at, name] of ours.entries()) this.map.set(`${name}.${kind}`, through(whole, part(at)));
    }
  }

  #matrix(name: string, isTransposed: boolean): LoadableTensor {
    const given = this.get(name);
    if (!isTransposed) return given;
    return through(given, (tensor) => (tensor.shape.length === 2 ? transposed(tensor) : tensor));
  }

  #startOf({ starts, parts: { words } }: PublishedNames): string {
    const tried = starts.map((start) => this.#prefix + start);
    const found = tried.find((start) => this.has(`${start}${words}.weight`));
    if (found !== undefined) return found;
    const names = tried.map((start) => `${start}${words}.weight`).join(" or ");
    const among = `among the ${this.#parameters.size} that were given`;
    throw new HeedError("option", `${this.#where}: parameter ${names} is missing ${among}`);
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
