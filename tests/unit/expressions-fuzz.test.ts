// Expressions that chance has spoilt: a call computes, or it is refused with a HeedError, and the engine works on. So does the reference,
// with a RangeError.

import { afterAll, expect, test } from "vitest";
import { add, and, type Expr, less, log, mod, mul, not, select, sub, table } from "../../web/src/expr/index.js";
import { type AttentionOptions, createHeed, HeedError } from "../../web/src/index.js";
import { attention as reference } from "../../web/src/reference/index.js";
import { errorOf } from "../support/cases.js";
import { Random } from "../support/random.js";

const SEED = 26;
const ROUNDS = 2000;

const heed = await createHeed({ backend: "wasm" });
afterAll(() => heed.dispose());

const random = new Random(SEED);
const x = { data: random.floats(12), shape: [3, 4] };
const numbers = table({ data: random.floats(6), shape: [2, 3] });
const kinds = table({ data: Int32Array.of(0, 1, 1), shape: [3] });

const leaf = (op: "score" | "q" | "k"): Expr => ({ op, type: op === "score" ? "float" : "int", args: [] });
const [score, q, k] = [leaf("score"), leaf("q"), leaf("k")];

/** Good ones, by the option that takes them. */
const GOOD: readonly (readonly ["scoreMod" | "maskMod", Expr])[] = [
  ["scoreMod", add(mul(score, 0.5), numbers.at(mod(q, 2), k))],
  ["scoreMod", select(less(q, k), log(add(k, 1)), numbers.at(kinds.at(q), sub(k, q)))],
  ["maskMod", and(not(less(k, kinds.at(k))), less(mod(sub(q, k), 2), 1))],
];

type Loose = Record<string, unknown>;

/** A copy that may be written to; what is met again stays one. */
function copied(value: unknown, known = new Map<unknown, unknown>()): unknown {
  if (typeof value !== "object" || value === null) return value;
  const before = known.get(value);
  if (before !== undefined) return before;
  if (value instanceof Float32Array) return value.slice();
  const copy: Loose | unknown[] = Array.isArray(value) ? [] : {};
  known.set(value, copy);
  for (const [name, one] of Object.entries(value)) Reflect.set(copy, name, copied(one, known));
  return copy;
}

/** Every object in a tree: nodes, lists of operands, tables, shapes. */
function objectsIn(value: unknown, found = new Set<Loose>()): ReadonlySet<Loose> {
  if (typeof value !== "object" || value === null || found.has(value as Loose)) return found;
  found.add(value as Loose);
  if (!(value instanceof Float32Array)) for (const one of Object.values(value)) objectsIn(one, found);
  return found;
}

const detached = (): Float32Array => {
  const array = new Float32Array(6);
  structuredClone(array, { transfer: [array.buffer] });
  return array;
};

