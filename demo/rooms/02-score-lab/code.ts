// The kind in the light, as code.

import { identity } from "../../src/model/matrix.js";
import { heedTensor, single, torchTensor } from "../../src/ui/code.js";
import { heedFormula, torchFormula } from "./formula-code.js";
import { ABOUT, KEYS } from "./kinds.js";
import type { ScoreScene } from "./scene.js";

export function heedCode({ typed, state, own }: ScoreScene): string {
  const { kind, bandwidth, keep, temperature } = state;
  const flat = (name: "b" | "v" | "g"): string => `Float32Array.of(${Array.from(typed[name].data, single).join(", ")})`;
  const formula = heedFormula(own);
  const parameters = {
    general: [heedTensor("w", [typed.W], [typed.W.rows, typed.W.cols])],
    additive: [
      heedTensor("wq", [typed.Wq], [typed.Wq.rows, typed.Wq.cols]),
      heedTensor("wk", [typed.Wk], [typed.Wk.rows, typed.Wk.cols]),
      `const [b, v_] = [${flat("b")}, ${flat("v")}];`,
    ],
    gated: [`const w = ${flat("g")};`],
  };
  const special: Readonly<Partial<Record<typeof kind, string>>> = {
    general: 'score: { type: "general", w }',
    additive: 'score: { type: "additive", wq, wk, b, v: v_ }',
    gated: 'score: { type: "gated", w }',
    rbf: `score: { type: "rbf", bandwidth: ${single(bandwidth)} }`,
    "top-k": `topK: ${keep}`,
    sparsemax: 'normalize: "sparsemax"',
    own: `scoreMod: ${formula.scoreMod}`,
  };
  const lines = kind === "general" || kind === "additive" || kind === "gated" ? parameters[kind] : [];
  return `// ${ABOUT[kind].name}
import { createHeed } from "heed";
${
  kind === "own"
    ? `import { ${formula.operators.join(", ")} } from "heed/expr";
`
    : ""
}
const heed = await createHeed();
${[heedTensor("q", [typed.q]), heedTensor("k", [typed.K]), ...lines].join("\n")}
// The identity as values: the output is the row of weights.
${heedTensor("v", [identity(KEYS)])}

const { output } = await heed.attention(q, k, v, {
  ${special[kind] ?? `score: "${kind}"`},
  temperature: ${single(temperature)},
});
console.log(output.data);
heed.dispose();
`;
}

export function torchCode({ typed, state, own }: ScoreScene): string {
  const { kind, bandwidth, keep, temperature } = state;
  const scaled = "q @ k.T / q.shape[-1] ** 0.5";
  const scores = {
    dot: "q @ k.T",
    "scaled-dot": scaled,
    general: "q @ W @ k.T",
    additive: "(v * torch.tanh((q @ Wq.T).unsqueeze(1) + (k @ Wk.T).unsqueeze(0) + b)).sum(-1)",
    gated: "torch.sigmoid(q @ g[0, :q.shape[-1]] + k @ g[0, q.shape[-1]:]) * (q @ k.T)",
    cosine: "F.cosine_similarity(q.unsqueeze(1), k.unsqueeze(0), dim=-1)",
    rbf: `-torch.cdist(q, k) ** 2 / (2 * ${single(bandwidth)} ** 2)`,
    distance: "-torch.cdist(q, k)",
    "top-k": scaled,
    sparsemax: scaled,
    own: scaled,
  }[kind];
  const shares =
    kind === "top-k"
      ? `best = scores.topk(${keep}, dim=-1)
output = torch.zeros_like(scores).scatter(-1, best.indices, torch.softmax(best.values, dim=-1))`
      : kind === "sparsemax"
        ? `ranked = scores.sort(dim=-1, descending=True).values
sums, ranks = ranked.cumsum(-1), torch.arange(1, ranked.shape[-1] + 1)
count = (1 + ranks * ranked > sums).sum(-1, keepdim=True)
output = (scores - (sums.gather(-1, count - 1) - 1) / count).clamp(min=0)`
        : kind === "own"
          ? `score, query_at, key_at = scores, torch.arange(q.shape[0]).view(-1, 1), torch.arange(k.shape[0])
output = torch.softmax(${torchFormula(own)}, dim=-1)`
          : "output = torch.softmax(scores, dim=-1)";
  const used = { general: ["W"], additive: ["Wq", "Wk", "b", "v"], gated: ["g"] } as const;
  const more = kind === "general" || kind === "additive" || kind === "gated" ? used[kind] : [];
  const given = (["q", "K", ...more] as const).map((name) =>
    torchTensor(name === "K" ? "k" : name, [typed[name]], [typed[name].rows, typed[name].cols]),
  );
  return `# ${ABOUT[kind].name}
import torch
import torch.nn.functional as F

${given.join("\n")}

scores = (${scores}) / ${single(temperature)}
${shares}
print(output)
`;
}
