// What this device does with one attention call: plain JavaScript, and heed in each way that runs here, in turns; and what was found out,
// as text to hand on.

import type { Capabilities, CreateOptions } from "heed";
import { counted, messageOf } from "../../src/brought/arrays.js";
import { normal } from "../../src/model/random.js";
import { exact, magnitude } from "../../src/ui/numbers.js";
import { pacer, pause } from "../../src/ui/pieces.js";

export const HEADS = 4;
export const WIDTH = 64;
const ROUNDS = 5;
export const ABOUT = `${HEADS} heads of width ${WIDTH}, random numbers, medians of ${ROUNDS} rounds`;
const CHECKED_ROWS = 8;
/** How long plain JavaScript computes before the page has its turn. */
const SLICE = 8;

type Problem = Awaited<ReturnType<typeof problemOf>>;

/** One of those that are raced. */
interface Runner {
  /** The output is [heads, tokens, width]. */
  readonly run: (problem: Problem, signal: AbortSignal) => Promise<{ milliseconds: number; output: Float32Array }>;
  readonly dispose: () => void;
}

export interface Result {
  readonly name: string;
  /** The median of the rounds so far; undefined: it does not run here. */
  readonly milliseconds: number | undefined;
  /** Of some rows, the largest difference to double precision. */
  readonly error: number | undefined;
  readonly note: string;
}

export async function problemOf(tokens: number) {
  const next = normal(12);
  const paced = pacer();
  const numbers = async () => {
    const made = new Float32Array(HEADS * tokens * WIDTH);
    for (let row = 0; row < HEADS * tokens; row++) {
      for (let part = 0; part < WIDTH; part++) made[row * WIDTH + part] = next();
      await paced();
    }
    return made;
  };
  return { tokens, q: await numbers(), k: await numbers(), v: await numbers() };
}

/** By their names, in their order; some do not run here. */
function contestants(cores: number): readonly (readonly [string, () => Promise<Runner>])[] {
  const threads = cores > 1 ? [1, Math.min(8, cores)] : [1];
  const heeds = threads.flatMap((count): [string, CreateOptions][] => [
    [`SIMD, ${counted(count, "thread")}`, { backend: "wasm", variant: "simd", threads: count }],
    [`relaxed SIMD, ${counted(count, "thread")}`, { backend: "wasm", variant: "relaxed", threads: count }],
  ]);
  return [
    ["plain JavaScript, one number at a time", async () => ({ run: plain, dispose: () => {} })],
    ...heeds.map(([name, options]) => [`heed, ${name}`, () => openHeed(options)] as const),
    ["heed, WebGPU", () => openHeed({ backend: "webgpu" })],
  ];
}

type Progress = (said: string, results: readonly Result[]) => void;

export async function race(tokens: number, signal: AbortSignal, progress: Progress): Promise<readonly Result[]> {
  progress("Making the numbers.", []);
  const problem = await problemOf(tokens);
  const wanted = await exactRows(problem);
  const lanes: { name: string; runner?: Runner; times: number[]; error?: number; note: string }[] = [];
  const results = (): readonly Result[] =>
    lanes.map(({ name, times, error, note }) => ({ name, milliseconds: medianOf(times), error, note }));
  try {
    for (const [name, open] of contestants(navigator.hardwareConcurrency)) {
      progress(`Starting: ${name}.`, results());
      signal.throwIfAborted();
      try {
        lanes.push({ name, runner: await open(), times: [], note: "" });
      } catch (error) {
        lanes.push({ name, times: [], note: messageOf(error) });
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
        lane.error = widestOf(wanted, output);
      }
    }
    return results();
  } finally {
    for (const { runner } of lanes) runner?.dispose();
  }
}

