// Options of attention that may be tensors: a bias, and the parameters of a score.

import { isOptions } from "../api/read-values.js";
import { isReadable, type Readable } from "./readable.js";

const SCORE_TENSORS = ["w", "wq", "wk", "b", "v", "bandwidth"];

/** The options with each tensor replaced by the result of `bring`, which is given its name in messages. */
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
  // The other members of a score are inherited from it.
  return { ...made, score: Object.create(score, brought) };
}
