// What createHeed is told on static.html, by name: nothing, or one of the overrides.

const BINARY = "/heed/assets/wasm-simd.wasm";
const WORKER = "/heed/assets/worker.js";

const fetched = async () => (await fetch(BINARY)).arrayBuffer();
const simd = (wasm) => ({ variant: "simd", wasm });

/** A script of this origin that imports one of another, which a worker itself may not be. */
const foreign = (url) => URL.createObjectURL(new Blob([`import ${JSON.stringify(url)};`], { type: "text/javascript" }));

export const overrides = {
  none: () => ({}),
  url: () => simd({ url: BINARY }),
  binary: async () => simd({ binary: await fetched() }),
  module: async () => simd({ module: await WebAssembly.compile(await fetched()) }),
  workerUrl: () => ({ wasm: { workerUrl: WORKER } }),
  workerFactory: () => ({ wasm: { workerFactory: () => new Worker(WORKER, { type: "module" }) } }),
  foreignWorker: () => {
    const { module } = Object.fromEntries(new URLSearchParams(location.search));
    const url = new URL("assets/worker.js", module).href;
    return { wasm: { workerFactory: () => new Worker(foreign(url), { type: "module" }) } };
  },
};
