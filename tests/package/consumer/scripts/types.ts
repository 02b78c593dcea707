// The public types as a stranger's compiler sees them, and what they must refuse.
import { attention, type Capabilities, createHeed, type Heed, HeedError, type Tensor } from "heed";
import { createHeed as createHosted } from "heed/assets";
import { lessEqual, mul } from "heed/expr";
import {
  BertModel,
  type FileTensor,
  Linear,
  loadSafetensors,
  MultiHeadAttention,
  sample,
  saveSafetensors,
} from "heed/layers";
import { attention as reference } from "heed/reference";

const tensor = { data: new Float32Array(4), shape: [2, 2] };

export async function use(): Promise<number> {
  const heed: Heed = await createHeed({ variant: "simd", wasm: { binary: new Uint8Array(8) } });
  const capabilities: Capabilities = heed.capabilities;
  const hosted: Heed = await createHosted({ wasm: { workerUrl: "/worker.js" } });
  hosted.dispose();
  const { output, weights, lse } = await heed.attention(tensor, tensor, tensor, {
    return: { weights: true },
    causal: true,
  });
  const sum: number = (output.data[0] ?? 0) + (weights.data[0] ?? 0);
  // @ts-expect-error lse was not asked for
  lse.data;
  const { weights: mean } = await heed.attention(tensor, tensor, tensor, { return: { weights: "mean" } });
  const { weights: rows } = heed.attentionSync(tensor, tensor, tensor, { return: { weights: { rows: [0, 1] } } });
  const half = heed.tensor(new Float32Array(4), [2, 2], { dtype: "f16" });
  await heed.attention(half, { data: new Uint16Array(4), shape: [2, 2], dtype: "f16" }, tensor);
  // @ts-expect-error f16 bits need a dtype
  await heed.attention(half, { data: new Uint16Array(4), shape: [2, 2] }, tensor);
  const firsts: number[] = [mean.data[0] ?? 0, rows.data[0] ?? 0];
  const kept: Tensor = (await heed.attention(tensor, tensor, tensor, { keep: true })).output;
  // @ts-expect-error a kept tensor has no data here
  kept.data;
  const out = heed.attentionSync(kept, tensor, heed.zeros([2, 2]), { mask: { data: [true, false], shape: [2] } }).output
    .data;
  heed.attentionSync(tensor, tensor, tensor, {
    maskMod: ({ q, k }) => lessEqual(k, q),
    scoreMod: ({ score, h }) => mul(score, h),
    probMod: ({ prob, b }) => mul(prob, b),
  });
  // @ts-expect-error a mask has no score
  heed.attentionSync(tensor, tensor, tensor, { maskMod: ({ score }) => lessEqual(score, 1) });
  // @ts-expect-error a weight's score is gone
  heed.attentionSync(tensor, tensor, tensor, { probMod: ({ score }) => mul(score, 1) });
  // @ts-expect-error no such option
  await attention(tensor, tensor, tensor, { is_causal: true });
  // @ts-expect-error plain arrays of numbers are no tensors
  await attention([1, 2], tensor, tensor);
  try {
    kept.dispose();
  } catch (error) {
    if (error instanceof HeedError && error.code === "disposed") throw error;
  }
  heed.dispose();
  return (
    sum + firsts.length + (out[0] ?? 0) + (reference(tensor, tensor, tensor).lse.data[0] ?? 0) + capabilities.cores
  );
}

export async function useLayers(heed: Heed): Promise<number> {
  const layer = new Linear({ inFeatures: 2, outFeatures: 3, engine: heed }).load(new Map([["weight", tensor]]));
  const plain: Float32Array = (await layer.forward(tensor)).data;
  const kept: Tensor = await layer.forward(tensor, { keep: true });
  // @ts-expect-error a kept tensor has no data here
  kept.data;
  // @ts-expect-error sizes must be given
  new Linear({ inFeatures: 2 });
  const heads = new MultiHeadAttention({ embedDim: 2, heads: 1 });
  const { output, weights } = await heads.forward(kept, undefined, undefined, {
    return: { weights: true },
    causal: true,
  });
  // @ts-expect-error the layer says what the layout is
  await heads.forward(kept, kept, kept, { layout: "bhnd" });
  const { hidden, attentions } = await new BertModel({}).forward([1, 2], { attentions: true });
  const lists: Float32Array = (await new BertModel({}).forward([Int32Array.of(1), [2, 3]])).hidden.data;
  // @ts-expect-error tokens are numbers
  await new BertModel({}).forward([["a"]]);
  return (
    (plain[0] ?? 0) +
    (output.data[0] ?? 0) +
    (weights.data[0] ?? 0) +
    hidden.data.length +
    lists.length +
    (attentions?.length ?? 0)
  );
}

export async function store(): Promise<number[]> {
  const file = saveSafetensors({ a: tensor }, { format: "pt" });
  const loaded: Map<string, FileTensor> = await loadSafetensors(file, { only: ["a"] });
  new BertModel({}).load(loaded, "bert.");
  new BertModel({}).load({ weight: tensor });
  // @ts-expect-error numbers have a shape
  new BertModel({}).load({ weight: new Float32Array(4) });
  // @ts-expect-error metadata are texts
  saveSafetensors(loaded, { format: 1 });
  return sample((ids, past) => new Float32Array(ids.length + past), [0], { topK: 1, seed: 1 });
}
