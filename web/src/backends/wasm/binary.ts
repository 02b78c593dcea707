// From an inlined or a given binary to a compiled module. Async, so that even a page's own thread may compile it.

import { causeText, HeedError } from "../../api/errors.js";

/** Where the binary comes from when it is not the inlined one; at most one is not null. */
export interface BinaryOverrides {
  readonly url: string | null;
  readonly binary: Uint8Array<ArrayBuffer> | null;
  readonly module: WebAssembly.Module | null;
}

/** The caller's module, compiled; null: the inlined binaries are used. Throws HeedError `load`. */
export async function compileOverride(overrides: BinaryOverrides): Promise<WebAssembly.Module | null> {
  const { url, binary, module } = overrides;
  if (module !== null) return module;
  if (binary !== null) return compile(binary, "the given wasm.binary");
  if (url !== null) return compile(await download(url), url);
  return null;
}

/** Compiles base64 text. Throws HeedError `load`. */
export function compileBase64(text: string, name: string): Promise<WebAssembly.Module> {
  return compile(decodeBase64(text), name);
}

/** True when the module imports its memory, which all heed's shared-memory variants do and no other. */
export function importsMemory(module: WebAssembly.Module): boolean {
  return WebAssembly.Module.imports(module).some((entry) => entry.kind === "memory");
}

export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  // Newer engines decode in one native step.
  const native = Reflect.get(Uint8Array, "fromBase64");
  if (typeof native === "function") return Reflect.apply(native, Uint8Array, [text]);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

async function compile(bytes: Uint8Array<ArrayBuffer>, name: string): Promise<WebAssembly.Module> {
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    throw new HeedError("load", `createHeed: cannot compile ${name}: ${causeText(cause)}`, { cause });
  }
}

async function download(url: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`HTTP status ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    throw new HeedError("load", `createHeed: cannot fetch wasm.url ${url}: ${causeText(cause)}`, { cause });
  }
}
