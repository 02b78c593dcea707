// What this device does with one attention call: plain JavaScript, and heed in each way that runs here, in turns.

import type { Heed } from "heed";
import { normal } from "../../src/model/random.js";
import { pacer, pause } from "../../src/ui/pieces.js";

export const HEADS = 4;
export const WIDTH = 64;
export const ROUNDS = 5;
const CHECKED_ROWS = 8;
/** How long plain JavaScript computes before the page has its turn. */
const SLICE = 8;

export interface Problem {
  readonly tokens: number;
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
}

interface Runner {
  /** The output is [heads, tokens, width]. */
  readonly run: (
    problem: Problem,
    signal: AbortSignal,
  ) => Promise<{ readonly milliseconds: number; readonly output: Float32Array }>;
  readonly dispose: () => void;
}

interface Contestant {
  readonly name: string;
  /** Throws where it does not run here. */
  readonly open: () => Promise<Runner>;
}

export interface Result {
  readonly name: string;
  /** The median of the rounds so far; undefined: it does not run here. */
  readonly milliseconds: number | undefined;
  /** Of some rows, the largest difference to double precision. */
  readonly error: number | undefined;
  readonly note: string;
}

export async function problemOf(tokens: number): Promise<Problem> {
  const next = normal(12);
  const paced = pacer();
  const numbers = async (): Promise<Float32Array> => {
    const made = new Float32Array(HEADS * tokens * WIDTH);
    for (let row = 0; row < HEADS * tokens; row++) {
      for (let part = 0; part < WIDTH; part++) made[row * WIDTH + part] = next();
      await paced();
    }
    return made;
  };
  return { tokens, q: await numbers(), k: await numbers(), v: await numbers() };
}

/** The multiplications and additions of both products. */
export function operationsOf(tokens: number): number {
  return 4 * HEADS * tokens * tokens * WIDTH;
}

function contestants(cores: number): readonly Contestant[] {
  const several = Math.min(8, Math.max(2, cores));
  const heed = (name: string, options: Parameters<typeof import("heed").createHeed>[0]): Contestant => ({
    name: `heed, ${name}`,
    open: async () => heedRunner(await (await import("heed")).createHeed(options)),
  });
  const wasm = (threads: number, on: string): readonly Contestant[] => [
    heed(`SIMD, ${on}`, { backend: "wasm", variant: "simd", threads }),
    heed(`relaxed SIMD, ${on}`, { backend: "wasm", variant: "relaxed", threads }),
  ];
  return [
    { name: "plain JavaScript, one number at a time", open: async () => ({ run: plain, dispose: () => {} }) },
    ...wasm(1, "1 thread"),
    ...(cores > 1 ? wasm(several, `${several} threads`) : []),
    heed("WebGPU", { backend: "webgpu" }),
  ];
}

export async function race(
  tokens: number,
  cores: number,
  signal: AbortSignal,
  progress: (said: string, results: readonly Result[]) => void,
): Promise<readonly Result[]> {
  progress("Making the numbers.", []);
  const problem = await problemOf(tokens);
  const wanted = await exactRows(problem);
  const lanes: { name: string; runner?: Runner; times: number[]; error?: number; note: string }[] = [];
  const results = (): readonly Result[] =>
    lanes.map(({ name, times, error, note }) => ({ name, milliseconds: medianOf(times), error, note }));
  try {
    for (const { name, open } of contestants(cores)) {
      progress(`Starting: ${name}.`, results());
      signal.throwIfAborted();
      try {
        lanes.push({ name, runner: await open(), times: [], note: "" });
      } catch (error) {
        lanes.push({ name, times: [], note: error instanceof Error ? error.message : String(error) });
      }
    }
    // Before the first round each once, which is not counted: what is compiled late is compiled then.
    for (let round = -1; round < ROUNDS; round++) {
      for (const lane of lanes) {
        if (lane.runner === undefined) continue;
        progress(round < 0 ? `Warming up: ${lane.name}.` : `Round ${round + 1} of ${ROUNDS}: ${lane.name}.`, results());
        const { milliseconds, output } = await lane.runner.run(problem, signal);
        signal.throwIfAborted();
        if (round >= 0) lane.times.push(milliseconds);
        lane.error = widestOf(wanted, output, tokens);
      }
    }
    return results();
  } finally {
    for (const { runner } of lanes) runner?.dispose();
  }
}

function heedRunner(heed: Heed): Runner {
  return {
    run: async ({ tokens, q, k, v }, signal) => {
      const shape = [1, HEADS, tokens, WIDTH];
      const start = performance.now();
      const { output } = await heed.attention({ data: q, shape }, { data: k, shape }, { data: v, shape }, { signal });
      return { milliseconds: performance.now() - start, output: output.data };
    },
    dispose: () => heed.dispose(),
  };
}

/** Row by row, as one would write it down; only what it computes is counted, not the page's turns. */
const plain: Runner["run"] = async (problem, signal) => {
  const { tokens } = problem;
  const output = new Float32Array(HEADS * tokens * WIDTH);
  let milliseconds = 0;
  let start = performance.now();
  for (let row = 0; row < HEADS * tokens; row++) {
    output.set(plainRow(problem, row), row * WIDTH);
    const now = performance.now();
    if (now - start < SLICE) continue;
    milliseconds += now - start;
    await pause();
    signal.throwIfAborted();
    start = performance.now();
  }
  return { milliseconds: milliseconds + performance.now() - start, output };
};

function plainRow({ tokens, q, k, v }: Problem, row: number): Float64Array {
  const first = Math.floor(row / tokens) * tokens * WIDTH;
  const weights = new Float64Array(tokens);
  let most = Number.NEGATIVE_INFINITY;
  for (let key = 0; key < tokens; key++) {
    let sum = 0;
    for (let part = 0; part < WIDTH; part++) sum += (q[row * WIDTH + part] ?? 0) * (k[first + key * WIDTH + part] ?? 0);
    weights[key] = sum / Math.sqrt(WIDTH);
    if (sum / Math.sqrt(WIDTH) > most) most = sum / Math.sqrt(WIDTH);
  }
  let total = 0;
  for (let key = 0; key < tokens; key++) {
    weights[key] = Math.exp((weights[key] ?? 0) - most);
    total += weights[key] ?? 0;
  }
  return new Float64Array(WIDTH).map((_, part) => {
    let sum = 0;
    for (let key = 0; key < tokens; key++) sum += (weights[key] ?? 0) * (v[first + key * WIDTH + part] ?? 0);
    return sum / total;
  });
}

/** Some rows of each head in double precision to the end, by their place. */
export async function exactRows(problem: Problem): Promise<ReadonlyMap<number, Float64Array>> {
  const { tokens } = problem;
  const paced = pacer();
  const rows = new Map<number, Float64Array>();
  for (let head = 0; head < HEADS; head++) {
    for (let index = 0; index < Math.min(CHECKED_ROWS, tokens); index++) {
      const row = head * tokens + Math.floor((index * tokens) / CHECKED_ROWS);
      rows.set(row, plainRow(problem, row));
      await paced();
    }
  }
  return rows;
}

function widestOf(wanted: ReadonlyMap<number, Float64Array>, output: Float32Array, tokens: number): number {
  if (output.length !== HEADS * tokens * WIDTH) return Number.NaN;
  const gaps = Array.from(wanted, ([row, exact]) =>
    Math.max(...exact.map((value, part) => Math.abs(value - (output[row * WIDTH + part] ?? Number.NaN)))),
  );
  return Math.max(...gaps);
}

export function medianOf(times: readonly number[]): number | undefined {
  return [...times].sort((a, b) => a - b)[times.length >> 1];
}
