// What is looked at: layers of heads, each with queries and keys, or with weights as they were brought.

import {
  type Arrays,
  assertFinite,
  isParameter,
  type NamedArray,
  refuse,
  shown,
  surveyOf,
  type Words,
  wordsOf,
} from "../../src/brought/arrays.js";
import type { Answer, ModelSummary, Pass } from "../../src/brought/run.js";
import { magnitude } from "../../src/ui/numbers.js";

/** Of one head; rows one after the other. */
export interface Vectors {
  readonly width: number;
  readonly q: Float32Array<ArrayBuffer>;
  readonly k: Float32Array<ArrayBuffer>;
}

export interface Source extends Readonly<Record<"layers" | "heads" | "queries" | "keys", number>> {
  readonly name: string;
  /** What a head is called, where it has a name of its own. */
  readonly headName?: (layer: number, head: number) => string;
  /** undefined: there are only weights. */
  readonly vectors: (layer: number, head: number) => Vectors | undefined;
  /** Rows of weights; undefined: to be computed from the vectors. */
  readonly weights?: (layer: number, head: number) => Float32Array | undefined;
  /** Where its numbers come from: "as they were brought". */
  readonly origin: string;
  /** What its queries and its keys are called, where they have names. */
  readonly words?: Words;
  /** Of a model: what it answered, and what it answers without some heads. */
  readonly model?: {
    readonly answer: Answer;
    readonly without: (heads: readonly number[]) => Promise<Answer>;
  };
}

/** What arrays can be taken for. */
type Role = "q" | "k" | "weights" | "none";

const NAMED: readonly (readonly [Role, RegExp])[] = [
  ["q", /(?:^|[^a-z])(?:q|query|queries)(?:[^a-z]|$)/i],
  ["k", /(?:^|[^a-z])(?:k|key|keys)(?:[^a-z]|$)/i],
  ["weights", /(?:^|[^a-z])(?:a|w|weights?|attn|attentions?|probs)(?:[^a-z]|$)/i],
];

/** What each array is taken for, by its name; one that comes alone without a name for it, by its numbers. */
export function guessRoles(arrays: readonly NamedArray[]): readonly Role[] {
  const taken = new Set<Role>();
  const roles = arrays.map(({ name }): Role => {
    const [role] = NAMED.find(([one, pattern]) => !isParameter(name) && !taken.has(one) && pattern.test(name)) ?? [];
    if (role !== undefined) taken.add(role);
    return role ?? "none";
  });
  const [alone, ...others] = arrays;
  if (alone === undefined || others.length > 0 || isParameter(alone.name) || taken.size > 0) return roles;
  const { least, addsUp } = surveyOf(alone);
  return [least >= 0 && addsUp ? "weights" : "none"];
}

/** Refuses what does not fit together. */
export function sourceFrom(arrays: readonly NamedArray[], roles: readonly Role[], words: Arrays["words"] = []): Source {
  const source = fromArrays(arrays, roles);
  return { ...source, words: wordsOf(words, { q: source.queries, k: source.keys }) };
}

function fromArrays(arrays: readonly NamedArray[], roles: readonly Role[]): Source {
  const of = (role: Role): NamedArray | undefined => arrays[roles.indexOf(role)];
  const [q, k, weights] = [of("q"), of("k"), of("weights")];
  if (q !== undefined && k !== undefined) return fromVectors(q, k);
  if (weights !== undefined) {
    const axes = axesOf(weights);
    assertFinite(weights);
    return { ...sizesOf(weights.name, axes, axes.cols), vectors: () => undefined, weights: axes.part };
  }
  const [only, has, lacks] = q === undefined ? [k, "keys", "queries"] : [q, "queries", "keys"];
  if (only !== undefined) {
    refuse(`“${only.name}” is taken for ${has}: bring the ${lacks} that go with them.`);
  }
  const names = arrays.map(({ name, shape }) => `${name} ${shown(shape)}`).join(", ");
  return refuse(`Two of these must be called q and k, or one weights: ${names}.`);
}

