// The chosen number of heads as code, with the mix at the end.

import { heedTensor, single, torchTensor } from "../../src/ui/code.js";
import type { HeadsScene } from "./scene.js";
import { WIDTH } from "./state.js";

export function heedCode({ walk, state, words }: HeadsScene): string {
  const { heads, scale, headWidth } = walk;
  const [q, k, v] = (["q", "k", "v"] as const).map((role) =>
    heedTensor(
      role,
      heads.map((head) => head[role]),
    ),
  );
  return `// ${words.join(" ")}: ${heads.length} heads of ${headWidth}
import { createHeed } from "heed";

const heed = await createHeed();
${q}
${k}
${v}
${heedTensor("mix", [state.mix])}

const heads = await heed.attention(q, k, v, { scale: ${single(scale)} });
// Heads side by side, then times W_O.
const [rows, width] = [${words.length}, ${WIDTH}];
const joined = (row, col) => heads.output.data[(Math.floor(col / ${headWidth}) * rows + row) * ${headWidth} + (col % ${headWidth})];
const output = { shape: [rows, width], data: new Float32Array(rows * width) };
for (let row = 0; row < rows; row++) {
  for (let col = 0; col < width; col++) {
    for (let i = 0; i < width; i++) output.data[row * width + col] += joined(row, i) * mix.data[i * width + col];
  }
}
console.log(output.shape, output.data);
heed.dispose();
`;
}

export function torchCode({ walk, state, words }: HeadsScene): string {
  const { heads, scale, headWidth } = walk;
  const [q, k, v] = (["q", "k", "v"] as const).map((role) =>
    torchTensor(
      role,
      heads.map((head) => head[role]),
    ),
  );
  return `# ${words.join(" ")}: ${heads.length} heads of ${headWidth}
import torch
import torch.nn.functional as F

${q}
${k}
${v}
${torchTensor("mix", [state.mix], [WIDTH, WIDTH])}

heads = F.scaled_dot_product_attention(q, k, v, scale=${single(scale)})
output = heads.transpose(1, 2).reshape(${words.length}, ${WIDTH}) @ mix
print(output.shape, output)
`;
}
