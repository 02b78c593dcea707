// The convolution as it stands, as code: the attention that is the same, with its weights made on the spot.

import { unstack } from "../../src/model/matrix.js";
import { heedProgram, single, torchProgram, torchTensor } from "../../src/ui/code.js";
import { COARSE as SIZE } from "./images.js";
import type { WhatElseState } from "./state.js";

export function heedCode({ filter, sharpness }: WhatElseState, grey: ArrayLike<number>): string {
  return heedProgram(
    `${filter.rows} x ${filter.cols} convolution as attention with ${filter.data.length} heads`,
    `const [size, s] = [${SIZE}, ${single(sharpness)}];
const pixels = Float32Array.of(${Array.from(grey, single).join(", ")});
const weights = [${Array.from(filter.data, single).join(", ")}];
const reach = (Math.sqrt(weights.length) - 1) / 2;
const place = (pixel) => [(pixel % size) - (size - 1) / 2, Math.floor(pixel / size) - (size - 1) / 2];

const heads = weights.map((_, head) => [(head % (2 * reach + 1)) - reach, Math.floor(head / (2 * reach + 1)) - reach]);
const q = Float32Array.from(heads.flatMap(([dx, dy]) =>
  Array.from(pixels, (_, pixel) => place(pixel)).flatMap(([x, y]) => [2 * s * (x + dx), 2 * s * (y + dy), -s]),
));
const k = Float32Array.from(Array.from(pixels, (_, pixel) => place(pixel)).flatMap(([x, y]) => [x, y, x * x + y * y]));

const read = await heed.attention(
  { data: q, shape: [1, weights.length, pixels.length, 3] },
  { data: k, shape: [1, 1, pixels.length, 3] },
  { data: pixels, shape: [1, 1, pixels.length, 1] },
  { score: "dot" },
);
// The output weights are the filter.
const output = { data: pixels.map((_, pixel) =>
  weights.reduce((sum, weight, head) => sum + weight * read.output.data[head * pixels.length + pixel], 0)) };`,
  );
}

export function torchCode({ filter, sharpness }: WhatElseState, grey: ArrayLike<number>): string {
  const size = filter.rows;
  return torchProgram(
    `${size} x ${size} convolution, and the attention that is the same`,
    `${torchTensor("image", [unstack(SIZE, SIZE, grey)])}
${torchTensor("kernel", [filter])}
convolution = F.conv2d(F.pad(image, [${(size - 1) / 2}] * 4, mode="replicate"), kernel)

s = ${single(sharpness)}
y, x = torch.meshgrid(torch.arange(${SIZE}.0), torch.arange(${SIZE}.0), indexing="ij")
x, y = x.flatten() - ${(SIZE - 1) / 2}, y.flatten() - ${(SIZE - 1) / 2}
steps = torch.arange(${size}) - ${(size - 1) / 2}
q = torch.stack([torch.stack([2 * s * (x + dx), 2 * s * (y + dy), torch.full_like(x, -s)], -1) for dy in steps for dx in steps])
k = torch.stack([x, y, x * x + y * y], -1).expand(len(q), -1, -1)
v = image.view(1, -1, 1).expand(len(q), -1, -1)
read = F.scaled_dot_product_attention(q, k, v, scale=1.0)
output = (read * kernel.view(-1, 1, 1)).sum(0).view_as(convolution)`,
    "(output - convolution).abs().max()",
  );
}
