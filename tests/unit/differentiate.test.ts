// Derivatives of scoreMod and probMod: their programs against central differences of the reference, at points where there is no derivative,
// and what is refused.

import { describe, expect, test } from "vitest";
import { compile } from "../../web/src/expr/compile.js";
import { type CompiledVjp, compileVjp, TABLE_READ_WORDS } from "../../web/src/expr/compile-vjp.js";
import {
  abs,
  add,
  div,
  type Expr,
  exp,
  floor,
  less,
  log,
  max,
  min,
  mod,
  mul,
  neg,
  select,
  sqrt,
  sub,
  type TableData,
  table,
  tanh,
} from "../../web/src/expr/index.js";
import { RULES } from "../../web/src/expr/rules.js";
import { HeedError } from "../../web/src/index.js";
import { type ReferenceExpr, readTree } from "../../web/src/reference/expressions.js";
import { errorOf } from "../support/cases.js";
import { lengthOf, numberIn, type ProgramInputs, runProgram } from "../support/program.js";
import { Random } from "../support/random.js";
import { LEAVES, RandomFunctions } from "../support/random-functions.js";

const { score, prob, b, h, q, k } = LEAVES;

const compiled = (trees: Parameters<typeof compileVjp>[1], wantsTables = true): CompiledVjp =>
  compileVjp("attentionVjp", trees, { wantsTables });

const at = (taken: number): ProgramInputs => ({ taken, b: 1, h: 2, q: 3, k: 5 });

/** A TableRead of cpp/include/heed/expressions.hpp. */
interface Read {
  readonly reader: number;
  readonly table: number;
  readonly target: number;
  readonly slope: number;
  readonly indices: readonly number[];
}

function readsOf({ tableReads }: CompiledVjp): readonly Read[] {
  return Array.from({ length: tableReads.length / TABLE_READ_WORDS }, (_, n) => {
    const words = tableReads.subarray(n * TABLE_READ_WORDS, (n + 1) * TABLE_READ_WORDS);
    const [reader = -1, table = -1, target = -1, slope = -1, ...indices] = words;
    return { reader, table, target, slope, indices };
  });
}

/** The derivatives of a function with respect to the numbers of all tables. */
function tableSlopes(of: CompiledVjp, reader: number, inputs: ProgramInputs): Float64Array {
  const slopes = new Float64Array(of.tableGradientNumbers);
  for (const read of readsOf(of)) {
    if (read.reader !== reader) continue;
    const found = numberIn(of, read.table, (axis) => runProgram(of, read.indices[axis] ?? 0, inputs));
    const target = read.target + found - numberIn(of, read.table, () => 0);
    slopes[target] = (slopes[target] ?? Number.NaN) + runProgram(of, read.slope, inputs);
  }
  return slopes;
}

/** A copy that reads other numbers in place of those of one table. Shared nodes stay shared. */
function withNumbers(tree: Expr, of: TableData, data: Float64Array): ReferenceExpr {
  const known = new Map<Expr, ReferenceExpr>();
  const copy = (node: Expr): ReferenceExpr => {
    const before = known.get(node);
    if (before !== undefined) return before;
    const args = node.args.map(copy);
    const made = node.table === of ? { ...node, args, table: { data, shape: of.shape } } : { ...node, args };
    known.set(node, made);
    return made;
  };
  return copy(tree);
}

const STEP = 2 ** -14;

/** A central difference, extrapolated, and how far off it may be. Null: a point without a derivative is near. */
function difference(of: (change: number) => number): { slope: number; bound: number } | null {
  const first = (step: number): number => (of(step) - of(-step)) / (2 * step);
  const bend = (step: number): number => Math.abs(of(step) - 2 * of(0) + of(-step)) / step;
  const [coarse, fine, finest] = [first(STEP), first(STEP / 2), first(STEP / 4)];
  const slope = (4 * finest - fine) / 3;
  const rounding = (2 ** -46 * (1 + Math.abs(of(0)))) / STEP;
  // Folding rounds constants to f32.
  const constants = 2 ** -20 * (1 + Math.abs(slope));
  const bound = Math.abs(coarse - fine) + Math.abs(fine - finest) + rounding + constants;
  // Where a function is smooth, its bend shrinks with the step.
  const isSmooth = bend(STEP / 4) <= bend(STEP) / 2 + 1e-5;
  return isSmooth && Number.isFinite(bound) ? { slope, bound } : null;
}

