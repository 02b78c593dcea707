// One sequence, token by token: greedy decoding and sampling.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guardStream } from "../../base/guard-stream.js";
import { askForLogits } from "./ask.js";
import { indicesOfLargest } from "./best.js";
import { draw } from "./draw.js";
import {
  type GenerateOptions,
  type NextLogits,
  type ReadCommon,
  readGreedyOptions,
  readIds,
  readSampleOptions,
  type SampleOptions,
} from "./options.js";
import { SeededRandom } from "./random.js";

/** The new tokens, each with the highest logit; of equals, the first. Throws a HeedError. */
export async function greedy(
  step: NextLogits,
  prompt: ArrayLike<number>,
  options?: GenerateOptions,
): Promise<number[]> {
  return collect(guardStream("option", "greedy", bestTokens("greedy", step, prompt, options)));
}

/** The same, token by token. */
export function streamGreedy(
  step: NextLogits,
  prompt: ArrayLike<number>,
  options?: GenerateOptions,
): AsyncGenerator<number, void, undefined> {
  return guardStream("option", "streamGreedy", bestTokens("streamGreedy", step, prompt, options));
}

/** The new tokens, each drawn by its probability among those that the options keep. Throws a HeedError. */
export async function sample(step: NextLogits, prompt: ArrayLike<number>, options?: SampleOptions): Promise<number[]> {
  return collect(guardStream("option", "sample", drawnTokens("sample", step, prompt, options)));
}

/** The same, token by token. */
export function streamSample(
  step: NextLogits,
  prompt: ArrayLike<number>,
  options?: SampleOptions,
): AsyncGenerator<number, void, undefined> {
  return guardStream("option", "streamSample", drawnTokens("streamSample", step, prompt, options));
}

type Tokens = AsyncGenerator<number, void, undefined>;

async function* bestTokens(where: string, step: NextLogits, prompt: unknown, options: unknown): Tokens {
  yield* tokens(where, step, prompt, readGreedyOptions(where, options), (logits) => indicesOfLargest(logits, 1)[0]);
}

async function* drawnTokens(where: string, step: NextLogits, prompt: unknown, options: unknown): Tokens {
  const read = readSampleOptions(where, options);
  const random = new SeededRandom(read.seed);
  yield* tokens(where, step, prompt, read, (logits, seen) => draw(logits, seen, read, random));
}

/** `seen` are the tokens of the sequence. */
type Choose = (logits: Float32Array, seen: ReadonlySet<number>) => number | undefined;

async function* tokens(where: string, step: NextLogits, prompt: unknown, options: ReadCommon, choose: Choose): Tokens {
  if (typeof step !== "function") {
    throw new HeedError("option", `${where}: step must be a function, got ${showValue(step)}`);
  }
  const ids = readIds(where, "prompt", prompt);
  const { maxTokens, eos, signal } = options;
  const seen = new Set(ids);
  const start = ids.length;
  for (let count = 0; count < maxTokens; count++) {
    const length = start + count;
    // Not a copy: those of all steps together would grow with the square of the length.
    const logits = await askForLogits(where, signal, 1, () => step(ids, count === 0 ? 0 : length - 1));
    if (ids.length !== length) {
      throw new HeedError("option", `${where}: step must not change its tokens, ${length}, got ${ids.length} after it`);
    }
    const id = choose(logits, seen);
    if (id === undefined) {
      throw new HeedError("option", `${where}: some token must be possible, got -Infinity for all after ${length}`);
    }
    ids.push(id);
    seen.add(id);
    yield id;
    if (eos.has(id)) return;
  }
}

async function collect(tokens: Tokens): Promise<number[]> {
  const ids: number[] = [];
  for await (const id of tokens) ids.push(id);
  return ids;
}
