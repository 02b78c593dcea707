// The present mask as code.

import { rowsOf } from "../../src/model/matrix.js";
import { heedSource, IDENTITY, single, torchTensor } from "../../src/ui/code.js";
import { callOf } from "./call.js";
import { LARGE, type MaskScene, sumOf } from "./scene.js";

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
