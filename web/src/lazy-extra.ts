// Loads the operations other than attention, with a WebAssembly module of their own, at their first call.

import { detach, holdsTensors } from "./api/detach.js";
import { HeedError } from "./api/errors.js";
import { guardAsync } from "./api/guard.js";
import type { Arguments, Backend, MemoryReport } from "./backends/backend.js";
import type { ExtraBackend } from "./backends/extra-backend.js";
import type { LayerBackend } from "./backends/layer-backend.js";
import type { RungOverrides } from "./backends/wasm/rung.js";
import { Lazy } from "./memory/lazy.js";
import type { Choice } from "./platform/select.js";

type ExtraModule = typeof import("./extra.js");
type Operation = Exclude<keyof ExtraModule, "WasmExtra" | "createCache" | "ropeOnGpu">;

interface Opened {
  readonly module: ExtraModule;
  readonly backend: ExtraBackend;
  dispose(): void;
}

export class LazyExtra {
  readonly #backend: Backend;
  readonly #extra: Lazy<Opened>;
  readonly #layers: Lazy<LayerBackend>;

  /** `backend` holds the tensors of the arguments and the results of calls with `keep`. */
  constructor(backend: Backend, choice: Choice, overrides: Omit<RungOverrides, "compiled" | "variants">) {
    this.#backend = backend;
    this.#extra = new Lazy(() =>
      guardAsync("load", "heed: loading operations", async () => {
        const module = await import("./extra.js");
        const backend = await module.WasmExtra.open(choice, overrides);
        return { module, backend, dispose: () => backend.dispose() };
      }),
    );
    this.#layers = new Lazy(() =>
      guardAsync("load", "heed: loading layers", async () => {
        const { WasmLayers } = await import("./backends/wasm/wasm-layers.js");
        return new WasmLayers(choice, overrides);
      }),
    );
  }

  /** The backend of heed/layers. */
  layers(): Promise<LayerBackend> {
    this.assertUsable("heed/layers");
    this.#backend.extra?.("heed/layers");
    return this.#layers.open();
  }

  /** Arrays are read before this returns. */
  run<N extends Operation>(operation: N, given: Arguments): Promise<Awaited<ReturnType<ExtraModule[N]>>> {
    return guardAsync("option", `${operation}: reading its arguments`, () => this.#run(operation, given));
  }

  async #run<N extends Operation>(operation: N, given: Arguments): Promise<Awaited<ReturnType<ExtraModule[N]>>> {
    this.assertUsable(operation);
    const onGpu = this.#backend.extra?.(operation, given, (kept) => this.run(operation, kept));
    // The GPU returns the result of the operation.
    if (onGpu) return (await onGpu) as Awaited<ReturnType<ExtraModule[N]>>;
    const { opened } = this.#extra;
    if (opened !== null && !holdsTensors(given)) return this.#call(operation, opened, given);
    const detached = detach(operation, this.#backend, given);
    const [args, ready] = await Promise.all([detached, opened ?? this.#extra.open()]);
    this.assertUsable(operation);
    return this.#call(operation, ready, args);
  }

  /** Includes the memory of layers once they are loaded. */
  memory(): MemoryReport {
    const own = this.#backend.memory();
    return this.#layers.opened?.memoryWith(own) ?? own;
  }

  dispose(): void {
    this.#extra.dispose();
    this.#layers.dispose();
  }

  #call<N extends Operation>(
    operation: N,
    { module, backend: extra }: Opened,
    { tensors, options }: Arguments,
  ): Promise<Awaited<ReturnType<ExtraModule[N]>>> {
    // TypeScript does not see that all of these functions take these arguments.
    return Reflect.apply(module[operation], null, [extra, this.#backend, tensors, options]);
  }

  /** Throws when the engine is disposed. */
  assertUsable(operation: string): void {
    if (this.#extra.disposed) throw new HeedError("disposed", `${operation}: the engine was disposed`);
  }
}
