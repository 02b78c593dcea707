// Reads whether a Linux program or library names a loader, and whether it names search folders: relocate.js changes both.

import { open } from "node:fs/promises";

const PT_DYNAMIC = 2;
const PT_INTERP = 3;
const DT_RPATH = 15n;
const DT_RUNPATH = 29n;

/**
 * @param {string} file
 * @returns {Promise<{ hasLoader: boolean, hasSearchPath: boolean } | undefined>} undefined when it is no 64-bit ELF file
 */
export async function readElf(file) {
  const handle = await open(file);
  try {
    /** @param {number} position @param {number} length */
    const read = async (position, length) => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    };
    const header = await read(0, 64);
    // "\x7fELF", 64 bits, little-endian: the only kind among the packages used here.
    if (header.length < 64 || header.readUInt32BE(0) !== 0x7f454c46 || header.readUInt16BE(4) !== 0x0201)
      return undefined;
    const size = header.readUInt16LE(54);
    const count = header.readUInt16LE(56);
    const programs = await read(Number(header.readBigUInt64LE(32)), size * count);
    let hasLoader = false;
    let hasSearchPath = false;
    for (let i = 0; i < count; i++) {
      const at = i * size;
      const type = programs.readUInt32LE(at);
      if (type === PT_INTERP) hasLoader = true;
      if (type !== PT_DYNAMIC) continue;
      const entries = await read(Number(programs.readBigUInt64LE(at + 8)), Number(programs.readBigUInt64LE(at + 32)));
      for (let entry = 0; entry + 16 <= entries.length; entry += 16) {
        const tag = entries.readBigUInt64LE(entry);
        if (tag === DT_RPATH || tag === DT_RUNPATH) hasSearchPath = true;
      }
    }
    return { hasLoader, hasSearchPath };
  } finally {
    await handle.close();
  }
}
