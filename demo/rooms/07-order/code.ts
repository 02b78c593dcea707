// The sentence as it stands, as code.

import { heedTensor, NOTHING, single, torchTensor } from "../../src/ui/code.js";
import { SCALE } from "./attend.js";
import type { OrderScene } from "./scene.js";

export function heedCode({ now, state, labels }: OrderScene): string {
  if (labels.length === 0) return `// ${NOTHING}`;
  const shape = `[1, 1, ${labels.length}, ${labels.length}]`;
  const special = {
    none: [],
    sinusoidal: [],
    learned: [],
    rope: [],
    causal: ["causal: true,"],
    alibi: [`alibiSlopes: [${single(state.slope)}],`],
    relative: [`bias: { data: Float32Array.of(${Array.from(now.bias.data, single).join(", ")}), shape: ${shape} },`],
  }[state.kind];
  return `// ${labels.join(" ").replace(/\s+/g, " ")}${comment(state.kind)}
import { createHeed } from "heed";

const heed = await createHeed();
${heedTensor("q", [now.q])}
${heedTensor("k", [now.k])}
${heedTensor("v", [now.v])}

const { output } = await heed.attention(q, k, v, {
  ${[`scale: ${single(SCALE)},`, ...special].join("\n  ")}
});
console.log(output.shape, output.data);
heed.dispose();
`;
}

export function torchCode({ now, state, labels }: OrderScene): string {
  if (labels.length === 0) return `# ${NOTHING}`;
  const count = labels.length;
  const bias = Array.from({ length: count }, (_, row) =>
    Array.from(now.bias.data.subarray(row * count, (row + 1) * count)),
  );
  const written = `bias = torch.tensor([\n${bias.map((row) => `    [${row.map(single).join(", ")}]`).join(",\n")},\n])\n`;
  const hasBias = state.kind === "alibi" || state.kind === "relative";
  const option = state.kind === "causal" ? ", is_causal=True" : hasBias ? ", attn_mask=bias" : "";
  return `# ${labels.join(" ").replace(/\s+/g, " ")}${comment(state.kind)}
import torch
import torch.nn.functional as F

${torchTensor("q", [now.q])}
${torchTensor("k", [now.k])}
${torchTensor("v", [now.v])}
${hasBias ? written : ""}
output = F.scaled_dot_product_attention(q, k, v${option}, scale=${single(SCALE)})
print(output.shape, output)
`;
}

function comment(kind: OrderScene["state"]["kind"]): string {
  if (kind === "rope") return " (q and k are turned already)";
  return kind === "sinusoidal" || kind === "learned" ? " (positions are in q, k and v already)" : "";
}
