// The tensors of files as they arrive, with their names before.

import { type ArrivingTensor, whole } from "./arriving-tensor.js";

export interface TensorStream<Tensor> {
  /** Of all tensors. */
  readonly names: readonly string[];
  /** Those of all tensors in the file; undefined where they are in several. */
  readonly bytes?: number;
  /** In the order of the files. Each is to be read before the next is asked for. */
  readonly tensors: AsyncGenerator<[name: string, tensor: ArrivingTensor<Tensor>], void, undefined>;
  /** Gives up what was not read. */
  close(): void;
}

/** All of them. */
export async function collected<Tensor>({ tensors, close }: TensorStream<Tensor>): Promise<Map<string, Tensor>> {
  const all = new Map<string, Tensor>();
  try {
    for await (const [name, tensor] of tensors) all.set(name, await whole(tensor));
    return all;
  } finally {
    close();
  }
}
