// One head's look, as code.

import { HEADS } from "../../src/language/words.js";
import { heedTensor, NOTHING, single, torchTensor } from "../../src/ui/code.js";
import { type LanguageScene, SCALE } from "./scene.js";

export function heedCode({ look, state }: LanguageScene): string {
  if (look === undefined) return `// ${NOTHING}`;
  return `// ${about(state.head)}
import { createHeed } from "heed";

const heed = await createHeed();
${heedTensor("q", [look.q])}
${heedTensor("k", [look.k])}
${heedTensor("v", [look.v])}

const { output } = await heed.attention(q, k, v, { scale: ${single(SCALE)} });
console.log(output.data);
heed.dispose();
`;
}

export function torchCode({ look, state }: LanguageScene): string {
  if (look === undefined) return `# ${NOTHING}`;
  return `# ${about(state.head)}
import torch

${torchTensor("q", [look.q])}
${torchTensor("k", [look.k])}
${torchTensor("v", [look.v])}

output = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=${single(SCALE)})
print(output)
`;
}

function about(head: number): string {
  return `head ${(head % HEADS) + 1} of layer ${Math.floor(head / HEADS) + 1}, from the word that is asked`;
}
