// heed trains by its public API.

import { createHeed } from "heed";
import { GPT2Model } from "heed/layers";
import { AdamW, clipNorm, crossEntropy, gradients } from "heed/train";
import { BATCH, batchOf, CONTEXT, EPSILON, HEAD_DIM, parametersOf, RULE, VOCABULARY } from "../../gpt2.js";
import type { Learner, Model, Setup } from "../../peer.js";

export async function open({ threads }: Setup): Promise<Learner> {
  const engine = await createHeed({ threads, backend: "wasm" });
  const losses: number[] = [];
  let step = async (): Promise<number> => Number.NaN;
  let dispose = (): void => {};

  return {
    about: { ...engine.capabilities },
    losses,

    async prepare({ dim, layers }: Model) {
      const config = {
        model_type: "gpt2",
        vocab_size: VOCABULARY,
        n_embd: dim,
        n_layer: layers,
        n_head: dim / HEAD_DIM,
        n_positions: CONTEXT,
        layer_norm_epsilon: EPSILON,
      };
      const model = new GPT2Model(config, { engine });
      model.load(Object.fromEntries(parametersOf({ dim, layers }).map(({ name, ...tensor }) => [name, tensor])));
      const optimizer = new AdamW(model, RULE);
      step = async () => {
        const { tokens, targets } = batchOf(losses.length);
        const { loss } = await gradients(model, async (pass) => {
          const { logits } = await model.forward({ data: tokens, shape: [BATCH, CONTEXT] }, { pass });
          return { loss: await crossEntropy(logits, targets, { pass }) };
        });
        await clipNorm(model, 1);
        await optimizer.step();
        return loss;
      };
      dispose = () => {
        optimizer.dispose();
        model.dispose();
      };
    },

    async run() {
      losses.push(await step());
    },

    async release() {
      dispose();
      dispose = () => {};
    },
  };
}
