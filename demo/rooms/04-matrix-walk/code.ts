// The present state as code: the call of heed, and the same in PyTorch, with the very numbers on the page.

import { callsOf } from "../../src/engine/walk-call.js";
import type { Walk } from "../../src/model/walk.js";
import { heedSource, NOTHING, single, torchSource } from "../../src/ui/code.js";
import type { Scene } from "../../src/ui/walk-matrices.js";

const aboutOf = ({ labels }: Walk): string => labels.join(" ").replace(/\s+/g, " ");

export function heedCode({ walk, state }: Scene): string {
  const [call] = callsOf(walk, state);
  if (call === undefined) return `// ${NOTHING}`;
  const options = { ...call.options, return: { weights: true, lse: true } };
  return heedSource({ about: aboutOf(walk), call, options, results: "output, weights, lse" });
}

export function torchCode({ walk, state }: Scene): string {
  const [call] = callsOf(walk, state);
  if (call === undefined) return `# ${NOTHING}`;
  const { hidden, causal } = state;
  const [rows, cols] = [walk.askers.length, walk.labels.length];
  const offset = causal === "upper-left" ? 0 : cols - rows;
  const isMasked = causal !== "none" || hidden.length > 0;
  const seen = walk.labels.map((_, key) => (hidden.includes(key) ? 0 : 1));
  // is_causal=True aligns the upper left corners, so the lower right ones need a mask.
  const corner = causal === "none" ? "" : `.tril(diagonal=${offset})`;
  const mask = `mask = torch.ones(${rows}, ${cols}, dtype=torch.bool)${corner}\n`;
  const padding = hidden.length === 0 ? "" : `mask = mask & torch.tensor([${seen.join(", ")}], dtype=torch.bool)\n`;
  const blind = walk.askers.some((_, row) => walk.labels.every((_, col) => walk.hiddenBy(row, col) !== undefined));
  const warning = "# Some row sees no key: heed gives zeros there, older versions of PyTorch NaN.\n";
  return torchSource(
    { about: aboutOf(walk), call },
    `${isMasked ? mask + padding : ""}${blind ? warning : ""}
output = F.scaled_dot_product_attention(q, k, v${isMasked ? ", attn_mask=mask" : ""}, scale=${single(walk.scale)})
`,
  );
}
