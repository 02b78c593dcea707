// Generation over toy models whose every probability is known: hand-computed sequences, exhaustive search, and counts of draws.

import { describe, expect, test } from "vitest";
import { indicesOfLargest } from "../../web/src/layers/generate/best.js";
import {
  type BeamOptions,
  beamSearch,
  greedy,
  type NextBeamLogits,
  type NextLogits,
  type SampleOptions,
  sample,
  streamGreedy,
  streamSample,
} from "../../web/src/layers/index.js";
import { errorOf } from "../support/cases.js";
import { Random } from "../support/random.js";

/** Markov models: the probabilities of what follows each token. */
type Chain = readonly (readonly number[])[];

const logitsOf = (probabilities: readonly number[] = []): Float32Array => Float32Array.from(probabilities, Math.log);
const follow =
  (chain: Chain): NextLogits =>
  (ids) =>
    logitsOf(chain[ids.at(-1) ?? 0]);
const followAll =
  (chain: Chain) =>
  (sequences: readonly (readonly number[])[]): Float32Array =>
    Float32Array.from(sequences.flatMap((ids) => [...logitsOf(chain[ids.at(-1) ?? 0])]));

/** 0 goes to 1, which goes to 2 or back, which goes to 3. */
const CHAIN: Chain = [
  [0.1, 0.6, 0.2, 0.1],
  [0.3, 0, 0.5, 0.2],
  [0, 0, 0.4, 0.6],
  [0.25, 0.25, 0.25, 0.25],
];

describe("greedy", () => {
  test("takes the best token, of equals the first, until one that ends", async () => {
    expect(await greedy(follow(CHAIN), [0], { maxTokens: 5 })).toEqual([1, 2, 3, 0, 1]);
    expect(await greedy(follow(CHAIN), [0], { eos: 3 })).toEqual([1, 2, 3]);
    expect(await greedy(follow(CHAIN), Int32Array.of(9, 0), { eos: [7, 2] })).toEqual([1, 2]);
  });

  test("tells the model how many tokens of a sequence it has seen", async () => {
    const calls: [number[], number][] = [];
    const step: NextLogits = (ids, past) => {
      calls.push([[...ids], past]);
      return follow(CHAIN)(ids, past);
    };
    await greedy(step, [5, 0], { maxTokens: 3 });
    expect(calls).toEqual([
      [[5, 0], 0],
      [[5, 0, 1], 2],
      [[5, 0, 1, 2], 3],
    ]);
  });

  test("hands every step the same array, which only heed may change", async () => {
    const given = new Set<readonly number[]>();
    await greedy(
      (ids, past) => {
        given.add(ids);
        return follow(CHAIN)(ids, past);
      },
      [5, 0],
      { maxTokens: 4 },
    );
    expect(given.size).toBe(1);
    const taking: NextLogits = (ids, past) => {
      const logits = follow(CHAIN)(ids, past);
      (ids as number[]).pop();
      return logits;
    };
    await expect(greedy(taking, [5, 0])).rejects.toThrow(
      expect.objectContaining({
        code: "option",
        message: "greedy: step must not change its tokens, 2, got 1 after it",
      }),
    );
  });

  test("streams tokens, and stops when told to", async () => {
    let calls = 0;
    const step: NextLogits = async (ids) => {
      calls += 1;
      return logitsOf(CHAIN[ids.at(-1) ?? 0]);
    };
    const got: number[] = [];
    for await (const id of streamGreedy(step, [0])) {
      got.push(id);
      expect(calls).toBe(got.length);
      if (got.length === 2) break;
    }
    expect([got, calls]).toEqual([[1, 2], 2]);
  });

  test("an abort does not wait for the model", async () => {
    const controller = new AbortController();
    const stuck = greedy(() => new Promise(() => {}), [0], { signal: controller.signal });
    setTimeout(() => controller.abort(), 1);
    expect((await errorOf(stuck)).code).toBe("aborted");
    expect((await errorOf(greedy(follow(CHAIN), [0], { signal: AbortSignal.abort() }))).code).toBe("aborted");
    const later = new AbortController();
    const ids: number[] = [];
    const error = await errorOf(
      (async () => {
        for await (const id of streamSample(follow(CHAIN), [0], { signal: later.signal })) {
          ids.push(id);
          later.abort();
        }
      })(),
    );
    expect([error.code, ids.length]).toEqual(["aborted", 1]);
  });
});

