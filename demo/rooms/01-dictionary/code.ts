// The lookup as it stands, as code.

import { heedSource, single, torchSource } from "../../src/ui/code.js";
import { callsOf, type DictionaryScene } from "./scene.js";

export function heedCode(scene: DictionaryScene): string {
  const [call] = callsOf(scene);
  const options = { ...call.options, return: { weights: true } };
  const then = "console.log(weights.data);\n";
  return heedSource({ about: scene.example.title, call, options, results: "output, weights", then });
}

export function torchCode(scene: DictionaryScene): string {
  const [call] = callsOf(scene);
  const { score, bandwidth, temperature } = scene.state;
  const scores = {
    dot: "q @ k.transpose(-2, -1)",
    cosine: "F.cosine_similarity(q.unsqueeze(-2), k.unsqueeze(-3), dim=-1)",
    rbf: `-torch.cdist(q, k) ** 2 / (2 * ${single(bandwidth)} ** 2)`,
  }[score];
  const heat = temperature === Number.POSITIVE_INFINITY ? "* 0" : `/ ${single(temperature)}`;
  const hard = `F.one_hot(scores.argmax(-1), ${scene.k.rows}).to(v.dtype)`;
  const body = `
scores = ${scores}
weights = ${temperature === 0 ? hard : `torch.softmax(scores ${heat}, dim=-1)`}
output = weights @ v
`;
  return torchSource({ about: scene.example.title, call }, body, "output, weights");
}
