// Options of attention that may live in an engine: a bias, and the parameters of a score.

import { isOptions } from "../api/read-values.js";
import { isReadable, type Readable } from "./readable.js";

/** The options with what `bring` makes of each tensor among them, by the name that messages have for it. */
export async function withTensors(
  options: Readonly<Record<string, unknown>>,
  bring: (name: string, tensor: Readable) => unknown,
): Promise<Record<string, unknown>> {
  const { bias, score } = options;
  const made: Record<string, unknown> = { ...options };
  if (isReadable(bias)) made["bias"] = await bring("bias", bias);
  if (!isOptions(score)) return made;
  const parts = Object.entries(score).map(async ([name, part]) => {
    return [name, isReadable(part) ? await bring(`score.${name}`, part) : part];
  });
  return { ...made, score: Object.fromEntries(await Promise.all(parts)) };
}