describe("sampling", () => {
  const DRAWS = 4000;

  /** How often each token follows 0 in so many draws, one after another of one seed. */
  async function counts(probabilities: readonly number[], options: SampleOptions, prompt = [0]): Promise<number[]> {
    const found = probabilities.map(() => 0);
    const step = (): Float32Array => logitsOf(probabilities);
    for await (const id of streamSample(step, prompt, { ...options, maxTokens: DRAWS })) {
      found[id] = (found[id] ?? 0) + 1;
    }
    return found;
  }

  /** Chance exceeds these in 1 of 10,000 runs of a right sampler, by degrees of freedom; the seed is fixed. */
  const CHI_SQUARE = [0, 15.14, 18.42, 21.11, 23.51, 25.74, 27.86];

  function expectDistribution(found: readonly number[], wanted: readonly number[]): void {
    let distance = 0;
    for (const [id, share] of wanted.entries()) {
      const expected = share * DRAWS;
      if (share === 0) expect(found[id]).toBe(0);
      else distance += ((found[id] ?? 0) - expected) ** 2 / expected;
    }
    const freedom = wanted.filter((share) => share > 0).length - 1;
    expect(distance).toBeLessThanOrEqual(CHI_SQUARE[freedom] ?? 0);
  }

  const FIVE = [0.1, 0.4, 0.05, 0.25, 0.2];
  const shares = (weights: readonly number[]): number[] =>
    weights.map((weight) => weight / weights.reduce((total, one) => total + one, 0));

  test.each<[string, SampleOptions, readonly number[]]>([
    ["as they are", {}, FIVE],
    ["at temperature 2, by their roots", { temperature: 2 }, shares(FIVE.map(Math.sqrt))],
    ["at temperature 0.5, by their squares", { temperature: 0.5 }, shares(FIVE.map((p) => p * p))],
    ["at next to no temperature, the best", { temperature: 1e-300 }, [0, 1, 0, 0, 0]],
    ["at temperature 0, the best", { temperature: 0 }, [0, 1, 0, 0, 0]],
    ["the best 2", { topK: 2 }, shares([0, 0.4, 0, 0.25, 0])],
    ["the best 1", { topK: 1 }, [0, 1, 0, 0, 0]],
    ["more than there are", { topK: 9 }, FIVE],
    ["a nucleus of 0.8", { topP: 0.8 }, shares([0, 0.4, 0, 0.25, 0.2])],
    ["a nucleus of 0.3", { topP: 0.3 }, [0, 1, 0, 0, 0]],
    ["next to no nucleus", { topP: 1e-9 }, [0, 1, 0, 0, 0]],
    ["a nucleus of the best 3", { topK: 3, topP: 0.7 }, shares([0, 0.4, 0, 0.25, 0])],
    ["at least half of the best", { minP: 0.45 }, shares([0, 0.4, 0, 0.25, 0.2])],
    ["at least the best", { minP: 1 }, [0, 1, 0, 0, 0]],
    ["a nucleus by temperature", { temperature: 0.5, topP: 0.6 }, shares([0, 0.16, 0, 0.0625, 0])],
  ])("%s: chi-square", async (_name, options, wanted) => {
    for (const seed of [1, 2]) expectDistribution(await counts(FIVE, { ...options, seed }), wanted);
  });

  test("nearly all of a large vocabulary are kept, best first, in no more than a sort takes", () => {
    const count = 200_000;
    // Rising, so that each is better than all before it; every number stands there twice.
    const numbers = Float32Array.from({ length: count }, (_, at) => at >> 1);
    const best = indicesOfLargest(numbers, count - 2);
    expect(best.length).toBe(count - 2);
    expect(best.slice(0, 4)).toEqual([count - 2, count - 1, count - 4, count - 3]);
    expect(best.slice(-2)).toEqual([2, 3]);
  });

  test("keeps the first of equals", async () => {
    const even = [0.25, 0.25, 0.25, 0.25];
    expectDistribution(await counts(even, { topK: 2, seed: 3 }), [0.5, 0.5, 0, 0]);
    expectDistribution(await counts(even, { topP: 0.5, seed: 3 }), [0.5, 0.5, 0, 0]);
  });

  test("a penalty makes tokens that are there less likely, whatever the sign of their logits", async () => {
    const logits = Float32Array.of(2, -1, 2, -1);
    const found = [0, 0, 0, 0];
    for (let seed = 0; seed < DRAWS; seed++) {
      const [id = -1] = await sample(() => logits, [0, 1, 1], { repetitionPenalty: 2, seed, maxTokens: 1 });
      found[id] = (found[id] ?? 0) + 1;
    }
    expectDistribution(found, shares([1, -2, 2, -1].map(Math.exp)));
  });

  test("a seed draws the same again, another one others", async () => {
    const draw = (seed?: number): Promise<number[]> => sample(follow(CHAIN), [0], { seed, maxTokens: 40 });
    expect(await draw(7)).toEqual(await draw(7));
    expect(await draw(7)).not.toEqual(await draw(8));
    expect(await draw(-1)).toEqual(await draw(2 ** 32 - 1));
    expect(await draw()).not.toEqual(await draw());
  });

  test("draws are independent of each other: chi-square of pairs", async () => {
    const found: number[] = new Array(4).fill(0);
    let last = 0;
    for await (const id of streamSample(() => logitsOf([0.5, 0.5]), [], { seed: 5, maxTokens: DRAWS })) {
      found[2 * last + id] = (found[2 * last + id] ?? 0) + 1;
      last = id;
    }
    expectDistribution(found, [0.25, 0.25, 0.25, 0.25]);
  });

  test("a token of -Infinity is never drawn, however hot", async () => {
    const found = await counts([0.5, 0, 0.5], { temperature: 1e30, seed: 1 });
    expectDistribution(found, [0.5, 0, 0.5]);
  });
});

