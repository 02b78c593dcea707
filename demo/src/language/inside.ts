// A language model of examples/train/language.js, run part by part, so that everything between its parts can be seen. Loaded when it is needed.

import type { Heed } from "heed";
import {
  Embedding,
  type Layer,
  LayerNorm,
  Linear,
  loadSafetensors,
  MLP,
  MultiHeadAttention,
  type ParameterMap,
} from "heed/layers";
import { DIM, HEAD_DIM, HEADS, type Kind, LAYERS, WORDS } from "./words.js";

const POSITIONS = 16;

type Numbers = ArrayLike<number>;

/** The lengths of vectors: what each word's stream gets, and the stream after that. */
export interface Added {
  readonly added: readonly number[];
  readonly stream: readonly number[];
}

export interface LayerReading {
  /** By head, for each word the weights of all. */
  readonly weights: readonly (readonly (readonly number[])[])[];
  /** By head, word after word. */
  readonly q: readonly Numbers[];
  readonly k: readonly Numbers[];
  readonly v: readonly Numbers[];
  readonly attention: Added;
  readonly mlp: Added;
}

export interface Reading {
  /** The length of each word's embedding. */
  readonly embedding: readonly number[];
  readonly layers: readonly LayerReading[];
  /** The logits of the asked place, if the model stopped after the embedding, and after each layer. */
  readonly lens: readonly Numbers[];
}

/** Which parameters the model has, and where its parts are in them. A masked model adds first and then normalizes. */
const MADE = {
  causal: { stack: "decoder", normFirst: true, epsilon: 1e-5, activation: "gelu-tanh", file: "language" },
  masked: { stack: "encoder", normFirst: false, epsilon: 1e-12, activation: "gelu", file: "language-masked" },
} as const;

/** Of the causal model as a whole. */
export const CONFIG = {
  ...{ model_type: "gpt2", vocab_size: WORDS.length, n_positions: POSITIONS },
  ...{ n_embd: DIM, n_layer: LAYERS, n_head: HEADS },
};

const files = new Map<Kind, Promise<ParameterMap>>();

/** Loads a file once. */
export async function loadParameters(kind: Kind): Promise<ParameterMap> {
  const file = files.get(kind) ?? loadSafetensors(`./weights/${MADE[kind].file}.safetensors`);
  files.set(kind, file);
  try {
    return await file;
  } catch (error) {
    files.delete(kind);
    throw error;
  }
}

/** Heads are counted through all layers. Their outputs become zero before the output projection. */
export function withoutHeads(parameters: ParameterMap, kind: Kind, heads: readonly number[]): ParameterMap {
  const changed = new Map(parameters);
  for (const head of heads) {
    const name = `${MADE[kind].stack}.layers.${Math.floor(head / HEADS)}.self_attn.out_proj.weight`;
    const weight = changed.get(name);
    if (weight === undefined) continue;
    const data = Float32Array.from(weight.data as Float32Array, (value, at) =>
      Math.floor((at % DIM) / HEAD_DIM) === head % HEADS ? 0 : value,
    );
    changed.set(name, { data, shape: [DIM, DIM] });
  }
  return changed;
}

export class Inside {
  readonly #kind: Kind;
  readonly #parts: readonly Layer[];
  readonly #embed: (ids: readonly number[]) => Promise<Float32Array>;
  readonly #blocks: readonly Block[];
  readonly #logits: (row: Float32Array) => Promise<Float32Array>;

