// The globals that heed uses, each of which may be missing. They are looked up when needed, never at import.

/** The parts of Node's worker_threads.Worker that heed uses. */
export interface NodeWorker {
  on(event: "message", listener: (message: unknown) => void): void;
  on(event: "error", listener: (error: unknown) => void): void;
  on(event: "exit", listener: (code: number) => void): void;
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  ref(): void;
  unref(): void;
  terminate(): unknown;
}

export interface NodeWorkerConstructor {
  new (source: string, options: { eval: true; name: string; execArgv: readonly string[] }): NodeWorker;
  new (file: URL, options: { name: string; execArgv: readonly string[] }): NodeWorker;
}

export interface Host {
  readonly crossOriginIsolated?: boolean;
  readonly navigator?: { readonly hardwareConcurrency?: number };
  readonly document?: unknown;
  readonly Worker?: unknown;
  readonly Blob?: unknown;
  readonly SharedArrayBuffer?: unknown;
  readonly WebAssembly?: {
    validate(bytes: Uint8Array<ArrayBuffer>): boolean;
    readonly Memory: new (size: { initial: number; maximum: number; shared: boolean }) => { readonly buffer: unknown };
  };
  readonly process?: {
    readonly versions?: { readonly node?: string };
    readonly getBuiltinModule?: (name: string) => unknown;
  };
}

/** This realm's globals. */
export function currentHost(): Host {
  return globalThis;
}

/** Node's Worker; null elsewhere, and before Node 20.16, which has no way to get at its modules without a static import. */
export function nodeWorker(host: Host = currentHost()): NodeWorkerConstructor | null {
  const threads = host.process?.getBuiltinModule?.("node:worker_threads");
  // The package is compiled without Node's types.
  return (threads as { readonly Worker?: NodeWorkerConstructor } | undefined)?.Worker ?? null;
}

/** The number of cores that Node may use; null elsewhere. */
export function nodeCores(host: Host = currentHost()): number | null {
  const os = host.process?.getBuiltinModule?.("node:os");
  return (os as { readonly availableParallelism?: () => number } | undefined)?.availableParallelism?.() ?? null;
}

/** Reads a file in Node; null elsewhere. */
export async function nodeFile(url: string, host: Host = currentHost()): Promise<Uint8Array<ArrayBuffer> | null> {
  const files = host.process?.getBuiltinModule?.("node:fs/promises");
  const { readFile } = (files ?? {}) as { readonly readFile?: (file: URL) => Promise<Uint8Array<ArrayBuffer>> };
  return readFile === undefined ? null : new Uint8Array(await readFile(new URL(url)));
}
