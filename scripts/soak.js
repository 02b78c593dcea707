// Runs bench/soak on the built package: `npm run soak -- --minutes 30`.

import { join } from "node:path";
import { build } from "./build.js";
import { ensureDependencies } from "./lib/dependencies.js";
import { run } from "./lib/steps.js";
import { root } from "./make/root.js";

await ensureDependencies();
await build();
const program = join(root, "bench", "soak", "run.js");
await run(process.execPath, ["--expose-gc", program, ...process.argv.slice(2)], { cwd: root, quiet: false });
