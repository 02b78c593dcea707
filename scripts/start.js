// Builds the package, serves the demo, prints its address, and opens a browser where there is one.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { build } from "./build.js";
import { ensureDependencies } from "./lib/dependencies.js";
import { note, step } from "./lib/steps.js";
import { root } from "./make/root.js";

await ensureDependencies();
await build();

const { createServer } = await import("vite");
const server = await step("start the demo", async () => {
  const created = await createServer({ configFile: join(root, "demo", "vite.config.ts") });
  return created.listen();
});
const address = server.resolvedUrls?.local[0] ?? "";
note(`\nThe demo is at ${address} (stop it with Ctrl+C)`);
openBrowser(address);

/** @param {string} url */
function openBrowser(url) {
  const hasScreen = process.platform !== "linux" || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  if (!hasScreen || !process.stdout.isTTY || process.env.CI) return;
  const opener = process.platform === "darwin" ? "open" : process.platform === "win32" ? "explorer" : "xdg-open";
  const child = spawn(opener, [url], { stdio: "ignore", detached: true });
  child.on("error", () => {}); // without an opener the printed address has to do
  child.unref();
}
