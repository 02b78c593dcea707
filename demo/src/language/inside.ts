// A language model of examples/train/language.js, run part by part, so that everything between its parts can be seen. Loaded when it is needed.

import { attention, type Heed } from "heed";
import { Embedding, type Layer, LayerNorm, Linear, loadSafetensors, MLP, type ParameterMap } from "heed/layers";
import { loadedOnce } from "../model/loaded-once.js";
import { DIM, HEAD_DIM, HEADS, type Kind, LAYERS, WORDS } from "./words.js";

const POSITIONS = 16;

type Numbers = ArrayLike<number>;

/** The lengths of vectors: what each word's stream gets, and the stream after that. */
type Added = Readonly<Record<"added" | "stream", readonly number[]>>;

/** Queries, keys and values by head, word after word. */
export interface LayerReading
  extends Readonly<Record<"q" | "k" | "v", readonly Numbers[]>>,
    Readonly<Record<"attention" | "mlp", Added>> {
  /** By head, for each word the weights of all. */
  readonly weights: readonly (readonly (readonly number[])[])[];
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

export const loadParameters = loadedOnce((kind: Kind) => loadSafetensors(`./weights/${MADE[kind].file}.safetensors`));

export class Inside {
  readonly #isFirst: boolean;
  readonly #embed: (ids: readonly number[]) => Promise<Float32Array>;
  readonly #blocks: readonly Block[];
  readonly #logits: (row: Float32Array) => Promise<Float32Array>;
  readonly #attention: typeof attention;

  constructor(kind: Kind, parameters: ParameterMap, engine?: Heed) {
    const { stack, normFirst, epsilon, activation } = MADE[kind];
    this.#isFirst = normFirst;
    this.#attention = engine === undefined ? attention : engine.attention.bind(engine);
    const loaded = <L extends Layer>(layer: L, name: string): L => layer.load(parameters, `${name}.`);
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
        projections: ["q", "k", "v"].map((name) => linear(`${at}.self_attn.${name}_proj`)),
        out: linear(`${at}.self_attn.out_proj`),
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
      this.#embed = async (ids) => run(first, sum(await summed(ids), await look(types, Array(ids.length).fill(0))));
      this.#logits = async (row) => run(decoder, await run(inner, await run(dense, row)));
    }
  }

  /** What happens to these words; `asked`: the one whose stream gives the logits; `off`: heads that give nothing, counted through all layers. */
  async read(ids: readonly number[], asked: number, off: readonly number[] = []): Promise<Reading> {
    const isFirst = this.#isFirst;
    let x = await this.#embed(ids);
    const row = () => this.#logits(x.slice(asked * DIM, (asked + 1) * DIM));
    const embedding = lengths(x);
    const lens = [await row()];
    const layers: LayerReading[] = [];
    for (const [layer, { norms, projections, out, mlp: perceptron }] of this.#blocks.entries()) {
      const [before, after] = norms;
      const input = isFirst ? await run(before, x) : x;
      const [q = [], k = [], v = []] = await Promise.all(
        projections.map(async (one) => headsOf(await run(one, input))),
      );
      const options = { causal: isFirst, return: { weights: true } } as const;
      const { output: heads, weights } = await this.#attention(tensorOf(q), tensorOf(k), tensorOf(v), options);
      for (const head of q.keys()) if (off.includes(layer * HEADS + head)) headIn(heads.data, head).fill(0);
      const output = await run(out, beside(heads.data));
      x = sum(x, output);
      if (!isFirst) x = await run(before, x);
      const attended = { added: lengths(output), stream: lengths(x) };
      const added = await run(perceptron, isFirst ? await run(after, x) : x);
      x = sum(x, added);
      if (!isFirst) x = await run(after, x);
      lens.push(await row());
      const mlp = { added: lengths(added), stream: lengths(x) };
      layers.push({ weights: byHead(weights.data, ids.length), q, k, v, attention: attended, mlp });
    }
    return { embedding, layers, lens };
  }
}

interface Block {
  readonly norms: readonly [LayerNorm, LayerNorm];
  readonly projections: readonly Linear[];
  readonly out: Linear;
  readonly mlp: MLP;
}

const rows = (data: Float32Array) => ({ data, shape: [data.length / DIM, DIM] });

type RowLayer = { forward(x: ReturnType<typeof rows>): Promise<{ readonly data: Float32Array }> };
const look = async (table: Embedding, ids: readonly number[]) => (await table.forward(ids)).data;
const run = async (layer: RowLayer, data: Float32Array) => (await layer.forward(rows(data))).data;
const sum = (a: Float32Array, b: Float32Array) => a.map((value, at) => value + (b[at] ?? Number.NaN));

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

function lengths(data: Float32Array): readonly number[] {
  return Array.from({ length: data.length / DIM }, (_, word) =>
    Math.hypot(...data.subarray(word * DIM, (word + 1) * DIM)),
  );
}

/** The columns of each head. */
function headsOf(data: Float32Array): readonly Float32Array[] {
  return Array.from({ length: HEADS }, (_, head) => data.filter((_, at) => Math.floor((at % DIM) / HEAD_DIM) === head));
}

/** Heads one after the other. */
function tensorOf(heads: readonly Float32Array[]) {
  const data = Float32Array.from(heads.flatMap((head) => Array.from(head)));
  return { data, shape: [1, HEADS, data.length / DIM, HEAD_DIM] };
}

const headIn = (heads: Float32Array, head: number): Float32Array =>
  heads.subarray((head * heads.length) / HEADS, ((head + 1) * heads.length) / HEADS);

/** Heads beside each other again, word after word. */
const beside = (heads: Float32Array): Float32Array =>
  heads.map((_, at) => {
    const [word, column] = [Math.floor(at / DIM), at % DIM];
    return headIn(heads, Math.floor(column / HEAD_DIM))[word * HEAD_DIM + (column % HEAD_DIM)] ?? Number.NaN;
  });

function byHead(data: Float32Array, count: number): LayerReading["weights"] {
  const rows = Array.from({ length: HEADS * count }, (_, row) =>
    Array.from(data.subarray(row * count, (row + 1) * count)),
  );
  return Array.from({ length: HEADS }, (_, head) => rows.slice(head * count, (head + 1) * count));
}
