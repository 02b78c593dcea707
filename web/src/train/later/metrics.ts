// Metrics of classes, on arrays. They are loaded at the first call of one.

import { product, readF32 } from "../../api/operands.js";
import { floatsOf } from "../../api/operations/distances.js";
import { HeedError } from "../../base/errors.js";
import { readChoice, readCount } from "../../base/read-values.js";
import { readCopy } from "../../layers/read.js";
import { isReadable } from "../../layers/take.js";
import { classesOf, readTargets } from "../targets.js";

type Options = unknown;

/** Rows of logits whose targets count. */
interface Rows {
  readonly classes: number;
  readonly all: readonly { readonly logits: Float32Array; readonly target: number; readonly predicted: number }[];
}

export async function accuracy(logits: unknown, targets: unknown, options: Options): Promise<number> {
  const { all } = await rowsOf("accuracy", logits, targets, options);
  return all.filter(({ target, predicted }) => target === predicted).length / all.length;
}

export async function perplexity(logits: unknown, targets: unknown, options: Options): Promise<number> {
  const { all } = await rowsOf("perplexity", logits, targets, options);
  const losses = all.map((row) => {
    const top = row.logits[row.predicted] ?? 0;
    const sum = row.logits.reduce((total, one) => total + Math.exp(one - top), 0);
    return Math.log(sum) + top - (row.logits[row.target] ?? 0);
  });
  return Math.exp(losses.reduce((total, one) => total + one, 0) / all.length);
}

export async function f1(logits: unknown, targets: unknown, options: Options): Promise<number> {
  const where = "f1";
  const { average: given, ...rest } = readCopy(where, "options", options, ["average", "ignoreIndex"]);
  const average = readChoice(where, "average", given, ["macro", "micro", "weighted", "binary"], "macro");
  const { classes, all } = await rowsOf(where, logits, targets, rest);
  if (average === "binary" && classes !== 2) {
    throw new HeedError("option", `${where}: average "binary" must have 2 classes, got ${classes}`);
  }
  const counts = Array.from({ length: classes }, () => ({ right: 0, targets: 0, predicted: 0 }));
  for (const { target, predicted } of all) {
    const [own, other] = [counts[target], counts[predicted]];
    if (own === undefined || other === undefined) continue;
    own.targets += 1;
    other.predicted += 1;
    if (own === other) own.right += 1;
  }
  // As scikit-learn: a class that is neither a target nor predicted is not counted.
  const present = counts.filter((one) => one.targets + one.predicted > 0);
  const of = (one: (typeof counts)[number]): number => {
    const sum = one.targets + one.predicted;
    return sum === 0 ? 0 : (2 * one.right) / sum;
  };
  const [, positive] = counts;
  if (average === "binary") return positive === undefined ? 0 : of(positive);
  const sumOf = (value: (one: (typeof counts)[number]) => number): number =>
    present.reduce((sum, one) => sum + value(one), 0);
  if (average === "micro") return sumOf(({ right }) => right) / all.length;
  if (average === "macro") return sumOf(of) / present.length;
  return sumOf((one) => of(one) * one.targets) / all.length;
}

/** Logits are a tensor, a promise of one, or { data, shape }. */
async function rowsOf(where: string, given: unknown, targets: unknown, options: Options): Promise<Rows> {
  const { ignoreIndex } = readCopy(where, "options", options, ["ignoreIndex"]);
  const ignored = readCount(where, "ignoreIndex", ignoreIndex, -100, 2 ** 31 - 1, -(2 ** 31));
  const numbers = readTargets(where, targets, ignored);
  const tensor = await given;
  const array = isReadable(tensor) ? { data: await tensor.read(), shape: tensor.shape } : tensor;
  const read = readF32(where, "logits", array as never, null);
  const classes = read.shape.at(-1) ?? 0;
  const wanted = classesOf(where, numbers, { count: product(read.shape) / classes, classes, ignored });
  const floats = floatsOf(read);
  const all = [...wanted.keys()].flatMap((row) => {
    const target = wanted[row] ?? ignored;
    if (target === ignored) return [];
    const logits = floats.subarray(row * classes, (row + 1) * classes);
    const predicted = logits.reduce((best, one, at) => (one > (logits[best] ?? 0) ? at : best), 0);
    return [{ logits, target, predicted }];
  });
  return { classes, all };
}
