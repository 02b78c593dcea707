// Reads the inputs of blocks and stacks, and brings tensors into the engine.

import type { Tensor } from "../api/tensor.js";
import { HeedError } from "../base/errors.js";
import { readBoolean, readRecord } from "../base/read-values.js";
import { leadingOf } from "./axes.js";
import type { GivenAttention } from "./multi-head-attention.js";
import type { Packing } from "./packing.js";
import { PASSED_OPTIONS } from "./read-rule.js";
import type { Scope } from "./scope.js";

/** The tensors that a block takes. */
export interface BlockTensors {
  readonly x: Tensor;
  readonly memory: Tensor | null;
}

/** The inputs of a pass. The options of attention are still to be read. */
export interface BlockInputs extends BlockTensors {
  readonly self: GivenAttention;
  readonly cross: GivenAttention;
  readonly attentions: boolean;
  /** Where x are packed texts. */
  readonly packing?: Packing | null;
}

/** Options of an attention inside a block, without `return`, which the block decides. */
function readInnerOptions(where: string, name: string, value: unknown): GivenAttention {
  return readRecord(where, name, value, [...PASSED_OPTIONS.filter((option) => option !== "return"), "positions"]);
}

export async function readInner(
  where: string,
  scope: Scope,
  x: unknown,
  given: Readonly<Record<string, unknown>>,
  { name = "x", dim, hasCross }: { readonly name?: string; readonly dim: number; readonly hasCross: boolean },
): Promise<BlockInputs> {
  const { memory } = given;
  if (hasCross !== (memory !== undefined)) {
    const rule = hasCross
      ? "memory must be given, for its cross attention"
      : "memory is for cross attention, which this has not";
    throw new HeedError("option", `${where}: ${rule}`);
  }
  const taken = async (called: string, value: unknown): Promise<Tensor> => {
    const tensor = await scope.take(where, called, value);
    leadingOf(where, called, tensor, dim);
    return tensor;
  };
  return {
    self: readInnerOptions(where, "self", given["self"]),
    cross: readInnerOptions(where, "cross", given["cross"]),
    attentions: readBoolean(where, "attentions", given["attentions"], false),
    x: await taken(name, x),
    memory: memory === undefined ? null : await taken("memory", memory),
  };
}
