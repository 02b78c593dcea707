// Properties on problems that fast-check draws: what makes problems of a Random makes them of its numbers, which it shrinks.

import fc from "fast-check";
import { Random } from "./random.js";

type Draw = fc.GeneratorValue;

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
    return this.#draw(fc.integer, { min: from, max: Math.max(from, to) });
  }

  override chance(probability: number): boolean {
    return this.whole(0, 999) >= 1000 * (1 - probability);
  }

  override floats(count: number, deviation?: number): Float32Array {
    return this.#seeded().floats(count, deviation);
  }

  override bits(count: number, probability?: number): Uint8Array {
    return this.#seeded().bits(count, probability);
  }

  /** Many numbers come from one seed: where they matter, they are few, or `special` ones. */
  #seeded(): Random {
    return new Random(this.whole(0, 2 ** 31 - 1), 0);
  }
}

const { env } = process;

/** The same for a day, so that all runs of a day agree, or that of a run that is repeated. */
export const SEED = Number(env["HEED_FUZZ_SEED"] ?? new Date().toISOString().slice(0, 10).replaceAll("-", ""));

/** For how long each property is tried, in milliseconds; without, it is tried a number of times. */
const TIME = env["HEED_FUZZ_MS"] === undefined ? undefined : Number(env["HEED_FUZZ_MS"]);

/** What a test of a property may take. */
export const PATIENCE = 120_000 + (TIME ?? 0);

/** Tries a property so many times, or as long as `npm run fuzz` says. An error tells the seed, and the smallest problem that was found. */
export async function tried(runs: number, property: (random: Drawn) => Promise<void> | void): Promise<void> {
  let executions = 0;
  const body = fc.asyncProperty(fc.gen(), async (draw) => {
    executions += 1;
    await property(new Drawn(draw));
  });
  const bounded = TIME === undefined ? { numRuns: runs } : { numRuns: 1e9, interruptAfterTimeLimit: TIME };
  try {
    await fc.assert(body, { seed: SEED, ...bounded, includeErrorInReport: true });
  } finally {
    if (TIME !== undefined) console.info(`${executions} executions with seed ${SEED}`);
  }
}
