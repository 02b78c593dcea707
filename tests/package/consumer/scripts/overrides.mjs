// Every override of createHeed's, with files of the package, in any runtime.
import { readFile } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import * as heed from "heed";
import * as reference from "heed/reference";
import { compute } from "./compute.js";

const file = (name) => new URL(import.meta.resolve(`heed/assets/${name}`));
const url = file("wasm-simd.wasm");
const binary = new Uint8Array(await readFile(url));
const workerUrl = file("worker.js");
let made = 0;
const workerFactory = () => {
  made += 1;
  return new Worker(workerUrl, { execArgv: [] });
};
const overrides = { url, binary, module: await WebAssembly.compile(binary), workerUrl, workerFactory };

const outcomes = {};
for (const [name, value] of Object.entries(overrides)) {
  outcomes[name] = await compute(heed, reference, { variant: "simd", threads: 2, wasm: { [name]: value } });
}
if (made !== 2) throw new Error(`the factory was asked for ${made} workers, not for one a thread`);
console.log(JSON.stringify(outcomes));