async function openHeed(options: CreateOptions): Promise<Runner> {
  const { createHeed } = await import("heed");
  const heed = await createHeed(options);
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
  const rows = HEADS * problem.tokens;
  const output = new Float32Array(rows * WIDTH);
  let milliseconds = 0;
  let start = performance.now();
  for (let row = 0; row < rows; row++) {
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

/** Nothing but the loops: what is raced keeps no scores, as a row of the map does, and divides outputs instead of weights. */
function plainRow({ tokens, q, k, v }: Problem, row: number): Float64Array {
  const first = (row - (row % tokens)) * WIDTH;
  const root = Math.sqrt(WIDTH);
  const weights = new Float64Array(tokens);
  let [most, total] = [Number.NEGATIVE_INFINITY, 0];
  for (let key = 0; key < tokens; key++) {
    let sum = 0;
    for (let part = 0; part < WIDTH; part++) sum += (q[row * WIDTH + part] ?? 0) * (k[first + key * WIDTH + part] ?? 0);
    const score = sum / root;
    weights[key] = score;
    if (score > most) most = score;
  }
  for (let key = 0; key < tokens; key++) {
    const power = Math.exp((weights[key] ?? 0) - most);
    weights[key] = power;
    total += power;
  }
  return new Float64Array(WIDTH).map((_, part) => {
    let sum = 0;
    for (let key = 0; key < tokens; key++) sum += (weights[key] ?? 0) * (v[first + key * WIDTH + part] ?? 0);
    return sum / total;
  });
}

/** Some rows of each head in double precision to the end, by their place. */
export async function exactRows(problem: Problem): Promise<ReadonlyMap<number, Float64Array>> {
  const paced = pacer();
  const rows = new Map<number, Float64Array>();
  for (let row = 0; row < HEADS * problem.tokens; row += Math.ceil(problem.tokens / CHECKED_ROWS)) {
    rows.set(row, plainRow(problem, row));
    await paced();
  }
  return rows;
}

function widestOf(wanted: ReadonlyMap<number, Float64Array>, output: Float32Array): number {
  const gaps = Array.from(wanted, ([row, values]) =>
    Math.max(...values.map((value, part) => Math.abs(value - (output[row * WIDTH + part] ?? Number.NaN)))),
  );
  return Math.max(...gaps);
}

export function medianOf(times: readonly number[]): number | undefined {
  return [...times].sort((a, b) => a - b)[times.length >> 1];
}

type Device = ReturnType<typeof deviceOf>;

/** `capabilities`: undefined where the kernels did not start, or not yet. */
export const deviceOf = (capabilities: Capabilities | undefined) => ({
  agent: navigator.userAgent,
  cores: navigator.hardwareConcurrency,
  isolated: crossOriginIsolated,
  capabilities,
});

/** What is there, by name. `absent`: in the place of what the kernels would tell. */
export function statusOf({ cores, isolated, capabilities: found }: Device, absent = "kernels did not start") {
  const yes = (is: boolean | undefined): string => (is === undefined ? absent : is ? "yes" : "no");
  return Object.entries({
    Cores: String(cores),
    "Isolated page": yes(isolated),
    SIMD: yes(found?.simd),
    "Relaxed SIMD": yes(found?.relaxedSimd),
    "Shared memory": yes(found?.sharedMemory),
    "Chosen by itself": found ? `${found.backend}, ${found.variant}, ${found.threads} of ${cores}` : absent,
  });
}

export const FIGURES = ["ms", "× plain", "GFLOP/s", "error"] as const;

/** A line of the race; the first of all is the plain one. */
export function figuresOf({ milliseconds, error }: Result, tokens: number, [plain]: readonly Result[]) {
  if (milliseconds === undefined) return FIGURES.map(() => "…");
  // The multiplications and additions of both products.
  const operations = 4 * HEADS * tokens * tokens * WIDTH;
  return [
    milliseconds.toFixed(milliseconds < 10 ? 2 : 0),
    plain?.milliseconds === undefined ? "" : exact(plain.milliseconds / milliseconds, 1),
    exact(operations / milliseconds / 1e6, 1),
    magnitude(error ?? Number.NaN),
  ];
}

export function reportOf(device: Device, tokens: number, results: readonly Result[], when: string): string {
  const line = (name: string, figures: readonly string[]): string =>
    name.padEnd(40) + figures.map((figure) => figure.padStart(10)).join("");
  const sizes = `Attention of ${HEADS} heads, ${tokens} tokens, width ${WIDTH}`;
  const head = ["heed on this device", when, device.agent, ...statusOf(device).map((status) => status.join(": "))];
  const lines = results.map((result) =>
    line(result.name, result.note === "" ? figuresOf(result, tokens, results) : [` not here: ${result.note}`]),
  );
  return `${[...head, ...(device.capabilities?.reasons ?? [])].join("\n")}

${sizes}; medians of ${ROUNDS} rounds in turns, awaited from the page.
Errors are the largest of some rows against double precision.
${[line("", FIGURES), ...lines].join("\n")}
`;
}
