// One head's look, as code.

import { heedTensor, NOTHING, single, torchTensor } from "../../src/ui/code.js";
import { type LanguageScene, SCALE } from "./scene.js";
import { headName } from "./state.js";

const about = (head: number): string => `${headName(head).replace("Head", "head")}, from the word that is asked`;

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
