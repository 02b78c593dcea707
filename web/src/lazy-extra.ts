// The door to what is beside attention: loads it, with an engine of its own, at the first call.

import { type Arguments, detach, holdsTensors } from "./api/detach.js";
import { asyncStep } from "./api/door.js";
import { HeedError } from "./api/errors.js";
import type { Backend } from "./backends/backend.js";
import type { ExtraBackend } from "./backends/extra-backend.js";
import type { RungOverrides } from "./backends/wasm/rung.js";
import type { Choice } from "./platform/select.js";

type ExtraModule = typeof import("./extra.js");
type Operation = Exclude<keyof ExtraModule, "WasmExtra" | "createCache">;

interface Opened {
  readonly module: ExtraModule;
  readonly backend: ExtraBackend;
}

export class LazyExtra {
  readonly #home: Backend;
  readonly #choice: Choice;
  readonly #overrides: Omit<RungOverrides, "compiled" | "variants">;
  #opening: Promise<Opened> | null = null;
  #opened: Opened | null = null;
  #disposed = false;

  /** Results that are to be kept stay in `home`, which also has the tensors that it is given. */
  constructor(home: Backend, choice: Choice, overrides: Omit<RungOverrides, "compiled" | "variants">) {
    this.#home = home;
    this.#choice = choice;
    this.#overrides = overrides;
  }

  /** Arrays are read before this returns. */
  async run<N extends Operation>(operation: N, given: Arguments): Promise<Awaited<ReturnType<ExtraModule[N]>>> {
    this.#assertUsable(operation);
    const opened = this.#opened;
    if (opened !== null && !holdsTensors(given)) return this.#call(operation, opened, given);
    const detached = asyncStep("option", `${operation}: reading its arguments`, () => {
      return detach(operation, this.#home, given);
    });
    const [args, ready] = await Promise.all([detached, opened ?? this.#open()]);
    this.#assertUsable(operation);
    return this.#call(operation, ready, args);
  }

  dispose(): void {
    this.#disposed = true;
    this.#opened?.backend.dispose();
  }

  #call<N extends Operation>(
    operation: N,
    { module, backend }: Opened,
    { tensors, options }: Arguments,
  ): Promise<Awaited<ReturnType<ExtraModule[N]>>> {
    // The compiler does not see that a function of two is called with what both take.
    return Reflect.apply(module[operation], null, [backend, this.#home, tensors, options]);
  }

  async #open(): Promise<Opened> {
    this.#opening ??= this.#load();
    try {
      return await this.#opening;
    } catch (error) {
      // The next call tries again: the network or memory may be back.
      this.#opening = null;
      throw error;
    }
  }

  async #load(): Promise<Opened> {
    const opened = await asyncStep("load", "heed: loading what is beside attention", async () => {
      const module = await import("./extra.js");
      return { module, backend: await module.WasmExtra.open(this.#choice, this.#overrides) };
    });
    if (this.#disposed) opened.backend.dispose();
    else this.#opened = opened;
    return opened;
  }

  #assertUsable(operation: string): void {
    if (this.#disposed) throw new HeedError("disposed", `${operation}: the engine was disposed`);
  }
}
