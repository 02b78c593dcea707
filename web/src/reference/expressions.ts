// Expressions of heed/expr by their definition: the tree, one number at a time, in double precision.

/** A node of a tree as heed/expr makes it. */
export interface ReferenceExpr {
  readonly op: string;
  readonly args: readonly ReferenceExpr[];
  readonly value?: number;
  readonly table?: { readonly data: ArrayLike<number>; readonly shape: readonly number[] };
}

/** The values for which a tree is evaluated. */
export interface ScoreInputs {
  readonly score: number;
  readonly prob: number;
  readonly b: number;
  readonly h: number;
  readonly q: number;
  readonly k: number;
}

/** An input of a tree. */
export interface ReferenceLeaf {
  readonly op: keyof ScoreInputs;
  readonly type: "float" | "int";
  readonly args: readonly never[];
}

type Leaves = Readonly<Record<keyof ScoreInputs, ReferenceLeaf>>;

/** The arguments of a function that makes a tree: new objects each time, because the function may change them. */
export function makeLeaves(): Leaves {
  const leaf = (op: keyof ScoreInputs): [string, ReferenceLeaf] => [
    op,
    Object.assign(Object.create(FAMILY), { op, type: INPUTS[op], args: [] }),
  ];
  return Object.fromEntries(Object.keys(INPUTS).map((op) => leaf(op as keyof ScoreInputs))) as Leaves;
}

/** What leaves inherit: JavaScript's own operators would compute with the text of an object. */
const FAMILY = {
  [Symbol.toPrimitive](): never {
    throw new RangeError("heed/reference: expressions take the operators of heed/expr, not JavaScript's");
  },
};

const INPUTS: Readonly<Record<keyof ScoreInputs, ReferenceLeaf["type"]>> = {
  score: "float",
  prob: "float",
  b: "int",
  h: "int",
  q: "int",
  k: "int",
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

/** The same limits as those of heed/expr. */
const DEEPEST = 200;
const MOST_NODES = 10_000;
const MOST_OPERANDS = 4;

/** Computes a node from its operands. */
type Step = (operands: readonly number[], inputs: ScoreInputs) => number;

/** A tree as a function of the inputs of one score. Throws a RangeError for what is not a tree. */
export function readTree(name: string, tree: unknown): (inputs: ScoreInputs) => number {
  const steps: ((numbers: readonly number[], inputs: ScoreInputs) => number)[] = [];
  const known = new Map<unknown, number>();
  // Operands come before their operator, and a shared node is computed once.
  const read = (node: unknown, depth: number): number => {
    const index = known.get(node);
    if (index !== undefined) return index;
    if (depth > DEEPEST || steps.length > MOST_NODES) throw new RangeError("it is nested too deep, or too large");
    const { op, args, value, table } = typeof node === "object" ? Object(node) : { op: "const", value: node };
    const nodes: readonly unknown[] = Array.isArray(args) ? args.slice(0, MOST_OPERANDS + 1) : [];
    const operands = nodes.map((arg) => read(arg, depth + 1));
    const step = op === "at" ? stepOfTable(table, operands.length) : stepOf(op, value, operands.length);
    known.set(node, steps.length);
    const numbersOf = (numbers: readonly number[]): number[] => operands.map((at) => numbers[at] ?? Number.NaN);
    return steps.push((numbers, inputs) => step(numbersOf(numbers), inputs)) - 1;
  };
  try {
    read(tree, 0);
  } catch (cause) {
    throw new RangeError(`heed/reference: ${name} is no expression: ${cause}`, { cause });
  }
  return (inputs) => {
    const numbers: number[] = [];
    for (const step of steps) numbers.push(step(numbers, inputs));
    return numbers.at(-1) ?? Number.NaN;
  };
}

function stepOf(op: unknown, value: unknown, operands: number): Step {
  if (op === "const" && (typeof value === "number" || typeof value === "boolean")) return () => Number(value);
  if (isOwn(INPUTS, op)) return (_operands, inputs) => inputs[op];
  const operator = isOwn(OPERATORS, op) ? OPERATORS[op] : undefined;
  if (operator?.length !== operands) throw new RangeError(`it has no operator ${String(op)} of ${operands} operands`);
  return ([a = Number.NaN, b = Number.NaN, c = Number.NaN]) => operator(a, b, c);
}

function isOwn<T extends object>(record: T, name: unknown): name is keyof T {
  return typeof name === "string" && Object.hasOwn(record, name);
}

/** An index beyond an axis reads the number at its end, and NaN reads the first. */
function stepOfTable(table: unknown, indices: number): Step {
  const { data, shape } = Object(table);
  const sizes: readonly number[] = Array.isArray(shape) ? shape.slice(0, MOST_OPERANDS + 1) : [];
  const isShape = sizes.length === indices && sizes.every((size) => Number.isInteger(size) && size > 0);
  const areNumbers = ArrayBuffer.isView(data) || Array.isArray(data);
  const numbers = areNumbers ? (data as unknown as ArrayLike<number>) : [];
  if (!isShape || sizes.reduce((total, size) => total * size, 1) !== numbers.length) {
    throw new RangeError(`it has no table of shape [${sizes}] with as many numbers, for ${indices} indices`);
  }
  return (operands) => {
    const at = sizes.reduce((index, size, axis) => {
      const given = operands[axis] ?? 0;
      return index * size + (given > 0 ? Math.min(given, size - 1) : 0);
    }, 0);
    return Number(numbers[at]);
  };
}
