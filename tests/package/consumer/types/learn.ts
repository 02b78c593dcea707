// A layer of one's own and the loop that trains it, as strict a compiler as there is, and without a cast.
import { createHeed, type Heed, type NoOptions, type Returned, type Tensor, type TensorInput } from "heed";
import { abs, mul, sub, table } from "heed/expr";
import {
  type Forwarded,
  type ForwardOptions,
  Layer,
  Linear,
  type ModelConfig,
  MultiHeadAttention,
  type ParameterTensor,
} from "heed/layers";
import { AdamW, clipNorm, constant, gradients, meanSquaredError, type Pass, train } from "heed/train";

interface RegressorOptions {
  readonly dim: number;
  readonly engine: Heed;
}

/** Attention, then one number a token. */
class Regressor extends Layer {
  readonly attention: MultiHeadAttention;
  readonly head: Linear;

  constructor({ dim, engine }: RegressorOptions) {
    super("Regressor", engine);
    this.attention = this.part("attention", new MultiHeadAttention({ embedDim: dim, heads: 1, engine }));
    this.head = this.part("head", new Linear({ inFeatures: dim, outFeatures: 1, engine }));
  }

  async forward<const O extends ForwardOptions = NoOptions>(x: TensorInput, options?: O): Promise<Returned<O>> {
    const { output } = await this.attention.forward(x, x, x, { ...options, keep: true });
    return this.head.forward(output, options);
  }
}

/** The type of a layer's method can be named. */
class Named extends Layer {
  readonly #inner: Linear;

  constructor(engine?: Heed) {
    super("Named", engine);
    this.#inner = this.part("inner", new Linear({ inFeatures: 4, outFeatures: 4, engine }));
  }

  forward<const O extends ForwardOptions = NoOptions>(x: TensorInput, options?: O): Forwarded<O> {
    return this.#inner.forward(x, options);
  }
}

/** A head's scores fall with the distance, at a rate that it learns. */
class Decaying extends Layer {
  readonly decay = this.parameter("decay", { shape: [1], init: "ones" });
  readonly warmth = this.parameter("warmth", { shape: [1], init: "ones" });

  async forward(x: TensorInput, { pass }: { readonly pass: Pass }): Promise<Tensor> {
    const slope = table(this.decay);
    const { output } = await pass.attention(x, x, x, {
      temperature: pass.exp(this.warmth),
      scoreMod: ({ score, h, q, k }) => sub(score, mul(slope.at(h), abs(sub(q, k)))),
    });
    return output;
  }
}

class Clash extends Layer {
  // @ts-expect-error the name is heed's own in every layer
  engine = "mine";

  constructor() {
    super("Clash");
  }
}

const config: ModelConfig = { model_type: "gpt2", n_embd: 8, n_layer: 1, n_head: 2, n_inner: null, of_others: [] };
// @ts-expect-error a size is a number
const wrong: ModelConfig = { hidden_size: "8" };

const engine = await createHeed({ offload: false });
const model = new Regressor({ dim: 4, engine }).init({ seed: 1 });
const random = (at: number): number => Math.sin(at * 12.9898) % 1;
const x = { data: Float32Array.from({ length: 32 }, (_, at) => random(at)), shape: [2, 4, 4] };
const y = { data: Float32Array.from({ length: 8 }, (_, at) => random(at + 99)), shape: [2, 4, 1] };

const optimizer = new AdamW(model, { learningRate: 0.05 });
const losses: number[] = [];
for (let step = 0; step < 10; step++) {
  const { loss } = await gradients(model, async (pass) => ({
    loss: await meanSquaredError(await model.forward(x, { keep: true, pass }), y, { pass }),
  }));
  await clipNorm(model, 1);
  await optimizer.step({ learningRate: constant(step, { peak: 0.05 }) });
  losses.push(loss);
}
const decaying = new Decaying("Decaying", engine).init();
await gradients(decaying, async (pass) => {
  const output = await decaying.forward(x, { pass });
  await output.backward(x);
  return { output };
});
await train(model, {
  optimizer,
  steps: 20,
  batch: () => [x, y] as const,
  loss: async (layer, [input, wanted], pass) =>
    meanSquaredError(await layer.forward(input, { keep: true, pass }), wanted, { pass }),
  onStep: ({ loss }) => losses.push(loss),
});
const learnt: Map<string, ParameterTensor> = await model.readParameters();
const plain: Float32Array = (await model.forward(x)).data;
const named: Float32Array = (await new Named(engine).init().forward(x)).data;
console.log(JSON.stringify({ losses, names: [...learnt.keys()], sizes: [plain.length, named.length] }));
engine.dispose();

export { Clash, config, wrong };
