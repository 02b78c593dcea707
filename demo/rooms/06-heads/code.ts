// The chosen number of heads as code, with the mix at the end.

import { heedSource, heedTensor, single, torchSource, torchTensor } from "../../src/ui/code.js";
import { callsOf, type HeadsScene } from "./scene.js";
import { WIDTH } from "./state.js";

const aboutOf = ({ words, walk }: HeadsScene): string =>
  `${words.join(" ")}: ${walk.heads.length} heads of ${walk.headWidth}`;

export function heedCode(scene: HeadsScene): string {
  const [call] = callsOf(scene);
  const { headWidth } = scene.walk;
  const then = `${heedTensor("mix", [scene.state.mix])}
// Heads side by side, then times W_O.
const [rows, width] = [${scene.words.length}, ${WIDTH}];
const joined = (row, col) => heads.data[(Math.floor(col / ${headWidth}) * rows + row) * ${headWidth} + (col % ${headWidth})];
const output = { shape: [rows, width], data: new Float32Array(rows * width) };
for (let row = 0; row < rows; row++) {
  for (let col = 0; col < width; col++) {
    for (let i = 0; i < width; i++) output.data[row * width + col] += joined(row, i) * mix.data[i * width + col];
  }
}
`;
  return heedSource({ about: aboutOf(scene), call, options: call.options, results: "output: heads", then });
}

export function torchCode(scene: HeadsScene): string {
  const [call] = callsOf(scene);
  return torchSource(
    { about: aboutOf(scene), call },
    `${torchTensor("mix", [scene.state.mix], [WIDTH, WIDTH])}

heads = F.scaled_dot_product_attention(q, k, v, scale=${single(scene.walk.scale)})
output = heads.transpose(1, 2).reshape(${scene.words.length}, ${WIDTH}) @ mix
`,
  );
}
