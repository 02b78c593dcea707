// A little of every part of the package, with results that are known by hand; and a model that is saved, read again, and computes.
import { createHeed } from "heed";
import { lessEqual } from "heed/expr";
import { BertModel, Linear } from "heed/layers";
import { loadModel, saveModel } from "heed/models";
import { gradients, meanSquaredError, Sgd } from "heed/train";

const config = {
  model_type: "bert",
  vocab_size: 11,
  hidden_size: 8,
  num_attention_heads: 2,
  intermediate_size: 8,
  num_hidden_layers: 1,
  max_position_embeddings: 16,
};

/** `keep` takes a model's files, bytes by name, to somewhere, and gives what `loadModel` is to read. Everything returned survives JSON. */
export async function parts(keep) {
  const engine = await createHeed({ offload: true });
  const x = { data: Float32Array.of(3, 1), shape: [1, 2] };
  const layer = new Linear({ inFeatures: 2, outFeatures: 1, bias: false, engine });
  layer.load({ weight: { data: Float32Array.of(1, 2), shape: [1, 2] } });
  const linear = await layer.forward(x);

  const wide = { data: new Float32Array(32).fill(1), shape: [1, 32] };
  const narrow = new Linear({ inFeatures: 32, outFeatures: 1, bias: false, engine });
  narrow.load({ weight: wide }, { weights: "int8" });

  const rows = { data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] };
  const masked = await engine.attention(rows, rows, rows, { maskMod: ({ q, k }) => lessEqual(k, q) });

  const target = { data: Float32Array.of(4), shape: [1, 1] };
  const step = await gradients(layer, async (pass) => {
    const input = await pass.input(x);
    return { loss: await meanSquaredError(await layer.forward(input, { pass }), target, { pass }) };
  });
  const gradient = (await layer.readGradients()).get("weight");
  await new Sgd(layer, { learningRate: 0.5 }).step();
  const learnt = (await layer.readParameters()).get("weight");

  const model = new BertModel(config, { engine }).init({ seed: 1 });
  const files = await keep(await saveModel(model, config));
  const { model: again } = await loadModel(files, { engine });
  const hidden = async (one) => [...(await one.forward([3])).hidden.data];

  const found = {
    linear: [...linear.data],
    narrow: [...(await narrow.forward(wide)).data],
    masked: [...masked.output.data],
    loss: step.loss,
    inputGradient: [...step.inputGradients[0].data],
    gradient: [...gradient.data],
    learnt: [...learnt.data],
    saved: await hidden(model),
    loaded: await hidden(again),
    worker: engine.capabilities.worker,
  };
  engine.dispose();
  return found;
}
