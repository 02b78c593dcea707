// A worker of a peak loop: it receives the module, then orders.

import type { Order, Report } from "./peak-messages.js";

interface Exports {
  _initialize(): void;
  tile(repeats: number): number;
  chain(repeats: number): number;
  int8(repeats: number): number;
  int4(repeats: number): number;
  read(repeats: number, numbers: number): number;
}

let loops: Exports | null = null;

addEventListener("message", ({ data }: MessageEvent<WebAssembly.Module | Order>) => {
  if (data instanceof WebAssembly.Module) {
    // The module is our own: these are its exports.
    loops = new WebAssembly.Instance(data).exports as unknown as Exports;
    loops._initialize();
    return;
  }
  if (loops === null) throw new Error("an order came before the module");
  const start = performance.timeOrigin + performance.now();
  const work = data.loop === "read" ? loops.read(data.repeats, data.numbers) : loops[data.loop](data.repeats);
  const report: Report = { work, start, end: performance.timeOrigin + performance.now() };
  postMessage(report);
});
