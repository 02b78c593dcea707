// jax-js trains by one jit over the loss, its gradients, the clipping and AdamW by hand. Every use of an array but the last takes `ref`.

import { BATCH, batchOf, CONTEXT, EPSILON, HEAD_DIM, parametersOf, RULE, TOKENS, VOCABULARY } from "../../gpt2.js";
import type { Learner, Model, Setup } from "../../peer.js";
import { type Jax, type JaxArray, openJax } from "../jax.js";

const { learningRate, betas, epsilon, weightDecay } = RULE;

export async function open({ threads }: Setup): Promise<Learner> {
  const jax = await openJax(threads, "wasm");
  const { numpy } = jax;
  const losses: number[] = [];
  let state: State = { parameters: [], means: [], squares: [] };
  let step: ReturnType<typeof stepOf> | null = null;

  return {
    about: { threads },
    losses,

    async prepare(model: Model) {
      const all = parametersOf(model);
      const zeros = () => all.map(({ shape }) => numpy.zeros(shape));
      const parameters = all.map(({ data, shape }) => numpy.array(data, { shape }));
      state = { parameters, means: zeros(), squares: zeros() };
      step = stepOf(jax, model);
    },

    async run() {
      if (step === null) throw new Error("nothing was prepared");
      const { tokens, targets } = batchOf(losses.length);
      const indices = (data: Int32Array) => numpy.array(data, { shape: [TOKENS], dtype: numpy.int32 });
      const correction = (beta: number) => numpy.array(1 / (1 - beta ** (losses.length + 1)));
      const corrections: Pair = [correction(betas[0]), correction(betas[1])];
      const made = step(state, indices(tokens), indices(targets), corrections);
      state = made.state;
      await jax.blockUntilReady(state);
      losses.push(((await made.loss.data()) as Float32Array)[0] ?? Number.NaN);
    },

    async release() {
      for (const array of Object.values(state).flat()) array.dispose();
      state = { parameters: [], means: [], squares: [] };
      step?.dispose();
      step = null;
    },
  };
}

interface State {
  readonly parameters: readonly JaxArray[];
  readonly means: readonly JaxArray[];
  readonly squares: readonly JaxArray[];
}

type Pair = readonly [JaxArray, JaxArray];

function stepOf(jax: Jax, model: Model) {
  const { numpy } = jax;
  const update = (state: State, tokens: JaxArray, targets: JaxArray, corrections: Pair) => {
    const hot = (indices: JaxArray) => jax.nn.oneHot(indices, VOCABULARY);
    const lossOf = lossFunction(jax, model);
    const references = state.parameters.map(({ ref }) => ref);
    const [loss, gradients] = jax.valueAndGrad(lossOf)(references, hot(tokens), hot(targets));
    let sum = numpy.array(0);
    for (const gradient of gradients) sum = sum.add(numpy.sum(gradient.ref.mul(gradient.ref)));
    const factor = numpy.minimum(numpy.reciprocal(numpy.sqrt(sum).add(1e-6)), 1);
    const made = gradients.map((gradient, at) => {
      const clipped = gradient.mul(factor.ref);
      const moved = (kept: readonly JaxArray[], beta: number, by: JaxArray) =>
        (kept[at] as JaxArray).mul(beta).add(by.mul(1 - beta));
      const mean = moved(state.means, betas[0], clipped.ref);
      const square = moved(state.squares, betas[1], clipped.ref.mul(clipped));
      const deviation = numpy.sqrt(square.ref.mul(corrections[1].ref)).add(epsilon);
      const change = mean.ref.mul(corrections[0].ref).div(deviation).mul(learningRate);
      const parameter = (state.parameters[at] as JaxArray).mul(1 - learningRate * weightDecay).sub(change);
      return { parameter, mean, square };
    });
    for (const one of [factor, ...corrections]) one.dispose();
    const next: State = {
      parameters: made.map(({ parameter }) => parameter),
      means: made.map(({ mean }) => mean),
      squares: made.map(({ square }) => square),
    };
    return { loss, state: next };
  };
  return jax.jit(update);
}

/** The embedding of tokens is a product with one-hot rows, as it has to be in TensorFlow.js. */
function lossFunction({ numpy, nn }: Jax, { dim, layers }: Model) {
  const heads = dim / HEAD_DIM;
  return (parameters: readonly JaxArray[], tokens: JaxArray, targets: JaxArray): JaxArray => {
    const left = [...parameters];
    const take = (): JaxArray => left.shift() as JaxArray;
    const norm = (x: JaxArray) => nn.standardize(x, -1, { epsilon: EPSILON }).mul(take()).add(take());
    const linear = (x: JaxArray) => numpy.matmul(x, take()).add(take());
    const words = take();
    let x = numpy.matmul(tokens, words.ref).reshape([BATCH, CONTEXT, dim]).add(take()).reshape([TOKENS, dim]);
    for (let layer = 0; layer < layers; layer++) {
      const joined = linear(norm(x.ref)).reshape([BATCH, CONTEXT, 3, heads, HEAD_DIM]);
      const [query, key, value] = numpy
        .split(joined, 3, 2)
        .map((one) => one.reshape([BATCH, CONTEXT, heads, HEAD_DIM])) as [JaxArray, JaxArray, JaxArray];
      const attended = nn.dotProductAttention(query, key, value, { isCausal: true }).reshape([TOKENS, dim]);
      x = x.add(linear(attended));
      x = x.ref.add(linear(nn.gelu(linear(norm(x)))));
    }
    const logits = numpy.matmul(norm(x), numpy.transpose(words));
    return numpy.sum(nn.logSoftmax(logits, -1).mul(targets)).mul(-1 / TOKENS);
  };
}