describe("beam search", () => {
  interface Found {
    readonly ids: number[];
    readonly score: number;
  }

  /** Every sequence that ends, or is as long as may be, the best first. */
  function exhaustive(chain: Chain, start: number, eos: number, maxTokens: number, lengthPenalty: number): Found[] {
    const found: Found[] = [];
    const walk = (last: number, ids: number[], logProbability: number): void => {
      for (const [id, probability] of (chain[last] ?? []).entries()) {
        if (probability === 0) continue;
        const [next, sum] = [[...ids, id], logProbability + Math.log(probability)];
        if (id === eos || next.length === maxTokens)
          found.push({ ids: next, score: sum / next.length ** lengthPenalty });
        else walk(id, next, sum);
      }
    };
    walk(start, [], 0);
    return found.sort((a, b) => b.score - a.score);
  }

  function randomChain(random: Random, tokens: number): Chain {
    return Array.from({ length: tokens }, () => {
      const weights = Array.from({ length: tokens }, () => (random.chance(0.2) ? 0 : random.next() ** 2 + 1e-3));
      weights[random.whole(0, tokens - 1)] = 1;
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      return weights.map((weight) => weight / total);
    });
  }

  test.each([0, 0.7, 1, 2, -0.5])(
    "with room for all finds what exhaustive search finds: length penalty %f",
    async (lengthPenalty) => {
      const random = new Random(11);
      for (let round = 0; round < 20; round++) {
        const chain = randomChain(random, 4);
        const [maxTokens, eos] = [random.whole(1, 5), random.whole(0, 3)];
        const wanted = exhaustive(chain, 0, eos, maxTokens, lengthPenalty);
        const got = await beamSearch(followAll(chain), [0], { beams: 2000, eos, maxTokens, lengthPenalty });
        expect(got.length, `round ${round}`).toBe(wanted.length);
        for (const [at, { score, ids, ended, logProbability }] of got.entries()) {
          // Logits are float32, so each log-probability is off by up to 2^-23 of its size, some 1e-6 for six of them below 10.
          expect(score, `round ${round}`).toBeCloseTo(wanted[at]?.score ?? Number.NaN, 4);
          expect(ended).toBe(ids.at(-1) === eos);
          expect(score).toBeCloseTo(logProbability / ids.length ** lengthPenalty, 12);
        }
        expect(new Set(got.map(({ ids }) => ids.join()))).toEqual(new Set(wanted.map(({ ids }) => ids.join())));
      }
    },
  );

  test("stops as soon as nothing better can come, and not before", async () => {
    const random = new Random(12);
    for (let round = 0; round < 40; round++) {
      const chain = randomChain(random, 3);
      const lengthPenalty = random.pick([0, 1, -1, 0.5]);
      const [best] = exhaustive(chain, 0, 2, 6, lengthPenalty);
      // 3^5 sequences at most before the last token: nothing is lost, but it may stop early.
      let calls = 0;
      const step = (sequences: readonly (readonly number[])[]): Float32Array => {
        calls += 1;
        return followAll(chain)(sequences);
      };
      const [got] = await beamSearch(step, [0], { beams: 243, eos: 2, maxTokens: 6, lengthPenalty });
      expect(got?.score, `round ${round}`).toBeCloseTo(best?.score ?? Number.NaN, 4);
      expect(calls).toBeLessThanOrEqual(6);
    }
    // 0.9 at once; whatever goes on has 0.1 at most.
    let calls = 0;
    const eager = (): Float32Array => {
      calls += 1;
      return logitsOf([0.1, 0.9]);
    };
    const options = { beams: 1, eos: 1, maxTokens: 50, lengthPenalty: 0 };
    expect((await beamSearch(eager, [0], options)).map(({ ids }) => ids)).toEqual([[1]]);
    expect(calls).toBe(1);
  });

  test("finds what greedy misses", async () => {
    // From 0: 1 (0.6) or 2 (0.4). From 1 nothing is likelier than 0.4; from 2, 3 is certain.
    const chain: Chain = [
      [0, 0.6, 0.4, 0],
      [0.4, 0.3, 0.3, 0],
      [0, 0, 0, 1],
      [0, 0, 0, 1],
    ];
    expect(await greedy(follow(chain), [0], { maxTokens: 2 })).toEqual([1, 0]);
    const [best, second] = await beamSearch(followAll(chain), [0], { beams: 2, maxTokens: 2, lengthPenalty: 0 });
    expect([best?.ids, second?.ids]).toEqual([
      [2, 3],
      [1, 0],
    ]);
    expect(Math.exp(best?.logProbability ?? 0)).toBeCloseTo(0.4, 6);
    expect(Math.exp(second?.logProbability ?? 0)).toBeCloseTo(0.24, 6);
  });

  test("is greedy with one beam and no penalty", async () => {
    const random = new Random(13);
    for (let round = 0; round < 20; round++) {
      const chain = randomChain(random, 5);
      const options: BeamOptions = { eos: 4, maxTokens: 8 };
      const [got] = await beamSearch(followAll(chain), [0], { ...options, beams: 1, lengthPenalty: 0 });
      expect(got?.ids, `round ${round}`).toEqual(await greedy(follow(chain), [0], options));
    }
  });

  test("tells the model which sequence each one continues", async () => {
    const random = new Random(14);
    const chain = randomChain(random, 5);
    let before: readonly (readonly number[])[] = [];
    const step = (
      sequences: readonly (readonly number[])[],
      past: number,
      origins: readonly number[],
    ): Float32Array => {
      expect(origins.length).toBe(sequences.length);
      expect(past).toBe(before[0]?.length ?? 0);
      for (const [i, ids] of sequences.entries()) {
        // What a cache that follows the origins holds is the sequence but for what is new.
        if (before.length > 0) expect(ids.slice(0, past)).toEqual(before[origins[i] ?? -1]);
      }
      before = sequences.map((ids) => [...ids]);
      return followAll(chain)(sequences);
    };
    const got = await beamSearch(step, [3, 0], { beams: 3, eos: 4, maxTokens: 7 });
    expect(got.length).toBe(3);
  });
});

