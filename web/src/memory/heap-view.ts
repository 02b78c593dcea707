// The only maker of views on a wasm heap. A view goes stale when memory grows, so none outlives the function that asked for it.

/** The bytes of an array, where they lie. */
export function bytesIn({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** The text that a zero ends. Copied first: decoders refuse shared memory. */
export function textAt(buffer: ArrayBuffer, address: number): string {
  const bytes = new Uint8Array(buffer);
  return new TextDecoder().decode(bytes.slice(address, bytes.indexOf(0, address)));
}

/** As slice() does, in half the time where there is little to copy. */
export function copied(view: Float32Array, array: Float32Array = new Float32Array(view.length)): Float32Array {
  array.set(view);
  return array;
}

export class HeapView {
  readonly #memory: WebAssembly.Memory;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
  }

  /** Bytes that the heap has now: what leak tests watch. */
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

  /** The buffer, which reaches `end`: where another thread grew a shared memory, this one may still hold the shorter view. */
  #upTo(end: number): ArrayBuffer {
    if (this.#memory.buffer.byteLength < end) this.#memory.grow(0);
    return this.#memory.buffer;
  }
}
