// Compiles a binary from a file, or the one that the caller gives in place of the package's.

import { causeText, HeedError } from "../../base/errors.js";
import { nodeFile } from "../../platform/host.js";
import { compile } from "./binary.js";

/** At most one field is not null. */
export interface BinaryOverrides {
  readonly url: string | null;
  readonly binary: Uint8Array<ArrayBuffer> | null;
  readonly module: WebAssembly.Module | null;
}

/** The caller's module, and whether it imports its memory, as exactly the variants of shared memory do. Throws HeedError `load`. */
export async function compileGiven({
  url,
  binary,
  module,
}: BinaryOverrides): Promise<{ readonly compiled: WebAssembly.Module; readonly importsMemory: boolean } | null> {
  const own = url === null ? null : await compileFile(url);
  const compiled = module ?? own ?? (binary && (await compile(binary, "the given wasm.binary")));
  return (
    compiled && { compiled, importsMemory: WebAssembly.Module.imports(compiled).some(({ kind }) => kind === "memory") }
  );
}

export async function compileFile(url: string): Promise<WebAssembly.Module> {
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
