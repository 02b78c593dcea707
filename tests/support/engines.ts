// Engines of every kind that Node can have: each variant, on shared memory, on private memory, and on the calling thread.

import { readCreateOptions } from "../../web/src/api/read-create-options.js";
import { openEngine } from "../../web/src/engine.js";
import type { CreateOptions, Heed } from "../../web/src/index.js";
import { type Features, probe } from "../../web/src/platform/features.js";
import { currentHost } from "../../web/src/platform/host.js";

export interface EngineKind {
  readonly variant: "simd" | "relaxed";
  readonly worker: "shared-memory" | "private-memory" | null;
}

export const ENGINE_KINDS: readonly EngineKind[] = (["simd", "relaxed"] as const).flatMap((variant) =>
  (["shared-memory", "private-memory", null] as const).map((worker) => ({ variant, worker })),
);

export const nameOf = ({ variant, worker }: EngineKind): string => `${variant}, ${worker ?? "no"} worker`;

/** An engine of exactly this kind, or an error: a variant that this runtime lacks fails the tests, it does not skip them. */
export async function openKind({ variant, worker }: EngineKind, options: CreateOptions = {}): Promise<Heed> {
  const features: Features = { ...probe(currentHost()), isolated: worker === "shared-memory" };
  const heed = await openEngine(readCreateOptions({ ...options, variant, offload: worker !== null }), features);
  const { capabilities } = heed;
  if (capabilities.variant === variant && capabilities.worker === worker) return heed;
  throw new Error(`wanted ${nameOf({ variant, worker })}, got ${JSON.stringify(capabilities)}`);
}
