// The lookup as it stands, as code.

import { heedTensor, single, torchTensor } from "../../src/ui/code.js";
import type { DictionaryScene } from "./scene.js";

export function heedCode({ q, k, v, state, example }: DictionaryScene): string {
  const { score, bandwidth, temperature } = state;
  const kind = score === "rbf" ? `{ type: "rbf", bandwidth: ${single(bandwidth)} }` : `"${score}"`;
  const heat =
    temperature === 0
      ? 'normalize: "hard"'
      : temperature === Number.POSITIVE_INFINITY
        ? "scale: 0"
        : `temperature: ${single(temperature)}`;
  return `// ${example.title}
import { createHeed } from "heed";

const heed = await createHeed();
${heedTensor("q", [q])}
${heedTensor("k", [k])}
${heedTensor("v", [v])}

const { output, weights } = await heed.attention(q, k, v, {
  score: ${kind},
  ${heat},
  return: { weights: true },
});
console.log(output.data, weights.data);
heed.dispose();
`;
}

export function torchCode({ q, k, v, state, example }: DictionaryScene): string {
  const { score, bandwidth, temperature } = state;
  const scores = {
    dot: "q @ k.transpose(-2, -1)",
    cosine: "F.cosine_similarity(q.unsqueeze(-2), k.unsqueeze(-3), dim=-1)",
    rbf: `-torch.cdist(q, k) ** 2 / (2 * ${single(bandwidth)} ** 2)`,
  }[score];
  const weights =
    temperature === 0
      ? `F.one_hot(scores.argmax(-1), ${k.rows}).to(v.dtype)`
      : `torch.softmax(scores ${temperature === Number.POSITIVE_INFINITY ? "* 0" : `/ ${single(temperature)}`}, dim=-1)`;
  return `# ${example.title}
import torch
import torch.nn.functional as F

${torchTensor("q", [q])}
${torchTensor("k", [k])}
${torchTensor("v", [v])}

scores = ${scores}
weights = ${weights}
output = weights @ v
print(output, weights)
`;
}
