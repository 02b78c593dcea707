// Chooses which WebAssembly variant computes where, from features and wishes. The result is a fallback chain, a ladder of rungs: the
// best rung first, and when it fails the next one is tried. The functions are pure, and a table of tests covers them.

import type { Features } from "./features.js";

/** The artefacts, named as their CMake presets. Those with `-threads` import a shared memory. */
export type VariantName = "wasm-simd" | "wasm-relaxed" | "wasm-simd-threads" | "wasm-relaxed-threads";

/** A rung of the ladder: an artefact, and where it computes async calls. */
export interface Rung {
  readonly variant: VariantName;
  readonly worker: "shared-memory" | "private-memory" | null;
}

export interface Wishes {
  readonly variant: "auto" | "simd" | "relaxed";
  readonly offload: boolean;
  /** Whether the caller's binary imports its memory; null when the package's own are used. */
  readonly importsMemory: boolean | null;
  /** Whether the caller makes the workers. */
  readonly ownWorkers: boolean;
}

export interface Choice {
  /** Best first. Empty when heed cannot run here. */
  readonly ladder: readonly Rung[];
  /** Why the ladder starts where it does. */
  readonly reasons: readonly string[];
}

export function select(features: Features, wishes: Wishes): Choice {
  const refused = refusal(features, wishes);
  if (refused !== null) return { ladder: [], reasons: [refused] };
  const relaxed = wishes.variant === "relaxed" || (wishes.variant === "auto" && features.relaxedSimd);
  const { worker, reason } = selectWorker(features, wishes);
  const reasons = [
    ...(wishes.variant === "auto" && !relaxed ? ["no relaxed SIMD: the plain SIMD variant computes"] : []),
    ...(reason === null ? [] : [reason]),
  ];
  return { ladder: ladder(relaxed, worker, wishes), reasons };
}

function refusal(features: Features, wishes: Wishes): string | null {
  if (!features.simd) return "WebAssembly SIMD is needed, and this engine has none";
  if (wishes.variant === "relaxed" && !features.relaxedSimd) {
    return 'variant "relaxed" was asked for, and this engine has no relaxed SIMD';
  }
  if (wishes.importsMemory === true && !features.sharedMemory) {
    return "the given wasm imports shared memory, and this engine has none";
  }
  return null;
}

function selectWorker(features: Features, wishes: Wishes): { worker: Rung["worker"]; reason: string | null } {
  if (!wishes.offload) return { worker: null, reason: "offload is false: calls compute on the calling thread" };
  if (features.worker === null && !wishes.ownWorkers) {
    return { worker: null, reason: "no workers in this runtime: calls compute on the calling thread" };
  }
  if (!features.sharedMemory) {
    return { worker: "private-memory", reason: "no shared WebAssembly memory: workers have memories of their own" };
  }
  if (!features.isolated) {
    return { worker: "private-memory", reason: "not cross-origin isolated: workers have memories of their own" };
  }
  return { worker: "shared-memory", reason: null };
}

/** From the chosen rung down to plain SIMD on the calling thread, which nothing can refuse. */
function ladder(relaxed: boolean, worker: Rung["worker"], wishes: Wishes): readonly Rung[] {
  const kinds = WORKERS.slice(WORKERS.indexOf(worker));
  const own: VariantName = relaxed ? "wasm-relaxed" : "wasm-simd";
  const shared: VariantName = `${own}-threads`;
  if (wishes.importsMemory !== null) {
    // A given binary imports its memory or makes it, so it fits only some of the rungs.
    const [variant, other] = wishes.importsMemory ? [shared, "private-memory"] : [own, "shared-memory"];
    return kinds.filter((kind) => kind !== other).map((kind) => ({ variant, worker: kind }));
  }
  const variants = relaxed && wishes.variant === "auto" ? ([own, "wasm-simd"] as const) : ([own] as const);
  return kinds.flatMap((kind) =>
    variants.map((name): Rung => ({ variant: kind === "shared-memory" ? `${name}-threads` : name, worker: kind })),
  );
}

/** Where async calls can be computed, best first. */
const WORKERS: readonly Rung["worker"][] = ["shared-memory", "private-memory", null];

/** The number of threads of "auto". */
export function autoThreads(cores: number): number {
  return Math.max(1, Math.min(4, Math.floor(cores / 2)));
}
