// Layers, from modules of their own with the same fallback chain. These contain attention and the extra operations too, so that
// all of them share one memory.

import { HeedError } from "../../api/errors.js";
import { Lazy } from "../../memory/lazy.js";
import type { Choice } from "../../platform/select.js";
import type { MemoryReport, Operand, OutputView, Resident } from "../backend.js";
import type { AffineProblem, GruProblem, LayerBackend, NormProblem, PointwiseRule, Rows } from "../layer-backend.js";
import {
  ACTIVATION,
  AFFINE_CALL,
  GATHER_CALL,
  GRU_CALL,
  NORM_CALL,
  OPERATION,
  PACK_CALL,
  POINTWISE_CALL,
} from "./generated/layer-call.js";
import { LAYERS_VARIANTS } from "./inlined.js";
import { bitsOf, type Job, JobBuilder } from "./job.js";
import type { Finished } from "./kernels.js";
import type { RungOverrides } from "./rung.js";
import { asHeedError, WasmBackend } from "./wasm-backend.js";
import { WasmExtra } from "./wasm-extra.js";

/** Columns in a packed panel: two vectors. C++ refuses any other number. */
const PANEL = 8;

/** The cost of a pointwise operation on one number, in multiplications. */
const POINTWISE_COST = 8;

export class WasmLayers implements LayerBackend {
  readonly #core: Lazy<WasmBackend>;
  /** Passes in flight. */
  #passes = 0;
  /** Whether a layer was disposed of since the last pass began. Only then is the backend closed, because opening it again takes long. */
  #rests = false;

  constructor(choice: Choice, overrides: Omit<RungOverrides, "compiled" | "variants">) {
    const own = { ...overrides, compiled: null, variants: LAYERS_VARIANTS };
    this.#core = new Lazy(() => WasmBackend.open(choice, own, () => this.#settle()));
  }

  get core(): WasmBackend {
    const { opened } = this.#core;
    if (opened === null) throw new HeedError("disposed", "heed/layers: the engine was disposed");
    return opened;
  }

  get extra(): WasmExtra {
    return new WasmExtra(this.core);
  }

  async begin(): Promise<void> {
    this.#passes += 1;
    this.#rests = false;
    try {
      await this.#core.open();
    } catch (error) {
      this.end();
      throw error;
    }
  }

  end(): void {
    this.#passes -= 1;
    this.#settle();
  }

  free(parameter: Resident): void {
    this.#core.opened?.free(parameter);
  }

  rest(): void {
    this.#rests = true;
    this.#settle();
  }

  memoryWith(engine: MemoryReport): MemoryReport {
    const held = this.#core.opened?.memory();
    if (held === undefined) return engine;
    return {
      ...engine,
      total: engine.total + held.total,
      engine: engine.engine + held.engine,
      workers: engine.workers + held.workers,
      tensors: engine.tensors + held.tensors,
      tensorBytes: engine.tensorBytes + held.tensorBytes,
    };
  }

