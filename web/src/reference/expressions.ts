// Expressions of heed/expr by their definition: the tree, one number at a time, in double precision.

/** A node of a tree as heed/expr makes it. */
export interface ReferenceExpr {
  readonly op: string;
  readonly args: readonly ReferenceExpr[];
  readonly value?: number;
  readonly table?: { readonly data: ArrayLike<number>; readonly shape: readonly number[] };
}

/** What a tree is evaluated for. */
export interface Place {
  readonly score: number;
  readonly prob: number;
  readonly b: number;
  readonly h: number;
  readonly q: number;
  readonly k: number;
}

/** What a tree is about. */
export interface ReferenceLeaf {
  readonly op: keyof Place;
  readonly type: "float" | "int";
  readonly args: readonly never[];
}

/** What functions that make trees are given. */
export const LEAVES: Readonly<Record<keyof Place, ReferenceLeaf>> = {
  score: { op: "score", type: "float", args: [] },
  prob: { op: "prob", type: "float", args: [] },
  b: { op: "b", type: "int", args: [] },
  h: { op: "h", type: "int", args: [] },
  q: { op: "q", type: "int", args: [] },
  k: { op: "k", type: "int", args: [] },
};

const OPERATORS: Readonly<Record<string, (a: number, b: number, c: number) => number>> = {
  neg: (a) => -a,
  abs: (a) => Math.abs(a),
  floor: (a) => Math.floor(a),
  sqrt: (a) => Math.sqrt(a),
  exp: (a) => Math.exp(a),
  log: (a) => Math.log(a),
  tanh: (a) => Math.tanh(a),
  not: (a) => 1 - a,
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  floorDiv: (a, b) => (b === 0 ? 0 : Math.floor(a / b)),
  mod: (a, b) => (b === 0 ? 0 : a - b * Math.floor(a / b)),
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
  and: (a, b) => a * b,
  or: (a, b) => a + b - a * b,
  less: (a, b) => Number(a < b),
  lessEqual: (a, b) => Number(a <= b),
  equal: (a, b) => Number(a === b),
  notEqual: (a, b) => Number(a !== b),
  select: (a, b, c) => (a === 0 ? c : b),
};

export function evaluate(expr: ReferenceExpr, place: Place): number {
  const { op, args, value, table } = expr;
  if (op === "const") return value ?? Number.NaN;
  if (op === "score" || op === "prob" || op === "b" || op === "h" || op === "q" || op === "k") return place[op];
  const numbers = args.map((arg) => evaluate(arg, place));
  if (table !== undefined) {
    const at = table.shape.reduce((index, size, axis) => {
      return index * size + Math.min(Math.max(numbers[axis] ?? 0, 0), size - 1);
    }, 0);
    return table.data[at] ?? Number.NaN;
  }
  const operator = OPERATORS[op];
  if (operator === undefined) throw new RangeError(`no operator ${op}`);
  const [a = Number.NaN, b = Number.NaN, c = Number.NaN] = numbers;
  return operator(a, b, c);
}
