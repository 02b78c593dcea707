// Opening one rung of the ladder: kernels of its variant, and a runner where it wants one.

import type { Rung } from "../../platform/select.js";
import { MAX_WORKERS } from "./generated/attention-call.js";
import type { Kernels } from "./kernels.js";
import { loadKernels } from "./load-module.js";
import { BlockingRunner, SlicedRunner } from "./local-runners.js";
import { type PrivateOverrides, PrivateRunner } from "./private-runner.js";
import type { Runner } from "./runner.js";
import { SharedRunner } from "./shared-runner.js";
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
  const loading = fits ? previous.kernels : loadKernels(overrides.variants, rung.variant, overrides.compiled);
  const workers = new WorkerSource(overrides, rung.worker === null ? 0 : Math.min(overrides.threads, MAX_WORKERS));
  try {
    const kernels = await loading;
    return { rung, kernels, runner: await openRunner(rung, kernels, workers, overrides) };
  } finally {
    workers.endAhead();
  }
}

async function openRunner(
  rung: Rung,
  kernels: Kernels,
  workers: WorkerSource,
  overrides: RungOverrides,
): Promise<Runner> {
  if (rung.worker === null) {
    return overrides.offload === false ? new BlockingRunner(kernels) : new SlicedRunner(kernels, overrides.grain);
  }
  return rung.worker === "shared-memory"
    ? SharedRunner.open(kernels, workers, overrides)
    : PrivateRunner.open(kernels, workers, overrides);
}