/** An object that answers otherwise from the second time on. */
function fickle(first: unknown, then: unknown): object {
  let reads = 0;
  return new Proxy(Object(first), { get: (target, name) => Reflect.get(reads++ < 3 ? target : Object(then), name) });
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const VALUES: readonly ((tree: readonly Loose[]) => unknown)[] = [
  () => random.pick([0, -1, 1, 0.5, 3, 2 ** 24, 2 ** 31, 2e9, -1e30, Number.NaN, Infinity, -Infinity]),
  () => random.pick(["add", "at", "const", "score", "prob", "select", "mod", "bool", "float", "__proto__", "compile"]),
  () => random.pick([undefined, null, true, "", 10n, Symbol("mine"), () => 1]),
  () =>
    random.pick([[], [2], [2, 3], [6, 1], [3, 2, 1], [1.5, 4], [-2, -3], [0], Array(5).fill(1), Array(1e5).fill(1)]),
  () => random.pick<unknown>([detached(), new Float32Array(2), new Float64Array(6), "123456", { length: 6 }]),
  () =>
    random.pick([
      revoked(),
      { compile: () => ({ words: new Int32Array(9), tables: [] }) },
      Object.create(numbers.at(0, 0)),
    ]),
  (tree) => random.pick(tree as [Loose, ...Loose[]]),
  (tree) => fickle(random.pick(tree as [Loose, ...Loose[]]), random.pick(tree as [Loose, ...Loose[]])),
];

/** One property of one of its objects is another. */
function spoil(objects: readonly Loose[]): void {
  const target = random.pick(objects as [Loose, ...Loose[]]);
  if (target instanceof Float32Array) return;
  const own = Object.keys(target);
  const name = random.chance(0.2)
    ? random.pick(["op", "args", "type", "table", "value", "length"])
    : own[random.whole(0, own.length - 1)];
  const value = VALUES[random.whole(0, VALUES.length - 1)]?.(objects);
  // The length of a list takes no other value than a small number.
  if (name !== undefined && !(Array.isArray(target) && name === "length")) Reflect.set(target, name, value);
  else if (Array.isArray(target)) target.length = random.whole(0, 3);
}

test(`${ROUNDS} spoilt expressions of seed ${SEED} compute or are refused, and change nothing for others`, () => {
  const options: Pick<AttentionOptions, "scoreMod" | "maskMod"> = Object.fromEntries(
    GOOD.slice(1).map(([name, tree]) => [name, () => tree]),
  );
  const right = heed.attentionSync(x, x, x, options).output.data;
  const wanted = reference(x, x, x, options).output.data;
  expect(right.findIndex((value, at) => !(Math.abs(value - (wanted[at] ?? Number.NaN)) < 1e-5))).toBe(-1);
  let computed = 0;
  const messages = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const [name, good] = random.pick(GOOD as [(typeof GOOD)[number], ...typeof GOOD]);
    const tree = copied(good) as Expr;
    // Before any is spoilt: who looks into a proxy has to expect anything.
    const objects = [...objectsIn(tree)];
    do spoil(objects);
    while (random.chance(0.4));
    try {
      heed.attentionSync(x, x, x, { [name]: () => tree });
      computed += 1;
    } catch (error) {
      if (!(error instanceof HeedError)) throw new Error(`round ${round}: ${String(error)}`, { cause: error });
      expect(error.code, `round ${round}`).toBe("option");
      messages.add(error.message.replaceAll(/\d+|".*?"/g, "#").slice(0, 70));
    }
    try {
      reference(x, x, x, { [name]: () => tree });
    } catch (error) {
      if (!(error instanceof RangeError)) throw new Error(`round ${round}: ${String(error)}`, { cause: error });
    }
    if (round % 10 === 0) expect(heed.attentionSync(x, x, x, options).output.data, `round ${round}`).toEqual(right);
  }
  // Chance must reach both ends, and many of the rules.
  expect(computed).toBeGreaterThan(ROUNDS / 50);
  expect(messages.size).toBeGreaterThan(12);
});

/** Two operands that are made anew whenever they are read, on and on. */
const endless = (depth: number): unknown =>
  depth === 0
    ? q
    : Object.defineProperty({ type: "int", op: "add" }, "args", {
        get: () => [endless(depth - 1), endless(depth - 1)],
      });

test.each<[string, () => unknown, string]>([
  [
    "in a circle",
    () => {
      const node = { type: "int", op: "neg", args: [] as unknown[] };
      node.args.push(node);
      return node;
    },
    "nested deeper than",
  ],
  ["of more nodes than could ever be read", () => endless(150), "more than 10000 nodes"],
  ["of more operands than it takes", () => ({ type: "int", op: "neg", args: Array(1e7).fill(q) }), "takes 1 operands"],
])("an expression %s is refused", async (_name, make, message) => {
  const error = await errorOf(async () => heed.attentionSync(x, x, x, { scoreMod: () => make() as Expr }));
  expect(error).toMatchObject({ name: "HeedError", code: "option" });
  expect(error.message).toContain(message);
});

test("a function may change its arguments", () => {
  const before = heed.attentionSync(x, x, x, { maskMod: ({ q, k }) => less(k, add(q, 1)) }).output;
  heed.attentionSync(x, x, x, { maskMod: (of) => less(Object.assign(of.k, of.q), 1) });
  expect(heed.attentionSync(x, x, x, { maskMod: ({ q, k }) => less(k, add(q, 1)) }).output).toEqual(before);
});

test("a table is never read beyond its ends, whatever the index", () => {
  const three = table({ data: Float32Array.of(1, 2, 3), shape: [3] });
  const at = (index: (score: Expr) => Expr): number[] => [
    ...new Set(
      heed.attentionSync(x, x, x, { scoreMod: ({ score }) => three.at(index(score)), return: { scores: "masked" } })
        .scores.data,
    ),
  ];
  const whole = (value: number) => ({ type: "int", op: "floor", args: [value] }) as unknown as Expr;
  for (const [value, wanted] of [
    [Infinity, 3],
    [2 ** 31, 3],
    [1e30, 3],
    [-Infinity, 1],
    [-(2 ** 31), 1],
  ] as const) {
    expect(
      at(() => whole(value)),
      `${value}`,
    ).toEqual([wanted]);
  }
  const nan = (score: Expr) =>
    ({ type: "int", op: "floor", args: [log(sub(-1, mul(score, score)))] }) as unknown as Expr;
  expect(at(nan)).toEqual([1]);
});
