// Engines of every kind that Node can have: each variant, on shared memory, on private memory, and on the calling thread.

import { readCreateOptions } from "../../web/src/api/read-create-options.js";
import { MODULES } from "../../web/src/backends/wasm/inlined.js";
import type { RungOverrides } from "../../web/src/backends/wasm/rung.js";
import { WasmBackend } from "../../web/src/backends/wasm/wasm-backend.js";
import { openEngine } from "../../web/src/engine.js";
import type { CreateOptions, Heed } from "../../web/src/index.js";
import { type Features, probe } from "../../web/src/platform/features.js";
import { currentHost } from "../../web/src/platform/host.js";
import { select } from "../../web/src/platform/select.js";

export interface EngineKind {
  readonly variant: "simd" | "relaxed";
  readonly worker: "shared-memory" | "private-memory" | null;
}

export const ENGINE_KINDS: readonly EngineKind[] = (["simd", "relaxed"] as const).flatMap((variant) =>
  (["shared-memory", "private-memory", null] as const).map((worker) => ({ variant, worker })),
);

/** Each variant and each kind of worker once, where no pair of the two can differ from the others. */
export const FEW_KINDS: readonly EngineKind[] = ENGINE_KINDS.filter(
  ({ variant, worker }) => variant === (worker === "private-memory" ? "simd" : "relaxed"),
);

export const nameOf = ({ variant, worker }: EngineKind): string => `${variant}, ${worker ?? "no"} worker`;

/** An engine of exactly this kind, or an error: a variant that this runtime lacks fails the tests, it does not skip them. */
export async function openKind({ variant, worker }: EngineKind, options: CreateOptions = {}): Promise<Heed> {
  const features: Features = { ...probe(currentHost()), isolated: worker === "shared-memory" };
  const heed = await openEngine(readCreateOptions({ ...options, variant, offload: worker !== null }), features);
  const { capabilities } = heed;
  const { threads } = options;
  const isAsWanted = capabilities.variant === variant && capabilities.worker === worker;
  if (isAsWanted && (typeof threads !== "number" || capabilities.threads === threads)) return heed;
  heed.dispose();
  const wanted = `${nameOf({ variant, worker })}${threads === undefined ? "" : `, ${threads} threads`}`;
  throw new Error(`wanted ${wanted}, got ${JSON.stringify(capabilities)}`);
}

/** An engine of each kind, with its name. */
export function openKinds() {
  return Promise.all(ENGINE_KINDS.map(async (kind) => ({ ...kind, name: nameOf(kind), heed: await openKind(kind) })));
}

/** The backend of such an engine, for what the public surface does not show. */
export function openBackend(
  { variant, worker }: EngineKind,
  threads = 1,
  overrides: Partial<RungOverrides> = {},
): Promise<WasmBackend> {
  const features = { ...probe(currentHost()), isolated: worker === "shared-memory" };
  const wishes = { variant, offload: worker !== null, importsMemory: null, ownWorkers: false };
  return WasmBackend.open(select(features, wishes), {
    workerUrl: null,
    workerFactory: null,
    compiled: null,
    modules: MODULES,
    threads,
    cores: features.cores,
    offload: true,
    grain: null,
    ...overrides,
  });
}
