// node examples/train/run.js <recipe> [option=value ...]: trains, and says how well it went. `seeds=5` trains with the seeds 1 to 5.

import { createHeed } from "heed";

const [recipe = "kernel", ...given] = process.argv.slice(2);
const { train, accuracy } = await import(`./${recipe}.js`);
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
  console.log(`${recipe}, seed ${seed}: accuracy ${(await accuracy(trained)).toFixed(3)} after ${seconds} s`);
  engine.dispose();
}
process.exit();
