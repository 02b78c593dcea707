// Cost models of the GPU and of wasm: a fixed time, a time per flop and a time per byte, measured once on this machine.

import { ATTENTION } from "../../operations/attention.js";
import type { AttentionProblem, Backend, Operand } from "../backend.js";
import type { OpenDevice } from "./device.js";
import { runOnGpu } from "./gpu-call.js";
import { residentsOf } from "./operands.js";
import { planAttention } from "./plan-attention.js";
import { hasRanges, RANGE_STRIDE, rowRanges } from "./row-ranges.js";

/** Milliseconds: for a call, for a million flops, and for a million bytes that move. */
export interface CostModel {
  readonly fixed: number;
  readonly perMegaflop: number;
  readonly perMegabyte: number;
}

export interface Costs {
  readonly gpu: CostModel;
  readonly wasm: CostModel;
}

export interface ZeroSizes {
  readonly heads: number;
  readonly kvHeads: number;
  readonly queries: number;
  readonly keys: number;
  readonly headDim: number;
  readonly valueDim: number;
}

/** Makes a call whose operands are zeros, for measurements. */
export type MakeZeros = (sizes: ZeroSizes, causal?: boolean) => AttentionProblem;

/** The number of pairs of a query and a key. */
function allPairs({ query, key }: AttentionProblem): number {
  return query.shape[0] * query.shape[2] * key.shape[2];
}

/** The number of pairs in which the query sees the key. */
function seenPairs(problem: AttentionProblem): number {
  if (!hasRanges(problem)) return allPairs(problem);
  const ranges = rowRanges(problem);
  let pairs = 0;
  for (let at = 0; at < ranges.length; at += RANGE_STRIDE) pairs += (ranges[at + 1] ?? 0) - (ranges[at] ?? 0);
  return pairs;
}

/** Multiplications and additions of both products; results with a number a pair compute the first product again. */
export function flops(problem: AttentionProblem, pairs: number = seenPairs(problem)): number {
  const [batch, heads, queries, headDim] = problem.query.shape;
  const [keys, valueDim] = [problem.key.shape[2], problem.value.shape[3]];
  const again = problem.weights === null && problem.scores === null ? 0 : 2 * batch * heads * queries * keys * headDim;
  return 2 * heads * pairs * (headDim + valueDim) + again;
}

/** Bytes that move to the GPU and back. */
export function transfers(problem: AttentionProblem): number {
  const { query, key, value, mask, bias, output, weights, scores, keep } = problem;
  const up = [query, key, value, mask, bias].reduce((sum, operand) => sum + arrayBytes(operand), 0);
  const down = [output, weights, scores].reduce((sum, view) => sum + 4 * (view?.elements ?? 0), 0);
  return up + (keep ? 0 : down);
}

function arrayBytes(operand: Operand | null): number {
  return operand?.source.kind === "array" ? operand.source.array.byteLength : 0;
}

export function gpuTime({ gpu }: Costs, problem: AttentionProblem): number {
  return timeOf(gpu, flops(problem), transfers(problem));
}

/** Whether wasm takes less than the GPU's fixed time, even if every query saw every key. This holds only if no tensor lives on the GPU. */
export function isSoonerThanAnyOnGpu({ gpu, wasm }: Costs, problem: AttentionProblem): boolean {
  return timeOf(wasm, flops(problem, allPairs(problem)), 0) <= gpu.fixed;
}

/** The time includes copying tensors that live on the GPU. */
export function wasmTime({ wasm, gpu }: Costs, problem: AttentionProblem): number {
  let away = 0;
  for (const resident of residentsOf(problem)) if (resident.buffer !== undefined) away += 4 * resident.elements;
  return timeOf(wasm, flops(problem), 0) + (away / 1e6) * gpu.perMegabyte;
}

function timeOf(line: CostModel, operations: number, bytes: number): number {
  return line.fixed + (operations / 1e6) * line.perMegaflop + (bytes / 1e6) * line.perMegabyte;
}

/** Costs by adapter, number of threads and variant: engines of the page measure once. */
const known = new Map<string, Promise<Costs>>();

export function measureCosts(open: OpenDevice, wasm: Backend, zeros: MakeZeros): Promise<Costs> {
  const { vendor, architecture } = open.info;
  const { threads, variant } = wasm.report();
  const key = `${vendor} ${architecture} ${threads} ${variant}`;
  const measured = known.get(key) ?? measure(open, wasm, zeros);
  known.set(key, measured);
  // A failed measurement is repeated by the next engine.
  measured.catch(() => known.delete(key));
  return measured;
}

const SHAPE = { kvHeads: 1, headDim: 64, valueDim: 64 };
const TINY = { ...SHAPE, heads: 1, queries: 16, keys: 16 };
/** Heads that share one K and V take much arithmetic and move few bytes. */
const BUSY = { ...SHAPE, queries: 64, keys: 512 };
/** One query a head moves many bytes for little arithmetic. */
const MOVING = { ...SHAPE, heads: 64, kvHeads: 64, queries: 1, keys: 128 };

/** A run that exceeds the fixed time by this much is long enough to measure a rate. */
const ENOUGH_MS = 4;
const MOST_HEADS = 256;
/** These take a millisecond or two on wasm. In a shorter time the noise of a busy machine would count as arithmetic, multiplied by hundreds. */
const HEADS_ON_WASM = 16;

async function measure(open: OpenDevice, wasm: Backend, zeros: MakeZeros): Promise<Costs> {
  const onGpu = (problem: AttentionProblem): Promise<unknown> =>
    runOnGpu(open, "createHeed", problem, planAttention(problem, open.machine));
  const onWasm = (problem: AttentionProblem): Promise<unknown> => wasm.run(ATTENTION, problem, null);
  const perMegabyte = await timePerMegabyte(onGpu, zeros);
  return {
    gpu: await costModelOf(onGpu, zeros, 1, perMegabyte),
    wasm: await costModelOf(onWasm, zeros, HEADS_ON_WASM, 0),
  };
}

type Run = (problem: AttentionProblem) => Promise<unknown>;

/** Quadruples the number of heads until the time is clearly longer than the fixed time. */
async function costModelOf(run: Run, zeros: MakeZeros, heads: number, perMegabyte: number): Promise<CostModel> {
  const fixed = await quickest(run, zeros(TINY));
  let problem = zeros({ ...BUSY, heads });
  let time = await quickest(run, problem);
  for (let more = 4 * heads; time < fixed + ENOUGH_MS && more <= MOST_HEADS; more *= 4) {
    problem = zeros({ ...BUSY, heads: more });
    time = await quickest(run, problem);
  }
  const moving = (transfers(problem) / 1e6) * perMegabyte;
  // Noise may leave no time for arithmetic, and then the rate is a twentieth of the whole.
  const perMegaflop = Math.max(time - fixed - moving, time / 20) / (flops(problem) / 1e6);
  return { fixed, perMegaflop, perMegabyte };
}

async function timePerMegabyte(run: Run, zeros: MakeZeros): Promise<number> {
  const fixed = await quickest(run, zeros(TINY));
  const problem = zeros(MOVING);
  return Math.max((await quickest(run, problem)) - fixed, 0) / (transfers(problem) / 1e6);
}

/** The quickest time of some runs, after a run that compiles. */
export async function quickest(run: Run, problem: AttentionProblem, repeats = 2): Promise<number> {
  await run(problem);
  let best = Number.POSITIVE_INFINITY;
  for (let repeat = 0; repeat < repeats; repeat++) {
    const start = performance.now();
    await run(problem);
    best = Math.min(best, performance.now() - start);
  }
  return best;
}
