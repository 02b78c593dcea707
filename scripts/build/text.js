// Bytes as text within a JavaScript string, for web/src/backends/wasm/text.ts to read.

const characters = Array.from({ length: 127 - 32 }, (_, i) => String.fromCharCode(32 + i)).filter(
  (character) => !'"<\\'.includes(character),
);
const STEP = 90;

/** @param {Uint8Array} bytes */
export function encodeText(bytes) {
  return Array.from(bytes, (byte) => {
    const base = Math.floor(byte / STEP);
    return (base === 0 ? "" : characters[STEP + base - 1]) + characters[byte % STEP];
  }).join("");
}
