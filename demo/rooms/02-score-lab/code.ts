// The kind in the light, as code.

import { identity } from "../../src/model/matrix.js";
import { heedProgram, heedTensor, single, torchProgram, torchTensor } from "../../src/ui/code.js";
import { heedFormula, torchFormula } from "./formula-code.js";
import { ABOUT, KEYS, type Kind } from "./kinds.js";
import type { ScoreScene } from "./scene.js";
import { TYPED, type TypedName } from "./state.js";
import { PARAMETERS } from "./views.js";

export function heedCode({ typed, state, own }: ScoreScene): string {
  const { kind, bandwidth, keep, temperature } = state;
  const matrix = (name: string, of: TypedName): string =>
    heedTensor(name, [typed[of]], [typed[of].rows, typed[of].cols]);
  const flat = (name: TypedName): string => `Float32Array.of(${Array.from(typed[name].data, single).join(", ")})`;
  const formula = heedFormula(own);
  /** An option, and what it is given. */
  const special: Readonly<Partial<Record<Kind, readonly [option: string, ...parameters: readonly string[]]>>> = {
    general: ['score: { type: "general", w }', matrix("w", "W")],
    additive: [
      'score: { type: "additive", wq, wk, b, v: v_ }',
      matrix("wq", "Wq"),
      matrix("wk", "Wk"),
      `const [b, v_] = [${flat("b")}, ${flat("v")}];`,
    ],
    gated: ['score: { type: "gated", w }', `const w = ${flat("g")};`],
    rbf: [`score: { type: "rbf", bandwidth: ${single(bandwidth)} }`],
    "top-k": [`topK: ${keep}`],
    sparsemax: ['normalize: "sparsemax"'],
    own: [`scoreMod: ${formula.scoreMod}`],
  };
  const [option, ...parameters] = special[kind] ?? [`score: "${kind}"`];
  return heedProgram(
    ABOUT[kind].name,
    `${[heedTensor("q", [typed.q]), heedTensor("k", [typed.K]), ...parameters].join("\n")}
// The identity as values: the output is the row of weights.
${heedTensor("v", [identity(KEYS)])}

const { output } = await heed.attention(q, k, v, {
  ${option},
  temperature: ${single(temperature)},
});`,
    "output.data",
    kind === "own" ? `import { ${formula.operators.join(", ")} } from "heed/expr";\n` : "",
  );
}

export function torchCode({ typed, state, own }: ScoreScene): string {
  const { kind, bandwidth, keep, temperature } = state;
  const scores: Readonly<Partial<Record<Kind, string>>> = {
    dot: "q @ k.T",
    general: "q @ W @ k.T",
    additive: "(v * torch.tanh((q @ Wq.T).unsqueeze(1) + (k @ Wk.T).unsqueeze(0) + b)).sum(-1)",
    gated: "torch.sigmoid(q @ g[0, :q.shape[-1]] + k @ g[0, q.shape[-1]:]) * (q @ k.T)",
    cosine: "F.cosine_similarity(q.unsqueeze(1), k.unsqueeze(0), dim=-1)",
    rbf: `-torch.cdist(q, k) ** 2 / (2 * ${single(bandwidth)} ** 2)`,
    distance: "-torch.cdist(q, k)",
  };
  const weights: Readonly<Partial<Record<Kind, string>>> = {
    "top-k": `best = scores.topk(${keep}, dim=-1)
output = torch.zeros_like(scores).scatter(-1, best.indices, torch.softmax(best.values, dim=-1))`,
    sparsemax: `ranked = scores.sort(dim=-1, descending=True).values
sums, ranks = ranked.cumsum(-1), torch.arange(1, ranked.shape[-1] + 1)
count = (1 + ranks * ranked > sums).sum(-1, keepdim=True)
output = (scores - (sums.gather(-1, count - 1) - 1) / count).clamp(min=0)`,
    own: `score, query_at, key_at = scores, torch.arange(q.shape[0]).view(-1, 1), torch.arange(k.shape[0])
output = torch.softmax(${torchFormula(own)}, dim=-1)`,
  };
  const given = TYPED.filter((name) => name === "q" || name === "K" || PARAMETERS[kind]?.includes(name)).map((name) =>
    torchTensor(name === "K" ? "k" : name, [typed[name]], [typed[name].rows, typed[name].cols]),
  );
  const body = `${given.join("\n")}

scores = (${scores[kind] ?? "q @ k.T / q.shape[-1] ** 0.5"}) / ${single(temperature)}
${weights[kind] ?? "output = torch.softmax(scores, dim=-1)"}`;
  return torchProgram(ABOUT[kind].name, body, "output", true);
}
