// From an inlined, a hosted or a given binary to a compiled module. Async, so that even a page's own thread may compile it.

import { causeText, HeedError } from "../../api/errors.js";
import { nodeFile } from "../../platform/host.js";

/** Where the binary comes from when it is not the package's own; at most one is not null. */
export interface BinaryOverrides {
  readonly url: string | null;
  readonly binary: Uint8Array<ArrayBuffer> | null;
  readonly module: WebAssembly.Module | null;
}

/** The caller's module, compiled; null: the package's own are used. Throws HeedError `load`. */
export async function compileOverride(overrides: BinaryOverrides): Promise<WebAssembly.Module | null> {
  const { url, binary, module } = overrides;
  if (module !== null) return module;
  if (binary !== null) return compile(binary, "the given wasm.binary");
  if (url !== null) return compileFile(url);
  return null;
}

/** Compiles hexadecimal text, or what lies at an address. Throws HeedError `load`. */
export function compileBinary(binary: string | URL, name: string): Promise<WebAssembly.Module> {
  return typeof binary === "string" ? compile(decodeHex(binary), name) : compileFile(binary.href);
}

/** True when the module imports its memory, which all heed's shared-memory variants do and no other. */
export function importsMemory(module: WebAssembly.Module): boolean {
  return WebAssembly.Module.imports(module).some((entry) => entry.kind === "memory");
}

export function decodeHex(text: string): Uint8Array<ArrayBuffer> {
  // Newer engines decode in one native step.
  const native = Reflect.get(Uint8Array, "fromHex");
  if (typeof native === "function") return Reflect.apply(native, Uint8Array, [text]);
  const bytes = new Uint8Array(text.length >>> 1);
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = (digit(text.charCodeAt(2 * i)) << 4) | digit(text.charCodeAt(2 * i + 1));
  }
  return bytes;
}

/** Of the codes of 0 to 9 and a to f. */
const digit = (code: number): number => (code & 15) + 9 * (code >>> 6);

async function compile(bytes: Uint8Array<ArrayBuffer>, name: string): Promise<WebAssembly.Module> {
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    throw new HeedError("load", `createHeed: cannot compile ${name}: ${causeText(cause)}`, { cause });
  }
}

async function compileFile(url: string): Promise<WebAssembly.Module> {
  return compile(await read(url), url);
}

async function read(url: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    // Node fetches no files.
    const file = url.startsWith("file:") ? await nodeFile(url) : null;
    if (file !== null) return file;
    const response = await fetch(url);
    if (!response.ok) throw new Error(`HTTP status ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    throw new HeedError("load", `createHeed: cannot fetch the WebAssembly at ${url}: ${causeText(cause)}`, { cause });
  }
}
