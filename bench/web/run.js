// draft
import { Stage } from "./lib/stage.js";
import { serve } from "./lib/server.js";
import { participant } from "./lib/participants.js";
import { shapeOf, flopsOf } from "./lib/shapes.js";
import { measure } from "./lib/rounds.js";
const server = await serve({ isolated: true });
const stage = await Stage.open({ address: server.address, executablePath: "/usr/bin/chromium" });
const names = process.argv[3].split(",");
for (const shape of process.argv[2].split(",")) {
  const problem = shapeOf(shape);
  const t = performance.now();
  const verdict = await stage.ask(participant("plain"), "judge", problem);
  console.log(shape, "judge", performance.now() - t, verdict.rows.length);
  const r = await measure(stage, problem, names.map(participant), { rounds: 5, budgetMs: 500, patienceMs: 2000 }, verdict);
  for (const x of r) console.log(x.name, x.ms, x.rate, "GF/s", flopsOf(problem) / x.ms / 1e6, "err", x.error, "first", x.firstMs, "prep", x.prepareMs, x.failure, x.samples.length);
}
await stage.end(); server.close();
