// What a pass through a model looks at and changes on its way: hidden states, some of the attention weights, heads and residual streams.

import { SCORE_STAGES } from "../api/options.js";
import type { ArrayTensor, Tensor } from "../api/tensor.js";
import type { ScoreStage } from "../backends/backend.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isOptions, isRecord, readBoolean, readChoice, readCount, readRecord } from "../base/read-values.js";
import { listOf } from "../base/typed-array.js";

/** Gives a tensor of the same shape in place of one, or promises it. */
export type Rewrite = (tensor: ArrayTensor) => Replacement | Promise<Replacement>;

/** The tensor that a hook puts in the place of one. */
export interface Replacement {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

/** What becomes of a head: a factor of its output, 0 to switch it off, or what replaces its weights [B, L, S] or its output [B, L, headDim]. */
export interface HeadHook {
  readonly weights?: number | Rewrite | undefined;
  readonly output?: number | Rewrite | undefined;
}

/** `layers.3.heads.1`: a head. `layers.3.residual`: what the layer gives, [B, L, dim]. */
export type Hooks = Readonly<Record<string, number | HeadHook | Rewrite | undefined>>;

/** Which attention weights a model returns: of some layers, heads and rows. */
export interface AttentionChoice {
  /** Default all. Results are in the order of layers. */
  readonly layers?: readonly number[] | undefined;
  /** Default all; results have them in this order. */
  readonly heads?: readonly number[] | undefined;
  /** A range of queries, from the first to before the last. Default all. */
  readonly rows?: readonly [from: number, to: number] | undefined;
}

/** What a call returns of the inside of a model, and changes there. */
export interface WatchOptions {
  /** Returns the attention weights of every layer, or of some. Default false. */
  readonly attentions?: boolean | AttentionChoice | undefined;
  /** Returns what goes into each layer, and what the model makes of the last one's result: [B, L, dim] each. Default false. */
  readonly hiddenStates?: boolean | undefined;
  /** Returns the scores before they become weights, of the layers, heads and rows of `attentions`: true is "masked". Default false. */
  readonly scores?: boolean | ScoreStage | undefined;
  /** Changes what goes on inside. */
  readonly hooks?: Hooks | undefined;
  /** Which of the adapters that were loaded is added. Default none. */
  readonly adapter?: string | undefined;
}

/** The options of a call that gives none, with hooks for the types of their arguments. */
export type NoWatchOptions = Pick<WatchOptions, "hooks">;

export const WATCH_OPTIONS = ["attentions", "hiddenStates", "scores", "hooks", "adapter"] as const;

export interface ReadHeadHook {
  readonly weights: number | Rewrite;
  readonly output: number | Rewrite;
}

/** The names of the adapters that were loaded for a model. */
export const ADAPTERS = new WeakMap<object, ReadonlySet<string>>();

/** What a pass looks at. One that looks at nothing has none. */
export class Watch {
  /** By the attention that has the heads. */
  readonly heads: ReadonlyMap<object, ReadonlyMap<number, ReadHeadHook>>;
  /** By the block. */
  readonly residuals: ReadonlyMap<object, Rewrite>;
  readonly choice: {
    readonly layers: readonly number[] | null;
    readonly heads: readonly number[] | null;
    readonly rows: unknown;
  };
  /** Those that were seen so far; null: they are not wanted. */
  readonly states: Tensor[] | null;
  /** Likewise. */
  readonly scores: { readonly stage: ScoreStage; readonly made: Tensor[] } | null;
  readonly adapter: string | null;

  constructor(
    where: string,
    given: Readonly<Record<string, unknown>>,
    layers: () => Iterable<readonly [string, object]>,
  ) {
    const { hooks } = given;
    const read = hooks === undefined ? NO_HOOKS : readHooks(where, hooks, new Map(layers()));
    this.heads = read.heads;
    this.residuals = read.residuals;
    this.choice = readChoiceOf(where, given["attentions"]);
    this.states = readBoolean(where, "hiddenStates", given["hiddenStates"], false) ? [] : null;
    const stage = readStage(where, given["scores"]);
    this.scores = stage && { stage, made: [] };
    this.adapter = readAdapter(where, given["adapter"], layers);
    if (this.needsWeights && this.choice.rows !== undefined) {
      throw new HeedError("option", `${where}: attentions.rows and a hook of weights exclude each other`);
    }
  }

  /** Null where the options ask for nothing. */
  static of(
    where: string,
    given: Readonly<Record<string, unknown>>,
    layers: () => Iterable<readonly [string, object]>,
  ): Watch | null {
    const { attentions, ...others } = given;
    const isAsked = isRecord(attentions) || WATCH_OPTIONS.some((name) => others[name] !== undefined);
    return isAsked ? new Watch(where, given, layers) : null;
  }

  /** Whether something replaces the weights of a head. */
  get needsWeights(): boolean {
    return [...this.heads.values()].some((hooks) =>
      [...hooks.values()].some(({ weights }) => typeof weights === "function"),
    );
  }

  checkLayers(where: string, count: number): void {
    const wrong = this.choice.layers?.find((layer) => layer >= count);
    if (wrong === undefined) return;
    throw new HeedError("option", `${where}: attentions.layers must be below ${count}, got ${wrong}`);
  }

