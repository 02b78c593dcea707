// Opens one rung of the fallback chain: loads the kernels of its variant and starts its runner.

import { causeText, HeedError } from "../../base/errors.js";
import type { Rung } from "../../platform/select.js";
import type { ModuleName } from "../backend.js";
import { MAX_WORKERS } from "./generated/attention-call.js";
import type { Kernels } from "./kernels.js";
import { loadKernels } from "./load-module.js";
import type { PrivateOverrides } from "./private-runner.js";
import type { Runner } from "./runner.js";
import type { ModuleTables, VariantTable } from "./variants.js";
import { type WorkerOverrides, WorkerSource } from "./worker-link.js";
import type { PoolOverrides } from "./worker-pool.js";

/** A rung that works, with its front instance and the runner of its async calls. */
export interface OpenRung {
  readonly rung: Rung;
  readonly module: ModuleName;
  readonly kernels: Kernels;
  readonly runner: Runner;
}

/** The caller's wishes, the same for every rung. */
export interface RungOverrides extends WorkerOverrides, PrivateOverrides, PoolOverrides {
  /** A compiled module to use instead of the core module's binary. */
  readonly compiled: WebAssembly.Module | null;
  readonly modules: ModuleTables;
  /** "auto": calls that cost less than the round trip to a worker are computed on the calling thread. */
  readonly offload: boolean | "auto";
}

/** Throws HeedError `load` or WorkerLost when this rung cannot be opened. Reuses the kernels of `previous` when they are of the same variant. */
export async function openRung(
  rung: Rung,
  module: ModuleName,
  overrides: RungOverrides,
  previous: OpenRung | null,
): Promise<OpenRung> {
  const fits = previous !== null && previous.rung.variant === rung.variant && !previous.kernels.abandoned;
  // Workers are started before the kernels are loaded, because they take longer.
  const workers = new WorkerSource(overrides, rung.worker === null ? 0 : Math.min(overrides.threads, MAX_WORKERS));
  const compiled = module === "core" ? overrides.compiled : null;
  const loading = fits ? previous.kernels : loadKernels(tableOf(overrides.modules, module), rung.variant, compiled);
  try {
    const [kernels, openRunner] = await Promise.all([loading, loadRunner(rung, overrides)]);
    return { rung, module, kernels, runner: await openRunner(kernels, workers, overrides) };
  } finally {
    workers.endAhead();
  }
}

async function tableOf(modules: ModuleTables, module: ModuleName): Promise<VariantTable> {
  return module === "core" ? modules.core : (await modules.more())[module];
}

type OpenRunner = (kernels: Kernels, workers: WorkerSource, overrides: RungOverrides) => Runner | Promise<Runner>;

/** Loads only the runner of this rung, because most pages need just one. */
async function loadRunner(rung: Rung, { offload, grain }: RungOverrides): Promise<OpenRunner> {
  if (rung.worker === "shared-memory") {
    const { SharedRunner } = await importRunner(() => import("./shared-runner.js"));
    return SharedRunner.open;
  }
  const { PrivateRunner, SlicedRunner, BlockingRunner } = await importRunner(() => import("./unshared-runners.js"));
  if (rung.worker !== null) return PrivateRunner.open;
  return (kernels) => (offload === false ? new BlockingRunner(kernels) : new SlicedRunner(kernels, grain));
}

async function importRunner<M>(load: () => Promise<M>): Promise<M> {
  try {
    return await load();
  } catch (cause) {
    throw new HeedError("load", `createHeed: cannot load a part of itself: ${causeText(cause)}`, { cause });
  }
}
