// heed's worker: a bare WebAssembly.Instance of the kernels and a message loop. It is built into one string
// (generated/worker-source.ts) that runs as a browser's worker and as Node's, so it imports only small files that the page uses too.

import { textAt } from "../../memory/heap-view.js";
import { DONE } from "./done.js";
import {
  type BlockMessage,
  type FromWorker,
  NO_ROOM,
  type PoolSlot,
  type Range,
  type StartMessage,
  type ToWorker,
  TRAPPED,
} from "./protocol.js";

/** The exports that a bare instance needs: `memory` of a variant with its own, those of the pool and of the stack of one with shared memory. */
interface KernelExports {
  heed_run(call: number): number;
  heed_status_message(): number;
  heed_allocate(bytes: number): number;
  heed_release(address: number): void;
  heed_serve(worker: number, spins: boolean): void;
  readonly memory: WebAssembly.Memory;
  __wasm_call_ctors(): void;
  _emscripten_stack_restore(top: number): void;
}

interface Port {
  postMessage(message: FromWorker, transfer?: readonly ArrayBuffer[]): void;
  onmessage: (event: { readonly data: ToWorker }) => void;
}

/** Both are there once it has started, before any call. */
let kernels: KernelExports;
let memory: WebAssembly.Memory;
/** Addresses of cached buffers, by their ids. */
const buffers = new Map<number, number>();

const scope = globalThis as unknown as Port & {
  readonly WorkerGlobalScope?: unknown;
  readonly process?: { getBuiltinModule(name: "node:worker_threads"): { readonly parentPort: Port } };
};
const node = scope.WorkerGlobalScope === undefined ? scope.process : undefined;
/** A browser's worker talks through its globals, Node's through its port. */
const port: Port = node?.getBuiltinModule("node:worker_threads").parentPort ?? scope;
port.onmessage = ({ data }) => {
  if (data.kind === "start") void start(data);
  else if (data.kind === "forget") data.ids.forEach(forget);
  else reply(() => callBlock(data));
};

async function start({ module, shared }: StartMessage): Promise<void> {
  try {
    if (shared !== null) memory = shared.memory;
    const instance = await WebAssembly.instantiate(module, importsOf(module));
    // TypeScript cannot know the exports of a module.
    kernels = instance.exports as unknown as KernelExports;
    if (shared === null) {
      memory = kernels.memory;
      kernels.__wasm_call_ctors();
    } else {
      // Constructors ran in the front instance; here they would run again over the same heap.
      kernels._emscripten_stack_restore(shared.stackTop);
    }
    port.postMessage({ kind: "ready" });
    if (shared !== null) work(shared);
  } catch (error) {
    port.postMessage({ kind: "failed", message: String(error) });
  }
}

/** Serves calls for as long as this worker lives. A trap ends the worker, because the state of its instance is then unknown. */
function work({ worker, spins, answers }: PoolSlot): never {
  while (true) {
    kernels.heed_serve(worker, spins);
    if (answers) port.postMessage(DONE);
  }
}

/** The imports that Emscripten's glue would provide: growth and a clock. Constructors register with Embind, which is not loaded here. */
function importsOf(module: WebAssembly.Module): WebAssembly.Imports {
  const imports: Record<string, Record<string, WebAssembly.ImportValue>> = {};
  for (const { module: space, name, kind } of WebAssembly.Module.imports(module)) {
    imports[space] ??= {};
    if (kind === "memory") imports[space][name] = memory;
    else if (name === "emscripten_resize_heap") imports[space][name] = (bytes: number) => grow(bytes >>> 0);
    else if (name === "emscripten_get_now") imports[space][name] = () => performance.now();
    else if (name.startsWith("_embind_register")) imports[space][name] = () => {};
    else {
      imports[space][name] = () => {
        throw new Error(`the kernels called ${name}`);
      };
    }
  }
  return imports;
}

/** Grows the memory to `bytes`. Emscripten's allocator expects 1 for success and 0 for refusal. */
function grow(bytes: number): number {
  if (bytes > 2 ** 31) return 0;
  const now = memory.buffer.byteLength;
  // By 5 % at least, as the glue does, so that slowly rising sizes do not grow the memory in every call.
  for (const wanted of [Math.max(bytes, now * 1.05), bytes]) {
    const pages = Math.ceil((Math.min(wanted, 2 ** 31) - now) / 65536);
    try {
      if (pages > 0) memory.grow(pages);
      return 1;
    } catch {
      // Less may be had.
    }
  }
  return 0;
}

interface Outcome {
  readonly status: number;
  readonly outputs: readonly ArrayBuffer[];
  readonly refused?: readonly number[];
}

function reply(compute: () => Outcome): void {
  try {
    const { status, outputs, refused = [] } = compute();
    const message = status > 0 ? statusMessage() : "";
    const memoryBytes = memory.buffer.byteLength;
    port.postMessage({ kind: "done", status, message, outputs, refused, memoryBytes }, outputs);
  } catch (error) {
    port.postMessage({ ...DONE, status: TRAPPED, message: String(error) });
  }
}

function callBlock({ bytes, block, buffers: used, steps, outputs }: BlockMessage): Outcome {
  cacheBuffers(used);
  const refused: number[] = [];
  let status = make(0, bytes) ? 0 : NO_ROOM;
  const base = buffers.get(0) ?? 0;
  if (status === 0) patch(base, block);
  let at = 0;
  const next = (): number => steps[at++] ?? 0;
  // What is to be freed is freed also after a call that failed.
  while (at < steps.length) {
    const id = next();
    if (id > 0) {
      const size = next();
      if (size === 0) forget(id);
      else if (status === 0 && !make(id, size)) status = NO_ROOM;
      continue;
    }
    const call = base + next();
    const words = new Uint32Array(memory.buffer, call);
    for (let left = next(); left > 0; left--) {
      const [word, buffer, offset] = [next(), next(), next()];
      const address = buffers.get(buffer);
      if (address === undefined) refused.push(buffer);
      else if (status === 0) words[word] = address + offset;
    }
    if (refused.length > 0) status ||= NO_ROOM;
    if (status === 0) status = kernels.heed_run(call);
  }
  // The calls may have grown the memory, which detaches the old ArrayBuffer.
  const heap = memory.buffer;
  const read = ([id, from, size]: Range): ArrayBuffer => {
    const start = (buffers.get(id) ?? 0) + from;
    return heap.slice(start, start + size);
  };
  const results = status === 0 ? outputs.map(read) : [];
  forget(0);
  return { status, outputs: results, refused };
}

/** Copies new buffers, and the patches of known ones, into this memory. It does so even for a call that then fails, because the sender counts on them from now on. */
function cacheBuffers(used: BlockMessage["buffers"]): void {
  for (const { id, data, patches } of used) {
    if (data !== null && make(id, data.byteLength)) patch(buffers.get(id) ?? 0, data);
    const address = buffers.get(id);
    if (address !== undefined) for (const [from, bytes] of patches) patch(address + from, bytes);
  }
}

/** Whether there is room for the buffer. */
function make(id: number, bytes: number): boolean {
  const address = kernels.heed_allocate(bytes) >>> 0;
  if (address !== 0) buffers.set(id, address);
  return address !== 0;
}

function patch(address: number, bytes: ArrayBuffer): void {
  new Uint8Array(memory.buffer, address).set(new Uint8Array(bytes));
}

function forget(id: number): void {
  const address = buffers.get(id);
  if (address === undefined) return;
  buffers.delete(id);
  kernels.heed_release(address);
}

function statusMessage(): string {
  return textAt(memory.buffer, kernels.heed_status_message() >>> 0);
}
