// Several threads against one through the public API, from dist: `node bench/threads/run.js [--threads 2] [--rounds 15]
// [--chromium [--plain]]`. It measures in this Node (20 compiles relaxed SIMD without its optimisations: use a later one), in an isolated
// page, or in a plain page.

import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import { join, normalize } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../scripts/make/root.js";
import { findToolchain } from "../../scripts/toolchain/find.js";
import { measure } from "./measure.js";

const { values } = parseArgs({
  options: {
    threads: { type: "string", default: "2" },
    rounds: { type: "string", default: "15" },
    chromium: { type: "boolean", default: false },
    plain: { type: "boolean", default: false },
  },
});
const [threads, rounds] = [Number(values.threads), Number(values.rounds)];

if (values.chromium) await inChromium();
else {
  const { createHeed } = await import("../../dist/index.js");
  await measure(createHeed, threads, rounds, console.log);
}

async function inChromium() {
  const { chromium: browserType } = await import("playwright");
  const { chromium } = await findToolchain({ need: ["chromium"], log: () => {} });
  const server = createServer(serve).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await browserType.launch({ executablePath: chromium.path, args });
  try {
    const page = await browser.newPage();
    page.on("console", (message) => console.log(message.text()));
    await page.goto(`http://127.0.0.1:${address.port}/`);
    await page.evaluate(
      async ([count, times]) => {
        // Addresses of this server, which are no modules to the type checker.
        const [heed, bench] = await Promise.all(
          ["/dist/index.js", "/bench/threads/measure.js"].map((url) => import(url)),
        );
        await bench.measure(heed.createHeed, count, times, (/** @type {string} */ line) => console.log(line));
      },
      [threads, rounds],
    );
  } finally {
    await browser.close();
    server.close();
  }
}

/** A page at /, and the repository's modules. @type {import("node:http").RequestListener} */
function serve(request, response) {
  const path = normalize(new URL(request.url ?? "/", "http://localhost").pathname);
  if (!values.plain) {
    response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
    response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
  }
  if (!path.endsWith(".js")) {
    response.setHeader("Content-Type", "text/html").end("<!doctype html><title>heed on threads</title>");
    return;
  }
  response.setHeader("Content-Type", "text/javascript");
  createReadStream(join(root, path))
    .on("error", () => response.writeHead(404).end())
    .pipe(response);
}
