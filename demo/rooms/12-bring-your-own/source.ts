// What is looked at: layers of heads, each with queries and keys, or with weights as they were brought.

import { magnitude } from "../../src/ui/numbers.js";
import { assertFinite, FileTrouble, type NamedArray, type NamedWords, shown, surveyOf } from "./arrays.js";
import { isParameter } from "./model/families.js";
import { type Words, wordsOf } from "./words.js";

/** Of one head; rows one after the other. */
export interface Vectors {
  readonly width: number;
  readonly q: Float32Array<ArrayBuffer>;
  readonly k: Float32Array<ArrayBuffer>;
}

export interface Source {
  readonly name: string;
  readonly layers: number;
  readonly heads: number;
  readonly queries: number;
  readonly keys: number;
  /** What a head is called, where it has a name of its own. */
  readonly headName: (layer: number, head: number) => string;
  /** undefined: there are only weights. */
  readonly vectors: (layer: number, head: number) => Vectors | undefined;
  /** Rows of keys' shares; undefined: to be computed from the vectors. */
  readonly weights: (layer: number, head: number) => Float32Array | undefined;
  /** Where its numbers come from: "as they were brought". */
  readonly origin: string;
  /** What its queries and its keys are called, where they have names. */
  readonly words?: Words;
}

const BROUGHT = "as they were brought";

export const ROLES = ["q", "k", "v", "weights", "none"] as const;
export type Role = (typeof ROLES)[number];

const NAMED: readonly (readonly [Role, RegExp])[] = [
  ["q", /(?:^|[^a-z])(?:q|query|queries)(?:[^a-z]|$)/i],
  ["k", /(?:^|[^a-z])(?:k|key|keys)(?:[^a-z]|$)/i],
  ["v", /(?:^|[^a-z])(?:v|value|values)(?:[^a-z]|$)/i],
  ["weights", /(?:^|[^a-z])(?:a|w|weights?|attn|attentions?|probs)(?:[^a-z]|$)/i],
];

/** What each array is taken for, by its name; one that comes alone without a name for it, by its numbers. */
export function guessRoles(arrays: readonly NamedArray[]): readonly Role[] {
  const taken = new Set<Role>();
  const roles = arrays.map(({ name }): Role => {
    if (isParameter(name)) return "none";
    const role = NAMED.find(([one, pattern]) => !taken.has(one) && pattern.test(name))?.[0] ?? "none";
    if (role !== "none") taken.add(role);
    return role;
  });
  const [alone, ...others] = arrays;
  if (alone === undefined || others.length > 0 || isParameter(alone.name) || taken.size > 0) return roles;
  const { least, addsUp } = surveyOf(alone);
  return [least >= 0 && addsUp ? "weights" : "none"];
}

/** Throws FileTrouble for what does not fit together. */
export function sourceFrom(
  arrays: readonly NamedArray[],
  roles: readonly Role[],
  words: readonly NamedWords[] = [],
): Source {
  const source = fromArrays(arrays, roles);
  return { ...source, words: wordsOf(words, { q: source.queries, k: source.keys }) };
}

function fromArrays(arrays: readonly NamedArray[], roles: readonly Role[]): Source {
  const of = (role: Role): NamedArray | undefined => arrays[roles.indexOf(role)];
  const [q, k, v, weights] = [of("q"), of("k"), of("v"), of("weights")];
  const twice = ROLES.find((role) => role !== "none" && roles.filter((one) => one === role).length > 1);
  if (twice !== undefined) throw new FileTrouble(`Two arrays are taken for ${twice}. Choose one.`);
  if (q !== undefined && k !== undefined) return fromVectors(q, k, v);
  if (weights !== undefined) return fromWeights(weights);
  if (q !== undefined || k !== undefined) {
    const [has, lacks] = q === undefined ? ["keys", "queries"] : ["queries", "keys"];
    throw new FileTrouble(
      `“${(q ?? k)?.name}” is taken for ${has}: bring the ${lacks} that go with them. Or say that they are the weights.`,
    );
  }
  const names = arrays.map(({ name, shape }) => `${name} ${shown(shape)}`).join(", ");
  throw new FileTrouble(`Say which are q and k, or which one is the weights. There are: ${names}.`);
}