test("a full batch finds the same, by calls that all have as many sequences, each of which continues one of the call before", async () => {
  const random = new Random(15);
  for (let round = 0; round < 10; round++) {
    const chain: Chain = Array.from({ length: 5 }, () => Array.from({ length: 5 }, () => random.next() + 0.01));
    const options: BeamOptions = { beams: 7, eos: 4, maxTokens: 6 };
    let before: readonly (readonly number[])[] = Array.from({ length: 7 }, () => []);
    const step: NextBeamLogits = (sequences, past, origins) => {
      expect([sequences.length, origins.length]).toEqual([7, 7]);
      for (const [i, ids] of sequences.entries()) expect(ids.slice(0, past)).toEqual(before[origins[i] ?? -1]);
      before = sequences.map((ids) => [...ids]);
      return followAll(chain)(sequences);
    };
    const got = await beamSearch(step, [3, 0], { ...options, fullBatch: true });
    expect(got).toEqual(await beamSearch(followAll(chain), [3, 0], options));
  }
});

describe("what makes no sense is refused", () => {
  const step = follow(CHAIN);
  test.each<[string, () => Promise<unknown>, string, RegExp]>([
    ["NaN", () => greedy(() => Float32Array.of(1, Number.NaN), [0]), "option", /^greedy: .*got NaN for token 1$/],
    ["Infinity", () => sample(() => Float32Array.of(Infinity), [0]), "option", /^sample: .*got Infinity for token 0$/],
    ["NaN in a beam", () => beamSearch(() => Float32Array.of(Number.NaN), [0]), "option", /^beamSearch: .*NaN/],
    ["nothing possible", () => greedy(() => Float32Array.of(-Infinity), [0]), "option", /some token must be possible/],
    ["nothing to draw", () => sample(() => Float32Array.of(-Infinity), [0]), "option", /some token must be possible/],
    ["no beam left", () => beamSearch(() => Float32Array.of(-Infinity), [0]), "option", /some token must be possible/],
    ["no logits", () => greedy(() => new Float32Array(0), [0]), "shape", /got 0 numbers/],
    ["an array", () => Reflect.apply(greedy, undefined, [() => [3], [0]]), "dtype", /got an Array/],
    ["a step that throws", () => greedy(() => Promise.reject(new Error("mine")), [0]), "option", /step failed: mine/],
    ["no step", () => Reflect.apply(greedy, undefined, [7, [0]]), "option", /step must be a function, got 7/],
    ["no step for beams", () => Reflect.apply(beamSearch, undefined, [7, [0]]), "option", /must be a function/],
    ["a prompt of texts", () => Reflect.apply(greedy, undefined, [step, ["a"]]), "option", /prompt must be tokens/],
    ["a negative token", () => greedy(step, [-1]), "option", /got -1/],
    ["an unknown option", () => Reflect.apply(greedy, undefined, [step, [0], { topk: 1 }]), "option", /"topk"/],
    ["topP of 0", () => sample(step, [0], { topP: 0 }), "option", /topP must be above 0/],
    ["minP of 2", () => sample(step, [0], { minP: 2 }), "option", /minP must be from 0 to 1/],
    ["a negative temperature", () => sample(step, [0], { temperature: -1 }), "option", /temperature/],
    ["no penalty", () => sample(step, [0], { repetitionPenalty: 0 }), "option", /repetitionPenalty/],
    ["a seed between numbers", () => sample(step, [0], { seed: 0.5 }), "option", /seed must be a whole number/],
    ["topK of 0", () => sample(step, [0], { topK: 0 }), "option", /topK/],
    [
      "a full batch of one sequence",
      () => beamSearch(() => Float32Array.of(0, 1, 2), [0], { beams: 2, fullBatch: true }),
      "shape",
      /logits for 2 sequences, got 3/,
    ],
    ["no beams", () => beamSearch(followAll(CHAIN), [0], { beams: 0 }), "option", /beams/],
    [
      "more beams than a call can have",
      () => beamSearch(followAll(CHAIN), [0], { beams: 1e9, fullBatch: true }),
      "option",
      /^beamSearch: beams must be .* up to 4096, got 1000000000$/,
    ],
  ])("%s", async (_name, act, code, message) => {
    const error = await errorOf(act());
    expect([error.code, error.message]).toEqual([code, expect.stringMatching(message)]);
  });
});
