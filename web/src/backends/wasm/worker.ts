// heed's worker: a bare WebAssembly.Instance of the kernels and a message loop. Built into one string (generated/worker-source.ts),
// it runs as a browser's worker and as Node's; it imports nothing but what it has in common with the front.

import { textAt } from "../../memory/heap-view.js";
import { DONE } from "./done.js";
import {
  type BlockMessage,
  type FromWorker,
  NO_ROOM,
  type PoolPlace,
  type StartMessage,
  type ToWorker,
  TRAPPED,
} from "./protocol.js";

/** The exports that a bare instance needs: of every variant, and (optional) of those with shared memory or those without. */
interface KernelExports {
  heed_run(call: number): number;
  heed_status_message(): number;
  heed_allocate(bytes: number): number;
  heed_release(address: number): void;
  heed_serve?(worker: number, looks: boolean): void;
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
/** Addresses of pieces of inputs, by their numbers. */
const pieces = new Map<number, number>();

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
    // The boundary to the module, whose exports the contract with C++ lists.
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

/** Leads calls, and helps those who do, for as long as this worker lives. A trap ends it: its instance is in doubt. */
function work({ worker, looks, answers }: PoolPlace): never {
  const { heed_serve } = running();
  while (true) {
    if (heed_serve === undefined) abort("heed_serve, which they lack");
    heed_serve(worker, looks);
    if (answers) port.postMessage(DONE);
  }
}

/** What the glue would provide: kernels need room to grow and a clock; constructors register for an Embind that is not here. */
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

/** Builds without bulk memory ask for large copies. */
function copyWithin(to: number, from: number, bytes: number): void {
  new Uint8Array(heapBuffer()).copyWithin(to >>> 0, from >>> 0, (from >>> 0) + (bytes >>> 0));
}

function abort(name: string): never {
  throw new Error(`the kernels called ${name}`);
}

/** Grows the memory to hold `bytes`: 1 where it could, as Emscripten's allocator expects. */
function grow(bytes: number): number {
  if (memory === undefined || bytes > 2 ** 31) return 0;
  const now = memory.buffer.byteLength;
  try {
    // A fifth more than needed, as Emscripten's own glue does, so that rising sizes do not grow it call by call.
    for (const wanted of [Math.max(bytes, now * 1.2), bytes]) {
      const pages = Math.ceil((Math.min(wanted, 2 ** 31) - now) / 65536);
      if (pages <= 0 || tryGrow(memory, pages)) return 1;
    }
  } catch {
    // Falls through to the refusal.
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
    const message = String(error);
    port.postMessage({ kind: "done", status: TRAPPED, message, outputs: [], refused: [], memoryBytes: 0 });
  }
}

function callBlock(message: BlockMessage): Outcome {
  const { heed_allocate, heed_run, heed_release } = running();
  const refused = keepPieces(message);
  if (refused.length > 0) return { status: NO_ROOM, outputs: [], refused };
  const base = heed_allocate(message.bytes) >>> 0;
  if (base === 0) return { status: NO_ROOM, outputs: [] };
  try {
    const heap = heapBuffer();
    new Uint8Array(heap, base).set(new Uint8Array(message.block));
    const call = new Uint32Array(heap, base, message.block.byteLength >>> 2);
    for (const word of message.relative) call[word] = (call[word] ?? 0) + base;
    for (const { word, id, offset } of message.pieces) call[word] = (pieces.get(id) ?? 0) + offset;
    const status = heed_run(base);
    // The memory may have grown: its buffer is asked for again.
    const after = heapBuffer();
    const outputs =
      status === 0 ? message.outputs.map(([offset, bytes]) => after.slice(base + offset, base + offset + bytes)) : [];
    return { status, outputs };
  } finally {
    heed_release(base);
  }
}

/**
 * Copies pieces that are new here, and what changed of the others, into this memory, whatever becomes of the call: the sender takes
 * them for known. Returns those that there is no room for, or was none before.
 */
function keepPieces(message: BlockMessage): readonly number[] {
  for (const { id, data, patches } of message.pieces) {
    if (data !== null && !pieces.has(id)) {
      const address = running().heed_allocate(data.byteLength) >>> 0;
      if (address === 0) continue;
      pieces.set(id, address);
      patch(address, data);
    }
    const address = pieces.get(id);
    if (address !== undefined) for (const [from, bytes] of patches) patch(address + from, bytes);
  }
  return message.pieces.map(({ id }) => id).filter((id) => !pieces.has(id));
}

function patch(address: number, bytes: ArrayBuffer): void {
  new Uint8Array(heapBuffer(), address).set(new Uint8Array(bytes));
}

function forget(id: number): void {
  const address = pieces.get(id);
  if (address === undefined) return;
  pieces.delete(id);
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
