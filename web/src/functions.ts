// The functions of an engine whose code is loaded at the first call, one a line. Its methods are made of this table.

import type { Heed } from "./api/heed.js";
import { type Arguments, hold } from "./api/hold.js";
import type { Backend } from "./backends/backend.js";
import { HeedError } from "./base/errors.js";
import { guardAsync } from "./base/guard.js";

/** The methods of an engine that return a promise. */
export type FunctionName = {
  [N in keyof Heed]: Heed[N] extends (...given: never) => Promise<unknown> ? N : never;
}[keyof Heed];
export type LazyName = Exclude<FunctionName, "attention">;

type Lazy = (backend: Backend, tensors: readonly unknown[], options: unknown) => Promise<unknown>;
type Load<N extends string> = () => Promise<{ readonly [Own in N]: Lazy }>;

/** How many tensors each takes before its options, and where its code is. */
const LAZY: { readonly [N in LazyName]: readonly [tensors: number, load: Load<N>] } = {
  attentionVjp: [3, () => import("./api/operations/attention-vjp.js")],
  createCache: [0, () => import("./api/cache/kv-cache.js")],
  linearAttention: [3, () => import("./api/operations/linear-attention.js")],
  linearAttentionVjp: [3, () => import("./api/operations/linear-vjp.js")],
  relativeKeys: [2, () => import("./api/operations/shaw.js")],
  relativeValues: [2, () => import("./api/operations/shaw.js")],
  rope: [1, () => import("./api/operations/rope.js")],
};

/** What computes: a GPU may join it later. */
export interface Parts {
  backend: Backend;
  isDisposed: boolean;
}

/** Throws when the engine is disposed. */
export function assertUsable(where: string, { isDisposed }: Parts): void {
  if (isDisposed) throw new HeedError("disposed", `${where}: the engine was disposed`);
}

/** What a function was called with. */
export function argumentsOf(name: FunctionName, given: readonly unknown[]): Arguments {
  const count = name === "attention" ? 3 : LAZY[name][0];
  return { tensors: given.slice(0, count), options: given[count] };
}

type Methods = Record<LazyName, (...given: readonly unknown[]) => Promise<unknown>>;

/** The methods whose code is loaded. They read their arguments before they return. */
export function lazyMethods(parts: Parts): Methods {
  const methods: Partial<Methods> = {};
  for (const name in LAZY) methods[name as LazyName] = lazyMethod(parts, name as LazyName);
  return methods as Methods;
}

/** What was loaded, for all engines. */
const LOADED: Partial<Record<LazyName, Lazy>> = {};

/** Calls that are made afterwards read their arguments, and reach the backend, before they return. */
export async function load<N extends LazyName>(name: N): Promise<Lazy> {
  const { [name]: own } = await guardAsync("load", `${name}: loading its code`, LAZY[name][1]);
  LOADED[name] = own;
  return own;
}

function lazyMethod<N extends LazyName>(parts: Parts, name: N): Methods[N] {
  const run = async (given: Arguments): Promise<unknown> => {
    const { backend } = parts;
    assertUsable(name, parts);
    const loaded = LOADED[name];
    if (loaded !== undefined) return loaded(backend, given.tensors, given.options);
    const held = hold(given);
    try {
      const own = await load(name);
      assertUsable(name, parts);
      return own(backend, held.tensors, held.options);
    } finally {
      held.release();
    }
  };
  return (...given) => guardAsync("option", `${name}: reading its arguments`, () => run(argumentsOf(name, given)));
}
