// One sequence as it is written: draws its tokens, and gives their text until it ends.

import { HeedError } from "../base/errors.js";
import { draw } from "../layers/generate/draw.js";
import type { ReadSampling } from "../layers/generate/options.js";
import { SeededRandom } from "../layers/generate/random.js";
import type { Seen } from "./continuations.js";
import { StopStrings } from "./stop-strings.js";
import { type TextCodec, type TokenStream, tokenStream } from "./text-codec.js";

/** What a token adds to the text, and what the pass that gave it looked at: that of the token before. */
export interface Piece extends Seen {
  /** Which of several sequences it continues; 0 where there is one. */
  readonly sequence: number;
  /** Empty where the token ends within a character, or may begin a string of `stop`. */
  readonly text: string;
  /** One token; none in the last piece. */
  readonly tokens: readonly number[];
  /** In the last piece, why the text ends: a token of the model's, a string of `stop`, or enough tokens. */
  readonly end: "eos" | "stop" | "length" | undefined;
}

export interface WritingRule {
  readonly sequence: number;
  readonly prompt: readonly number[];
  readonly sampling: ReadSampling;
  /** Tokens that end it. */
  readonly ends: ReadonlySet<number>;
  readonly stops: readonly string[];
  readonly codec: TextCodec | null;
}

const NOTHING: Seen = { attentions: undefined, hiddenStates: undefined, scores: undefined };

export class TextWriter {
  readonly sequence: number;
  readonly #where: string;
  readonly #rule: WritingRule;
  readonly #stream: TokenStream;
  readonly #stops: StopStrings;
  readonly #random: SeededRandom;
  readonly #seen: Set<number>;
  #count = 0;
  #end: Piece["end"];

  constructor(where: string, rule: WritingRule) {
    this.sequence = rule.sequence;
    this.#where = where;
    this.#rule = rule;
    this.#stream = tokenStream(rule.codec);
    this.#stops = new StopStrings(rule.stops);
    this.#random = new SeededRandom(rule.sampling.seed);
    this.#seen = new Set(rule.prompt);
  }

  /** The tokens so far. */
  get count(): number {
    return this.#count;
  }

  /** Why it has ended; undefined: it goes on. */
  get end(): Piece["end"] {
    return this.#end;
  }

  /** The next token; null: one that ends the text. */
  draw(logits: Float32Array): number | null {
    const { sampling, ends } = this.#rule;
    const token = draw(logits, this.#seen, sampling, this.#random);
    if (token === undefined) {
      throw new HeedError("option", `${this.#where}: some token must be possible, got -Infinity for all`);
    }
    if (ends.has(token)) {
      this.#end = "eos";
      return null;
    }
    this.#seen.add(token);
    this.#count += 1;
    return token;
  }

  /** What a token adds. */
  piece(token: number, { attentions, hiddenStates, scores }: Seen): Piece {
    const text = this.#stops.push(this.#stream.push(token));
    if (this.#stops.isFound) this.#end = "stop";
    return { sequence: this.sequence, text, tokens: [token], attentions, hiddenStates, scores, end: undefined };
  }

  /** What was held back, where nothing more comes. */
  last(end: Piece["end"]): Piece {
    const rest = this.#stops.isFound ? "" : this.#stops.push(this.#stream.flush()) + this.#stops.flush();
    const { sequence } = this;
    const why = this.#stops.isFound ? "stop" : end;
    return { sequence, text: rest, tokens: [], ...NOTHING, end: why };
  }
}
