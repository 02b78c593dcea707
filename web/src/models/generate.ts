// Text from a model, piece by piece.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { readRecord, readSignal } from "../base/read-values.js";
import { listOf } from "../base/typed-array.js";
import { type ReadSampling, readSampleOptions, type SampleOptions } from "../layers/generate/options.js";
import type { WatchOptions } from "../layers/watch.js";
import { Continuations } from "./continuations.js";
import { ownLabels } from "./families.js";
import type { ModelCache } from "./model-cache.js";
import type { ModelParts } from "./parts.js";
import { promptsOf } from "./prompts.js";
import { readCodec } from "./text-codec.js";
import { type Piece, TextWriter } from "./text-writer.js";

/** The options of `generate`. */
export interface TextOptions extends Omit<SampleOptions, "eos" | "seed">, WatchOptions {
  /** 0 takes the likeliest token. Default 0. */
  readonly temperature?: number | undefined;
  /** The same seed draws the same tokens, whatever is continued beside. Of several sequences, one for all, or one for each. Default random ones. */
  readonly seed?: number | readonly number[] | undefined;
  /** Strings before which the text ends. */
  readonly stop?: string | readonly string[] | undefined;
  /** Tokens that end the text. Default those of the model's files. */
  readonly eos?: number | readonly number[] | undefined;
  /** A cache that is kept, or one for each of several sequences: the tokens that it has in common with the prompt are not computed again. */
  readonly cache?: ModelCache | readonly ModelCache[] | undefined;
  /** Called as a prompt is read: how many of its tokens were, and of which sequence. */
  readonly onPrompt?: ((progress: PromptProgress) => void) | undefined;
  /** Variables of the chat template beside the messages, such as `tools`. */
  readonly template?: Readonly<Record<string, unknown>> | undefined;
}

/** How many tokens of a prompt have been read. */
export interface PromptProgress {
  readonly loaded: number;
  readonly total: number;
  readonly sequence: number;
}

const SAMPLING = ["maxTokens", "topK", "topP", "minP", "repetitionPenalty", "eos"];
const WATCHING = ["attentions", "hiddenStates", "scores", "hooks", "adapter"];
const OTHERS = ["temperature", "seed", "stop", "signal", "cache", "onPrompt", "template"];

export async function* generate(
  where: string,
  parts: ModelParts,
  input: unknown,
  options: unknown,
): AsyncGenerator<Piece, void, undefined> {
  const given = readRecord(where, "options", options, [...SAMPLING, ...WATCHING, ...OTHERS]);
  const { model_type: type, architectures } = parts.config;
  const isOfLabels = ownLabels(parts.config) !== null;
  if (!parts.family.isCausal || isOfLabels) {
    throw new HeedError(
      "unsupported",
      `${where}: a model must give logits of the next token, got ${showValue(isOfLabels ? architectures : type)}`,
    );
  }
  const { onPrompt } = given;
  if (onPrompt !== undefined && typeof onPrompt !== "function") {
    throw new HeedError("option", `${where}: onPrompt must be a function, got ${showValue(onPrompt)}`);
  }
  const sampling = readSampleOptions(where, { temperature: 0, ...pick(given, [...SAMPLING, "temperature"]) });
  const stops = readStops(where, given["stop"]);
  const signal = readSignal(where, given["signal"]);
  const prompts = await promptsOf(where, parts, input, given["template"], signal);
  const limit = parts.positions ?? Infinity;
  for (const { length } of prompts) {
    if (length < limit) continue;
    const rule = `a prompt must be shorter than ${limit} tokens, the model's positions`;
    throw new HeedError("option", `${where}: ${rule}, got ${length}`);
  }
  const ends = given["eos"] === undefined ? parts.special.ends : sampling.eos;
  const codec = parts.tokenizer === null ? null : readCodec(where, parts.tokenizer);
  if (codec === null && stops.length > 0) {
    throw new HeedError("option", `${where}: stop needs a tokenizer, without which there is no text, and got none`);
  }
  const writers = samplingOf(where, given["seed"], prompts.length, sampling).map((own, sequence) => {
    return new TextWriter(where, { sequence, prompt: prompts[sequence] ?? [], sampling: own, ends, stops, codec });
  });
  const { maxTokens } = sampling;
  const watching = pick(given, WATCHING);
  const texts = await Continuations.begin(where, parts, prompts, {
    watching,
    cache: given["cache"],
    onPrompt,
    signal,
    maxTokens,
  });
  try {
    for (let live: readonly TextWriter[] = writers; live.length > 0; ) {
      const hasRoom = ({ sequence, count }: TextWriter): boolean =>
        count < maxTokens && texts.lengthOf(sequence) <= Math.min(limit, texts.roomOf(sequence));
      for (const writer of live) if (!hasRoom(writer)) yield writer.last("length");
      const going = live.filter(hasRoom);
      const steps = await texts.next(going.map(({ sequence }) => sequence));
      for (const [at, writer] of going.entries()) {
        const step = steps[at];
        if (step === undefined) throw new TypeError("each sequence has a step");
        const token = writer.draw(step.logits);
        if (token !== null) {
          texts.push(writer.sequence, token);
          yield writer.piece(token, step);
        }
        if (writer.end !== undefined) yield writer.last(writer.end);
      }
      live = going.filter(({ end }) => end === undefined);
    }
  } finally {
    texts.close();
  }
}

const pick = (given: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]));

/** Each sequence draws as it would alone. */
function samplingOf(where: string, seed: unknown, count: number, sampling: ReadSampling): readonly ReadSampling[] {
  const seeds = Array.isArray(seed) ? listOf(seed, count) : Array.from({ length: count }, () => seed);
  if (seeds?.length !== count) {
    throw new HeedError(
      "option",
      `${where}: seed must be one number, or one for each of ${count} sequences, got ${showValue(seed)}`,
    );
  }
  return seeds.map((one) => ({ ...sampling, seed: readSampleOptions(where, { seed: one }).seed }));
}

function readStops(where: string, value: unknown): readonly string[] {
  const list =
    typeof value === "string" ? [value] : listOf<string>(value ?? [], 1024, (stop) => typeof stop === "string");
  if (list !== null && !list.includes("")) return list;
  throw new HeedError("option", `${where}: stop must be strings that are not empty, got ${showValue(value)}`);
}
