// `attention` and the other functions without an engine: they share one with default options, which the first call makes.

import { check } from "./api/attention.js";
import type { Heed } from "./api/heed.js";
import { hold } from "./api/hold.js";
import { guard } from "./base/guard.js";
import { createHeed } from "./engine.js";
import { argumentsOf, type FunctionName } from "./functions.js";

let engine: Heed | undefined;
let opening: Promise<Heed> | undefined;

/** The function of that name, of the shared engine. */
export function shared<N extends FunctionName>(name: N): Heed[N] {
  const run = (...given: readonly unknown[]): Promise<unknown> => call(name, given);
  // What it returns follows from its options, which TypeScript cannot see here.
  return run as Heed[N];
}

/** Arguments are read before this returns. Without an engine, which would read them, they are copied. */
async function call(name: FunctionName, given: readonly unknown[]): Promise<unknown> {
  if (engine !== undefined) return Reflect.apply(engine[name], engine, given);
  const copies = guard("option", `${name}: reading its arguments`, () => hold(argumentsOf(name, given)));
  const [query, key, value] = copies.tensors;
  if (name === "attention") check(name, null, { query, key, value }, copies.options);
  const heed = await openShared();
  return Reflect.apply(heed[name], heed, [...copies.tensors, copies.options]);
}

/** Opens the shared engine. */
export async function openShared(): Promise<Heed> {
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
