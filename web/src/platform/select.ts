// Features and wishes in, choice out: which wasm variant computes where. Pure; every row is a test.

import type { Features } from "./features.js";

/** The artefacts, by their presets' names. `-threads` variants import shared memory. */
export type VariantName = "wasm-simd" | "wasm-relaxed" | "wasm-simd-threads" | "wasm-relaxed-threads";

/** One way to compute: an artefact and where async calls run it. */
export interface Rung {
  readonly variant: VariantName;
  readonly worker: "shared-memory" | "private-memory" | null;
}

export interface Wishes {
  readonly variant: "auto" | "simd" | "relaxed";
  readonly offload: boolean;
  /** Where the caller brought a binary of its own: whether that imports its memory. null: the inlined ones. */
  readonly importsMemory: boolean | null;
  /** The caller makes the workers, wherever they come from. */
  readonly ownWorkers: boolean;
}

export interface Choice {
  /** Best first; when one fails the next is tried. Empty: heed cannot run here. */
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

/** From the chosen rung down to plain SIMD on the calling thread, which needs nothing that could be refused. */
function ladder(relaxed: boolean, worker: Rung["worker"], wishes: Wishes): readonly Rung[] {
  const kinds = WORKERS.slice(WORKERS.indexOf(worker));
  const own: VariantName = relaxed ? "wasm-relaxed" : "wasm-simd";
  const shared: VariantName = `${own}-threads`;
  if (wishes.importsMemory !== null) {
    // A given binary has one kind of memory, and stays on its rungs.
    const [variant, other] = wishes.importsMemory ? [shared, "private-memory"] : [own, "shared-memory"];
    return kinds.filter((kind) => kind !== other).map((kind) => ({ variant, worker: kind }));
  }
  const variants = relaxed && wishes.variant === "auto" ? ([own, "wasm-simd"] as const) : ([own] as const);
  return kinds.flatMap((kind) =>
    variants.map((name): Rung => ({ variant: kind === "shared-memory" ? `${name}-threads` : name, worker: kind })),
  );
}

/** Where async calls compute, best first. */
const WORKERS: readonly Rung["worker"][] = ["shared-memory", "private-memory", null];

/** The number of threads that "auto" stands for. */
export function autoThreads(cores: number): number {
  return Math.max(1, Math.min(4, Math.floor(cores / 2)));
}
