// The present state as code: the call of heed, and the same in PyTorch, with the very numbers on the page.

import type { State } from "../../src/model/state.js";
import type { HeadWalk, Walk } from "../../src/model/walk.js";
import { heedTensor, NOTHING, single, torchTensor } from "../../src/ui/code.js";

export function heedCode(walk: Walk, state: State): string {
  if (walk.labels.length === 0) return `// ${NOTHING}`;
  const { hidden } = facts(state);
  const options = [
    `scale: ${single(walk.scale)},`,
    ...(state.causal === "none" ? [] : [`causal: "${state.causal}",`]),
    ...(hidden.length === 0
      ? []
      : [`mask: { data: Uint8Array.of(${seen(walk, hidden).join(", ")}), shape: [1, 1, 1, ${walk.labels.length}] },`]),
    "return: { weights: true, lse: true },",
  ];
  return `// ${walk.labels.join(" ").replace(/\s+/g, " ")}
import { createHeed } from "heed";

const heed = await createHeed();
${heedTensor("q", headsOf(walk, "q"))}
${heedTensor("k", headsOf(walk, "k"))}
${heedTensor("v", headsOf(walk, "v"))}

const { output, weights, lse } = await heed.attention(q, k, v, {
  ${options.join("\n  ")}
});
console.log(output.shape, output.data);
heed.dispose();
`;
}

export function torchCode(walk: Walk, state: State): string {
  if (walk.labels.length === 0) return `# ${NOTHING}`;
  const { hidden, masked } = facts(state);
  const [rows, cols] = [walk.askers.length, walk.labels.length];
  const offset = state.causal === "upper-left" ? 0 : cols - rows;
  const mask = [
    // is_causal=True aligns the upper left corners, so the lower right ones need a mask.
    `mask = torch.ones(${rows}, ${cols}, dtype=torch.bool)${state.causal === "none" ? "" : `.tril(diagonal=${offset})`}`,
    ...(hidden.length === 0
      ? []
      : [`mask = mask & torch.tensor([${seen(walk, hidden).join(", ")}], dtype=torch.bool)`]),
  ];
  const blind = walk.askers.some((_, row) => walk.labels.every((_, col) => walk.hiddenBy(row, col) !== undefined));
  return `# ${walk.labels.join(" ").replace(/\s+/g, " ")}
import torch
import torch.nn.functional as F

${torchTensor("q", headsOf(walk, "q"))}
${torchTensor("k", headsOf(walk, "k"))}
${torchTensor("v", headsOf(walk, "v"))}
${masked ? `${mask.join("\n")}\n` : ""}${blind ? "# Some row sees no key: heed gives zeros there, older versions of PyTorch NaN.\n" : ""}
output = F.scaled_dot_product_attention(q, k, v${masked ? ", attn_mask=mask" : ""}, scale=${single(walk.scale)})
print(output.shape, output)
`;
}

function facts({ hidden, causal }: State) {
  return { hidden, masked: causal !== "none" || hidden.length > 0 };
}

function headsOf(walk: Walk, role: "q" | "k" | "v"): readonly HeadWalk["q"][] {
  return walk.heads.map((head) => head[role]);
}

function seen(walk: Walk, hidden: readonly number[]): readonly number[] {
  return walk.labels.map((_, key) => (hidden.includes(key) ? 0 : 1));
}
