// The training loop.

import { product } from "../api/operands.js";
import { Tensor } from "../api/tensor.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guard } from "../base/guard.js";
import {
  isRecord,
  readBoolean,
  readCount,
  readPositive,
  readRecord,
  readSignal,
  refusal,
  throwIfAborted,
} from "../base/read-values.js";
import { numbersOf } from "../base/typed-array.js";
import { unlessAborted } from "../base/unless-aborted.js";
import type { Layer } from "../layers/layer.js";
import { readOnce } from "../layers/read.js";
import { saveCheckpoint } from "./checkpoint.js";
import { clipped, type Norms } from "./clip-norm.js";
import { gradients } from "./gradients.js";
import type { Best } from "./later/evaluation.js";
import { Optimizer } from "./optimizers.js";
import type { Pass } from "./pass/pass.js";
import { checkModel } from "./variables.js";

/** What is told after each step. */
export interface StepReport {
  /** From 0. */
  readonly step: number;
  /** The mean over what was accumulated. */
  readonly loss: number;
  /** Of the gradients before they were clipped; undefined without `clip`. */
  readonly norm: number | undefined;
  /** With `norms`: those of the gradients of each layer, by its path, before they were clipped. */
  readonly norms: ReadonlyMap<string, number> | undefined;
  /**
   * With `norms` and `accumulate`: the simple noise scale of gradients, in batches, from all steps so far of this call. Batches of fewer examples
   * than so many give gradients that are mostly noise.
   */
  readonly noise: number | undefined;
  /** Numbers of a batch, or of its first part that has any, in each second; 0 where it has none. */
  readonly tokensPerSecond: number;
}

/** How a model is judged between steps. */
export interface EvaluationOptions<M extends Layer> {
  /** After every so many steps. */
  readonly every: number;
  /** Gives a number: the smaller, the better. `step` is how many steps were taken. */
  readonly run: (model: M, step: number) => number | Promise<number>;
  /** The larger, the better. Default false. */
  readonly larger?: boolean | undefined;
  /** Training ends after so many evaluations that were no better. Default never. */
  readonly patience?: number | undefined;
  /** A value is better where it is by more than this. Default 0. */
  readonly minDelta?: number | undefined;
}

/** What `train` gives. */
export interface TrainResult {
  /** How many steps were taken, those before `start` included. */
  readonly steps: number;
  /** Where there were evaluations. */
  readonly best: Best | undefined;
}

/** The options of `train`. */
export interface TrainOptions<M extends Layer, B> {
  readonly optimizer: Optimizer;
  /** The number of steps in all, those before `start` included. */
  readonly steps: number;
  /** The first step, where a run is resumed. Default 0. */
  readonly start?: number | undefined;
  /** The batch of a step; with `accumulate`, that of each part of it. */
  readonly batch: (step: number, part: number) => B | Promise<B>;
  readonly loss: (model: M, batch: B, pass: Pass) => Tensor | Promise<Tensor>;
  /** The learning rate of a step. */
  readonly schedule?: ((step: number) => number) | undefined;
  /** The largest norm of all gradients together. */
  readonly clip?: number | undefined;
  /** How many batches make a step. Default 1. */
  readonly accumulate?: number | undefined;
  /** Of what layers drop, a whole number of 32 bits: other places in each step and each part. Default 0. */
  readonly seed?: number | undefined;
  /** Stops early, and keeps the best checkpoint. */
  readonly evaluation?: EvaluationOptions<M> | undefined;
  /** Reports norms by layer, and noise. Default false. */
  readonly norms?: boolean | undefined;
  /** As in the options of `gradients`. */
  readonly checkpointing?: boolean | undefined;
  readonly onStep?: ((report: StepReport) => void) | undefined;
  /** Saves the state after every so many steps. */
  readonly checkpoint?:
    | { readonly every: number; readonly save: (file: Uint8Array<ArrayBuffer>, step: number) => unknown }
    | undefined;
  readonly signal?: AbortSignal | undefined;
}

const NAMES = [
  "optimizer",
  "steps",
  "start",
  "batch",
  "loss",
  "schedule",
  "clip",
  "accumulate",
  "seed",
  "evaluation",
  "norms",
  "checkpointing",
  "onStep",
  "checkpoint",
  "signal",
];

const where = "train";

/** Models that are being trained. */
const TRAINED = new WeakSet<Layer>();

/** Trains a model. Rejects, with all that was learnt kept, when the signal aborts, or as a function of the options does. */
export async function train<M extends Layer, B>(model: M, options: TrainOptions<M, B>): Promise<TrainResult> {
  const given = guard("option", `${where}: reading its arguments`, () => read(model, options));
  if (TRAINED.has(model)) throw new HeedError("option", `${where}: another call trains this model`);
  TRAINED.add(model);
  try {
    return await run(model, given);
  } finally {
    TRAINED.delete(model);
  }
}

