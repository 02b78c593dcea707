// Compiles a binary. It does so asynchronously, because browsers refuse to compile large modules synchronously on a page's main thread.

import { causeText, HeedError } from "../../base/errors.js";

/** Throws HeedError `load`. */
export async function compile(bytes: Uint8Array<ArrayBuffer>, name: string): Promise<WebAssembly.Module> {
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    throw new HeedError("load", `createHeed: cannot compile ${name}: ${causeText(cause)}`, { cause });
  }
}

export function compileText(text: string, name: string): Promise<WebAssembly.Module> {
  return compile(decodeText(text), name);
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
