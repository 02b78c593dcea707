// A tensor of a file whose bytes are still to be read: whole, or some rows at a time.

import { product } from "../../api/operands.js";
import type { EntryBytes } from "./read-entries.js";

/** So many numbers come at a time, so that few bytes wait in JavaScript. */
const PIECE = 2 ** 20;

type Bytes = Pick<EntryBytes, "size" | "all" | "next">;

export class ArrivingTensor<Tensor> {
  readonly shape: readonly number[];
  readonly #bytes: Bytes;
  readonly #make: (bytes: Uint8Array<ArrayBuffer>, shape: readonly number[]) => Tensor;
  readonly #together: number;

  /** `make` gives the tensor of some rows. So many rows are used `together`. */
  constructor(
    shape: readonly number[],
    bytes: Bytes,
    make: (bytes: Uint8Array<ArrayBuffer>, shape: readonly number[]) => Tensor,
    together = 1,
  ) {
    this.shape = shape;
    this.#bytes = bytes;
    this.#make = make;
    this.#together = together;
  }

  /** A tensor of its kind without rows. */
  get none(): Tensor {
    return this.#make(new Uint8Array(0), [0, ...this.shape.slice(1)]);
  }

  /** All of it, in memory of its own. */
  async whole(): Promise<Tensor> {
    return this.#make(await this.#bytes.all(), this.shape);
  }

  /** The same, whose bytes are in memory, so that what follows can be read before. */
  async held(): Promise<ArrivingTensor<Tensor>> {
    const bytes = await this.#bytes.all();
    let at = 0;
    const next = async (count: number): Promise<Uint8Array<ArrayBuffer>> => {
      at += count;
      return bytes.subarray(at - count, at);
    };
    const held = { size: bytes.length, all: async () => bytes, next };
    return new ArrivingTensor(this.shape, held, this.#make, this.#together);
  }

  /** Its rows in their order, each piece valid until the next is asked for. All but the last have a multiple of so many rows. */
  async *pieces(multiple: number): AsyncGenerator<Tensor, void, undefined> {
    const [rows = 1, ...rest] = this.shape;
    const least = this.#together % multiple === 0 ? this.#together : this.#together * multiple;
    const step = Math.max(1, Math.floor(PIECE / (product(rest) * least))) * least;
    for (let first = 0; first < rows; first += step) {
      const count = Math.min(step, rows - first);
      const bytes = await this.#bytes.next(count * (this.#bytes.size / rows));
      // Arrays of numbers begin at a multiple of their size.
      yield this.#make(bytes.byteOffset % 8 === 0 ? bytes : bytes.slice(), [count, ...rest]);
    }
  }
}
