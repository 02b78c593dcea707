// Options of attention that may live in an engine: a bias, and the parameters of a score.

import { isOptions } from "../api/read-values.js";
import { isReadable, type Readable } from "./readable.js";

const SCORE_TENSORS = ["w", "wq", "wk", "b", "v", "bandwidth"];

/** The options with what `bring` makes of each tensor among them, by the name that messages have for it. */
export async function withTensors(
  options: Readonly<Record<string, unknown>>,
  bring: (name: string, tensor: Readable) => unknown,
): Promise<Record<string, unknown>> {
  const { bias, score } = options;
  const made: Record<string, unknown> = { ...options };
  if (isReadable(bias)) made["bias"] = await bring("bias", bias);
  if (!isOptions(score)) return made;
  const brought: PropertyDescriptorMap = {};
  for (const name of SCORE_TENSORS) {
    const part = score[name];
    if (isReadable(part)) brought[name] = { value: await bring(`score.${name}`, part), enumerable: true };
  }
  // What else a score has, its prototype included, shows through.
  return { ...made, score: Object.create(score, brought) };
}
