// Measures on a device which tile sizes, steps and KV splits are fastest. Without it a plan takes the defaults of tuning.ts.

import { HeedError } from "../../base/errors.js";
import { type MakeZeros, quickest, type ZeroSizes } from "./costs.js";
import type { OpenDevice } from "./device.js";
import { classOf } from "./dispatch.js";
import { runOnGpu } from "./gpu-call.js";
import { kernelKey } from "./kernel.js";
import { planAttention } from "./plan-attention.js";
import { rememberTuned, shown, type Tuned, type Tuning, untuned } from "./tuning.js";

/** The shape of the calls to tune for. Heads and lengths only need to keep the GPU busy. */
export interface AutotuneOptions {
  /** 8 */
  readonly heads?: number;
  /** The default is `heads`. */
  readonly kvHeads?: number;
  /** 1024; 1 for decoding. */
  readonly queries?: number;
  /** 1024 */
  readonly keys?: number;
  /** 64 */
  readonly headDim?: number;
  /** The default is `headDim`. */
  readonly valueDim?: number;
  readonly causal?: boolean;
}

/** The values that are tried for each field of a tuning. */
const TRIED: { readonly [Knob in keyof Tuning]: readonly Tuning[Knob][] } = {
  shared: [true, false],
  subgroups: [true, false],
  memory: [16_384, 32_768],
  rows: [32, 128],
  step: [2, 8, 16],
  groups: [64, 1024],
};

/** A value is taken if it is at least 5% faster, because less is noise. */
const WORTH = 0.95;

const REPEATS = 3;

/** Tries one field after the other and keeps what is faster. The result holds for later calls of the same class on the adapter. */
export async function tune(open: OpenDevice, options: AutotuneOptions, zeros: MakeZeros): Promise<Tuned> {
  const problem = zeros(sizesOf(options), options.causal);
  const { machine, adapter } = open;
  const kernel = classOf(problem);
  const measured = new Map<string, number>();
  const timeOf = async (tuning: Tuning): Promise<number> => {
    const plan = planAttention(problem, { ...machine, tunings: new Map([[kernel, tuning]]) });
    const name = plan.steps.map((step) => `${kernelKey(step.kernel)} ${step.grid}`).join();
    if (plan.tooLarge !== null) throw new HeedError("memory", `autotune: too large for the GPU: ${plan.tooLarge}`);
    const time =
      measured.get(name) ?? (await quickest((one) => runOnGpu(open, "autotune", one, plan), problem, REPEATS));
    measured.set(name, time);
    return time;
  };
  let best = untuned(machine.isSoftware);
  const untunedMs = await timeOf(best);
  let ms = untunedMs;
  for (const [knob, values] of Object.entries(TRIED)) {
    for (const value of values) {
      const other = { ...best, [knob]: value };
      const time = await timeOf(other);
      if (time < ms * WORTH) [best, ms] = [other, time];
    }
  }
  const tuned = { adapter, kernel, tuning: best, ms, untunedMs };
  rememberTuned(tuned);
  return tuned;
}

function sizesOf(options: AutotuneOptions): ZeroSizes {
  const { heads = 8, queries = 1024, keys = 1024, headDim = 64 } = options;
  const sizes: ZeroSizes = { heads, queries, keys, headDim, kvHeads: heads, valueDim: headDim, ...given(options) };
  for (const [name, size] of Object.entries(sizes)) {
    if (!Number.isInteger(size) || size < 1) {
      throw new HeedError("option", `autotune: ${name} must be a whole number from 1 on, got ${shown(size)}`);
    }
  }
  if (sizes.heads % sizes.kvHeads !== 0) {
    throw new HeedError("option", `autotune: heads must be a multiple of kvHeads, got ${heads} and ${sizes.kvHeads}`);
  }
  return sizes;
}

function given({ kvHeads, valueDim }: AutotuneOptions): Partial<ZeroSizes> {
  return { ...(kvHeads === undefined ? {} : { kvHeads }), ...(valueDim === undefined ? {} : { valueDim }) };
}
