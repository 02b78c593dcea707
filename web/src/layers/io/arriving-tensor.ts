// A tensor of a file whose bytes are still to be read: whole, or some rows at a time.

import { product } from "../../api/operands.js";
import type { EntryBytes } from "./read-entries.js";

export interface ArrivingTensor<Tensor> {
  readonly shape: readonly number[];
  readonly bytes: Pick<EntryBytes, "size" | "all" | "next">;
  /** Gives the tensor of some rows. */
  readonly make: (bytes: Uint8Array<ArrayBuffer>, shape: readonly number[]) => Tensor;
  /** So many rows are used together. Absent: each alone. */
  readonly together?: number;
}

/** So many numbers come at a time, so that few bytes wait in JavaScript. */
const PIECE = 2 ** 20;

/** All of it, in memory of its own. */
export async function whole<Tensor>({ shape, bytes, make }: ArrivingTensor<Tensor>): Promise<Tensor> {
  return make(await bytes.all(), shape);
}

/** The same tensor, whose bytes are in memory, so that what follows can be read before. */
export async function held<Tensor>(tensor: ArrivingTensor<Tensor>): Promise<ArrivingTensor<Tensor>> {
  const bytes = await tensor.bytes.all();
  let at = 0;
  const next = async (count: number): Promise<Uint8Array<ArrayBuffer>> => {
    at += count;
    return bytes.subarray(at - count, at);
  };
  return { ...tensor, bytes: { size: bytes.length, all: async () => bytes, next } };
}

/** Its rows in their order, each piece valid until the next is asked for. All but the last have a multiple of so many rows. */
export async function* piecesOf<Tensor>(
  { shape, bytes, make, together = 1 }: ArrivingTensor<Tensor>,
  multiple: number,
): AsyncGenerator<Tensor, void, undefined> {
  const [rows = 1, ...rest] = shape;
  const least = together % multiple === 0 ? together : together * multiple;
  const step = Math.max(1, Math.floor(PIECE / (product(rest) * least))) * least;
  for (let first = 0; first < rows; first += step) {
    const count = Math.min(step, rows - first);
    const piece = await bytes.next(count * (bytes.size / rows));
    // Arrays of numbers begin at a multiple of their size.
    yield make(piece.byteOffset % 8 === 0 ? piece : piece.slice(), [count, ...rest]);
  }
}
