// Losses of the operations of a pass. They are loaded at the first call of one.

import { product } from "../../api/operands.js";
import type { Tensor } from "../../api/tensor.js";
import { showShape, showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { readBoolean, readFinite, readPositive } from "../../base/read-values.js";
import { numbersOf } from "../../base/typed-array.js";
import { readAtLeastZero, readCopy } from "../../layers/read.js";
import type { Pass } from "../pass/pass.js";
import type { ClassRule } from "./class-rule.js";

type Options = Readonly<Record<string, unknown>>;
type CrossEntropy = (logits: Tensor, targets: readonly number[], options: { readonly pass: Pass }) => Promise<Tensor>;

/** What a loss computes with. Its classes are those of heed/train, which this file must not have again. */
export interface Within {
  readonly pass: Pass;
  readonly crossEntropy: CrossEntropy;
}

export async function contrastive(
  { pass, crossEntropy }: Within,
  queries: Tensor,
  keys: Tensor,
  options: Options,
): Promise<Tensor> {
  const where = "contrastive";
  const given = readCopy(where, "options", options, ["temperature", "symmetric"]);
  const isSymmetric = readBoolean(where, "symmetric", given["symmetric"], false);
  const { temperature = 0.07 } = given;
  if (typeof temperature === "number") readPositive(where, "temperature", temperature, 1);
  const [[rows = 0, dim], [count = 0, keyDim]] = [queries.shape, keys.shape];
  const isCounted = isSymmetric ? count === rows : count >= rows;
  if (queries.shape.length !== 2 || keys.shape.length !== 2 || dim !== keyDim || !isCounted) {
    const rule = `queries must be [N, D] and keys [N, D]${isSymmetric ? "" : ", or have more rows"}`;
    throw new HeedError("shape", `${where}: ${rule}, got ${showShape(queries.shape)} and ${showShape(keys.shape)}`);
  }
  const cosines = pass.matmul(pass.normalize(queries), pass.normalize(keys), { transposeB: true });
  const logits = await pass.div(cosines, temperature as number);
  const own = Array.from({ length: rows }, (_, row) => row);
  if (!isSymmetric) return crossEntropy(logits, own, { pass });
  const turned = await pass.transpose(logits);
  const [loss, back] = [logits, turned].map((one) => crossEntropy(one, own, { pass }));
  return pass.mul(pass.add(loss as Promise<Tensor>, back as Promise<Tensor>), 0.5);
}

export async function cosine({ pass }: Within, a: Tensor, b: Tensor, options: Options): Promise<Tensor> {
  const where = "cosine";
  const given = readCopy(where, "options", options, ["targets", "margin"]);
  const margin = readFinite(where, "margin", given["margin"], 0);
  checkAlike(where, a, b);
  const cosines = await pass.sum(pass.mul(pass.normalize(a), pass.normalize(b)), { axis: -1 });
  if (given["targets"] === undefined) return pass.sub(1, pass.mean(cosines));
  const targets = numbersOf(given["targets"]);
  const count = product(cosines.shape);
  if (targets?.length !== count || targets.some((one) => Math.abs(one) !== 1)) {
    const rule = `targets must be ${count} numbers, each 1 or -1`;
    throw new HeedError("option", `${where}: ${rule}, got ${showValue(given["targets"])}`);
  }
  const isLike = { data: targets.map((one) => one > 0), shape: cosines.shape };
  return pass.mean(pass.where(isLike, pass.sub(1, cosines), pass.relu(pass.sub(cosines, margin))));
}

export async function klDivergence(
  { pass }: Within,
  logits: Tensor,
  teacher: Tensor,
  options: Options,
): Promise<Tensor> {
  const where = "klDivergence";
  const { temperature: given } = readCopy(where, "options", options, ["temperature"]);
  const temperature = readPositive(where, "temperature", given, 1);
  checkAlike(where, logits, teacher);
  const [own, wanted] = await Promise.all(
    [logits, teacher].map(async (one) => logSoftmax(pass, await pass.div(one, temperature))),
  );
  if (own === undefined || wanted === undefined) throw new TypeError("there are two");
  const rows = product(logits.shape) / (logits.shape.at(-1) ?? 1);
  // A class that the teacher rules out adds nothing.
  const shares = await pass.exp(wanted);
  const apart = pass.where(shares, pass.sub(wanted, own), 0);
  return pass.mul(pass.sum(pass.mul(shares, apart)), temperature ** 2 / rows);
}

/** The mean of -w (1 - p)^gamma log p by weights, with p = softmax(logits)[target]: with gamma 0 PyTorch's cross entropy with weights. */
export async function ofClasses(pass: Pass, logits: Tensor, rule: ClassRule): Promise<Tensor> {
  const { where, targets, ignored, smoothing } = rule;
  const classes = logits.shape.at(-1) ?? 1;
  const gamma = readAtLeastZero(where, "gamma", rule.gamma, 0);
  const weights = readWeights(where, rule.weights, classes);
  const rows = [...targets.keys()].filter((row) => targets[row] !== ignored);
  const weightOf = (row: number): number => weights[targets[row] ?? 0] ?? 0;
  const total = rows.reduce((sum, row) => sum + weightOf(row), 0);
  if (!(total > 0))
    throw new HeedError("option", `${where}: a target that counts must have a weight above 0, got none`);
  const logs = await logSoftmax(pass, await pass.reshape(logits, [-1, classes]));
  const places = rows.map((row) => row * classes + (targets[row] ?? 0));
  const own = await pass.gather(pass.reshape(logs, [-1]), places);
  const scale = (row: number): number => ((smoothing - 1) * weightOf(row)) / total;
  const scaled = pass.mul(own, { data: Float32Array.from(rows, scale), shape: [rows.length] });
  const loss = pass.sum(gamma === 0 ? scaled : pass.mul(scaled, focus(pass, own, gamma)));
  if (smoothing === 0) return loss;
  const shares = weights.map((weight) => (-smoothing * weight) / classes / total);
  const all = pass.mul(pass.gather(logs, rows), { data: Float32Array.from(shares), shape: [classes] });
  return pass.add(loss, pass.sum(all));
}

/** (1 - p)^gamma of log p. Where 1 - p rounds to 0 it is next to 0, with a slope of 0. */
async function focus(pass: Pass, logs: Tensor, gamma: number): Promise<Tensor> {
  const least = 1e-12;
  const rest = pass.add(pass.relu(pass.sub(1 - least, pass.exp(logs))), least);
  return pass.exp(pass.mul(pass.log(rest), gamma));
}

function readWeights(where: string, value: unknown, classes: number): readonly number[] {
  if (value === undefined) return Array<number>(classes).fill(1);
  const weights = numbersOf(value);
  if (weights?.length === classes && weights.every((one) => one >= 0 && one < Number.POSITIVE_INFINITY)) return weights;
  const rule = `weights must be ${classes} numbers of at least 0, one a class`;
  throw new HeedError("option", `${where}: ${rule}, got ${showValue(value)}`);
}

async function logSoftmax(pass: Pass, x: Tensor): Promise<Tensor> {
  const rows = { axis: -1, keepDims: true };
  const shifted = await pass.sub(x, pass.max(x, rows));
  return pass.sub(shifted, pass.log(pass.sum(pass.exp(shifted), rows)));
}

function checkAlike(where: string, a: Tensor, b: Tensor): void {
  if (a.shape.length > 0 && a.shape.join() === b.shape.join()) return;
  throw new HeedError(
    "shape",
    `${where}: both must have one shape, got ${showShape(a.shape)} and ${showShape(b.shape)}`,
  );
}
