// The lookup as it stands, as code.

import { heedProgram, heedTensor, single, torchProgram, torchTensor } from "../../src/ui/code.js";
import type { DictionaryScene } from "./scene.js";

export function heedCode({ q, k, v, state, example }: DictionaryScene): string {
  const { score, bandwidth, temperature } = state;
  const kind = score === "rbf" ? `{ type: "rbf", bandwidth: ${single(bandwidth)} }` : `"${score}"`;
  const warm = temperature === Number.POSITIVE_INFINITY ? "scale: 0" : `temperature: ${single(temperature)}`;
  return heedProgram(
    example.title,
    `${heedTensor("q", [q])}
${heedTensor("k", [k])}
${heedTensor("v", [v])}

const { output, weights } = await heed.attention(q, k, v, {
  score: ${kind},
  ${temperature === 0 ? 'normalize: "hard"' : warm},
  return: { weights: true },
});`,
    "output.data, weights.data",
  );
}

export function torchCode({ q, k, v, state, example }: DictionaryScene): string {
  const { score, bandwidth, temperature } = state;
  const scores = {
    dot: "q @ k.transpose(-2, -1)",
    cosine: "F.cosine_similarity(q.unsqueeze(-2), k.unsqueeze(-3), dim=-1)",
    rbf: `-torch.cdist(q, k) ** 2 / (2 * ${single(bandwidth)} ** 2)`,
  }[score];
  const heat = temperature === Number.POSITIVE_INFINITY ? "* 0" : `/ ${single(temperature)}`;
  const hard = `F.one_hot(scores.argmax(-1), ${k.rows}).to(v.dtype)`;
  const body = `${torchTensor("q", [q])}
${torchTensor("k", [k])}
${torchTensor("v", [v])}

scores = ${scores}
weights = ${temperature === 0 ? hard : `torch.softmax(scores ${heat}, dim=-1)`}
output = weights @ v`;
  return torchProgram(example.title, body, "output, weights", true);
}