  pack(matrices: Operand): Promise<Resident> {
    const [, count, outputs, inputs] = matrices.shape;
    return this.#one("pack", null, () => {
      const builder = builderOf("pack", PACK_CALL);
      builder.input(PACK_CALL.matrix, matrices);
      builder.output(PACK_CALL.packed, rowsView(1, count * Math.ceil(outputs / PANEL) * PANEL * inputs), false);
      return [builder, matrices.elements];
    });
  }

  affine({ input, weights, outputs, rule }: AffineProblem, signal: AbortSignal | null): Promise<Resident> {
    return this.#one("linear", signal, () => {
      const builder = builderOf("affine", AFFINE_CALL);
      builder.input(AFFINE_CALL.input, operandOf(input));
      builder.input(AFFINE_CALL.weights, operandOf({ resident: weights, count: 1, length: weights.elements }));
      writeRule(builder, AFFINE_CALL, rule);
      builder.output(AFFINE_CALL.output, rowsView(input.count, outputs), false);
      return [builder, input.count * input.length * outputs];
    });
  }

  pointwise(input: Rows, rule: PointwiseRule, signal: AbortSignal | null): Promise<Resident> {
    return this.#one("pointwise", signal, () => {
      const builder = builderOf("pointwise", POINTWISE_CALL);
      builder.input(POINTWISE_CALL.input, operandOf(input));
      writeRule(builder, POINTWISE_CALL, rule);
      builder.output(POINTWISE_CALL.output, rowsView(input.count, input.length), false);
      return [builder, POINTWISE_COST * input.count * input.length];
    });
  }

  norm({ input, isCentred, epsilon, weight, bias }: NormProblem, signal: AbortSignal | null): Promise<Resident> {
    return this.#one("norm", signal, () => {
      const builder = builderOf("norm", NORM_CALL);
      builder.input(NORM_CALL.input, operandOf(input));
      builder.input(NORM_CALL.weight, weight && operandOf(weight));
      builder.input(NORM_CALL.bias, bias && operandOf(bias));
      builder.call[NORM_CALL.isCentred] = Number(isCentred);
      builder.call[NORM_CALL.epsilon] = bitsOf(epsilon);
      builder.output(NORM_CALL.output, rowsView(input.count, input.length), false);
      return [builder, POINTWISE_COST * input.count * input.length];
    });
  }

  gather(table: Rows, indices: Int32Array<ArrayBuffer>, signal: AbortSignal | null): Promise<Resident> {
    return this.#one("embedding", signal, () => {
      const builder = builderOf("gather", GATHER_CALL);
      builder.input(GATHER_CALL.table, operandOf(table));
      builder.numbers(GATHER_CALL.indices, indices);
      builder.output(GATHER_CALL.output, rowsView(indices.length, table.length), false);
      return [builder, indices.length * table.length];
    });
  }

  async gru(problem: GruProblem, signal: AbortSignal | null): Promise<readonly [Resident, Resident]> {
    const { gates, weights, bias, state, batch, isReversed } = problem;
    const hidden = gates.length / 3;
    const [states, last] = await this.#run("gru", signal, () => {
      const builder = builderOf("gru", GRU_CALL);
      builder.input(GRU_CALL.gates, operandOf(gates));
      builder.input(GRU_CALL.weights, operandOf({ resident: weights, count: 1, length: weights.elements }));
      builder.input(GRU_CALL.bias, bias && operandOf(bias));
      builder.input(GRU_CALL.state, state && operandOf(state));
      builder.call[GRU_CALL.batch] = batch;
      builder.call[GRU_CALL.isReversed] = Number(isReversed);
      builder.output(GRU_CALL.states, rowsView(gates.count, hidden), false);
      builder.output(GRU_CALL.last, rowsView(batch, hidden), false);
      return [builder, gates.count * gates.length * (hidden + POINTWISE_COST)];
    });
    if (states === undefined || last === undefined) throw new TypeError("a call of two results had fewer");
    return [states, last];
  }

  dispose(): void {
    this.#core.dispose();
  }

  #settle(): void {
    if (this.#rests && this.#passes === 0 && this.#core.opened?.memory().tensors === 0) this.#core.close();
  }

  async #one(operation: string, signal: AbortSignal | null, prepare: () => [JobBuilder, number]): Promise<Resident> {
    const [resident] = await this.#run(operation, signal, prepare);
    if (resident === undefined) throw new TypeError("a call of one result had none");
    return resident;
  }

  /** `prepare` returns the call and its multiplications. */
  #run(
    operation: string,
    signal: AbortSignal | null,
    prepare: () => [JobBuilder, number],
  ): Promise<readonly Resident[]> {
    return this.core.compute(operation, signal, () => {
      const [builder, multiplications] = prepare();
      const job = builder.build();
      return { job, multiplications, collect: (finished) => this.#keep(finished, job) };
    });
  }

  #keep(finished: Finished, job: Job): readonly Resident[] {
    const made: Resident[] = [];
    try {
      for (const part of job.outputs) made.push(this.core.keep(finished, part));
      return made;
    } catch (error) {
      for (const resident of made) this.core.free(resident);
      throw asHeedError(job.operation, error);
    } finally {
      finished.release();
    }
  }
}

function builderOf(operation: keyof typeof OPERATION, layout: { readonly words: number; readonly operation: number }) {
  const builder = new JobBuilder(operation, new Int32Array(layout.words));
  builder.call[layout.operation] = OPERATION[operation];
  return builder;
}

interface RuleWords {
  readonly bias: number;
  readonly factor: number;
  readonly addend: number;
  readonly activation: number;
}

function writeRule(builder: JobBuilder, words: RuleWords, { activation, bias, factor, addend }: PointwiseRule): void {
  builder.input(words.bias, bias && operandOf(bias));
  builder.input(words.factor, factor && operandOf(factor));
  builder.input(words.addend, addend && operandOf(addend));
  builder.call[words.activation] = ACTIVATION[activation];
}

function rowsView(count: number, length: number): OutputView {
  return { elements: count * length, shape: [1, 1, count, length], strides: [0, 0, length, 1] };
}

function operandOf({ resident, count, length }: Rows): Operand {
  // A layer may be disposed of between two calls of one pass.
  if (!resident.live)
    throw new HeedError("disposed", "heed/layers: a layer or tensor was disposed of while it was used");
  return { source: { kind: "resident", resident }, dtype: "f32", ...rowsView(count, length) };
}
