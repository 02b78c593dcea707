// Attention with its backward pass. The forward call keeps its output and lse, of which the backward call makes the weights again.

import type { AttentionProblem, Backend, Computed, Dims4, Operand, OutputView } from "../../backends/backend.js";
import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guard, guardAsync } from "../../base/guard.js";
import { isRecord, readBoolean, readRecord, readSignal } from "../../base/read-values.js";
import { listOf } from "../../base/typed-array.js";
import { unlessAborted } from "../../base/unless-aborted.js";
import type { CompiledVjp } from "../../expr/compile-vjp.js";
import type { ModTrees } from "../../expr/tree.js";
import { ATTENTION, attentionResults } from "../../operations/attention.js";
import {
  ATTENTION_VJP,
  SCORE_GRADIENTS,
  type ScoreGradient,
  type WantedGradient,
} from "../../operations/attention-vjp.js";
import { type Held, hold } from "../hold.js";
import { denseView, perHeadShape, type View } from "../layout.js";
import { MOST_AXES, operandOf, product, readF32, readTensor } from "../operands.js";
import { ATTENTION_OPTIONS } from "../options.js";
import { type ReadOptions, readAttentionOptions } from "../read-options.js";
import { returned } from "../results.js";
import { type ArrayTensor, Tensor } from "../tensor.js";
import { type CheckedAttention, validateAttention } from "../validate.js";
import { recordFunctions } from "./record-functions.js";
import type { AttentionGradients, AttentionVjp } from "./vjp.js";

/** Options of attention that have no meaning here. */
const WITHOUT = ["cache", "out", "return"];

/** The functions of scores and weights, with their derivatives. */
type Functions = CompiledVjp & { readonly readWords: number };

async function compiled(where: string, trees: ModTrees): Promise<Functions> {
  const { compileVjp, TABLE_READ_WORDS } = await import("../../expr/compile-vjp.js");
  return { ...compileVjp(where, trees, { wantsTables: true }), readWords: TABLE_READ_WORDS };
}

const NAMES = [...ATTENTION_OPTIONS.filter((name) => !WITHOUT.includes(name)), "saved"];

type Gradient = Tensor | ArrayTensor;

type Gradients = AttentionGradients<{ readonly keep: boolean }>;

type Result = AttentionVjp<{ readonly keep: boolean }>;

/** What was given, in the shapes in which gradients are returned. */
interface Given {
  readonly query: readonly number[];
  readonly key: readonly number[];
  readonly value: readonly number[];
  readonly bias: readonly number[];
  readonly sinks: readonly number[];
  /** Null: a bare number. */
  readonly score: ReadonlyMap<ScoreGradient, readonly number[] | null>;
  readonly temperature: number | null;
  /** Of the weights, as `attention` returns them. */
  readonly weights: readonly number[];
}

/** Holds tensors, but not arrays, until the backward call is done. */
export async function attentionVjp(backend: Backend, tensors: readonly unknown[], options: unknown): Promise<Result> {
  const held = guard("option", "attentionVjp: reading its arguments", () => hold({ tensors, options }, (same) => same));
  try {
    return await vjp(backend, held);
  } catch (error) {
    held.release();
    throw error;
  }
}

async function vjp(backend: Backend, held: Held): Promise<Result> {
  const where = "attentionVjp";
  const { root } = backend;
  const { tensors } = held;
  const { checked, trees, given, saved, keep, signal } = guard("option", `${where}: reading its arguments`, () => {
    const { saved, ...rest } = readRecord(where, "options", held.options, NAMES);
    const trees: ModTrees = {};
    const options = readAttentionOptions(where, { ...rest, ...recordFunctions(rest, trees) });
    const [query, key, value] = ["query", "key", "value"].map((name, at) => readTensor(where, name, tensors[at], root));
    if (query === undefined || key === undefined || value === undefined) throw new TypeError("three tensors");
    const { rules } = options;
    const isSoftmax = rules.normalizer === "softmax";
    const forward = { ...options, rules: { ...rules, keep: true }, lse: isSoftmax };
    const checked = validateAttention(where, root, { query, key, value }, forward);
    return {
      checked,
      trees,
      given: shapesOf(options, rest, {
        query: query.shape,
        key: key.shape,
        value: value.shape,
        weights: perHeadShape(weightsShape(checked.problem), query.shape.length, options.layout),
      }),
      saved: saved === undefined ? null : readSaved(where, root, saved, checked, isSoftmax),
      keep: rules.keep,
      signal: options.signal,
    };
  });
  return guardAsync("memory", `${where}: computing`, async () => {
    // The compiler of derivatives is loaded where there is something to differentiate.
    const functions = Object.keys(trees).length === 0 ? null : await compiled(where, trees);
    await unlessAborted(where, signal, () => root.use("training"));
    const results = saved ?? (await forward(backend, checked, signal));
    const pass = new SavedForward(backend, { checked, given, functions, held, ...results });
    try {
      return await pass.results(keep);
    } catch (error) {
      pass.release();
      throw error;
    }
  });
}

