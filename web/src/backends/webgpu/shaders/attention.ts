// Shaders of the kernels that compute outputs, and of the kernel that combines their KV splits.

import type {
  AttentionKernel,
  CombineKernel,
  DecodeKernel,
  RowOutputs,
  TilesKernel,
  UntiledKernel,
} from "../kernel.js";
import combine from "./combine.wgsl?raw";
import { type Bound, bindings, loader, operand, type Parts, WORKGROUP } from "./common.js";
import { type Constants, compose } from "./compose.js";
import decode from "./decode.wgsl?raw";
import direct from "./direct-score.wgsl?raw";
import grid from "./grid.wgsl?raw";
import lanes from "./lanes.wgsl?raw";
import noSubgroups from "./no-subgroups.wgsl?raw";
import numbers from "./numbers.wgsl?raw";
import onlineSoftmax from "./online-softmax.wgsl?raw";
import rowEpilogue from "./row-epilogue.wgsl?raw";
import rowState from "./row-state.wgsl?raw";
import { scoreBindings, scoreParts } from "./scores.js";
import { decodeConstants, SHARING, tileConstants } from "./sizes.js";
import subgroupLanes from "./subgroups.wgsl?raw";
import task from "./task.wgsl?raw";
import tiles from "./tiles.wgsl?raw";
import untiled from "./untiled.wgsl?raw";
import writePartial from "./write-partial.wgsl?raw";
import writeWhole from "./write-whole.wgsl?raw";

export function attentionBindings(kernel: AttentionKernel): readonly Bound[] {
  const written: readonly Bound[] = kernel.split
    ? [{ name: "partials", type: "vec4f", access: "read_write" }]
    : rowBindings(kernel);
  return [...scoreBindings(kernel, [operand("v", kernel.value)]), ...written];
}

export function combineBindings(kernel: CombineKernel): readonly Bound[] {
  return [
    { name: "tables", type: "u32", access: "read" },
    { name: "partials", type: "vec4f", access: "read" },
    ...rowBindings(kernel),
  ];
}

function rowBindings({ stats }: RowOutputs): readonly Bound[] {
  return [
    { name: "results", type: "u32", access: "read_write" },
    ...(stats ? [{ name: "stats", type: "vec2f", access: "read_write" } as const] : []),
  ];
}

export function untiledShader(kernel: UntiledKernel): string {
  const { slices: SLICES, step: STEP } = kernel;
  return attention(kernel, [direct, onlineSoftmax, untiled], { SLICES, SLICED: SLICES > 1, STEP });
}

export function decodeShader(kernel: DecodeKernel): string {
  const { files, constants } = laneParts(kernel.subgroups);
  return attention(kernel, [...files, decode], { ...constants, ...decodeConstants });
}

export function tilesShader(kernel: TilesKernel): string {
  const { pair, ranges, mask, bias, scoreMod, maskMod, dropout, normalizer } = kernel;
  const isMasked = ranges || mask || bias || dropout || scoreMod !== null || maskMod !== null;
  const { files, constants } = laneParts(kernel.subgroups);
  return attention(kernel, [...files, tiles], {
    ...constants,
    ...tileConstants(kernel),
    RESIDENT: kernel.resident,
    PAIRWISE: pair !== "product" && pair !== "gated",
    ALL_SEEN: !isMasked && normalizer === "softmax",
  });
}

export function combineShader(kernel: CombineKernel): string {
  const files = [bindings(combineBindings(kernel)), grid, numbers, rowState, rowEpilogue, combine];
  return compose(files, { WORKGROUP, SOFTMAX: kernel.normalizer === "softmax", ...rowConstants(kernel) });
}

/** What eight neighbouring threads find together. */
export const laneParts = (subgroups: boolean): Parts => ({
  files: [lanes, subgroups ? subgroupLanes : noSubgroups],
  constants: { SUBGROUPS: subgroups, SHARING },
});

function attention(kernel: AttentionKernel, own: readonly string[], constants: Constants): string {
  const score = scoreParts(kernel);
  const value: Parts = loader("v", kernel.value);
  const writing = kernel.split ? [writePartial] : [rowEpilogue, writeWhole];
  const shared = [
    bindings(attentionBindings(kernel)),
    grid,
    task,
    rowState,
    ...writing,
    ...value.files,
    ...score.files,
  ];
  return compose([...shared, ...own], {
    ...score.constants,
    ...value.constants,
    ...rowConstants(kernel),
    ROWS: kernel.rows,
    VECTORS: kernel.vectors,
    VALUE_VECTORS: kernel.valueVectors,
    ...constants,
  });
}

const rowConstants = ({ sinks, lse, entropy, stats }: RowOutputs): Constants => ({
  SINKS: sinks,
  LSE: lse,
  ENTROPY: entropy,
  STATS: stats,
});
