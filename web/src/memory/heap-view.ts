// Makes all views of a WebAssembly heap. Growth of the memory detaches them, so no view outlives the function that asked for it.

/** A view of an array's bytes. */
export function bytesIn({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** A zero-terminated text. It is copied first, because TextDecoder refuses shared memory. */
export function textAt(buffer: ArrayBuffer, address: number): string {
  const bytes = new Uint8Array(buffer);
  return new TextDecoder().decode(bytes.slice(address, bytes.indexOf(0, address)));
}

/** Copies like slice(), but in half the time for small arrays. */
export function copied(view: Float32Array, array: Float32Array = new Float32Array(view.length)): Float32Array {
  array.set(view);
  return array;
}

export class HeapView {
  readonly #memory: WebAssembly.Memory;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
  }

  /** The heap's current size. Leak tests read it. */
  get byteLength(): number {
    return this.#memory.buffer.byteLength;
  }

  bytes(address: number, length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#upTo(address + length), address, length);
  }

  floats(address: number, length: number): Float32Array {
    return new Float32Array(this.#upTo(address + length * Float32Array.BYTES_PER_ELEMENT), address, length);
  }

  text(address: number): string {
    return textAt(this.#upTo(address + 1), address);
  }

  words(address: number, length: number): Int32Array {
    return new Int32Array(this.#upTo(address + length * Int32Array.BYTES_PER_ELEMENT), address, length);
  }

  /** The buffer, at least `end` bytes long. After another thread grew a shared memory, `buffer` may still be the shorter one; grow(0) updates it. */
  #upTo(end: number): ArrayBuffer {
    if (this.#memory.buffer.byteLength < end) this.#memory.grow(0);
    return this.#memory.buffer;
  }
}