describe("random functions", () => {
  const SEED = 8501;
  const ROUNDS = 400;
  const random = new Random(SEED);
  const functions = new RandomFunctions(random);
  const counts = { slopes: 0, tables: 0, skipped: 0, nonzero: 0 };

  function check(got: number, of: (change: number) => number, what: string): void {
    const wanted = difference(of);
    if (wanted === null) {
      counts.skipped++;
      return;
    }
    expect(Math.abs(got - wanted.slope), `${what}: ${got} for ${wanted.slope}`).toBeLessThanOrEqual(wanted.bound);
    if (got !== 0) counts.nonzero++;
  }

  function checkAt(tree: Expr, taken: number, place: Omit<ProgramInputs, "taken">, what: string): void {
    const isScore = what.endsWith("scoreMod");
    const name = isScore ? "scoreMod" : "probMod";
    const evaluator = (of: ReferenceExpr): ((value: number) => number) => {
      const evaluate = readTree(name, of);
      return (value) => evaluate({ ...place, score: value, prob: value });
    };
    const vjp = compiled({ [name]: tree, maskMod: less(k, 9) });
    const inputs = { ...place, taken };
    const slope = runProgram(vjp, isScore ? vjp.scoreSlope : vjp.weightSlope, inputs);
    const evaluate = evaluator(tree);
    check(slope, (change) => evaluate(taken + change), what);
    counts.slopes++;
    const slopes = tableSlopes(vjp, isScore ? 0 : 2, inputs);
    for (const { table, start } of vjp.tableGradients) {
      if (start === null) continue;
      const of = table as TableData;
      const data = Float64Array.from(of.data);
      const evaluate = evaluator(withNumbers(tree, of, data));
      for (const [n, number] of of.data.entries()) {
        const changed = (change: number): number => {
          data[n] = number + change;
          const result = evaluate(taken);
          data[n] = number;
          return result;
        };
        check(slopes[start + n] ?? Number.NaN, changed, `${what}, number ${n} of [${of.shape}]`);
        counts.tables++;
      }
    }
  }

  test(`${ROUNDS} functions of seed ${SEED} have the slopes of central differences`, () => {
    const used = new Set<string>();
    const note = (tree: Expr): void => {
      used.add(tree.op);
      for (const arg of tree.args) note(arg);
    };
    for (let round = 0; round < ROUNDS; round++) {
      const taken = random.pick([score, prob]);
      const tree = functions.number(random.whole(1, 6), taken);
      note(tree);
      for (let time = 0; time < 4; time++) {
        const [b, h] = [random.whole(0, 1), random.whole(0, 3)];
        const [q, k] = [random.whole(0, 9), random.whole(0, 9)];
        const [value = 0] = random.floats(1);
        checkAt(tree, value, { b, h, q, k }, `round ${round}, ${taken === score ? "scoreMod" : "probMod"}`);
      }
    }
    expect([...used].sort()).toEqual([...Object.keys(RULES), "const", "at"].sort());
    // Chance must reach derivatives of both kinds, and few points without one.
    expect(counts.slopes).toBe(4 * ROUNDS);
    expect(counts.tables).toBeGreaterThan(10 * ROUNDS);
    expect(counts.nonzero).toBeGreaterThan(3 * ROUNDS);
    expect(counts.skipped).toBeLessThan((counts.slopes + counts.tables) / 50);
  });
});

const scoreSlope = (tree: unknown, taken: number): number => {
  const vjp = compiled({ scoreMod: tree });
  return runProgram(vjp, vjp.scoreSlope, at(taken));
};