  /** Whether the weights of a layer are wanted, where any are. */
  takes(layer: number): boolean {
    return this.choice.layers?.includes(layer) ?? true;
  }
}

/** Whether a model returns attention weights, all or some. */
export function wantsAttentions(where: string, value: unknown): boolean {
  return isOptions(value) || readBoolean(where, "attentions", value, false);
}

const NO_HOOKS = { heads: new Map<object, ReadonlyMap<number, ReadHeadHook>>(), residuals: new Map<object, Rewrite>() };

function readChoiceOf(where: string, value: unknown): Watch["choice"] {
  if (!isRecord(value)) return { layers: null, heads: null, rows: undefined };
  const given = readRecord(where, "attentions", value, ["layers", "heads", "rows"]);
  return {
    layers: readNumbers(where, "attentions.layers", given["layers"]),
    heads: readNumbers(where, "attentions.heads", given["heads"]),
    rows: given["rows"],
  };
}

function readStage(where: string, value: unknown): ScoreStage | null {
  if (value === undefined || value === false) return null;
  return value === true ? "masked" : readChoice(where, "scores", value, SCORE_STAGES, "masked");
}

function readNumbers(where: string, name: string, value: unknown): readonly number[] | null {
  if (value === undefined) return null;
  const numbers = listOf<number>(value, 2 ** 16, (number) => Number.isInteger(number) && Number(number) >= 0);
  if (numbers !== null && numbers.length > 0) return numbers;
  throw new HeedError(
    "option",
    `${where}: ${name} must be whole numbers, 0 or more, in an array, got ${showValue(value)}`,
  );
}

function readAdapter(where: string, value: unknown, layers: () => Iterable<readonly [string, object]>): string | null {
  if (value === undefined) return null;
  const [[, model]] = [...layers()] as [readonly [string, object]];
  const names = [...(ADAPTERS.get(model) ?? [])];
  if (typeof value === "string" && names.includes(value)) return value;
  const known = names.map(showValue).join(", ") || "none";
  throw new HeedError(
    "option",
    `${where}: adapter must be one of those that were loaded, ${known}, got ${showValue(value)}`,
  );
}

const FORMS = '"layers.0.heads.0" or "layers.0.residual"';

function readHooks(where: string, value: unknown, layers: ReadonlyMap<string, object>): typeof NO_HOOKS {
  if (!isOptions(value)) throw new HeedError("option", `${where}: hooks must be an object, got ${showValue(value)}`);
  const heads = new Map<object, Map<number, ReadHeadHook>>();
  const residuals = new Map<object, Rewrite>();
  for (const [name, hook] of Object.entries(value)) {
    if (hook === undefined) continue;
    const [, path = "", head] = /^(.*)\.(?:heads\.(\d+)|residual)$/.exec(name) ?? [];
    const place = `hooks[${showValue(name)}]`;
    const block = layerAt(where, name, path, layers);
    if (head === undefined) {
      if (typeof hook !== "function") {
        throw new HeedError("option", `${where}: ${place} must be a function, got ${showValue(hook)}`);
      }
      residuals.set(block.layer, hook as Rewrite);
      continue;
    }
    const attention = layers.get(`${block.path}.self_attn`);
    const { heads: count } = (attention ?? {}) as { readonly heads?: unknown };
    if (attention === undefined || typeof count !== "number") {
      throw new HeedError("unsupported", `${where}: ${place} must be of a layer with attention`);
    }
    const number = readCount(where, `${place}: the head`, Number(head), 0, count - 1, 0);
    const ofLayer = heads.get(attention) ?? new Map<number, ReadHeadHook>();
    heads.set(attention, ofLayer.set(number, readHeadHook(where, place, hook)));
  }
  return { heads, residuals };
}

/** By the end of its path. */
function layerAt(
  where: string,
  name: string,
  path: string,
  layers: ReadonlyMap<string, object>,
): { readonly path: string; readonly layer: object } {
  const found = [...layers].filter(([one]) => path !== "" && (one === path || one.endsWith(`.${path}`)));
  const [first, other] = found;
  if (first !== undefined && other === undefined) return { path: first[0], layer: first[1] };
  const blocks = [...layers.keys()].filter((one) => /(?:^|\.)layers\.\d+$/.test(one));
  const got = other === undefined ? showValue(name) : `${showValue(name)}, of ${found.length} layers`;
  throw new HeedError("option", `${where}: hooks must have names as ${FORMS}, of ${blocks.length} layers, got ${got}`);
}

function readHeadHook(where: string, place: string, hook: unknown): ReadHeadHook {
  if (typeof hook === "number") return { weights: 1, output: readRewrite(where, place, hook) };
  const given = readRecord(where, place, hook, ["weights", "output"]);
  return {
    weights: readRewrite(where, `${place}.weights`, given["weights"]),
    output: readRewrite(where, `${place}.output`, given["output"]),
  };
}

function readRewrite(where: string, place: string, value: unknown): number | Rewrite {
  if (value === undefined) return 1;
  if (typeof value === "function") return value as Rewrite;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new HeedError("option", `${where}: ${place} must be a function or a finite factor, got ${showValue(value)}`);
}
