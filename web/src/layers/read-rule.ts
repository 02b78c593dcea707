// Reads the options of attention within a pass, once for all layers that they are for.

import type { HeldCache } from "../api/cache-types.js";
import { product, type ReadTensor } from "../api/operands.js";
import { type ModTrees, recordFunctions } from "../api/operations/record-functions.js";
import { ATTENTION_OPTIONS, type AttentionOptions } from "../api/options.js";
import { type ReadOptions, readAttentionOptions } from "../api/read-options.js";
import { validateAttention } from "../api/validate.js";
import { guard } from "../base/guard.js";
import type { AttentionRule } from "./attention-rule.js";
import type { Scope } from "./scope.js";
import { isReadable } from "./take.js";

/** Options by the names that they must have; the values are unchecked. */
export type Unchecked<O> = { readonly [Name in keyof O]?: unknown };

/** Options that layers set themselves. */
const OWN = ["layout", "heads", "kvHeads", "keep", "retry", "out", "signal"];

/** Options that are passed to attention unchanged. */
export const PASSED_OPTIONS = ATTENTION_OPTIONS.filter((name) => !OWN.includes(name));

/** Parameters of scores, which may be tensors. */
const SCORE_TENSORS = ["w", "wq", "wk", "b", "v", "bandwidth"];

/** Tensors that the pass has made, or still has to make. */
export interface ShapedTensors {
  readonly query: Shaped;
  readonly key: Shaped;
  readonly value: Shaped;
}

interface Shaped {
  readonly shape: readonly number[];
}

interface ReadRule extends ReadOptions {
  /** What scoreMod, maskMod and probMod returned, where the pass has a backward pass. */
  readonly trees: ModTrees;
}

/** `given` are the caller's options, `own` those that the layer sets itself. Tensors among them are brought into the engine. */
export async function readOptions(
  scope: Scope,
  where: string,
  given: Unchecked<AttentionOptions>,
  own: Unchecked<AttentionOptions>,
): Promise<ReadRule> {
  const trees: ModTrees = {};
  const read = guard("option", `${where}: reading its arguments`, () => {
    const passed = PASSED_OPTIONS.map((name) => [name, given[name]] as const);
    const options = Object.fromEntries(passed.filter(([, value]) => value !== undefined));
    const functions = scope.tape && recordFunctions(options, trees);
    return readAttentionOptions(where, { ...options, ...functions, ...own, keep: true });
  });
  const { kind, parameters } = read.score;
  const bring = (name: string, value: unknown): unknown => (isReadable(value) ? scope.take(where, name, value) : value);
  const brought: Record<string, unknown> = {};
  for (const name of SCORE_TENSORS) brought[name] = await bring(`score.${name}`, parameters[name]);
  return { ...read, bias: await bring("bias", read.bias), score: { kind, parameters: brought }, trees };
}

/** The rule for tensors of these shapes, and for what a cache holds beside them. */
export function ruleOf(
  scope: Scope,
  where: string,
  read: ReadRule,
  { query, key, value }: ShapedTensors,
  cache: HeldCache | null,
): AttentionRule {
  const tensors = { query: toCome(query), key: toCome(key), value: toCome(value) };
  const checked = guard("option", `${where}: reading its arguments`, () =>
    validateAttention(where, scope.backend.root, tensors, read, heldBy(cache)),
  );
  return { ...checked, output: read.output, trees: read.trees, cache };
}

/** The number of keys in a cache. */
export function heldBy(cache: HeldCache | null): number {
  return cache === null ? 0 : cache.length - cache.start;
}

function toCome({ shape }: Shaped): ReadTensor {
  return { source: { kind: "paged", offset: 0 }, dtype: "f32", shape, elements: product(shape) };
}
