// Attention with its way back. The forward call keeps its output and lse, of which the backward call makes the weights again.

import type { AttentionProblem, Backend, Computed, Operand, Resident, RootBackend } from "../../backends/backend.js";
import type { CompiledVjp } from "../../expr/compile-vjp.js";
import type { ModTrees } from "../../expr/tree.js";
import {
  ATTENTION_VJP,
  SCORE_GRADIENTS,
  type ScoreGradient,
  type WantedGradient,
} from "../../operations/attention-vjp.js";
import { showShape } from "../describe.js";
import { HeedError } from "../errors.js";
import { guard, guardAsync } from "../guard.js";
import { operandOf, product, readF32, readTensor } from "../operands.js";
import { ATTENTION_OPTIONS } from "../options.js";
import { type ReadOptions, readAttentionOptions } from "../read-options.js";
import { isRecord, readBoolean, readRecord, readSignal } from "../read-values.js";
import { returned } from "../results.js";
import { type ArrayTensor, Tensor } from "../tensor.js";
import { type CheckedAttention, validateAttention } from "../validate.js";
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
  /** Null: a bare number. */
  readonly score: ReadonlyMap<ScoreGradient, readonly number[] | null>;
  readonly temperature: number | null;
}

export async function attentionVjp(
  backend: Backend,
  tensors: readonly unknown[],
  givenOptions: unknown,
): Promise<Result> {
  const where = "attentionVjp";
  const { root } = backend;
  const { checked, trees, given, saved, keep, signal } = guard("option", `${where}: reading its arguments`, () => {
    const { saved, ...rest } = readRecord(where, "options", givenOptions, NAMES);
    const trees: ModTrees = {};
    const options = readAttentionOptions(where, { ...rest, ...remembering(rest, trees) });
    const [query, key, value] = ["query", "key", "value"].map((name, at) => readTensor(where, name, tensors[at], root));
    if (query === undefined || key === undefined || value === undefined) throw new TypeError("three tensors");
    const isSoftmax = options.normalizer === "softmax";
    const checked = validateAttention(where, root, { query, key, value }, { ...options, lse: isSoftmax, keep: true });
    return {
      checked,
      trees,
      given: shapesOf(options, rest, { query: query.shape, key: key.shape, value: value.shape }),
      saved: saved === undefined ? null : readSaved(where, root, saved, checked, isSoftmax),
      keep: options.keep,
      signal: options.signal,
    };
  });
  return guardAsync("memory", `${where}: computing`, async () => {
    const { problem } = checked;
    // The compiler of derivatives is loaded where there is something to differentiate.
    const isPlain = trees.scoreMod === undefined && trees.probMod === undefined;
    const functions = isPlain ? null : await compiled(where, trees);
    await root.use("training");
    const { output, lse } = saved ?? (await forward(backend, problem, signal));
    const way = new Way(backend, { problem, given, functions, output, lse });
    try {
      return await way.results(checked, keep);
    } catch (error) {
      way.release();
      throw error;
    }
  });
}

/** The functions among the options, which also write down what they return. */
function remembering(options: Readonly<Record<string, unknown>>, trees: ModTrees): Record<string, unknown> {
  const remembered: Record<string, unknown> = {};
  for (const name of ["scoreMod", "maskMod", "probMod"] as const) {
    const given = options[name];
    if (typeof given !== "function") continue;
    remembered[name] = (leaves: Readonly<Record<string, unknown>>): unknown => {
      const made: unknown = given(leaves);
      // One that returns what it was given is none.
      if (made !== leaves[name.slice(0, -3)]) trees[name] = made;
      return made;
    };
  }
  return remembered;
}

interface Saved {
  readonly output: Resident;
  readonly lse: Resident | null;
}

async function forward({ root }: Backend, problem: AttentionProblem, signal: AbortSignal | null): Promise<Saved> {
  const { output, lse } = await root.attention(problem, signal);
  return { output: residentOf(output), lse: lse && residentOf(lse) };
}

function residentOf(computed: Computed): Resident {
  if (computed.kind === "resident") return computed.resident;
  throw new TypeError("what is kept is a resident");
}

/** What a forward call gave before, brought into the engine. */
function readSaved(
  where: string,
  root: Backend,
  value: unknown,
  { shapes }: CheckedAttention,
  needsLse: boolean,
): Saved {
  const given = readRecord(where, "saved", value, ["output", "lse"]);
  const bring = (name: string, shape: readonly number[]): Resident => {
    const read = readF32(where, `saved.${name}`, given[name], root);
    if (read.shape.join() !== shape.join()) {
      const got = `got ${showShape(read.shape)}`;
      throw new HeedError("shape", `${where}: saved.${name} must be ${showShape(shape)}, ${got}`);
    }
    const { source } = read;
    if (source.kind === "array" && source.array instanceof Float32Array) return root.upload(source.array);
    throw new HeedError("option", `${where}: saved.${name} must be an array`);
  };
  return { output: bring("output", shapes.output), lse: needsLse ? bring("lse", shapes.perQuery) : null };
}

