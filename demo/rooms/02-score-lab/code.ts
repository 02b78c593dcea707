// The kind in the light, as code; and a formula as the calls of heed/expr, or as arithmetic on PyTorch's tensors.

import type { Expr, Op } from "heed/expr";
import { heedSource, IDENTITY, single, torchProgram, torchTensor } from "../../src/ui/code.js";
import { SIGNS } from "./formula.js";
import { ABOUT, type Kind } from "./kinds.js";
import { PARAMETERS } from "./matrices.js";
import { callOf, type ScoreScene } from "./scene.js";
import { TYPED } from "./state.js";

export function heedCode(scene: ScoreScene): string {
  const { kind } = scene.state;
  const call = callOf(scene, kind);
  const source = { about: ABOUT[kind].name, call, values: IDENTITY };
  if (kind !== "own") return heedSource({ ...source, options: call.options });
  const { scoreMod, operators } = heedFormula(scene.own);
  const imports = `import { ${operators.join(", ")} } from "heed/expr";\n`;
  return heedSource({ ...source, options: { ...call.options, scoreMod: () => scoreMod }, imports });
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
  const used = TYPED.filter((name) => name === "q" || name === "K" || PARAMETERS[kind]?.includes(name));
  const given = used.map((name) => {
    const { rows, cols } = typed[name];
    return torchTensor(name === "K" ? "k" : name, [typed[name]], [rows, cols]);
  });
  const body = `${given.join("\n")}

scores = (${scores[kind] ?? "q @ k.T / q.shape[-1] ** 0.5"}) / ${single(temperature)}
${weights[kind] ?? "output = torch.softmax(scores, dim=-1)"}`;
  return torchProgram(ABOUT[kind].name, body);
}

/** The arrow function, and the operators that it needs. */
function heedFormula(expr: Expr): { readonly scoreMod: string; readonly operators: readonly string[] } {
  const used = [...new Set(nodesOf(expr))];
  const [leaves, operators] = [new Set<string>(), new Set<string>()];
  for (const { op, args } of used) if (op !== "const") (args.length === 0 ? leaves : operators).add(op);
  const call = ({ op, args, value }: Expr): string => {
    if (op === "const") return String(value);
    return args.length === 0 ? op : `${op}(${args.map(call).join(", ")})`;
  };
  const given = leaves.size === 0 ? "" : `{ ${[...leaves].join(", ")} }`;
  return { scoreMod: `(${given}) => ${call(expr)}`, operators: [...operators].sort() };
}

const nodesOf = (expr: Expr): readonly Expr[] => [expr, ...expr.args.flatMap(nodesOf)];

type Written = Readonly<Partial<Record<Op, string>>>;

const SIGN_OF = SIGNS.flatMap((signs) => Object.entries(signs).map(([sign, op]) => [op, sign] as const));
const INFIX: Written = { ...Object.fromEntries(SIGN_OF), and: "&", or: "|" };
const PREFIX: Written = { neg: "-", not: "~" };
const NAMED: Written = { min: "minimum", max: "maximum", select: "where" };
const LEAVES: Written = { score: "score", q: "query_at", k: "key_at", b: "torch.tensor(0)", h: "torch.tensor(0)" };

/** Of `score` and the places `query_at` and `key_at`, tensors all. */
function torchFormula({ op, args, value }: Expr): string {
  const parts = args.map(torchFormula);
  const [first = "", second = ""] = parts;
  if (op in INFIX) return `(${first} ${INFIX[op]} ${second})`;
  if (op in PREFIX) return `(${PREFIX[op]}${first})`;
  if (op === "const")
    return value === Number.POSITIVE_INFINITY ? 'torch.tensor(float("inf"))' : `torch.tensor(${value})`;
  return LEAVES[op] ?? `torch.${NAMED[op] ?? op}(${parts.join(", ")})`;
}
