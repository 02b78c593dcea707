// heed's worker: a bare WebAssembly.Instance of the kernels and a message loop. It is built into one string
// (generated/worker-source.ts) that runs as a browser's worker and as Node's, so it imports only small files that the page uses too.

import { textAt } from "../../memory/heap-view.js";
import { DONE } from "./done.js";
import {
  type BlockMessage,
  type FromWorker,
  NO_ROOM,
  type PoolSlot,
  type StartMessage,
  type ToWorker,
  TRAPPED,
} from "./protocol.js";

/** The exports that a bare instance needs. The optional ones exist only in variants with shared memory, or only in those without. */
interface KernelExports {
  heed_run(call: number): number;
  heed_status_message(): number;
  heed_allocate(bytes: number): number;
  heed_release(address: number): void;
  heed_serve?(worker: number, spins: boolean): void;
  readonly memory?: WebAssembly.Memory;
  _initialize?(): void;
  __wasm_call_ctors?(): void;
  _emscripten_stack_restore?(top: number): void;
}

interface Port {
  postMessage(message: FromWorker, transfer?: readonly ArrayBuffer[]): void;
  listen(listener: (message: ToWorker) => void): void;
}

let kernels: KernelExports | undefined;
let memory: WebAssembly.Memory | undefined;
/** Addresses of cached buffers, by their ids. */
const buffers = new Map<number, number>();

const port = openPort();
port.listen((message) => {
  if (message.kind === "start") void start(message);
  else if (message.kind === "forget") message.ids.forEach(forget);
  else reply(() => callBlock(message));
});

async function start({ module, shared }: StartMessage): Promise<void> {
  try {
    if (shared !== null) memory = shared.memory;
    const instance = await WebAssembly.instantiate(module, importsOf(module));
    // TypeScript cannot know the exports of a module.
    kernels = instance.exports as unknown as KernelExports;
    if (shared === null) {
      memory = kernels.memory;
      (kernels._initialize ?? kernels.__wasm_call_ctors)?.();
    } else {
      // Constructors ran in the front instance; here they would run again over the same heap.
      kernels._emscripten_stack_restore?.(shared.stackTop);
    }
    port.postMessage({ kind: "ready" });
    if (shared !== null) work(shared);
  } catch (error) {
    port.postMessage({ kind: "failed", message: String(error) });
  }
}

/** Serves calls for as long as this worker lives. A trap ends the worker, because the state of its instance is then unknown. */
function work({ worker, spins, answers }: PoolSlot): never {
  const { heed_serve = abort("heed_serve, which they lack") } = running();
  while (true) {
    heed_serve(worker, spins);
    if (answers) port.postMessage(DONE);
  }
}

/** The imports that Emscripten's glue would provide: growth and a clock. Constructors register with Embind, which is not loaded here. */
function importsOf(module: WebAssembly.Module): WebAssembly.Imports {
  const imports: Record<string, Record<string, WebAssembly.ImportValue>> = {};
  for (const { module: space, name, kind } of WebAssembly.Module.imports(module)) {
    imports[space] ??= {};
    if (kind === "memory" && memory !== undefined) imports[space][name] = memory;
    else if (name === "emscripten_resize_heap") imports[space][name] = (bytes: number) => grow(bytes >>> 0);
    else if (name === "emscripten_get_now") imports[space][name] = () => performance.now();
    else if (name === "_emscripten_memcpy_js") imports[space][name] = copyWithin;
    else if (name.startsWith("_embind_register")) imports[space][name] = () => {};
    else imports[space][name] = () => abort(name);
  }
  return imports;
}

/** Builds without the bulk memory proposal call it for large copies. */
function copyWithin(to: number, from: number, bytes: number): void {
  new Uint8Array(heapBuffer()).copyWithin(to >>> 0, from >>> 0, (from >>> 0) + (bytes >>> 0));
}

function abort(name: string): never {
  throw new Error(`the kernels called ${name}`);
}

/** Grows the memory to `bytes`. Emscripten's allocator expects 1 for success and 0 for refusal. */
function grow(bytes: number): number {
  if (memory === undefined || bytes > 2 ** 31) return 0;
  const now = memory.buffer.byteLength;
  try {
    // By 5 % at least, as the glue does, so that slowly rising sizes do not grow the memory in every call.
    for (const wanted of [Math.max(bytes, now * 1.05), bytes]) {
      const pages = Math.ceil((Math.min(wanted, 2 ** 31) - now) / 65536);
      if (pages <= 0 || tryGrow(memory, pages)) return 1;
    }
  } catch {
    // The memory cannot grow.
  }
  return 0;
}

