// Reads from a wasm binary the limits of the memory that it imports.

/**
 * @param {Uint8Array} bytes
 * @returns {{ initial: number, maximum: number } | null} pages; null when it imports no memory
 */
export function importedMemory(bytes) {
  const reader = new Reader(bytes, 8);
  while (!reader.atEnd) {
    const section = reader.byte();
    const size = reader.number();
    if (section === IMPORT_SECTION) return memoryAmongImports(reader);
    reader.skip(size);
  }
  return null;
}

const IMPORT_SECTION = 2;
const KIND = { function: 0, table: 1, memory: 2, global: 3 };

/** @param {Reader} reader */
function memoryAmongImports(reader) {
  for (let left = reader.number(); left > 0; left--) {
    reader.skip(reader.number());
    reader.skip(reader.number());
    const kind = reader.byte();
    if (kind === KIND.memory) {
      const hasMaximum = (reader.byte() & 1) !== 0;
      const initial = reader.number();
      return { initial, maximum: hasMaximum ? reader.number() : 65536 };
    }
    if (kind === KIND.function) reader.number();
    else if (kind === KIND.global) reader.skip(2);
    else throw new Error("a wasm artefact imports something other than functions, globals and a memory");
  }
  return null;
}

class Reader {
  #bytes;
  #at;

  /** @param {Uint8Array} bytes @param {number} at */
  constructor(bytes, at) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get atEnd() {
    return this.#at >= this.#bytes.length;
  }

  byte() {
    return this.#bytes[this.#at++] ?? 0;
  }

  /** Unsigned LEB128. */
  number() {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  /** @param {number} count */
  skip(count) {
    this.#at += count;
  }
}
