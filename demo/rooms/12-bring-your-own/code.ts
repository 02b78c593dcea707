// The head in view as a call that can be run elsewhere, on the file that this page hands out.

import { heedProgram } from "../../src/ui/code.js";
import { button } from "../../src/ui/dom.js";
import { saveBlob } from "../../src/ui/save.js";
import type { BringScene } from "./scene.js";

const FILE = "head.safetensors";

/** q and k, or the weights, of the head in view. */
export function saveButton(sceneOf: () => BringScene): HTMLElement {
  return button("Save its arrays", async () => {
    const { saveSafetensors } = await import("heed/layers");
    saveBlob(FILE, new Blob([saveSafetensors(arraysOf(sceneOf()))]));
  });
}

function arraysOf({ source, vectors, at }: BringScene) {
  const { queries, keys, weights } = source;
  const array = (rows: number, cols: number, data: Float32Array = new Float32Array(0)) => ({
    data,
    shape: [1, 1, rows, cols],
  });
  if (vectors === undefined) return { weights: array(queries, keys, weights?.(at.layer, at.head)) };
  return { q: array(queries, vectors.width, vectors.q), k: array(keys, vectors.width, vectors.k) };
}

/** What there is to compute, or that there is nothing. */
function head({ vectors, at, source }: BringScene): string {
  return vectors === undefined
    ? `The weights are ${source.origin}: there is nothing to compute. "Save its arrays" gives ${FILE}.`
    : `Layer ${at.layer + 1}, head ${at.head + 1}, beside the file that "Save its arrays" gives`;
}

const load = (
  names: string,
): string => `// A page fetches the file. Under Node: loadSafetensors(await readFile("${FILE}"))
const { ${names} } = Object.fromEntries(await loadSafetensors("./${FILE}"));`;
const IMPORT = 'import { loadSafetensors } from "heed/layers";\n';

export function heedCode(scene: BringScene): string {
  const { vectors, at, cells } = scene;
  if (vectors === undefined) {
    return `// ${head(scene)}\n${IMPORT}\n${load("weights: output")}\nconsole.log(output.shape, output.data);\n`;
  }
  const body = `${load("q, k")}
// Only the weights of some rows are wanted, so that any values will do.
const { weights: output } = await heed.attention(q, k, k, {
  causal: ${at.causal},
  return: { output: false, weights: { rows: [${cells.top}, ${cells.top + cells.rows.length}] } },
});`;
  return heedProgram(head(scene), body, "output.shape, output.data", IMPORT);
}

export function torchCode(scene: BringScene): string {
  const { vectors, at, cells, source } = scene;
  const [from, to] = [cells.top, cells.top + cells.rows.length];
  const begins = `# ${head(scene)}\nimport torch\nfrom safetensors.torch import load_file\n\n`;
  if (vectors === undefined) return `${begins}output = load_file("${FILE}")["weights"]\nprint(output.shape, output)\n`;
  const hiding = at.causal
    ? `
sees = torch.arange(${source.keys}) <= torch.arange(${from}, ${to})[:, None] + ${source.keys - source.queries}
scores = scores.masked_fill(~sees, float("-inf"))`
    : "";
  return `${begins}head = load_file("${FILE}")
q, k = head["q"], head["k"]
scores = q[..., ${from}:${to}, :] @ k.transpose(-2, -1) / q.shape[-1] ** 0.5${hiding}
output = torch.softmax(scores, dim=-1)
print(output.shape, output)
`;
}
