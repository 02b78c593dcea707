// TensorFlow.js trains with its own gradients and Adam; clipping and weight decay are by hand. With `transposed` the gradients of linear
// layers are products of explicitly transposed matrices, which its backend computes several times as fast.

import { BATCH, batchOf, CONTEXT, EPSILON, HEAD_DIM, parametersOf, RULE, TOKENS, VOCABULARY } from "../../gpt2.js";
import { causalBias } from "../../inputs.js";
import type { Learner, Model, Setup } from "../../peer.js";
import { openTfWithGradients } from "../tfjs.js";
import type { Tfjs, TfTensor, TfVariable } from "../tfjs-types.js";

const { learningRate, betas, epsilon, weightDecay } = RULE;

export async function open({ threads, options }: Setup): Promise<Learner> {
  const tf = await openTfWithGradients(threads);
  const losses: number[] = [];
  let parameters: readonly TfVariable[] = [];
  let step = (): TfTensor => tf.scalar(Number.NaN);

  return {
    about: { version: tf.version_core, threads: tf.wasm.getThreadsCount() },
    losses,

    async prepare(model: Model) {
      const all = parametersOf(model);
      parameters = all.map(({ name, data, shape }) => tf.variable(tf.tensor(data, shape), true, name));
      const lossOf = lossFunction(tf, model, options.transposed === "yes" ? transposing(tf) : tf.matMul);
      const adam = tf.train.adam(learningRate, ...betas, epsilon);
      const hot = (indices: Int32Array) => tf.cast(tf.oneHot(tf.tensor1d(indices, "int32"), VOCABULARY), "float32");
      step = () => {
        const { tokens, targets } = batchOf(losses.length);
        const [x, y] = [hot(tokens), hot(targets)];
        const { value, grads } = tf.variableGrads(() => lossOf(parameters, x, y), parameters);
        const gradients = parameters.map(({ name }) => [name, grads[name] as TfTensor] as const);
        const sum = tf.addN(gradients.map(([, gradient]) => tf.sum(tf.square(gradient))));
        const factor = tf.minimum(tf.div(1, tf.add(tf.sqrt(sum), 1e-6)), 1);
        for (const one of parameters) one.assign(tf.mul(one, 1 - learningRate * weightDecay));
        adam.applyGradients(Object.fromEntries(gradients.map(([name, one]) => [name, tf.mul(one, factor)])));
        return value;
      };
    },

    async run() {
      const loss = tf.tidy(step);
      losses.push((await loss.data())[0] ?? Number.NaN);
      loss.dispose();
    },

    async release() {
      for (const one of parameters) one.dispose();
      parameters = [];
    },
  };
}

type Product = (a: TfTensor, b: TfTensor) => TfTensor;

function transposing(tf: Tfjs): Product {
  return tf.customGrad((a, b, save) => {
    save([a, b]);
    const back = (of: TfTensor, [x, y]: readonly [TfTensor, TfTensor]) => [
      tf.matMul(of, tf.transpose(y)),
      tf.matMul(tf.transpose(x), of),
    ];
    return { value: tf.matMul(a, b), gradFunc: back };
  });
}

function lossFunction(tf: Tfjs, { dim, layers }: Model, product: Product) {
  const heads = dim / HEAD_DIM;
  const mask = tf.keep(tf.tensor(causalBias(CONTEXT, CONTEXT), [CONTEXT, CONTEXT]));
  const scale = tf.keep(tf.scalar(1 / Math.sqrt(HEAD_DIM)));
  const headsOutside = (x: TfTensor) => tf.transpose(tf.reshape(x, [BATCH, CONTEXT, heads, HEAD_DIM]), [0, 2, 1, 3]);
  const attend = (joined: TfTensor) => {
    const [query, key, value] = tf.split(joined, 3, 1).map(headsOutside) as [TfTensor, TfTensor, TfTensor];
    const scores = tf.add(tf.mul(tf.matMul(query, key, false, true), scale), mask);
    return tf.reshape(tf.transpose(tf.matMul(tf.softmax(scores), value), [0, 2, 1, 3]), [TOKENS, dim]);
  };
  return (parameters: readonly TfTensor[], tokens: TfTensor, targets: TfTensor): TfTensor => {
    const left = [...parameters];
    const take = (): TfTensor => left.shift() as TfTensor;
    const norm = (x: TfTensor) => {
      const centred = tf.sub(x, tf.mean(x, -1, true));
      const deviation = tf.rsqrt(tf.add(tf.mean(tf.square(centred), -1, true), EPSILON));
      return tf.add(tf.mul(tf.mul(centred, deviation), take()), take());
    };
    const linear = (x: TfTensor) => tf.add(product(x, take()), take());
    const words = take();
    let x = tf.reshape(tf.add(tf.reshape(product(tokens, words), [BATCH, CONTEXT, dim]), take()), [TOKENS, dim]);
    for (let layer = 0; layer < layers; layer++) {
      x = tf.add(x, linear(attend(linear(norm(x)))));
      x = tf.add(x, linear(gelu(tf, linear(norm(x)))));
    }
    const logits = product(norm(x), tf.transpose(words));
    return tf.mul(tf.sum(tf.mul(tf.logSoftmax(logits), targets)), -1 / TOKENS);
  };
}

/** The tanh form: x sigmoid(2 u), with u = sqrt(2 / pi) (x + 0.044715 x^3). */
function gelu(tf: Tfjs, x: TfTensor): TfTensor {
  const slope = 2 * Math.sqrt(2 / Math.PI);
  return tf.mul(x, tf.sigmoid(tf.mul(x, tf.add(tf.mul(tf.square(x), 0.044715 * slope), slope))));
}
