// Workers that a test can terminate, in the order of their indices in the pool.

import { Worker as NodeWorker } from "node:worker_threads";
import { workerSource } from "../../web/src/backends/wasm/generated/worker-source.js";

/** `change` may replace what a worker does, and so may `prelude`, which it runs first, with `workerData`. */
export function ownWorkers(change: (worker: NodeWorker) => void = () => {}, prelude = "", workerData: unknown = null) {
  const workers: NodeWorker[] = [];
  const workerFactory = (): never => {
    const worker = new NodeWorker(prelude + workerSource, { eval: true, workerData });
    workers.push(worker);
    change(worker);
    // Node's Worker stands in for the browser's, as the engine allows.
    return worker as never;
  };
  return { workers, wasm: { workerFactory } };
}
