// What createHeed is told on static.html, by name: nothing, or one of the overrides.

const BINARY = "/copy/wasm-simd.wasm";
const WORKER = "/copy/worker.js";

const fetched = async () => (await fetch(BINARY)).arrayBuffer();
const simd = (wasm) => ({ variant: "simd", wasm });

export const overrides = {
  none: () => ({}),
  url: () => simd({ url: BINARY }),
  binary: async () => simd({ binary: await fetched() }),
  module: async () => simd({ module: await WebAssembly.compile(await fetched()) }),
  workerUrl: () => ({ wasm: { workerUrl: WORKER } }),
  workerFactory: () => ({ wasm: { workerFactory: () => new Worker(WORKER, { type: "module" }) } }),
};