function shapesOf(
  { score, temperature, bias }: ReadOptions,
  rest: Readonly<Record<string, unknown>>,
  tensors: Pick<Given, "query" | "key" | "value">,
): Given {
  const parameters = SCORE_GRADIENTS.flatMap((name) => {
    const value = score.parameters[name];
    return value === undefined ? [] : [[name, shapeOf(value)] as const];
  });
  return {
    ...tensors,
    bias: shapeOf(bias) ?? [],
    score: new Map(parameters),
    temperature: rest["temperature"] === undefined ? null : temperature,
  };
}

/** The shape in which something was given; null: a number. */
function shapeOf(value: unknown): readonly number[] | null {
  if (typeof value === "number") return null;
  if (value instanceof Tensor) return value.shape;
  if (isRecord(value) && Array.isArray(value["shape"])) return value["shape"] as readonly number[];
  return [isRecord(value) && typeof value["length"] === "number" ? value["length"] : 0];
}

interface Kept extends Saved {
  readonly problem: AttentionProblem;
  readonly given: Given;
  readonly functions: Functions | null;
}

/** What the backward call needs, until it is done or released. */
class Way {
  readonly #backend: RootBackend;
  #kept: Kept | null;

  constructor(backend: Backend, kept: Kept) {
    this.#backend = backend.root;
    this.#kept = kept;
  }

  async results({ shapes }: CheckedAttention, keep: boolean): Promise<Result> {
    const kept = this.#kept;
    if (kept === null) throw new TypeError("nothing was released yet");
    const result = async (resident: Resident, shape: readonly number[]): Promise<Gradient> => {
      const data = Float32Array.from(await this.#backend.download(resident));
      return keep ? new Tensor(this.#backend, this.#backend.upload(data), shape) : { data, shape, dtype: "f32" };
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
    if (kept === null) return;
    this.#backend.free(kept.output);
    if (kept.lse !== null) this.#backend.free(kept.lse);
  }

  #backward(outputGradient: unknown, options: unknown): Promise<Gradients> {
    const where = "attentionVjp.backward";
    return guardAsync("option", `${where}: reading its arguments`, async () => {
      const kept = this.#kept;
      if (kept === null) throw new HeedError("disposed", `${where}: it was called or released before`);
      const read = readRecord(where, "options", options, ["keep", "signal"]);
      const keep = readBoolean(where, "keep", read["keep"], false);
      const signal = readSignal(where, read["signal"]);
      const gradient = readF32(where, "outputGradient", outputGradient, this.#backend);
      const { problem, given, functions } = kept;
      const view = { shape: problem.output.shape, strides: problem.output.strides };
      if (product(gradient.shape) !== problem.output.elements) {
        const got = `got ${showShape(gradient.shape)}`;
        throw new HeedError("shape", `${where}: outputGradient must have the output's shape, ${got}`);
      }
      const wanted = wantedOf(problem, given, functions);
      const place = (resident: Resident, { elements, shape, strides }: AttentionProblem["output"]): Operand => {
        return { source: { kind: "resident", resident }, dtype: "f32", elements, shape, strides };
      };
      // Whoever disposes of a layer may have given the module back.
      await this.#backend.use("training");
      const made = await this.#backend.run(
        ATTENTION_VJP,
        {
          forward: functions === null ? problem : { ...problem, programs: functions },
          slopes: functions,
          output: place(kept.output, problem.output),
          lse: kept.lse && problem.lse && place(kept.lse, problem.lse),
          outputGradient: operandOf(gradient, view),
          wanted,
          keep,
        },
        signal,
      );
      this.release();
      return this.#gradients(new Map(wanted.map((name, at) => [name, made[at]])), given, functions);
    });
  }

  async #gradients(
    made: ReadonlyMap<WantedGradient, Computed | undefined>,
    given: Given,
    functions: Functions | null,
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
      dsinks: sinks && returned(this.#backend, sinks, [elementsOf(sinks)]),
      dtemperature: given.temperature === null ? undefined : -(await numberOf("logScale")) / given.temperature,
      dscore: given.score.size === 0 ? undefined : score,
      dtables: await this.#tables(made.get("tables"), functions),
    };
  }

  /** The gradient of each table, out of those of all. */
  async #tables(all: Computed | undefined, functions: Functions | null): Promise<readonly Gradient[] | undefined> {
    if (all === undefined || functions === null) return undefined;
    const isKept = all.kind === "resident";
    const numbers = isKept ? Float32Array.from(await this.#backend.download(all.resident)) : all.array;
    if (isKept) this.#backend.free(all.resident);
    return functions.tableGradients.map(({ shape, start }) => {
      const data = numbers.slice(start, start + product(shape));
      return isKept ? new Tensor(this.#backend, this.#backend.upload(data), shape) : { data, shape, dtype: "f32" };
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

function elementsOf(computed: Computed): number {
  return computed.kind === "resident" ? computed.resident.elements : computed.array.length;
}

function missing(name: string): never {
  throw new TypeError(`the gradient of ${name} is missing`);
}
