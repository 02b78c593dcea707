// From logits to the words that may be drawn. Pure. heed/layers draws by the same rules.

import { type Candidate, candidates } from "../../src/language/words.js";
import type { LanguageState } from "./state.js";

type Sampling = Pick<LanguageState, "temperature" | "topK" | "topP">;

interface Choosable extends Candidate {
  /** May be drawn. */
  readonly isKept: boolean;
}

/** All words, the likeliest first: the best k, and of these the fewest whose probabilities add up to p. */
export function barsOf(logits: ArrayLike<number>, { temperature, topK, topP }: Sampling): readonly Choosable[] {
  const all = candidates(logits, temperature);
  const best = topK === 0 ? all.length : topK;
  const total = all.slice(0, best).reduce((sum, { probability }) => sum + probability, 0);
  let reached = 0;
  return all.map((one, place) => {
    const isKept = place < best && (reached < topP || topP === 1);
    reached += one.probability / total;
    return { ...one, isKept };
  });
}

/** The next token. The same seed and number of words before draw the same. */
export async function draw(logits: ArrayLike<number>, state: LanguageState): Promise<number | undefined> {
  const { sample } = await import("heed/layers");
  const { temperature, topK, topP, seed, wrote } = state;
  const drawn = await sample(() => Float32Array.from(logits), [], {
    maxTokens: 1,
    temperature,
    topP,
    ...(topK === 0 ? {} : { topK }),
    seed: 1000 * seed + wrote.length,
  });
  return drawn[0];
}
