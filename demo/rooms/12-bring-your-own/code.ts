// The head in view as a call that can be run elsewhere, on the files that this page hands out.

import { writeNpy } from "../../src/brought/npy.js";
import { heedProgram } from "../../src/ui/code.js";
import { button } from "../../src/ui/dom.js";
import { saveBlob } from "../../src/ui/save.js";
import type { BringScene } from "./scene.js";

/** q and k, or the weights, of the head in view. */
export function saveButton(sceneOf: () => BringScene): HTMLElement {
  const file = (name: string, rows: number, cols: number, data: Float32Array = new Float32Array(0)): void =>
    saveBlob(`${name}.npy`, writeNpy([1, 1, rows, cols], data));
  const save = button("Save its arrays", () => {
    const { source, vectors, at } = sceneOf();
    const { queries, keys, weights } = source;
    if (vectors === undefined) return file("weights", queries, keys, weights?.(at.layer, at.head));
    file("q", queries, vectors.width, vectors.q);
    file("k", keys, vectors.width, vectors.k);
  });
  save.dataset["save"] = "npy";
  return save;
}

/** What there is to compute, or that there is nothing. */
function head({ vectors, at, source }: BringScene): string {
  return vectors === undefined
    ? `The weights are ${source.origin}: there is nothing to compute. "Save its arrays" gives weights.npy.`
    : `Layer ${at.layer + 1}, head ${at.head + 1}, beside the files that "Save its arrays" gives`;
}

export function heedCode(scene: BringScene): string {
  const { vectors, at, cells } = scene;
  if (vectors === undefined) {
    return `// ${head(scene)}\n${READ}\nconst output = await load("weights.npy");\nconsole.log(output.shape);\n`;
  }
  const body = `const q = await load("q.npy");
const k = await load("k.npy");
// Only the weights of some rows are wanted, so that any values will do.
const { weights: output } = await heed.attention(q, k, k, {
  causal: ${at.causal},
  return: { output: false, weights: { rows: [${cells.top}, ${cells.top + cells.rows.length}] } },
});`;
  return heedProgram(head(scene), body, "output.shape, output.data", READ);
}

const READ = `import { readFile } from "node:fs/promises";

async function load(name) {
  const file = await readFile(new URL(name, import.meta.url));
  const start = 10 + file.readUInt16LE(8);
  const [, sizes] = /'shape': \\(([^)]*)\\)/.exec(file.toString("latin1", 10, start));
  return { data: new Float32Array(new Uint8Array(file.subarray(start)).buffer), shape: JSON.parse(\`[\${sizes}]\`) };
}
`;

export function torchCode(scene: BringScene): string {
  const { vectors, at, cells, source } = scene;
  const [from, to] = [cells.top, cells.top + cells.rows.length];
  const begins = `# ${head(scene)}\nimport numpy as np\n`;
  if (vectors === undefined) return `${begins}\noutput = np.load("weights.npy")\nprint(output.shape)\n`;
  const hiding = at.causal
    ? `
sees = torch.arange(${source.keys}) <= torch.arange(${from}, ${to})[:, None] + ${source.keys - source.queries}
scores = scores.masked_fill(~sees, float("-inf"))`
    : "";
  return `${begins}import torch

q = torch.from_numpy(np.load("q.npy"))
k = torch.from_numpy(np.load("k.npy"))
scores = q[..., ${from}:${to}, :] @ k.transpose(-2, -1) / q.shape[-1] ** 0.5${hiding}
output = torch.softmax(scores, dim=-1)
print(output.shape, output)
`;
}