/** A result of the forward call, and the tensor that holds it; null: it was given as an array. */
interface SavedResult {
  readonly operand: Operand;
  readonly tensor: Tensor | null;
}

interface Saved {
  readonly output: SavedResult;
  readonly lse: SavedResult | null;
}

async function forward(
  backend: Backend,
  { problem, shapes }: CheckedAttention,
  signal: AbortSignal | null,
): Promise<Saved> {
  const run = (own: AttentionProblem): Promise<readonly Computed[]> => backend.root.run(ATTENTION, own, signal);
  const made = await (backend.onRoot?.("attentionVjp", problem, run) ?? run(problem));
  const { output, lse } = attentionResults(problem, made);
  const saved = (source: Computed, shape: readonly number[], view: OutputView): SavedResult => {
    if (source.kind !== "resident") throw new TypeError("what is kept is a resident");
    return { operand: { ...view, source, dtype: "f32" }, tensor: new Tensor(backend, source.resident, shape) };
  };
  return {
    output: saved(output, shapes.output, problem.output),
    lse: lse === null || problem.lse === null ? null : saved(lse, shapes.perQuery, problem.lse),
  };
}

/** What a forward call gave before. */
function readSaved(
  where: string,
  root: Backend,
  value: unknown,
  { problem, shapes }: CheckedAttention,
  needsLse: boolean,
): Saved {
  const given = readRecord(where, "saved", value, ["output", "lse"]);
  const bring = (name: string, shape: readonly number[], view: View): SavedResult => {
    const value = given[name];
    const operand = read(where, `saved.${name}`, value, { backend: root, shape, view });
    return { operand, tensor: Tensor.is(value) ? value : null };
  };
  const lse = needsLse && problem.lse !== null ? bring("lse", shapes.perQuery, problem.lse) : null;
  return { output: bring("output", shapes.output, problem.output), lse };
}

/** Reads what must have a known shape. */
function read(
  where: string,
  name: string,
  value: unknown,
  { backend, shape, view }: { readonly backend: Backend; readonly shape: readonly number[]; readonly view: View },
): Operand {
  const tensor = readF32(where, name, value, backend);
  if (tensor.shape.join() === shape.join()) return operandOf(tensor, view);
  throw new HeedError("shape", `${where}: ${name} must be ${showShape(shape)}, got ${showShape(tensor.shape)}`);
}

function shapesOf(
  { score, temperature, bias }: ReadOptions,
  rest: Readonly<Record<string, unknown>>,
  tensors: Pick<Given, "query" | "key" | "value" | "weights">,
): Given {
  const parameters = SCORE_GRADIENTS.flatMap((name) => {
    const value = score.parameters[name];
    return value === undefined ? [] : [[name, shapeOf(value)] as const];
  });
  return {
    ...tensors,
    bias: shapeOf(bias) ?? [],
    sinks: shapeOf(rest["sinks"]) ?? [],
    score: new Map(parameters),
    temperature: rest["temperature"] === undefined ? null : temperature,
  };
}

function weightsShape({ query, key }: AttentionProblem): Dims4 {
  const [batch, heads, queries] = query.shape;
  return [batch, heads, queries, key.shape[2]];
}

/** The shape in which something was given; null: a number. */
function shapeOf(value: unknown): readonly number[] | null {
  if (typeof value === "number") return null;
  if (Tensor.is(value)) return value.shape;
  const shape = isRecord(value) ? listOf<number>(value["shape"], MOST_AXES) : null;
  if (shape !== null) return shape;
  return [isRecord(value) && typeof value["length"] === "number" ? value["length"] : 0];
}

interface Kept extends Saved {
  readonly checked: CheckedAttention;
  readonly given: Given;
  readonly functions: Functions | null;
  readonly held: Held;
}

/** What the backward call needs, until it is done or released. */
class SavedForward {
  readonly #backend: Backend;
  /** Null once it was used or released. */
  #kept: Kept | null;
  #isReleased = false;

  constructor(backend: Backend, kept: Kept) {
    this.#backend = backend;
    this.#kept = kept;
  }

  async results(keep: boolean): Promise<Result> {
    const kept = this.#kept;
    if (kept === null) throw new TypeError("nothing was released yet");
    const { shapes } = kept.checked;
    const result = async (
      { operand: { source }, tensor }: SavedResult,
      shape: readonly number[],
    ): Promise<Gradient> => {
      if (tensor !== null) return keep ? Tensor.share(tensor) : this.#resultOf(await tensor.read(), shape, false);
      const numbers = source.kind === "array" ? source.array : null;
      if (!(numbers instanceof Float32Array)) throw new TypeError("what is no tensor is an array of f32");
      return this.#resultOf(keep ? numbers : numbers.slice(), shape, keep);
    };
    return {
      output: await result(kept.output, shapes.output),
      lse: kept.lse === null ? undefined : await result(kept.lse, shapes.perQuery),
      // The type of the gradients follows from the options, which TypeScript cannot see here.
      backward: (outputGradient, options) => this.#backward(outputGradient, options) as Promise<never>,
      release: () => this.release(),
    };
  }

