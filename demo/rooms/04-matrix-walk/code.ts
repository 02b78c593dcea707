// The present state as code: the call of heed, and the same in PyTorch, with the very numbers on the page.

import { at, type Matrix } from "../../src/model/matrix.js";
import type { State } from "../../src/model/state.js";
import type { Walk } from "../../src/model/walk.js";

export function heedCode(walk: Walk, state: State): string {
  const { shapes, hidden } = facts(walk, state);
  const tensor = (name: "q" | "k" | "v", pick: (index: number) => Matrix | undefined): string =>
    `const ${name} = {\n  data: Float32Array.of(\n${stacked(walk, pick, "    ")},\n  ),\n  shape: [${shapes[name].join(", ")}],\n};`;
  const options = [
    `scale: ${number(walk.scale)},`,
    ...(state.causal === "none" ? [] : [`causal: "${state.causal}",`]),
    ...(hidden.length === 0
      ? []
      : [`mask: { data: Uint8Array.of(${seen(walk, hidden).join(", ")}), shape: [1, 1, 1, ${walk.labels.length}] },`]),
    "return: { weights: true, lse: true },",
  ];
  return `// ${walk.labels.join(" ").replace(/\s+/g, " ")}
import { createHeed } from "heed";

const heed = await createHeed();
${tensor("q", (head) => walk.heads[head]?.q)}
${tensor("k", (head) => walk.heads[head]?.k)}
${tensor("v", (head) => walk.heads[head]?.v)}

const { output, weights, lse } = await heed.attention(q, k, v, {
  ${options.join("\n  ")}
});
console.log(output.shape, output.data);
heed.dispose();
`;
}

export function torchCode(walk: Walk, state: State): string {
  const { shapes, hidden, masked } = facts(walk, state);
  const tensor = (name: "q" | "k" | "v", pick: (index: number) => Matrix | undefined): string =>
    `${name} = torch.tensor([\n${stacked(walk, pick, "    ")},\n], dtype=torch.float32).view(${shapes[name].join(", ")})`;
  const [rows, cols] = [walk.askers.length, walk.labels.length];
  const offset = state.causal === "upper-left" ? 0 : cols - rows;
  const mask = [
    // is_causal=True aligns the upper left corners, so the lower right ones need a mask.
    `mask = torch.ones(${rows}, ${cols}, dtype=torch.bool)${state.causal === "none" ? "" : `.tril(diagonal=${offset})`}`,
    ...(hidden.length === 0
      ? []
      : [`mask = mask & torch.tensor([${seen(walk, hidden).join(", ")}], dtype=torch.bool)`]),
  ];
  const blind = walk.askers.some((_, row) => walk.labels.every((_, col) => walk.hiddenBy(row, col) !== undefined));
  return `# ${walk.labels.join(" ").replace(/\s+/g, " ")}
import torch
import torch.nn.functional as F

${tensor("q", (head) => walk.heads[head]?.q)}
${tensor("k", (head) => walk.heads[head]?.k)}
${tensor("v", (head) => walk.heads[head]?.v)}
${masked ? `${mask.join("\n")}\n` : ""}${blind ? "# Some row sees no key: heed gives zeros there, older versions of PyTorch NaN.\n" : ""}
output = F.scaled_dot_product_attention(q, k, v${masked ? ", attn_mask=mask" : ""}, scale=${number(walk.scale)})
print(output.shape, output)
`;
}

function facts(walk: Walk, state: State) {
  const [heads, width] = [walk.heads.length, walk.headWidth];
  const [rows, cols] = [walk.askers.length, walk.labels.length];
  const hidden = state.hidden;
  return {
    shapes: { q: [1, heads, rows, width], k: [1, heads, cols, width], v: [1, heads, cols, width] },
    hidden,
    masked: state.causal !== "none" || hidden.length > 0,
  };
}

function seen(walk: Walk, hidden: readonly number[]): readonly number[] {
  return walk.labels.map((_, key) => (hidden.includes(key) ? 0 : 1));
}

/** One line for each row, heads below each other. */
function stacked(walk: Walk, pick: (head: number) => Matrix | undefined, indent: string): string {
  const lines = walk.heads.flatMap((_, head) => {
    const matrix = pick(head);
    if (matrix === undefined) return [];
    return Array.from({ length: matrix.rows }, (_, row) =>
      Array.from({ length: matrix.cols }, (_, col) => number(at(matrix, row, col))).join(", "),
    );
  });
  return lines.map((line) => indent + line).join(",\n");
}

/** The shortest decimal that single precision reads back as the same number. */
function number(value: number): string {
  for (let digits = 1; digits < 9; digits++) {
    const text = Number(value.toPrecision(digits));
    if (Math.fround(text) === Math.fround(value)) return String(text);
  }
  return String(Math.fround(value));
}