test.each<[string, Expr, readonly (readonly [taken: number, slope: number])[]]>([
  [
    "abs, 0 at 0",
    abs(score),
    [
      [-2, -1],
      [0, 0],
      [2, 1],
    ],
  ],
  [
    "max, half of each where they are equal",
    max(mul(3, score), score),
    [
      [-2, 1],
      [0, 2],
      [2, 3],
    ],
  ],
  [
    "min, likewise",
    min(mul(3, score), score),
    [
      [-2, 3],
      [0, 2],
      [2, 1],
    ],
  ],
  [
    "max with a constant",
    max(score, 0.5),
    [
      [0.25, 0],
      [0.5, 0.5],
      [0.75, 1],
    ],
  ],
  [
    "min of equals",
    min(score, score),
    [
      [0, 1],
      [1, 1],
    ],
  ],
  [
    "select, which takes that of its choice",
    select(less(score, 1), mul(2, score), mul(score, score)),
    [
      [0.5, 2],
      [1, 2],
      [3, 6],
    ],
  ],
  [
    "what is not chosen, NaN or not",
    select(less(0, score), sqrt(score), neg(log(neg(score)))),
    [
      [4, 0.25],
      [-4, 0.25],
    ],
  ],
  [
    "what is masked",
    select(less(score, 0), -Infinity, score),
    [
      [-1, 0],
      [1, 1],
    ],
  ],
  [
    "rounding in a condition",
    select(less(floor(score), 2), score, 5),
    [
      [1.5, 1],
      [2.5, 0],
    ],
  ],
  ["sqrt, infinite at 0", sqrt(score), [[0, Infinity]]],
  ["exp, tanh, a quotient", div(exp(mul(2, score)), add(1, tanh(score))), [[0, 1]]],
  ["indices alone", add(mul(q, 0.5), mod(k, 3)), [[7, 0]]],
])("the slope of %s", (_name, tree, wanted) => {
  for (const [taken, slope] of wanted) expect(scoreSlope(tree, taken), `at ${taken}`).toBe(slope);
});

describe("tables", () => {
  const bias = table({ data: Float32Array.of(1, 2, 3, 4, 5, 6), shape: [2, 3] });
  const gains = table({ data: Float32Array.of(0.5, 2, 4), shape: [3] });
  const kinds = table({ data: Int32Array.of(0, 2, 1), shape: [3] });

  test("reads come with indices, and gradients lie one after the other", () => {
    const scoreMod = add(mul(score, gains.at(h)), bias.at(sub(q, k), kinds.at(b)));
    const probMod = mul(prob, gains.at(kinds.at(k)));
    const vjp = compiled({ scoreMod, probMod });
    const reads = readsOf(vjp);
    expect(reads.map(({ reader }) => reader)).toEqual([0, 0, 2]);
    expect(vjp.tableGradientNumbers).toBe(9);
    expect(vjp.tableGradients).toEqual([
      { table: gains.at(h).table, shape: [3], start: 0 },
      { table: bias.at(q, k).table, shape: [2, 3], start: 3 },
      { table: kinds.at(b).table, shape: [3], start: null },
    ]);
    expect(reads.map(({ target }) => target)).toEqual([0, 3, 0]);
    // Head 2; query - key is -2, which reads the first row, and batch entry 1 the last column. Key 5 reads the last kind.
    expect([...tableSlopes(vjp, 0, at(7))]).toEqual([0, 0, 7, 0, 0, 1, 0, 0, 0]);
    expect([...tableSlopes(vjp, 2, at(7))]).toEqual([0, 7, 0, 0, 0, 0, 0, 0, 0]);
  });

  test("a number that is read twice at the same place is one read", () => {
    const twice = compiled({ scoreMod: mul(score, gains.at(h), gains.at(h)) });
    expect(readsOf(twice)).toHaveLength(1);
    expect([...tableSlopes(twice, 0, at(3))]).toEqual([0, 0, 24]);
    const places = compiled({ scoreMod: mul(score, gains.at(h), gains.at(b)) });
    expect([...tableSlopes(places, 0, at(3))]).toEqual([0, 12, 6]);
  });

  test("none are read of whole numbers, of conditions, and of tables that nobody wants", () => {
    const none = compiled({ scoreMod: select(less(gains.at(h), 1), mul(score, kinds.at(q)), 0) });
    expect(none).toMatchObject({ tableReads: Int32Array.of(), tableGradientNumbers: 0 });
    expect(none.tableGradients).toEqual([
      { table: gains.at(h).table, shape: [3], start: null },
      { table: kinds.at(q).table, shape: [3], start: null },
    ]);
    const read = { scoreMod: mul(score, gains.at(h)) };
    expect(compiled(read, false)).toMatchObject({ tableReads: Int32Array.of(), tableGradients: [] });
    expect(compiled(read).tableReads).toHaveLength(TABLE_READ_WORDS);
  });
});

