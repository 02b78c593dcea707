// A small GPT-2 learns in the page that n + 1 comes after n, modulo 7.

import { GPT2Model } from "heed/layers";
import { AdamW, crossEntropy, train } from "heed/train";

const config = { model_type: "gpt2", vocab_size: 7, n_embd: 16, n_layer: 1, n_head: 2, n_positions: 8 };
const model = new GPT2Model(config).init({ seed: 1 });

await train(model, {
  optimizer: new AdamW(model, { learningRate: 1e-2 }),
  steps: 60,
  batch: (step) => Int32Array.from({ length: 4 * 8 }, (_, at) => ((at >> 3) + step + at) % 7),
  loss: async (model, tokens, pass) => {
    const { logits } = await model.forward({ data: tokens, shape: [4, 8] }, { pass });
    const targets = tokens.map((token) => (token + 1) % 7);
    return crossEntropy(logits, targets, { pass });
  },
  onStep: ({ step }) => {
    document.querySelector("progress").value = step + 1;
  },
});

const { logits } = await model.forward([3, 4, 5], { last: true });
document.querySelector("output").textContent = logits.data.indexOf(Math.max(...logits.data));
