// The hidden state of a batch of texts, of any kind of model.

import type { Tensor } from "../api/tensor.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import type { ModelParts } from "./parts.js";
import type { TextBatch, TextPack } from "./text-batches.js";

export interface HiddenOptions {
  readonly signal: AbortSignal | null;
  readonly adapter: string | undefined;
}

export function readAdapterName(where: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw new HeedError("option", `${where}: adapter must be the name of one, got ${showValue(value)}`);
}

export interface Hidden {
  /** [B, L, dim]. */
  readonly hidden: Tensor;
  /** [B, dim], of models that have a pooler. */
  readonly pooled: Tensor | undefined;
  dispose(): void;
}

/** What the last layer gives, after its norm. It must be disposed of. */
export async function hiddenOf(
  where: string,
  { model, family }: ModelParts,
  { tokens, tokenTypes, ...rest }: TextBatch | TextPack,
  { signal, adapter }: HiddenOptions,
): Promise<Hidden> {
  const common = { keep: true, ...(signal && { signal }), ...(adapter === undefined ? {} : { adapter }) } as const;
  const kind = family.isCausal ? ({ hidden: true, logits: false } as const) : {};
  const packed = "cuSeqlens" in rest ? { cuSeqlens: rest.cuSeqlens } : {};
  const { hidden, pooled } = await model.forward(tokens, {
    ...common,
    ...kind,
    ...packed,
    ...(tokenTypes && { tokenTypes }),
  });
  if (hidden === undefined) throw new HeedError("unsupported", `${where}: the model gives no hidden state`);
  const dispose = (): void => {
    hidden.dispose();
    pooled?.dispose();
  };
  return { hidden, pooled, dispose };
}
