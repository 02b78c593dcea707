// heed and onnxruntime-web on one GPU device, in Chromium on its software adapter: executes the code of docs/webgpu.md word for word and
// compares its results with double precision. `node bench/web/interop.js`, after `npm run build`, where the peers are installed.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright";
import { findToolchain } from "../../scripts/toolchain/find.js";
import { serve } from "./lib/server.js";

/** The largest difference of sums of 16 products of numbers up to 8, in f32. */
const MOST = 1e-5;

const SOFTWARE = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan"];

const guide = readFileSync(fileURLToPath(new URL("../../docs/webgpu.md", import.meta.url)), "utf8");
const code = /^## Beside onnxruntime-web$.*?^```js\n(.*?)^```$/ms.exec(guide)?.[1];
if (code === undefined) throw new Error("docs/webgpu.md has no code under its heading Beside onnxruntime-web");

/** The results that pages/interop.ts compares. */
const results = "await q.read(), await output.read(), await again.getData()";

const found = await findToolchain({ need: ["chromium"], log: () => {} });
const server = await serve({ isolated: true });
// As root, Chromium has no sandbox.
const args = [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), ...SOFTWARE];
const browser = await chromium.launch({ executablePath: found.chromium.path, args });
try {
  const page = await browser.newPage();
  const failed = new Promise((_, fail) => page.on("pageerror", fail));
  await page.goto(`${server.address}/pages/interop.html`);
  await page.waitForFunction(() => "differences" in globalThis);
  await page.addScriptTag({ type: "module", content: `${code}\nglobalThis.found = differences(${results});` });
  await Promise.race([page.waitForFunction(() => "found" in globalThis), failed]);
  const differences = /** @type {Record<string, number>} */ (await page.evaluate("found"));
  console.table(differences);
  if (!Object.values(differences).every((one) => one <= MOST)) throw new Error(`more than ${MOST}`);
} finally {
  await browser.close();
  server.close();
}
