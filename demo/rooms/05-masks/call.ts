// The present mask as a call of heed: structure where heed has a name for it, a boolean mask for the rest; as code; and what heed answers beside
// the page’s own arithmetic.

import type { Answer, Call } from "../../src/engine/engine.js";
import { at, fill, identity, rowsOf, stack, unstack, widestGap } from "../../src/model/matrix.js";
import { heedSource, IDENTITY, single, torchTensor } from "../../src/ui/code.js";
import { type RuleName, verdictsOn } from "./rules.js";
import { LARGE, type MaskScene, sumOf } from "./scene.js";
import { type MaskState, OPEN } from "./state.js";

/** `mask`: row-major, 1 = attend; only what the others do not say. */
export function structureOf(state: MaskState) {
  const { causal, left, right, prefix, cuts, padding, queries, keys } = state;
  const windowed = left !== OPEN || right !== OPEN;
  // A prefix opens what causal and window close, and masks only take away: those two go into the mask then.
  const opened = prefix > 0 && (causal !== "none" || windowed);
  const byLength = padding > 0 && cuts.length === 0;
  const inMask = new Set<RuleName>(["blocks", "paint"]);
  if (opened) inMask.add("causal").add("window");
  if (!byLength) inMask.add("padding");
  const verdicts = Array.from({ length: queries * keys }, (_, pair) =>
    verdictsOn(state, Math.floor(pair / keys), pair % keys).filter(({ rule }) => inMask.has(rule)),
  );
  const mask = verdicts.map((own) => (own.every((verdict) => verdict.sees) ? 1 : 0));
  return {
    ...(opened || causal === "none" ? {} : { causal }),
    ...(opened || !windowed ? {} : { window: [openOr(left), openOr(right)] as const }),
    ...(cuts.length === 0 ? {} : { cuSeqlensQ: [0, ...cuts, queries] }),
    ...(byLength ? { qLengths: [queries - padding], kvLengths: [keys - padding] } : {}),
    ...(verdicts.every((own) => own.length === 0) ? {} : { mask }),
  };
}

/** As heed has it. */
const openOr = (reach: number): number => (reach === OPEN ? -1 : reach);

/** With the identity as values: what comes out are the weights. */
export function callOf(scene: MaskScene): Call {
  const { q, k, scale, state } = scene;
  const options = { scale, ...hidingOptions(scene) };
  return { q: stack([q]), k: stack([k]), v: stack([identity(state.keys)]), options };
}

function hidingOptions({ state, seen }: MaskScene): Call["options"] {
  const { queries, keys, hiding } = state;
  const shape = [1, 1, queries, keys];
  if (hiding === "after") return {};
  if (hiding === "minus")
    return { bias: { data: Float32Array.from(seen.data, (sees) => (sees === 1 ? 0 : LARGE)), shape } };
  const { mask, ...structure } = structureOf(state);
  return { ...structure, ...(mask === undefined ? {} : { mask: { data: Uint8Array.from(mask), shape } }) };
}

export type MaskAnswer = ReturnType<typeof readAnswer>;

export function readAnswer(scene: MaskScene, answer: Answer) {
  const { queries, keys, hiding } = scene.state;
  const plain = unstack(queries, keys, answer.weights.data);
  // Hiding after the softmax is nothing that heed offers: the page strikes out what it was given.
  const struck = fill(queries, keys, (row, col) => (at(scene.seen, row, col) === 1 ? at(plain, row, col) : 0));
  const weights = hiding === "after" ? struck : plain;
  return { weights, difference: widestGap(weights, scene.weights) };
}

export function heedCode(scene: MaskScene): string {
  const unmasked = "Not masked: hidden weights were set to 0 after the softmax, which no option of heed does.";
  const call = callOf(scene);
  const about = scene.state.hiding === "after" ? unmasked : "";
  return heedSource({ about, call, options: call.options, values: IDENTITY });
}

export function torchCode({ state, q, k, seen, scale }: MaskScene): string {
  const rows = rowsOf(seen);
  const blind = rows.some((_, row) => sumOf(seen, row) === 0);
  const scores = `q @ k.transpose(-2, -1) * ${single(scale)}`;
  const weights = {
    before: `scores = (${scores}).masked_fill(~mask, float("-inf"))\noutput = torch.softmax(scores, dim=-1)${blind ? "\n# Rows that see nothing are NaN here, and zeros in heed.\noutput = output.nan_to_num(0)" : ""}`,
    after: `output = torch.softmax(${scores}, dim=-1) * mask`,
    minus: `output = torch.softmax(${scores} + ~mask * ${LARGE}.0, dim=-1)`,
  }[state.hiding];
  return `import torch

${torchTensor("q", [q])}
${torchTensor("k", [k])}
# True: attend. The boolean mask of scaled_dot_product_attention reads it so; nn.MultiheadAttention the other way round.
mask = torch.tensor([
${rows.map((row) => `    [${row.join(", ")}]`).join(",\n")},
], dtype=torch.bool)

${weights}
print(output.shape, output)
`;
}