function read<M extends Layer, B>(model: M, options: TrainOptions<M, B>) {
  const given = readOnce(where, "options", options, NAMES) as unknown as TrainOptions<M, B>;
  const count = (name: "steps" | "accumulate", absent: number | null): number =>
    readCount(where, name, given[name], absent) ?? missing(name);
  const [steps, accumulate] = [count("steps", null), count("accumulate", 1)];
  const start = readCount(where, "start", given.start, 0, 2 ** 31 - 1, 0);
  const seed = readCount(where, "seed", given.seed, 0, 2 ** 32 - 1, 0);
  const clip = given.clip === undefined ? undefined : readPositive(where, "clip", given.clip, 1);
  const { optimizer, batch, loss, schedule, onStep, checkpointing, checkpoint, evaluation } = given;
  const norms = readBoolean(where, "norms", given.norms, false);
  const signal = readSignal(where, given.signal);
  checkModel(where, model);
  Optimizer.check(where, optimizer, model);
  const saved = checkpoint && readRecord(where, "checkpoint", checkpoint, ["every", "save"]);
  const every = saved && (readCount(where, "checkpoint.every", saved["every"], null) ?? missing("checkpoint.every"));
  const acts = { batch, loss, schedule, onStep, "checkpoint.save": checkpoint?.save };
  const isOptional = (name: string): boolean => name === "schedule" || name === "onStep" || checkpoint === undefined;
  for (const [name, act] of Object.entries(acts)) {
    if (act === undefined && name !== "batch" && name !== "loss" && isOptional(name)) continue;
    if (typeof act !== "function") throw refusal(where, name, "a function", act);
  }
  return {
    optimizer,
    batch,
    loss,
    schedule,
    onStep,
    checkpointing,
    checkpoint,
    signal,
    steps,
    start,
    accumulate,
    seed,
    evaluation,
    norms,
    clip,
    every,
  };
}

type Checked<M extends Layer, B> = ReturnType<typeof read<M, B>>;

async function run<M extends Layer, B>(model: M, given: Checked<M, B>): Promise<TrainResult> {
  const { optimizer, batch, loss, schedule, onStep, checkpointing, checkpoint } = given;
  const { signal, steps, start, accumulate, seed, norms, clip, every } = given;
  const later = given.evaluation === undefined ? undefined : await import("./later/evaluation.js");
  const evaluation = later && new later.Evaluation(where, given.evaluation);
  const noise = { signal: 0, variance: 0 };
  const goOn = (): void => guard("option", `${where}: reading signal`, () => throwIfAborted(where, signal));
  for (let step = start; step < steps; step++) {
    const begun = performance.now();
    let [total, tokens] = [0, 0];
    let [all, first]: (Norms | undefined)[] = [];
    try {
      for (let part = 0; part < accumulate; part++) {
        goOn();
        const numbers = await unlessAborted(where, signal, () => batch(step, part));
        tokens += guard("option", `${where}: reading a batch`, () => countOf(numbers));
        const made = await gradients(model, async (pass) => ({ loss: await loss(model, numbers, pass) }), {
          signal: signal ?? undefined,
          scale: 1 / accumulate,
          seed: (seed + step * accumulate + part) % 2 ** 32,
          checkpointing,
        });
        total += made.loss / accumulate;
        if (norms && part === 0 && accumulate > 1) first = await clipped(where, model, Number.POSITIVE_INFINITY);
      }
      goOn();
      if (norms || clip !== undefined) all = await clipped(where, model, clip ?? Number.POSITIVE_INFINITY);
      await optimizer.step(schedule === undefined ? {} : { learningRate: rateOf(schedule(step)) });
    } catch (error) {
      // A step that was not made leaves nothing to the next.
      await optimizer.clear();
      throw error;
    }
    if (all && first) {
      // McCandlish et al., An empirical model of large-batch training, appendix A.1: of one batch, and of all.
      const [small, large] = [(first.norm * accumulate) ** 2, all.norm ** 2];
      noise.signal += accumulate * large - small;
      noise.variance += accumulate * (small - large);
    }
    onStep?.({
      step,
      loss: total,
      norm: clip && all?.norm,
      norms: norms ? all?.layers : undefined,
      noise: first && noise.variance / noise.signal,
      tokensPerSecond: (1000 * tokens) / (performance.now() - begun),
    });
    if (checkpoint !== undefined && every !== undefined && (step + 1) % every === 0) {
      const file = await saveCheckpoint(model, optimizer, { step: step + 1 });
      await unlessAborted(where, signal, () => checkpoint.save(file, step + 1));
    }
    if (evaluation === undefined || (step + 1) % evaluation.every > 0) continue;
    const value = await unlessAborted(where, signal, () => evaluation.run(model as never, step + 1));
    const isLast = await evaluation.take(value, step + 1, () => saveCheckpoint(model, optimizer, { step: step + 1 }));
    if (isLast) return { steps: step + 1, best: evaluation.best };
  }
  return { steps: Math.max(start, steps), best: evaluation?.best };
}

/** A schedule that returns nothing would leave the rate as it was. */
function rateOf(rate: unknown): number {
  if (typeof rate === "number" && rate >= 0) return rate;
  throw new HeedError("option", `${where}: schedule must return a rate of at least 0, got ${showValue(rate)}`);
}

function missing(name: string): never {
  throw new HeedError("option", `${where}: ${name} must be given`);
}

/** How many numbers a batch has, or the first of its parts that has any, in an array, an object or a Map. */
function countOf(batch: unknown): number {
  const whole = Array.isArray(batch) && Array.isArray(batch[0]) ? 0 : numbersIn(batch);
  if (whole > 0) return whole;
  const parts = batch instanceof Map ? [...batch.values()] : isRecord(batch) ? Object.values(batch) : [];
  return parts.map(numbersIn).find((count) => count > 0) ?? 0;
}

/** Of a tensor, an array, or rows. */
function numbersIn(value: unknown): number {
  if (value instanceof Tensor) return product(value.shape);
  if (isRecord(value) && "data" in value) return numbersIn(value["data"]);
  if (Array.isArray(value) && Array.isArray(value[0])) return value.reduce((sum, row) => sum + numbersIn(row), 0);
  return numbersOf(value)?.length ?? 0;
}
