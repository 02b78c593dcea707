// Times heed.attention on several threads against one, and calls made at once against calls made one after the other, alternating
// in one run. It works in Node and in pages.

/** [heads, length, head_dim, causal]: sizes around the threshold of threading, then the shapes that have an aim. */
export const SHAPES = [
  [1, 64, 64, false],
  [1, 128, 64, false],
  [8, 64, 64, false],
  [1, 256, 64, false],
  [8, 128, 64, false],
  [8, 256, 64, false],
  [8, 256, 64, true],
  [8, 1024, 64, false],
  [8, 1024, 64, true],
  [8, 2048, 64, false],
  [1, 8192, 64, false],
  [1, 8192, 64, true],
];

/** The shapes of calls that are made at once. */
const TOGETHER = SHAPES.filter(([, length, , causal]) => causal === false && Number(length) <= 1024);

const AT_ONCE = 16;

/** The calls of one sample last about this long, so that a coarse clock is precise enough. */
const SAMPLE_MS = 8;

/**
 * Prints a line for each shape: medians of both in milliseconds, the median of the rounds' own ratios, and the ratio of the best.
 * @param {typeof import("heed").createHeed} createHeed
 * @param {number} threads
 * @param {number} rounds
 * @param {(line: string) => void} print
 */
export async function measure(createHeed, threads, rounds, print) {
  const engines = [await createHeed({ threads: 1 }), await createHeed({ threads })];
  const { capabilities } = /** @type {import("heed").Heed} */ (engines[1]);
  if (capabilities.threads !== threads) {
    throw new Error(`wanted ${threads} threads, got ${capabilities.threads}: ${capabilities.reasons.join("; ")}`);
  }
  print(`${capabilities.variant}, ${capabilities.worker}, ${threads} threads against 1, medians of ${rounds} rounds`);
  print(`${"shape".padEnd(24)} ${"1, ms".padStart(10)} ${"all, ms".padStart(10)}   ratio  of the best`);
  for (const shape of SHAPES)
    print(
      await line(
        engines.map((engine) => caller(engine, shape)),
        shape,
        rounds,
      ),
    );
  for (const engine of engines) engine.dispose();
  await measureTogether(createHeed, threads, rounds, print);
}

/** Prints the same for calls that are made at once. @type {typeof measure} */
async function measureTogether(createHeed, threads, rounds, print) {
  const heed = await createHeed({ threads, offload: true });
  print(`${AT_ONCE} calls made one after the other, and at once, milliseconds a call`);
  print(`${"shape".padEnd(24)} ${"alone, ms".padStart(10)} ${"at once".padStart(10)}   ratio  of the best`);
  for (const shape of TOGETHER) {
    const call = caller(heed, shape);
    const oneByOne = async () => {
      for (let i = 0; i < AT_ONCE; i++) await call();
    };
    const atOnce = async () => void (await Promise.all(Array.from({ length: AT_ONCE }, call)));
    print(await line([oneByOne, atOnce], shape, rounds, AT_ONCE));
  }
  heed.dispose();
}

/**
 * @param {readonly (() => Promise<void>)[]} callers
 * @param {readonly (number | boolean)[]} shape
 * @param {number} rounds
 */
async function line(callers, shape, rounds, calls = 1) {
  const [heads = 0, length = 0, dim = 0] = shape.map(Number);
  const causal = shape[3] === true;
  const warm = await Promise.all(callers.map((call) => timed(call, 3)));
  const batch = Math.max(1, Math.round(SAMPLE_MS / Math.min(...warm)));
  /** @type {number[][]} */
  const times = [[], []];
  for (let round = 0; round < rounds; round++) {
    for (const [index, call] of callers.entries()) times[index]?.push((await timed(call, batch)) / calls);
  }
  const [one = [], all = []] = times;
  const ratios = one.map((time, round) => time / (all[round] ?? Number.NaN));
  const best = Math.min(...one) / Math.min(...all);
  const name = `(1, ${heads}, ${length}, ${dim})${causal ? " causal" : ""}`;
  const cells = [median(one).toFixed(3), median(all).toFixed(3)].map((cell) => cell.padStart(10)).join(" ");
  return `${name.padEnd(24)} ${cells} ${median(ratios).toFixed(2).padStart(7)} ${best.toFixed(2).padStart(8)}`;
}

/** Makes a function that makes one call, with inputs and output in the engine. @param {import("heed").Heed} engine @param {readonly (number | boolean)[]} of */
function caller(engine, [heads = 0, length = 0, dim = 0, causal = false]) {
  const shape = [1, heads, length, dim].map(Number);
  const isCausal = causal === true;
  const [query, key, value] = [1, 2, 3].map((seed) =>
    engine.tensor(
      numbers(
        shape.reduce((a, b) => a * b),
        seed,
      ),
      shape,
    ),
  );
  return async () => {
    if (query === undefined || key === undefined || value === undefined) return;
    const { output } = await engine.attention(query, key, value, { causal: isCausal, keep: true });
    output.dispose();
  };
}

/** Milliseconds a call. @param {() => Promise<void>} call @param {number} times */
async function timed(call, times) {
  const start = performance.now();
  for (let i = 0; i < times; i++) await call();
  return (performance.now() - start) / times;
}

/** Numbers between -1 and 1, the same for the same seed. @param {number} count @param {number} seed */
function numbers(count, seed) {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

/** @param {readonly number[]} samples */
const median = (samples) => [...samples].sort((a, b) => a - b)[samples.length >> 1] ?? Number.NaN;