  release(): void {
    const kept = this.#kept;
    this.#kept = null;
    this.#isReleased = true;
    kept?.output.tensor?.dispose();
    kept?.lse?.tensor?.dispose();
    kept?.held.release();
  }

  #resultOf(data: Float32Array, shape: readonly number[], keep: boolean): Gradient {
    return keep ? new Tensor(this.#backend, this.#backend.upload(data), shape) : { data, shape, dtype: "f32" };
  }

  #backward(outputGradient: unknown, options: unknown): Promise<Gradients> {
    const where = "attentionVjp.backward";
    return guardAsync("option", `${where}: reading its arguments`, async () => {
      const kept = this.#kept;
      if (kept === null) throw new HeedError("disposed", `${where}: it was called or released before`);
      const { weightsGradient, ...rest } = readRecord(where, "options", options, ["weightsGradient", "keep", "signal"]);
      const keep = readBoolean(where, "keep", rest["keep"], false);
      const signal = readSignal(where, rest["signal"]);
      const { checked, given, functions } = kept;
      const { problem, shapes } = checked;
      const backend = this.#backend;
      const ofOutput = { backend, shape: shapes.output, view: problem.output };
      const ofWeights = { backend, shape: given.weights, view: denseView("bhnd", weightsShape(problem)) };
      const gradients = {
        outputGradient: read(where, "outputGradient", outputGradient, ofOutput),
        weightsGradient:
          weightsGradient === undefined ? null : read(where, "weightsGradient", weightsGradient, ofWeights),
      };
      const wanted = wantedOf(problem, given, functions);
      const call = {
        forward: functions === null ? problem : { ...problem, programs: functions },
        slopes: functions,
        output: kept.output.operand,
        lse: kept.lse?.operand ?? null,
        ...gradients,
        wanted,
        keep,
      };
      this.#kept = null;
      let made: readonly Computed[];
      try {
        // It reads its operands before it returns.
        made = await backend.run(ATTENTION_VJP, call, signal);
      } catch (error) {
        this.#kept = kept;
        if (this.#isReleased) this.release();
        throw error;
      }
      this.#kept = kept;
      this.release();
      return this.#gradients(new Map(wanted.map((name, at) => [name, made[at]])), given, functions, keep);
    });
  }

  async #gradients(
    made: ReadonlyMap<WantedGradient, Computed | undefined>,
    given: Given,
    functions: Functions | null,
    keep: boolean,
  ): Promise<Gradients> {
    const result = (name: WantedGradient, shape: readonly number[]): Gradient | undefined => {
      const computed = made.get(name);
      return computed && returned(this.#backend, computed, shape);
    };
    const must = (name: WantedGradient, shape: readonly number[]): Gradient => result(name, shape) ?? missing(name);
    const numberOf = async (name: WantedGradient): Promise<number> => {
      const gradient = must(name, [1]);
      const data = gradient instanceof Tensor ? await gradient.read() : gradient.data;
      if (gradient instanceof Tensor) gradient.dispose();
      return data[0] ?? 0;
    };
    const score: Partial<Record<ScoreGradient, Gradient | number>> = {};
    for (const [name, shape] of given.score) score[name] = shape === null ? await numberOf(name) : must(name, shape);
    const sinks = made.get("sinks");
    return {
      dq: must("query", given.query),
      dk: must("key", given.key),
      dv: must("value", given.value),
      dbias: result("bias", given.bias),
      dsinks: sinks && returned(this.#backend, sinks, given.sinks),
      dtemperature: given.temperature === null ? undefined : -(await numberOf("logScale")) / given.temperature,
      dscore: given.score.size === 0 ? undefined : score,
      dtables: this.#tables(made.get("tables"), functions, keep),
    };
  }

  /** The gradient of each table, out of those of all; zeros where there is none among them. */
  #tables(all: Computed | undefined, functions: Functions | null, keep: boolean): readonly Gradient[] | undefined {
    const tables = functions?.tableGradients ?? [];
    if (tables.length === 0) return undefined;
    const numbers = all?.kind === "array" ? all.array : new Float32Array();
    return tables.map(({ shape, start }) => {
      const length = product(shape);
      const own = start === null ? new Float32Array(length) : numbers.slice(start, start + length);
      return this.#resultOf(own, shape, keep);
    });
  }
}

function wantedOf(
  { bias, structure }: AttentionProblem,
  { score, temperature }: Given,
  functions: Functions | null,
): WantedGradient[] {
  return [
    "query",
    "key",
    "value",
    ...(bias === null ? [] : (["bias"] as const)),
    ...score.keys(),
    ...(structure.sinks === null ? [] : (["sinks"] as const)),
    ...(temperature === null ? [] : (["logScale"] as const)),
    ...(functions === null || functions.tableGradientNumbers === 0 ? [] : (["tables"] as const)),
  ];
}

function missing(name: string): never {
  throw new TypeError(`the gradient of ${name} is missing`);
}