function fromVectors(q: NamedArray, k: NamedArray, v: NamedArray | undefined): Source {
  const [queries, keys] = [axesOf(q), axesOf(k)];
  for (const array of [q, k]) assertFinite(array);
  assertScores(q, k);
  if (queries.layers !== keys.layers || queries.cols !== keys.cols || queries.heads % Math.max(1, keys.heads) !== 0) {
    throw new FileTrouble(
      `q ${shown(q.shape)} and k ${shown(k.shape)} do not fit: layers and the last axis must be the same, and heads of k divide those of q.`,
    );
  }
  if (v !== undefined) assertValues(v, keys, k);
  const group = queries.heads / keys.heads;
  return {
    name: `${q.name} and ${k.name}`,
    layers: queries.layers,
    heads: queries.heads,
    queries: queries.rows,
    keys: keys.rows,
    headName: () => "",
    vectors: (layer, head) => ({
      width: queries.cols,
      q: part(q, queries, layer, head),
      k: part(k, keys, layer, Math.floor(head / group)),
    }),
    weights: () => undefined,
    origin: BROUGHT,
  };
}

const LARGEST_SINGLE = (2 - 2 ** -23) * 2 ** 127;

/** Throws where a score, or what it is summed up from, could be beyond single precision. */
function assertScores(q: NamedArray, k: NamedArray): void {
  const [mostOfQ, mostOfK] = [surveyOf(q).largest, surveyOf(k).largest];
  if ((q.shape.at(-1) ?? 1) * mostOfQ * mostOfK <= LARGEST_SINGLE) return;
  throw new FileTrouble(
    `Scores of “${q.name}” and “${k.name}” would be too large for single precision, which ends at 3.4 × 10³⁸: the largest numbers in them are ${magnitude(mostOfQ)} and ${magnitude(mostOfK)}.`,
  );
}

function fromWeights(weights: NamedArray): Source {
  const axes = axesOf(weights);
  assertFinite(weights);
  return {
    name: weights.name,
    layers: axes.layers,
    heads: axes.heads,
    queries: axes.rows,
    keys: axes.cols,
    headName: () => "",
    vectors: () => undefined,
    weights: (layer, head) => part(weights, axes, layer, head),
    origin: BROUGHT,
  };
}

function assertValues(v: NamedArray, keys: Axes, k: NamedArray): void {
  const values = axesOf(v);
  if (values.rows === keys.rows && values.heads === keys.heads && values.layers === keys.layers) return;
  throw new FileTrouble(
    `v ${shown(v.shape)} does not fit k ${shown(k.shape)}: all but the last axis must be the same.`,
  );
}

interface Axes {
  readonly layers: number;
  readonly heads: number;
  readonly rows: number;
  readonly cols: number;
}

/** [rows, cols], [heads, rows, cols] or [layers, heads, rows, cols]; axes of one are left out where there are more. */
function axesOf({ name, shape }: NamedArray): Axes {
  const sizes = [...shape];
  while (sizes.length > 4 && sizes.slice(0, -2).includes(1)) sizes.splice(sizes.indexOf(1), 1);
  if (sizes.length < 2 || sizes.length > 4) {
    throw new FileTrouble(
      `“${name}” is ${shown(shape)}; it must be [rows, columns], [heads, rows, columns] or [layers, heads, rows, columns].`,
    );
  }
  const [layers = 1, heads = 1, rows = 0, cols = 0] = [1, 1, ...sizes].slice(-4);
  if (layers * heads * rows * cols === 0)
    throw new FileTrouble(`“${name}” is ${shown(shape)}: there is nothing in it.`);
  return { layers, heads, rows, cols };
}

function part(
  { data }: NamedArray,
  { heads, rows, cols }: Axes,
  layer: number,
  head: number,
): Float32Array<ArrayBuffer> {
  const size = rows * cols;
  return data.subarray((layer * heads + head) * size, (layer * heads + head + 1) * size);
}
