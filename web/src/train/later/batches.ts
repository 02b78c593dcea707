// Batches of examples, in an order that a seed gives for each epoch. It is loaded at the first batch.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { readBoolean, readCount } from "../../base/read-values.js";
import { numbersOf } from "../../base/typed-array.js";
import { SeededRandom } from "../../layers/generate/random.js";

/** Batches among which examples are put in the order of their lengths. */
const BUCKET = 50;

/** Gives the batch of a step, whatever steps came before. */
export function batchesOf(examples: readonly unknown[], size: number, given: Readonly<Record<string, unknown>>) {
  const where = "batches";
  const isShuffled = readBoolean(where, "shuffle", given["shuffle"], true);
  const seed = readCount(where, "seed", given["seed"], 0, 2 ** 32 - 1, 0);
  const pad = readCount(where, "pad", given["pad"], 0, undefined, 0);
  const { collate = (batch: unknown) => batch } = given;
  const isNamed = collate === "padded" || collate === "packed";
  if (!isNamed && typeof collate !== "function") {
    const rule = 'collate must be "padded", "packed" or a function';
    throw new HeedError("option", `${where}: ${rule}, got ${showValue(collate)}`);
  }
  const texts = isNamed ? examples.map((one, at) => tokensOf(where, one, at)) : null;
  const length = Math.ceil(examples.length / size);
  let known: { readonly epoch: number; readonly order: readonly (readonly number[])[] } | null = null;
  const orderOf = (epoch: number): readonly (readonly number[])[] => {
    if (known?.epoch === epoch) return known.order;
    const random = new SeededRandom((seed + Math.imul(epoch, 0x9e3779b9)) >>> 0);
    let places: readonly number[] = [...examples.keys()];
    if (isShuffled) places = shuffled(places, random);
    if (texts !== null && isShuffled) {
      const lengthOf = (at: number): number => texts[at]?.length ?? 0;
      places = chunks(places, size * BUCKET).flatMap((bucket) =>
        bucket.sort((a, b) => lengthOf(b) - lengthOf(a) || a - b),
      );
    }
    const made = chunks(places, size);
    // The last one may be smaller, and a bucket's batches come from long to short.
    const order = texts !== null && isShuffled ? shuffled(made, random) : made;
    known = { epoch, order };
    return order;
  };
  return (step: number): unknown => {
    const places = orderOf(Math.floor(step / length))[step % length] ?? [];
    if (texts === null) return Reflect.apply(collate as () => unknown, null, [places.map((at) => examples[at])]);
    const some = places.map((at) => texts[at] ?? []);
    return collate === "packed" ? packed(some) : padded(some, pad);
  };
}

function tokensOf(where: string, value: unknown, at: number): readonly number[] {
  const tokens = numbersOf(value);
  const isToken = (one: number): boolean => Number.isInteger(one) && one >= 0 && one < 2 ** 31;
  if (tokens !== null && tokens.length > 0 && tokens.every(isToken)) return tokens;
  const rule = `example ${at} must be tokens, a list of whole numbers from 0 on`;
  throw new HeedError("option", `${where}: ${rule}, got ${showValue(value)}`);
}

const chunks = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));

function shuffled<T>(all: readonly T[], random: SeededRandom): T[] {
  const made = [...all];
  for (let at = made.length - 1; at > 0; at--) {
    const other = Math.floor(random.next() * (at + 1));
    [made[at], made[other]] = [made[other] as T, made[at] as T];
  }
  return made;
}

function padded(texts: readonly (readonly number[])[], pad: number) {
  const length = Math.max(...texts.map((text) => text.length));
  const shape = [texts.length, length] as const;
  const data = new Int32Array(texts.length * length).fill(pad);
  const mask = new Uint8Array(data.length);
  for (const [at, text] of texts.entries()) {
    data.set(text, at * length);
    mask.fill(1, at * length, at * length + text.length);
  }
  return { tokens: { data, shape }, mask };
}

function packed(texts: readonly (readonly number[])[]) {
  const data = Int32Array.from(texts.flat());
  const cuSeqlens = new Int32Array(texts.length + 1);
  for (const [at, text] of texts.entries()) cuSeqlens[at + 1] = (cuSeqlens[at] ?? 0) + text.length;
  return { tokens: { data, shape: [1, data.length] as const }, cuSeqlens };
}
