// The row that is shown, as code.

import { heedSource, IDENTITY, single, torchProgram, torchTensor } from "../../src/ui/code.js";
import { callOf, type ScaleScene } from "./scene.js";

export function heedCode(scene: ScaleScene): string {
  const call = callOf(scene, scene.draws.slice(0, 1));
  const options = { ...call.options, return: { entropy: true } };
  const [results, then] = ["output, entropy", "console.log(entropy.data);\n"];
  return heedSource({ about: aboutOf(scene), call, options, values: IDENTITY, results, then });
}

export function torchCode(scene: ScaleScene): string {
  const { q, k, factor } = scene;
  const body = `${torchTensor("q", [q])}
${torchTensor("k", [k])}

output = torch.softmax(q @ k.transpose(-2, -1) * ${single(factor)}, dim=-1)
entropy = torch.special.entr(output).sum(-1)`;
  return torchProgram(aboutOf(scene), body, "output, entropy");
}

function aboutOf({ state }: ScaleScene): string {
  const { width, keys, scaling, temperature, seed, likeness } = state;
  const like = likeness > 0 ? `, k1 like q by ${likeness}` : "";
  return `d = ${width}, ${keys} keys, ${scaling === "root" ? "1/sqrt(d)" : "no scale"}, temperature ${temperature}, draw ${seed}${like}`;
}
