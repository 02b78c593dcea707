// Families of models as transformers computed them: tests/fixtures/make-families.py made the files.

import type { ModelConfig, ParameterTensor } from "../../web/src/layers/index.js";
import { type PackedCase, readFixture, unpackAll } from "./fixtures.js";

interface FamilyCase extends Pick<PackedCase, "parameters" | "outputs"> {
  readonly config: ModelConfig;
  readonly inputs: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly greedy?: readonly number[];
  readonly loss?: number;
  readonly slopes?: Readonly<Record<string, number>>;
}

export function caseOf(name: string) {
  const {
    config,
    parameters,
    inputs,
    outputs,
    greedy = [],
    loss = 0,
    slopes = {},
  } = readFixture(`families/${name}.json`) as unknown as FamilyCase;
  const wanted = unpackAll(outputs);
  const ids = inputs["input_ids"] ?? [];
  return {
    config,
    parameters: unpackAll(parameters),
    tokens: { data: ids.flat(), shape: [ids.length, ids[0]?.length ?? 0] },
    texts: ids,
    mask: Uint8Array.from((inputs["attention_mask"] ?? []).flat()),
    /** What a causal model says after the first text. */
    greedy,
    /** Of the first text. */
    loss,
    /** By published names: how fast the loss grows where the numbers of a parameter grow by cos(0), cos(1), cos(2) ... */
    slopes,
    output: (of: string): ParameterTensor => wanted.get(of) ?? { data: new Float32Array(0), shape: [] },
  };
}