  constructor(kind: Kind, parameters: ParameterMap, engine?: Heed) {
    const { stack, epsilon, activation } = MADE[kind];
    const parts: Layer[] = [];
    const loaded = <L extends Layer>(layer: L, name: string): L => {
      parts.push(layer.load(parameters, `${name}.`));
      return layer;
    };
    const norm = (name: string) => loaded(new LayerNorm({ shape: DIM, epsilon, engine }), name);
    const table = (name: string, count: number) => loaded(new Embedding({ count, dim: DIM, engine }), name);
    const linear = (name: string, outFeatures = DIM, bias = true) =>
      loaded(new Linear({ inFeatures: DIM, outFeatures, bias, engine }), name);

    const [words, positions] = [table("words", WORDS.length), table("positions", POSITIONS)];
    const summed = async (ids: readonly number[]): Promise<Float32Array> =>
      sum(await look(words, ids), await look(positions, Array.from(ids.keys())));
    this.#blocks = Array.from({ length: LAYERS }, (_, layer) => {
      const at = `${stack}.layers.${layer}`;
      return {
        norms: [norm(`${at}.norm1`), norm(`${at}.norm2`)],
        attention: loaded(new MultiHeadAttention({ embedDim: DIM, heads: HEADS, engine }), `${at}.self_attn`),
        projections: ["q", "k", "v"].map((name) => linear(`${at}.self_attn.${name}_proj`)),
        mlp: loaded(new MLP({ dim: DIM, hidden: 4 * DIM, activation, engine }), `${at}.mlp`),
      };
    });
    if (kind === "causal") {
      const [last, head] = [norm("decoder.norm"), linear("head", WORDS.length, false)];
      this.#embed = summed;
      this.#logits = async (row) => run(head, await run(last, row));
    } else {
      const [first, types] = [norm("norm"), table("types", 2)];
      const [inner, decoder] = [norm("head.norm"), linear("head.decoder", WORDS.length)];
      const dense = new MLP({ dim: DIM, hidden: DIM, activation, engine }).load(asMlp(parameters, "head.dense"));
      parts.push(dense);
      this.#embed = async (ids) =>
        run(
          first,
          sum(
            await summed(ids),
            await look(
              types,
              Array.from(ids, () => 0),
            ),
          ),
        );
      this.#logits = async (row) => run(decoder, await run(inner, await run(dense, row)));
    }
    this.#kind = kind;
    this.#parts = parts;
  }

  /** What happens to these words; `asked`: the one whose stream gives the logits. */
  async read(ids: readonly number[], asked: number): Promise<Reading> {
    const isFirst = MADE[this.#kind].normFirst;
    let x = await this.#embed(ids);
    const row = () => this.#logits(x.slice(asked * DIM, (asked + 1) * DIM));
    const embedding = lengths(x);
    const lens = [await row()];
    const layers: LayerReading[] = [];
    for (const { norms, attention, projections, mlp } of this.#blocks) {
      const [before, after] = norms;
      const input = rows(isFirst ? await run(before, x) : x);
      const options = { causal: isFirst, return: { weights: true } } as const;
      const { output, weights } = await attention.forward(input, undefined, undefined, options);
      const [q = [], k = [], v = []] = await Promise.all(
        projections.map(async (one) => (await one.forward(input)).data),
      );
      x = sum(x, output.data);
      if (!isFirst) x = await run(before, x);
      const attended = { added: lengths(output.data), stream: lengths(x) };
      const added = await run(mlp, isFirst ? await run(after, x) : x);
      x = sum(x, added);
      if (!isFirst) x = await run(after, x);
      lens.push(await row());
      layers.push({
        weights: byHead(weights.data, ids.length),
        ...{ q: headsOf(q), k: headsOf(k), v: headsOf(v) },
        ...{ attention: attended, mlp: { added: lengths(added), stream: lengths(x) } },
      });
    }
    return { embedding, layers, lens };
  }

  dispose(): void {
    for (const part of this.#parts) part.dispose();
  }
}

interface Block {
  readonly norms: readonly [LayerNorm, LayerNorm];
  readonly attention: MultiHeadAttention;
  readonly projections: readonly Linear[];
  readonly mlp: MLP;
}

const rows = (data: Float32Array) => ({ data, shape: [data.length / DIM, DIM] });

async function look(table: Embedding, ids: readonly number[]): Promise<Float32Array> {
  return (await table.forward(ids)).data;
}

type RowLayer = { forward(x: ReturnType<typeof rows>): Promise<{ readonly data: Float32Array }> };

async function run(layer: RowLayer, data: Float32Array): Promise<Float32Array> {
  return (await layer.forward(rows(data))).data;
}

/** A linear layer with an activation, as an MLP whose second layer changes nothing. */
function asMlp(parameters: ParameterMap, name: string): ParameterMap {
  const identity = Float32Array.from({ length: DIM * DIM }, (_, at) => Number(at % (DIM + 1) === 0));
  const made = new Map(parameters);
  for (const part of ["weight", "bias"]) {
    const own = parameters.get(`${name}.${part}`);
    if (own !== undefined) made.set(`up_proj.${part}`, own);
  }
  return made
    .set("down_proj.weight", { data: identity, shape: [DIM, DIM] })
    .set("down_proj.bias", { data: new Float32Array(DIM), shape: [DIM] });
}

function sum(a: Float32Array, b: Float32Array): Float32Array {
  return a.map((value, at) => value + (b[at] ?? Number.NaN));
}

function lengths(data: Float32Array): readonly number[] {
  return Array.from({ length: data.length / DIM }, (_, word) =>
    Math.hypot(...data.subarray(word * DIM, (word + 1) * DIM)),
  );
}

const counted = <T>(length: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length }, (_, index) => make(index));

/** The columns of each head. */
function headsOf(data: Numbers): readonly Numbers[] {
  const count = data.length / DIM;
  return counted(HEADS, (head) =>
    Float32Array.from({ length: count * HEAD_DIM }, (_, at) => {
      const [word, column] = [Math.floor(at / HEAD_DIM), at % HEAD_DIM];
      return data[word * DIM + head * HEAD_DIM + column] ?? Number.NaN;
    }),
  );
}

function byHead(data: Float32Array, count: number): LayerReading["weights"] {
  return counted(HEADS, (head) =>
    counted(count, (query) => Array.from(data.subarray((head * count + query) * count).subarray(0, count))),
  );
}