describe("programs", () => {
  test("are those of the forward pass, with others behind them", () => {
    const gains = table({ data: Float32Array.of(0.5, 2, 4), shape: [3] });
    const trees = { scoreMod: mul(gains.at(h), tanh(score)), maskMod: less(k, q), probMod: mul(prob, prob) };
    const { words, tables } = compile("attention", trees);
    const vjp = compiled(trees);
    expect(vjp.words.subarray(0, words.length)).toEqual(words);
    expect(vjp.tables).toEqual(tables);
    for (const start of [vjp.scoreSlope, vjp.weightSlope, readsOf(vjp)[0]?.slope]) {
      expect(start).toBeGreaterThanOrEqual(words.length);
    }
    expect(compiled({ maskMod: less(k, q) })).toMatchObject({ scoreSlope: 0, weightSlope: 0 });
  });

  test.each<[string, unknown, number]>([
    ["the score itself", score, 1],
    ["a constant", 0.5, 1],
    ["ALiBi", sub(score, mul(0.25, abs(sub(q, k)))), 1],
    ["a mask of -Infinity", add(score, select(less(k, q), 0, -Infinity)), 1],
    ["two branches of one slope", select(less(k, q), score, sub(score, 1)), 1],
    ["a factor", mul(score, 3), 1],
    ["softcap", mul(49, tanh(div(score, 49))), 6],
    ["a square", mul(score, score), 2],
    ["what cancels", add(mul(0.25, score), div(score, -4)), 1],
  ])("of %s are short", (_name, scoreMod, instructions) => {
    const vjp = compiled({ scoreMod });
    expect(lengthOf(vjp, vjp.scoreSlope)).toBe(instructions);
  });

  test("equal ones are there once", () => {
    const vjp = compiled({ scoreMod: add(score, 1), probMod: add(prob, 2) });
    expect(vjp.scoreSlope).toBe(vjp.weightSlope);
  });

  test("of a long chain take few registers", () => {
    const deep = Array.from({ length: 90 }).reduce<Expr>((x) => tanh(mul(2, x)), score);
    const vjp = compiled({ scoreMod: deep });
    let [value, slope] = [0.3, 1];
    for (let n = 0; n < 90; n++) {
      value = Math.tanh(2 * value);
      slope *= 2 * (1 - value * value);
    }
    expect(runProgram(vjp, vjp.scoreSlope, at(0.3)) / slope).toBeCloseTo(1, 9);
  });
});

describe("what is refused", () => {
  const gains = table({ data: Float32Array.of(0.5, 2, 4), shape: [3] });

  test.each<[string, Parameters<typeof compiled>[0], string, string]>([
    [
      "a rounded score",
      { scoreMod: mul(0.5, floor(score)) },
      "unsupported",
      "scoreMod has no derivative, because floor",
    ],
    [
      "a rounded weight",
      { probMod: div(floor(mul(8, prob)), 8) },
      "unsupported",
      "floor is applied to what depends on the weight",
    ],
    ["the remainder of a score", { scoreMod: mul(0.5, mod(floor(score), 3)) }, "unsupported", "depends on the score"],
    [
      "a table at a score",
      { scoreMod: gains.at(floor(score)) },
      "unsupported",
      "floor is applied to what depends on the score",
    ],
    ["a rounded number of a table", { scoreMod: add(score, floor(gains.at(h))) }, "unsupported", "a number of a table"],
    [
      "what the forward pass refuses",
      { scoreMod: less(q, k) },
      "option",
      "scoreMod must be an expression that is a number",
    ],
  ])("%s", async (_name, trees, code, message) => {
    const error = await errorOf(async () => compiled(trees));
    expect(error).toBeInstanceOf(HeedError);
    expect(error.code).toBe(code);
    expect(error.message).toContain("attentionVjp: ");
    expect(error.message).toContain(message);
  });

  test("a derivative of too many steps, by its name", async () => {
    const long = Array.from({ length: 98 }).reduce<Expr>((x) => max(mul(x, x), add(mul(x, 0.5), 1)), score);
    const error = await errorOf(async () => compiled({ scoreMod: long }));
    expect(error.message).toBe("attentionVjp: the derivative of scoreMod has more than 1000 steps");
  });

  test("nothing of a table without gradients", () => {
    expect(() => compiled({ scoreMod: add(score, floor(gains.at(h))) }, false)).not.toThrow();
  });
});