function tryGrow(target: WebAssembly.Memory, pages: number): boolean {
  try {
    target.grow(pages);
    return true;
  } catch {
    return false;
  }
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
    const memoryBytes = heapBuffer().byteLength;
    port.postMessage({ kind: "done", status, message, outputs, refused, memoryBytes }, outputs);
  } catch (error) {
    port.postMessage({ ...DONE, status: TRAPPED, message: String(error) });
  }
}

function callBlock(message: BlockMessage): Outcome {
  const { heed_allocate, heed_run, heed_release } = running();
  const refused = cacheBuffers(message);
  if (refused.length > 0) return { status: NO_ROOM, outputs: [], refused };
  const base = heed_allocate(message.bytes) >>> 0;
  if (base === 0) return { status: NO_ROOM, outputs: [] };
  try {
    const heap = heapBuffer();
    new Uint8Array(heap, base).set(new Uint8Array(message.block));
    const call = new Uint32Array(heap, base, message.block.byteLength >>> 2);
    for (const word of message.relative) call[word] = (call[word] ?? 0) + base;
    for (const { word, id, offset } of message.buffers) call[word] = (buffers.get(id) ?? 0) + offset;
    const status = heed_run(base);
    // The call may have grown the memory, which detaches the old ArrayBuffer.
    const after = heapBuffer();
    const outputs =
      status === 0 ? message.outputs.map(([offset, bytes]) => after.slice(base + offset, base + offset + bytes)) : [];
    return { status, outputs };
  } finally {
    heed_release(base);
  }
}

/**
 * Copies new buffers, and the patches of known ones, into this memory. It does so even for a call that then fails, because the
 * sender counts on them from now on. Returns the buffers that are missing for lack of room.
 */
function cacheBuffers(message: BlockMessage): readonly number[] {
  for (const { id, data, patches } of message.buffers) {
    if (data !== null && !buffers.has(id)) {
      const address = running().heed_allocate(data.byteLength) >>> 0;
      if (address === 0) continue;
      buffers.set(id, address);
      patch(address, data);
    }
    const address = buffers.get(id);
    if (address !== undefined) for (const [from, bytes] of patches) patch(address + from, bytes);
  }
  return message.buffers.map(({ id }) => id).filter((id) => !buffers.has(id));
}

function patch(address: number, bytes: ArrayBuffer): void {
  new Uint8Array(heapBuffer(), address).set(new Uint8Array(bytes));
}

function forget(id: number): void {
  const address = buffers.get(id);
  if (address === undefined) return;
  buffers.delete(id);
  running().heed_release(address);
}

function running(): KernelExports {
  return kernels ?? abort("a worker that has not started");
}

function heapBuffer(): ArrayBuffer {
  return memory === undefined ? abort("a worker without memory") : memory.buffer;
}

function statusMessage(): string {
  return textAt(heapBuffer(), running().heed_status_message() >>> 0);
}

/** A browser's worker talks through its globals, Node's through worker_threads.parentPort. */
function openPort(): Port {
  const scope = globalThis as unknown as {
    readonly WorkerGlobalScope?: unknown;
    postMessage(message: FromWorker, transfer: readonly ArrayBuffer[]): void;
    onmessage: (event: { readonly data: ToWorker }) => void;
    readonly process?: { getBuiltinModule(name: "node:worker_threads"): { readonly parentPort: NodePort } };
  };
  if (scope.WorkerGlobalScope === undefined && scope.process !== undefined) {
    const { parentPort } = scope.process.getBuiltinModule("node:worker_threads");
    return {
      postMessage: (message, transfer = []) => parentPort.postMessage(message, transfer),
      listen: (listener) => void parentPort.on("message", listener),
    };
  }
  return {
    postMessage: (message, transfer = []) => scope.postMessage(message, transfer),
    listen: (listener) => {
      scope.onmessage = (event) => listener(event.data);
    },
  };
}

interface NodePort {
  postMessage(message: FromWorker, transfer: readonly ArrayBuffer[]): void;
  on(event: "message", listener: (message: ToWorker) => void): void;
}
