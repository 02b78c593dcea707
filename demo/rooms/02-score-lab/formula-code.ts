// A formula as source code: the calls of heed/expr, and arithmetic on PyTorch's tensors.

import type { Expr, Op } from "heed/expr";

/** The arrow function, and the operators that it needs. */
export function heedFormula(expr: Expr): { readonly scoreMod: string; readonly operators: readonly string[] } {
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

function nodesOf(expr: Expr): readonly Expr[] {
  return [expr, ...expr.args.flatMap(nodesOf)];
}

const INFIX: Readonly<Partial<Record<Op, string>>> = {
  add: "+",
  sub: "-",
  mul: "*",
  div: "/",
  floorDiv: "//",
  mod: "%",
  less: "<",
  lessEqual: "<=",
  equal: "==",
  notEqual: "!=",
  and: "&",
  or: "|",
};
const PREFIX: Readonly<Partial<Record<Op, string>>> = { neg: "-", not: "~" };
const NAMED: Readonly<Partial<Record<Op, string>>> = { min: "minimum", max: "maximum", select: "where" };

/** Of `score` and the places `query_at` and `key_at`, tensors all. */
export function torchFormula({ op, args, value }: Expr): string {
  const parts = args.map(torchFormula);
  const [first = "", second = ""] = parts;
  if (op in INFIX) return `(${first} ${INFIX[op]} ${second})`;
  if (op in PREFIX) return `(${PREFIX[op]}${first})`;
  switch (op) {
    case "const":
      return value === Number.POSITIVE_INFINITY ? 'torch.tensor(float("inf"))' : `torch.tensor(${value})`;
    case "score":
      return "score";
    case "q":
      return "query_at";
    case "k":
      return "key_at";
    case "b":
    case "h":
      return "torch.tensor(0)";
    default:
      return `torch.${NAMED[op] ?? op}(${parts.join(", ")})`;
  }
}
