// Compiles an inlined, hosted or given binary. It does so asynchronously, because browsers refuse to compile large modules
// synchronously on a page's main thread.

import { causeText, HeedError } from "../../base/errors.js";
import { nodeFile } from "../../platform/host.js";

/** The caller's binary; at most one field is not null, and all are null when the package's own is used. */
export interface BinaryOverrides {
  readonly url: string | null;
  readonly binary: Uint8Array<ArrayBuffer> | null;
  readonly module: WebAssembly.Module | null;
}

/** Compiles the caller's module; null when there is none. Throws HeedError `load`. */
export async function compileOverride(overrides: BinaryOverrides): Promise<WebAssembly.Module | null> {
  const { url, binary, module } = overrides;
  if (module !== null) return module;
  if (binary !== null) return compile(binary, "the given wasm.binary");
  if (url !== null) return compileFile(url);
  return null;
}

/** Compiles a binary from its text, or from the file at an address. Throws HeedError `load`. */
export function compileBinary(binary: string | URL, name: string): Promise<WebAssembly.Module> {
  return typeof binary === "string" ? compile(decodeText(binary), name) : compileFile(binary.href);
}

/** Whether the module imports its memory, as exactly the shared-memory variants do. */
export function importsMemory(module: WebAssembly.Module): boolean {
  return WebAssembly.Module.imports(module).some((entry) => entry.kind === "memory");
}

/** Decodes what scripts/make/binary-text.js writes: a character for the low six bits of each byte, preceded by one for the high two where they are not 0. */
export function decodeText(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  let size = 0;
  let high = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= X) {
      high = (code - X + 1) << 6;
    } else {
      bytes[size++] = high | (code - (code <= LAST_BEFORE_GAP ? 37 : 42));
      high = 0;
    }
  }
  return bytes.subarray(0, size);
}

/** The character codes of x and [. */
const X = 120;
const LAST_BEFORE_GAP = 91;

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
    // Node's fetch does not read files.
    const file = url.startsWith("file:") ? await nodeFile(url) : null;
    if (file !== null) return file;
    const response = await fetch(url);
    if (!response.ok) throw new Error(`HTTP status ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    throw new HeedError("load", `createHeed: cannot fetch the WebAssembly at ${url}: ${causeText(cause)}`, { cause });
  }
}
