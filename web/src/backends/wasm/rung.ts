// Opening one rung of the ladder: kernels of its variant, and a runner where it wants one.

import { causeText, HeedError } from "../../api/errors.js";
import type { Rung } from "../../platform/select.js";
import { MAX_WORKERS } from "./generated/attention-call.js";
import type { Kernels } from "./kernels.js";
import { loadKernels } from "./load-module.js";
import type { PrivateOverrides } from "./private-runner.js";
import type { Runner } from "./runner.js";
import type { VariantTable } from "./variants.js";
import { type WorkerOverrides, WorkerSource } from "./worker-link.js";
import type { PoolOverrides } from "./worker-pool.js";

/** A rung that works: what it is, its front instance, and where its async calls compute. */
export interface OpenRung {
  readonly rung: Rung;
  readonly kernels: Kernels;
  readonly runner: Runner;
}

/** What the caller brings to every rung. */
export interface RungOverrides extends WorkerOverrides, PrivateOverrides, PoolOverrides {
  /** A compiled module to use instead of the inlined binary. */
  readonly compiled: WebAssembly.Module | null;
  readonly variants: VariantTable;
  /** "auto": calls too small for the way to a worker are computed on the calling thread. */
  readonly offload: boolean | "auto";
}

/** Throws HeedError `load` or WorkerLost when this rung cannot be had. `previous` lends its kernels where they fit. */
export async function openRung(rung: Rung, overrides: RungOverrides, previous: OpenRung | null): Promise<OpenRung> {
  const fits = previous !== null && previous.rung.variant === rung.variant && !previous.kernels.abandoned;
  // Made before the kernels are asked for: of the two, workers take longer.
  const workers = new WorkerSource(overrides, rung.worker === null ? 0 : Math.min(overrides.threads, MAX_WORKERS));
  const loading = fits ? previous.kernels : loadKernels(overrides.variants, rung.variant, overrides.compiled);
  try {
    const [kernels, openRunner] = await Promise.all([loading, loadRunner(rung, overrides)]);
    return { rung, kernels, runner: await openRunner(kernels, workers, overrides) };
  } finally {
    workers.endAhead();
  }
}

type OpenRunner = (kernels: Kernels, workers: WorkerSource, overrides: RungOverrides) => Runner | Promise<Runner>;

/** A page stands on one rung, and loads what that takes. */
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