function fromVectors(q: NamedArray, k: NamedArray): Source {
  const [queries, keys] = [axesOf(q), axesOf(k)];
  for (const array of [q, k]) assertFinite(array);
  assertScores(q, k);
  if (queries.layers !== keys.layers || queries.cols !== keys.cols || queries.heads % keys.heads !== 0) {
    const both = `q ${shown(q.shape)} and k ${shown(k.shape)} do not fit`;
    refuse(`${both}: layers and the last axis must be the same, and heads of k divide those of q.`);
  }
  const group = queries.heads / keys.heads;
  return {
    ...sizesOf(`${q.name} and ${k.name}`, queries, keys.rows),
    vectors: (layer, head) => {
      return { width: queries.cols, q: queries.part(layer, head), k: keys.part(layer, Math.floor(head / group)) };
    },
  };
}

function sizesOf(name: string, { layers, heads, rows }: Axes, keys: number) {
  return { name, layers, heads, queries: rows, keys, origin: "as they were brought" };
}

const LARGEST_SINGLE = (2 - 2 ** -23) * 2 ** 127;

/** Refuses vectors of which a score, or what it is summed up from, could be beyond single precision. */
function assertScores(q: NamedArray, k: NamedArray): void {
  const most = [q, k].map((array) => surveyOf(array).largest);
  if (most.reduce((product, one) => product * one, q.shape.at(-1) ?? 1) <= LARGEST_SINGLE) return;
  const sizes = `the largest numbers in them are ${most.map(magnitude).join(" and ")}`;
  const both = `Scores of “${q.name}” and “${k.name}”`;
  refuse(`${both} would be too large for single precision, which ends at 3.4 × 10³⁸: ${sizes}.`);
}

type Axes = ReturnType<typeof axesOf>;

/** [rows, cols], [heads, rows, cols] or [layers, heads, rows, cols]; axes of one are left out where there are more. */
function axesOf({ name, shape, data }: NamedArray) {
  const sizes = [...shape];
  while (sizes.length > 4 && sizes.slice(0, -2).includes(1)) sizes.splice(sizes.indexOf(1), 1);
  if (sizes.length < 2 || sizes.length > 4) {
    const allowed = "[rows, columns], [heads, rows, columns] or [layers, heads, rows, columns]";
    refuse(`“${name}” is ${shown(shape)}; it must be ${allowed}.`);
  }
  const [layers = 1, heads = 1, rows = 0, cols = 0] = [1, 1, ...sizes].slice(-4);
  if (layers * heads * rows * cols === 0) refuse(`“${name}” is ${shown(shape)}: there is nothing in it.`);
  const part = (layer: number, head: number) => {
    const first = (layer * heads + head) * rows * cols;
    return data.subarray(first, first + rows * cols);
  };
  return { layers, heads, rows, cols, part };
}

/** What a model computed: of each layer the weights of all heads. */
export function passSource(
  { name, layers, heads }: ModelSummary,
  { words, weights, answer }: Pass,
  without: (heads: readonly number[]) => Promise<Answer>,
): Source {
  const { length } = words;
  return {
    ...{ name: `${name}, ${length} tokens`, layers, heads, queries: length, keys: length },
    vectors: () => undefined,
    weights: (layer, head) => weights[layer]?.subarray(head * length ** 2, (head + 1) * length ** 2),
    origin: `as ${name} computed them`,
    words: { q: words, k: words },
    model: { answer, without },
  };
}

interface HeadPlace {
  readonly layer: number;
  readonly head: number;
}

/** Of a model: the largest weight of a head, or of all, between words that are no neighbours; not at the first or the last one, where heads rest. */
export function firstLook({ layers, heads, keys, weights }: Source, only?: HeadPlace) {
  let found = { layer: 0, head: 0, ...only, row: keys - 1, col: 0 };
  let most = 0;
  for (let layer = only?.layer ?? 0; layer <= (only?.layer ?? layers - 1); layer++) {
    for (let head = only?.head ?? 0; head <= (only?.head ?? heads - 1); head++) {
      weights?.(layer, head)?.forEach((weight, at) => {
        const [row, col] = [Math.floor(at / keys), at % keys];
        if (weight <= most || col === 0 || col === keys - 1 || Math.abs(row - col) < 2) return;
        most = weight;
        found = { layer, head, row, col };
      });
    }
  }
  return found;
}
