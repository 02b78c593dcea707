// Saves what `lora` of heed/train has learnt as PEFT's two files, under the published paths of the model.

import { HeedError } from "../base/errors.js";
import type { ParameterTensor } from "../layers/formats/stored.js";
import { saveSafetensors } from "../layers/io/save-safetensors.js";
import { PREFIX, type TrainedAdapter } from "./adapters.js";
import type { PublishedPaths } from "./published-paths.js";
import type { SavedFiles } from "./save-model.js";

interface Pair {
  a?: ParameterTensor;
  b?: ParameterTensor;
}

export async function savedAdapter(where: string, adapter: TrainedAdapter, paths: PublishedPaths): Promise<SavedFiles> {
  const pairs = new Map<string, Pair>();
  for (const [name, tensor] of await adapter.readParameters()) {
    const [, path = "", part] = /^(.*)\.lora_([AB])\.weight$/.exec(name) ?? [];
    const pair = pairs.get(path) ?? {};
    pairs.set(path, part === "A" ? { ...pair, a: tensor } : { ...pair, b: tensor });
  }
  const tensors = new Map<string, ParameterTensor>();
  const joined = new Map<string, (Pair | undefined)[]>();
  for (const [path, pair] of pairs) {
    const whole = paths.joined(path);
    const theirs = paths.theirs(path);
    if (whole !== null) {
      const parts = joined.get(whole.theirs) ?? [undefined, undefined, undefined];
      parts[whole.part] = pair;
      joined.set(whole.theirs, parts);
    } else if (theirs === null) throw new HeedError("unsupported", `${where}: layer ${path} has no published name`);
    else put(tensors, theirs, pair);
  }
  const { r, lora_alpha } = adapter.config;
  for (const [theirs, parts] of joined) put(tensors, theirs, together(parts));
  const targets = [...new Set([...tensors.keys()].map((name) => name.replace(/\.lora_[AB]\.weight$/, "")))];
  // Three adapters in one have three times the rank, and the same scale with three times the alpha.
  const ranks = Object.fromEntries([...joined.keys()].map((theirs) => [theirs, rankOf(tensors, theirs)]));
  const alphas = Object.fromEntries(Object.entries(ranks).map(([theirs, rank]) => [theirs, (lora_alpha * rank) / r]));
  const config = {
    peft_type: "LORA",
    task_type: null,
    base_model_name_or_path: null,
    r,
    lora_alpha,
    target_modules: targets,
    rank_pattern: ranks,
    alpha_pattern: alphas,
    fan_in_fan_out: joined.size > 0,
    lora_dropout: 0,
    bias: "none",
    inference_mode: true,
  };
  const named = [...tensors].map(([name, tensor]) => [PREFIX + name, tensor] as const);
  return new Map([
    ["adapter_config.json", new TextEncoder().encode(`${JSON.stringify(config, null, 2)}\n`)],
    ["adapter_model.safetensors", saveSafetensors(new Map(named), { format: "pt" })],
  ]);
}

function put(tensors: Map<string, ParameterTensor>, theirs: string, { a, b }: Pair): void {
  if (a === undefined || b === undefined) throw new TypeError("an adapter has two matrices");
  tensors.set(`${theirs}.lora_A.weight`, a);
  tensors.set(`${theirs}.lora_B.weight`, b);
}

const rankOf = (tensors: ReadonlyMap<string, ParameterTensor>, theirs: string): number =>
  tensors.get(`${theirs}.lora_A.weight`)?.shape[0] ?? 0;

/** Adapters of queries, keys and values as one: A's one below the other, B's along the diagonal. */
function together(parts: readonly (Pair | undefined)[]): Pair {
  const there = parts.flatMap((pair) =>
    pair?.a === undefined || pair.b === undefined ? [] : [{ a: pair.a, b: pair.b }],
  );
  const [first] = there;
  const [rank = 0, inputs = 0] = first?.a.shape ?? [];
  const [outputs = 0] = first?.b.shape ?? [];
  const width = rank * there.length;
  const a = new Float32Array(width * inputs);
  const b = new Float32Array(parts.length * outputs * width);
  let from = 0;
  for (const [at, pair] of parts.entries()) {
    if (pair?.a === undefined || pair.b === undefined) continue;
    a.set(pair.a.data, from * inputs);
    for (let row = 0; row < outputs; row++) {
      b.set(pair.b.data.subarray(row * rank, (row + 1) * rank), (at * outputs + row) * width + from);
    }
    from += rank;
  }
  return { a: { data: a, shape: [width, inputs] }, b: { data: b, shape: [parts.length * outputs, width] } };
}
