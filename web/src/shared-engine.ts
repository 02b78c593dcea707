// `attention` on its own: one engine for everybody who wants no engine of their own, made at the first call.

import type { Heed } from "./api/heed.js";
import type { AttentionOptions, TensorInput } from "./api/options.js";
import { isRecord } from "./api/read-values.js";
import type { AttentionResult, NoOptions } from "./api/results.js";
import { isFloat32Array, isUint8Array } from "./api/typed-array.js";
import { createHeed } from "./engine.js";

let engine: Heed | undefined;
let opening: Promise<Heed> | undefined;

/** `heed.attention` of a shared engine with default options. */
export async function attention<const O extends AttentionOptions = NoOptions>(
  query: TensorInput,
  key: TensorInput,
  value: TensorInput,
  options?: O,
): Promise<AttentionResult<O>> {
  if (engine !== undefined) return engine.attention(query, key, value, options);
  // As with an engine, arrays are read before this returns, which here means copied until there is one.
  const [q, k, v, o] = [copied(query), copied(key), copied(value), copiedOptions(options)];
  return (await openShared()).attention(q, k, v, o);
}

async function openShared(): Promise<Heed> {
  opening ??= createHeed();
  try {
    engine = await opening;
    return engine;
  } catch (error) {
    // The next call tries again: the network or memory may be back.
    opening = undefined;
    throw error;
  }
}

function copiedOptions<O>(options: O): O {
  if (!isRecord(options)) return options;
  const { mask, bias } = options;
  if (mask === undefined && bias === undefined) return options;
  return { ...options, mask: copied(mask), bias: copied(bias) };
}

function copied<T>(value: T): T {
  if (!isRecord(value)) return value;
  const { data } = value;
  if (!isFloat32Array(data) && !isUint8Array(data)) return value;
  return { ...value, data: data.slice() };
}
