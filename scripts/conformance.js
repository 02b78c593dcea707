// Writes docs/conformance.md anew: `npm run conformance`.

import { build } from "./build.js";
import { ensureDependencies } from "./lib/dependencies.js";
import { run } from "./lib/steps.js";
import { root } from "./make/root.js";

await ensureDependencies();
await build();
const args = ["vitest", "run", "--project", "conformance", "tests/conformance/document.node.test.ts", "--update"];
await run("npx", args, { cwd: root, quiet: false });
