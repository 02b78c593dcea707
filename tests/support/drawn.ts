// Properties of problems that fast-check draws: what makes problems of a Random makes them of its numbers, which it shrinks.

import fc from "fast-check";
import corpus from "../fuzz/corpus.json";
import { DAY_SEED } from "./day.js";
import { Random } from "./random.js";

/** A whole number from one to another, both included. */
type Draw = (from: number, to: number) => number;

/** A source whose choices shrink: to the first of a list, to the smallest number, to what does not happen. */
export class Drawn extends Random {
  readonly #draw: Draw;

  constructor(draw: Draw) {
    super(0, 0);
    this.#draw = draw;
  }

  override next(): number {
    return this.whole(0, 2 ** 30 - 1) / 2 ** 30;
  }

  override whole(from: number, to: number): number {
    return this.#draw(from, Math.max(from, to));
  }

  override chance(probability: number): boolean {
    return this.whole(0, 999) >= 1000 * (1 - probability);
  }

  /** Many numbers come from one seed. */
  override floats(count: number, deviation?: number): Float32Array {
    return this.#seeded().floats(count, deviation);
  }

  override bits(count: number, probability?: number): Uint8Array {
    return this.#seeded().bits(count, probability);
  }

  #seeded(): Random {
    return new Random(this.whole(0, 2 ** 31 - 1), 0);
  }
}

const { env } = process;

/** For how long each property is tried, in milliseconds; without, it is tried a number of times. */
const TIME = env["HEED_FUZZ_MS"] === undefined ? undefined : Number(env["HEED_FUZZ_MS"]);

/** How many smaller problems are tried once one has failed. */
const SHRINKS = 100;

/** What a test of a property may take. */
export const PATIENCE = 120_000 + 2 * (TIME ?? 0);

type Property = (random: Drawn) => Promise<void> | void;

/** Numbers that were drawn once, and the smallest ones after them. */
function replayed(numbers: readonly number[]): Drawn {
  let next = 0;
  return new Drawn((from, to) => Math.min(Math.max(numbers[next++] ?? from, from), to));
}

/**
 * Tries a property with the numbers of past failures, and then so many times, or as long as `npm run fuzz` says. An error tells the seed
 * and the numbers of the smallest problem that was found, which tests/fuzz/corpus.json keeps.
 */
export async function tried(name: keyof typeof corpus, runs: number, property: Property): Promise<void> {
  for (const numbers of corpus[name]) await property(replayed(numbers));
  let executions = 0;
  let shrinks = -1;
  const body = fc.asyncProperty(fc.gen(), async (draw) => {
    if (shrinks >= SHRINKS) return;
    if (shrinks >= 0) shrinks += 1;
    else executions += 1;
    try {
      await property(new Drawn((min, max) => draw(fc.integer, { min, max })));
    } catch (error) {
      shrinks = Math.max(shrinks, 0);
      throw error;
    }
  });
  const bounded = TIME === undefined ? { numRuns: runs } : { numRuns: 1e9, interruptAfterTimeLimit: TIME };
  try {
    await fc.assert(body, { seed: DAY_SEED, ...bounded, includeErrorInReport: true });
  } catch (error) {
    const again = `npm run fuzz -- --seed ${DAY_SEED} --only "${name}"`;
    throw new Error(`${again}: ${error instanceof Error ? error.message : error}`);
  } finally {
    if (TIME !== undefined) console.info(`${name}: ${executions} executions with seed ${DAY_SEED}`);
  }
}
