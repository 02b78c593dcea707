// `attention` on its own: one engine for everybody who wants no engine of their own, made at the first call.

import { check } from "./api/attention.js";
import { copyOperand, copyOptions } from "./api/copies.js";
import { step } from "./api/door.js";
import type { Heed } from "./api/heed.js";
import type { AttentionOptions, TensorInput } from "./api/options.js";
import type { AttentionResult, NoOptions } from "./api/results.js";
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
  // As with an engine, arguments are read before this returns, which here means checked, and copied until there is one.
  const copies = step("option", "attention: reading its arguments", () => ({
    query: copyOperand(query),
    key: copyOperand(key),
    value: copyOperand(value),
    options: copyOptions(options),
  }));
  check("attention", null, copies, copies.options);
  const heed = await openShared();
  // The copies say what the caller's arguments said, types included.
  return Reflect.apply(heed.attention, heed, [copies.query, copies.key, copies.value, copies.options]);
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
