// The machine's peak or read bandwidth: a loop in as many workers as there are threads, all at the same time.

import type { Loop, Order, Report } from "../peak-messages.js";
import type { Peak, Problem, Setup } from "../peer.js";

/** A sample is long compared with the time between the starts of the workers. */
const SAMPLE_MS = 20;
/** The fastest of so many repeats counts, so that an interruption is not taken for work. */
const TRIES = 3;

export async function open({ threads, options }: Setup): Promise<Peak> {
  const { loop, variant, numbers } = options;
  if (!isLoop(loop)) throw new Error(`no loop is called ${loop}`);
  const response = await fetch(`/peaks/wasm-${variant}/bench/cpp/heed_peaks.wasm`);
  const module = await WebAssembly.compileStreaming(response);
  const workers = Array.from({ length: threads }, () => {
    const worker = new Worker(new URL("../peak-worker.js", import.meta.url), { type: "module" });
    worker.postMessage(module);
    return worker;
  });
  let order: Order = { loop, repeats: 1, numbers: 0 };

  const run = async (): Promise<{ ms: number; work: number }> => {
    const reports = await Promise.all(workers.map((worker) => askWorker(worker, order)));
    const ms = Math.max(...reports.map(({ end }) => end)) - Math.min(...reports.map(({ start }) => start));
    return { ms, work: reports.reduce((sum, { work }) => sum + work, 0) };
  };

  return {
    about: { threads, loop, variant },
    async prepare({ kvHeads, keys, dim }: Problem) {
      // Each worker reads its share of the problem's K and V, or of as many numbers as its options say.
      order = { loop, repeats: 1, numbers: Math.floor(Number(numbers ?? 2 * kvHeads * keys * dim) / threads) };
      for (let fastest = 0; fastest < SAMPLE_MS; ) {
        order = { ...order, repeats: order.repeats * 2 };
        fastest = Number.POSITIVE_INFINITY;
        for (let i = 0; i < TRIES; i++) fastest = Math.min(fastest, (await run()).ms);
      }
    },
    async rate() {
      const { ms, work } = await run();
      return (work / ms) * 1000;
    },
  };
}

const LOOPS: readonly (string | undefined)[] = ["tile", "chain", "int8", "int4", "read"] satisfies Loop[];
const isLoop = (name: string | undefined): name is Loop => LOOPS.includes(name);

function askWorker(worker: Worker, order: Order): Promise<Report> {
  return new Promise((done, fail) => {
    worker.onmessage = ({ data }) => done(data);
    worker.onerror = ({ message }) => fail(new Error(message));
    worker.postMessage(order);
  });
}
