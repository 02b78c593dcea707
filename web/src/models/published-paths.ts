// The published path of each layer of a model, and the way back: one table, read in both directions.

import type { Family } from "./families.js";

export class PublishedPaths {
  readonly #family: Family;
  readonly #start: string;
  readonly #ours: ReadonlyMap<string, string>;
  readonly #theirs: ReadonlyMap<string, string>;

  /** `start`: what published names of the model begin with. */
  constructor(family: Family, start: string) {
    const pairs = Object.entries(family.names.parts);
    this.#family = family;
    this.#start = start;
    this.#theirs = new Map(pairs);
    this.#ours = new Map(pairs.map(([ours, theirs]) => [theirs, ours]));
  }

  /** The published path of a layer, or the name of a parameter; null where it has none of its own. */
  theirs(ours: string): string | null {
    const other = this.#family.others[ours];
    if (other !== undefined) return other.startsWith("*") ? this.#start + other.slice(1) : other;
    const [pattern, layer] = starred(ours);
    const found = this.#theirs.get(pattern);
    return found === undefined ? null : this.#start + found.replace("*", layer);
  }

  /** heed's path of a published layer; null where the model has none. */
  ours(theirs: string): string | null {
    for (const start of this.#family.names.starts) {
      if (!theirs.startsWith(start)) continue;
      const [pattern, layer] = starred(theirs.slice(start.length));
      const found = this.#ours.get(pattern);
      if (found !== undefined) return found.replace("*", layer);
    }
    const others = Object.keys(this.#family.others);
    return others.find((one) => this.theirs(one) === theirs) ?? null;
  }

  /** The published layer that has several of heed's in one, and which of these a layer is. */
  joined(ours: string): { readonly theirs: string; readonly part: number } | null {
    const [pattern, layer] = starred(ours);
    for (const [theirs, parts] of Object.entries(this.#family.names.fused ?? {})) {
      const part = parts.indexOf(pattern);
      if (part !== -1) return { theirs: this.#start + theirs.replace("*", layer), part };
    }
    return null;
  }

  /** heed's layers of such a published one; null: it is another. */
  parted(theirs: string): readonly string[] | null {
    const { fused = {}, starts } = this.#family.names;
    for (const start of starts) {
      const [pattern, layer] = starred(theirs.slice(start.length));
      const parts = theirs.startsWith(start) && Object.hasOwn(fused, pattern) ? fused[pattern] : undefined;
      if (parts !== undefined) return parts.map((part) => part.replace("*", layer));
    }
    return null;
  }

  /** Whether the weight of a layer is published less 1. */
  isShifted(ours: string): boolean {
    return this.#family.names.shifted?.test(ours) ?? false;
  }

  /** Whether the matrix of a layer is published as [in, out]. */
  isTransposed(ours: string): boolean {
    return (this.#family.names.isTransposed ?? false) && starred(ours)[0].includes("*");
  }
}

/** A path with a star for the number of its layer, and that number. */
function starred(path: string): [pattern: string, layer: string] {
  const [, layer = ""] = /\.(\d+)(?:\.|$)/.exec(`.${path}`) ?? [];
  return [layer === "" ? path : `.${path}`.replace(`.${layer}`, ".*").slice(1), layer];
}
