// The row that is shown, as code.

import { identity } from "../../src/model/matrix.js";
import { heedProgram, heedTensor, single, torchProgram, torchTensor } from "../../src/ui/code.js";
import type { ScaleScene } from "./scene.js";

export function heedCode(scene: ScaleScene): string {
  const { q, k, state } = scene;
  return heedProgram(
    about(scene),
    `${heedTensor("q", [q])}
${heedTensor("k", [k])}
// The identity as values: the output is the row of weights.
${heedTensor("v", [identity(k.rows)])}

const { output, entropy } = await heed.attention(q, k, v, {
  ${state.scaling === "root" ? "" : "scale: 1,\n  "}temperature: ${single(state.temperature)},
  return: { entropy: true },
});`,
    "output.data, entropy.data",
  );
}

export function torchCode(scene: ScaleScene): string {
  const { q, k, factor } = scene;
  return torchProgram(
    about(scene),
    `${torchTensor("q", [q])}
${torchTensor("k", [k])}

output = torch.softmax(q @ k.transpose(-2, -1) * ${single(factor)}, dim=-1)
entropy = torch.special.entr(output).sum(-1)`,
    "output, entropy",
  );
}

function about({ state }: ScaleScene): string {
  const { width, keys, scaling, temperature, seed, likeness } = state;
  const like = likeness > 0 ? `, k1 like q by ${likeness}` : "";
  return `d = ${width}, ${keys} keys, ${scaling === "root" ? "1/sqrt(d)" : "no scale"}, temperature ${temperature}, draw ${seed}${like}`;
}
