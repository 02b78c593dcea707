// The present mask as code.

import { identity } from "../../src/model/matrix.js";
import { heedTensor, single, torchTensor } from "../../src/ui/code.js";
import { structureOf } from "./options.js";
import { LARGE, type MaskScene, sumOf } from "./scene.js";

export function heedCode({ state, q, k, seen, scale }: MaskScene): string {
  const { hiding, queries, keys } = state;
  const { mask, ...structure } = structureOf(state);
  const shape = `shape: [1, 1, ${queries}, ${keys}]`;
  const lines = Object.entries(hiding === "before" ? structure : {}).map(
    ([name, value]) => `${name}: ${JSON.stringify(value).replaceAll(",", ", ")},`,
  );
  if (hiding === "before" && mask !== undefined)
    lines.push(`mask: { data: Uint8Array.of(${mask.join(", ")}), ${shape} },`);
  if (hiding === "minus") {
    const bias = Array.from(seen.data, (sees) => (sees === 1 ? 0 : LARGE));
    lines.push(`bias: { data: Float32Array.of(${bias.join(", ")}), ${shape} },`);
  }
  return `${hiding === "after" ? "// Not masked: hidden weights were set to 0 after the softmax, which no option of heed does.\n" : ""}import { createHeed } from "heed";

const heed = await createHeed();
${heedTensor("q", [q])}
${heedTensor("k", [k])}
// The identity as values: the output is the weights.
${heedTensor("v", [identity(keys)])}

const { output } = await heed.attention(q, k, v, {
  ${[`scale: ${single(scale)},`, ...lines].join("\n  ")}
});
console.log(output.shape, output.data);
heed.dispose();
`;
}

export function torchCode({ state, q, k, seen, scale }: MaskScene): string {
  const { hiding, queries, keys } = state;
  const rows = Array.from({ length: queries }, (_, row) =>
    Array.from(seen.data.subarray(row * keys, (row + 1) * keys)),
  );
  const blind = rows.some((_, row) => sumOf(seen, row) === 0);
  const scores = `q @ k.transpose(-2, -1) * ${single(scale)}`;
  const shares = {
    before: `scores = (${scores}).masked_fill(~mask, float("-inf"))\noutput = torch.softmax(scores, dim=-1)${blind ? "\n# Rows that see nothing are NaN here, and zeros in heed.\noutput = output.nan_to_num(0)" : ""}`,
    after: `output = torch.softmax(${scores}, dim=-1) * mask`,
    minus: `output = torch.softmax(${scores} + ~mask * ${LARGE}.0, dim=-1)`,
  }[hiding];
  return `import torch

${torchTensor("q", [q])}
${torchTensor("k", [k])}
# True: attend. The boolean mask of scaled_dot_product_attention reads it so; nn.MultiheadAttention the other way round.
mask = torch.tensor([
${rows.map((row) => `    [${row.join(", ")}]`).join(",\n")},
], dtype=torch.bool)

${shares}
print(output.shape, output)
`;
}
