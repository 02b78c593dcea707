// A worker that reads numbers as often as its order says, and reports how long that took.

import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";

/** @typedef {{ repeats: number, numbers: number }} Order */

const module = new WebAssembly.Module(readFileSync(/** @type {string} */ (workerData)));
const loops = /** @type {{ _initialize(): void, read(repeats: number, numbers: number): number }} */ (
  /** @type {unknown} */ (new WebAssembly.Instance(module).exports)
);
loops._initialize();

const now = () => performance.timeOrigin + performance.now();

parentPort?.on("message", (/** @type {Order} */ { repeats, numbers }) => {
  const start = now();
  loops.read(repeats, numbers);
  parentPort?.postMessage({ start, end: now() });
});
