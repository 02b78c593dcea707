// What a page does until it was frozen, or hidden, and is back: each scene once at least, and then once more as if nothing had been.
import { createHeed } from "/heed/index.js";
import { MLP } from "/heed/layers.js";
import { loadModel } from "/heed/models.js";
import { AdamW, gradients, meanSquaredError } from "/heed/train.js";

const seen = { freeze: 0, resume: 0, hidden: 0, visible: 0 };
for (const type of ["freeze", "resume"]) {
  document.addEventListener(type, () => {
    seen[type] += 1;
  });
}
document.addEventListener("visibilitychange", () => {
  seen[document.visibilityState] += 1;
});

const wave = (...shape) => {
  const data = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => Math.sin(i * i));
  return { data, shape };
};

/** Each makes what it needs, and gives what makes one result: numbers, the same each time. */
const SCENES = {
  call: async (engine) => {
    const x = wave(4, 512, 64);
    return async () => (await engine.attention(x, x, x, { causal: true })).output.data;
  },
  training: async (engine) => {
    const x = wave(64, 64);
    return async () => {
      const model = new MLP({ dim: 64, hidden: 256, engine }).init({ seed: 3 });
      const optimizer = new AdamW(model);
      for (let i = 0; i < 3; i++) {
        await gradients(model, async (pass) => ({
          loss: await meanSquaredError(await model.forward(x, { pass }), x, { pass }),
        }));
        await optimizer.step();
      }
      const { data } = await model.forward(x);
      optimizer.dispose();
      model.dispose();
      return data;
    };
  },
  load: async (engine) => async () => {
    const lm = await loadModel("/model/", { engine });
    const { logits } = await lm.model.forward([1, 2, 3]);
    lm.dispose();
    return logits.data;
  },
  open: async () => {
    const x = wave(4, 16);
    return async () => {
      const engine = await createHeed({ offload: true });
      const { output } = await engine.attention(x, x, x);
      const { worker } = engine.capabilities;
      engine.dispose();
      return [...output.data, ["shared-memory", "private-memory"].indexOf(worker)];
    };
  },
};

Object.assign(globalThis, {
  seen,
  /** Repeats a scene until `isOver`, and resolves to how often, and which results differ from what comes after. */
  async repeat(name, isOver) {
    const engine = await createHeed({ offload: true });
    const run = await SCENES[name](engine);
    const results = [];
    globalThis.begun = true;
    do results.push([...(await run())]);
    while (!isOver());
    const expected = JSON.stringify([...(await run())]);
    const wrong = results.filter((result) => JSON.stringify(result) !== expected).length;
    const { worker, reasons } = engine.capabilities;
    engine.dispose();
    return { times: results.length, wrong, numbers: results[0].length, worker, reasons };
  },
});
