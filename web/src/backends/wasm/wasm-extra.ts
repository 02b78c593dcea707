// Rotary embedding and linear attention, from modules of their own with the same fallback chain. Opened at their first call.

import type { Choice } from "../../platform/select.js";
import type { ExtraBackend, LinearProblem, RopeProblem } from "../extra-backend.js";
import { DTYPE } from "./generated/attention-call.js";
import { LINEAR_CALL, OPERATION, ROPE_CALL, RULE } from "./generated/extra-call.js";
import { EXTRA_VARIANTS } from "./inlined.js";
import { bitsOf, type Job, JobBuilder } from "./job.js";
import type { Finished } from "./kernels.js";
import type { RungOverrides } from "./rung.js";
import { asHeedError, WasmBackend } from "./wasm-backend.js";

/** The cost of a sine and a cosine, in multiplications. */
const SINCOS_COST = 64;

export class WasmExtra implements ExtraBackend {
  readonly #backend: WasmBackend;

  /** Throws HeedError `load` when no rung works. */
  static async open(choice: Choice, overrides: Omit<RungOverrides, "compiled" | "variants">): Promise<WasmExtra> {
    return new WasmExtra(await WasmBackend.open(choice, { ...overrides, compiled: null, variants: EXTRA_VARIANTS }));
  }

  /** The module of `backend` must have these calls. */
  constructor(backend: WasmBackend) {
    this.#backend = backend;
  }

  async rope(problem: RopeProblem, signal: AbortSignal | null): Promise<Float32Array> {
    const [output = new Float32Array(0)] = await this.#run("rope", signal, () => {
      const job = ropeJob(problem);
      const [batch, heads, length, dim] = problem.input.shape;
      return [job, batch * length * dim * (heads + SINCOS_COST)];
    });
    return output;
  }

  async linearAttention(
    problem: LinearProblem,
    signal: AbortSignal | null,
  ): Promise<{ readonly output: Float32Array; readonly state: Float32Array }> {
    const none = new Float32Array(0);
    const [output = none, state = none] = await this.#run("linearAttention", signal, () => {
      const job = linearJob(problem);
      const [batch, heads, queries, headDim] = problem.query.shape;
      const [, groups, keys, valueDim] = problem.value.shape;
      const reads = heads * queries + 2 * groups * keys;
      return [job, batch * (reads + groups) * headDim * (valueDim + 1)];
    });
    return { output, state };
  }

  dispose(): void {
    this.#backend.dispose();
  }

  #run(
    operation: string,
    signal: AbortSignal | null,
    prepare: () => readonly [job: Job, multiplications: number],
  ): Promise<readonly Float32Array[]> {
    return this.#backend.compute(operation, signal, () => {
      const [job, multiplications] = prepare();
      return { job, multiplications, collect: (finished) => arraysOf(finished, job) };
    });
  }
}

/** Copies the results into arrays that the caller owns. */
function arraysOf(finished: Finished, job: Job): readonly Float32Array[] {
  try {
    return job.outputs.map((part) => finished.array(part));
  } catch (error) {
    throw asHeedError(job.operation, error);
  } finally {
    finished.release();
  }
}

function ropeJob(problem: RopeProblem): Job {
  const builder = new JobBuilder("rope", new Int32Array(ROPE_CALL.words));
  const { call } = builder;
  builder.input(ROPE_CALL.input, problem.input);
  builder.input(ROPE_CALL.cosines, problem.tables?.cosines ?? null);
  builder.input(ROPE_CALL.sines, problem.tables?.sines ?? null);
  builder.numbers(ROPE_CALL.frequencies, problem.frequencies);
  builder.numbers(ROPE_CALL.positions, problem.positions);
  call[ROPE_CALL.operation] = OPERATION.rope;
  call[ROPE_CALL.positionsByBatch] = Number(problem.positionsByBatch);
  call[ROPE_CALL.rotaryDim] = problem.rotaryDim;
  call[ROPE_CALL.interleaved] = Number(problem.interleaved);
  call[ROPE_CALL.inverse] = Number(problem.inverse);
  call[ROPE_CALL.magnitude] = bitsOf(problem.magnitude);
  call[ROPE_CALL.inputType] = DTYPE[problem.input.dtype];
  builder.output(ROPE_CALL.output, problem.output, true);
  return builder.build();
}

function linearJob(problem: LinearProblem): Job {
  const builder = new JobBuilder("linearAttention", new Int32Array(LINEAR_CALL.words));
  const { call } = builder;
  builder.input(LINEAR_CALL.query, problem.query);
  builder.input(LINEAR_CALL.key, problem.key);
  builder.input(LINEAR_CALL.value, problem.value);
  builder.input(LINEAR_CALL.decay, problem.decay);
  builder.input(LINEAR_CALL.beta, problem.beta);
  builder.input(LINEAR_CALL.state, problem.state);
  call[LINEAR_CALL.operation] = OPERATION.linearAttention;
  call[LINEAR_CALL.rule] = RULE[problem.rule];
  call[LINEAR_CALL.causal] = Number(problem.causal);
  call[LINEAR_CALL.scale] = bitsOf(problem.scale ?? Number.NaN);
  call[LINEAR_CALL.queryType] = DTYPE[problem.query.dtype];
  call[LINEAR_CALL.keyType] = DTYPE[problem.key.dtype];
  call[LINEAR_CALL.valueType] = DTYPE[problem.value.dtype];
  builder.output(LINEAR_CALL.output, problem.output, true);
  builder.output(LINEAR_CALL.newState, problem.newState, true);
  return builder.build();
}
