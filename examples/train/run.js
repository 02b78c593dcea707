// node examples/train/run.js <recipe> [option=value ...]: trains, and says how well it went, by the recipe's figures or its accuracy. `seeds=5`
// trains with the seeds 1 to 5.

import { createHeed } from "heed";

const [recipe = "kernel", ...given] = process.argv.slice(2);
const {
  train,
  accuracy,
  figures = async (trained) => ({ accuracy: await accuracy(trained) }),
} = await import(`./${recipe}.js`);
const read = (value) => (Number.isNaN(Number(value)) ? value : Number(value));
const { seeds = 1, ...options } = Object.fromEntries(given.map((one) => one.split("=")).map(([k, v]) => [k, read(v)]));

for (let seed = 1; seed <= seeds; seed++) {
  const engine = await createHeed();
  const begun = performance.now();
  const onStep = ({ step, loss }) => {
    if ((step + 1) % 100 === 0) console.log(`step ${step + 1}: loss ${loss.toFixed(4)}`);
  };
  const trained = await train({ ...options, seed, engine, onStep });
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  const found = Object.entries(await figures(trained)).map(([name, figure]) => `${name} ${figure.toFixed(3)}`);
  console.log(`${recipe}, seed ${seed}: ${found.join(", ")} after ${seconds} s`);
  engine.dispose();
}
process.exit();
