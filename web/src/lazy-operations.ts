// Loads the checks of the operations beside attention at the first call of one.

import { type Arguments, hold } from "./api/hold.js";
import type { Backend } from "./backends/backend.js";
import { HeedError } from "./base/errors.js";
import { guardAsync } from "./base/guard.js";

type ExtraModule = typeof import("./extra.js");
/** The operations beside attention. */
export type Name = Exclude<keyof ExtraModule, "createCache">;

export class LazyOperations {
  #module: ExtraModule | null = null;
  #disposed = false;

  get disposed(): boolean {
    return this.#disposed;
  }

  /** Arguments are read before this returns. */
  run<N extends Name>(backend: Backend, name: N, given: Arguments): Promise<Awaited<ReturnType<ExtraModule[N]>>> {
    return guardAsync("option", `${name}: reading its arguments`, () => this.#run(backend, name, given));
  }

  async #run<N extends Name>(
    backend: Backend,
    name: N,
    given: Arguments,
  ): Promise<Awaited<ReturnType<ExtraModule[N]>>> {
    this.assertUsable(name);
    if (this.#module !== null) return call(backend, this.#module, name, given);
    const held = hold(given);
    try {
      return call(backend, await this.load(name), name, held);
    } finally {
      held.release();
    }
  }

  async load(where: string): Promise<ExtraModule> {
    this.assertUsable(where);
    this.#module ??= await guardAsync("load", `${where}: loading its code`, () => import("./extra.js"));
    this.assertUsable(where);
    return this.#module;
  }

  /** Throws when the engine is disposed. */
  assertUsable(where: string): void {
    if (this.#disposed) throw new HeedError("disposed", `${where}: the engine was disposed`);
  }

  dispose(): void {
    this.#disposed = true;
  }
}

function call<N extends Name>(
  backend: Backend,
  module: ExtraModule,
  name: N,
  { tensors, options }: Arguments,
): Promise<Awaited<ReturnType<ExtraModule[N]>>> {
  // TypeScript does not see that all of these functions take these arguments.
  return Reflect.apply(module[name], null, [backend, tensors, options]);
}
