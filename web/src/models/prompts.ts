// What a model is to continue, as tokens.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isRecord } from "../base/read-values.js";
import { listOf, numbersOf } from "../base/typed-array.js";
import { readIds } from "../layers/generate/options.js";
import { isMessages, type Message, writeChat } from "../layers/text/chat-template.js";
import type { ModelParts } from "./parts.js";
import { encoded, readCodec } from "./text-codec.js";

/** What a model continues: the turns of a dialogue, a text, or tokens. */
export type Prompt = readonly Message[] | string | ArrayLike<number>;

/** Each sequence takes pages of every layer. */
const MOST_SEQUENCES = 1024;

/** The tokens of one prompt, or of each in a list. */
export async function promptsOf(
  where: string,
  parts: ModelParts,
  input: unknown,
  variables: unknown,
  signal: AbortSignal | null,
): Promise<readonly number[][]> {
  const list = isList(input) ? listOf<unknown>(input, MOST_SEQUENCES) : [input];
  if (list === null) {
    throw new HeedError(
      "option",
      `${where}: at most ${MOST_SEQUENCES} prompts are continued at once, got ${showValue(input)}`,
    );
  }
  const prompts: number[][] = [];
  for (const one of list) prompts.push(await promptOf(where, parts, one, variables, signal));
  return prompts;
}

export async function promptOf(
  where: string,
  parts: ModelParts,
  input: unknown,
  variables: unknown,
  signal: AbortSignal | null,
): Promise<number[]> {
  const tokens = await tokensOf(where, parts, input, variables, signal);
  if (tokens.length > 0) return tokens;
  throw new HeedError("option", `${where}: a prompt must have at least one token, got none`);
}

/** A list of texts, of tokens of each, or of dialogues, but not of tokens or messages. */
function isList(input: unknown): input is readonly unknown[] {
  if (!Array.isArray(input)) return false;
  const [first] = input;
  return typeof first === "string" || (isRecord(first) && !isMessages(input));
}

async function tokensOf(
  where: string,
  parts: ModelParts,
  input: unknown,
  variables: unknown,
  signal: AbortSignal | null,
): Promise<number[]> {
  if (typeof input === "string") {
    return encoded(where, readCodec(where, parts.tokenizer), input, { addSpecialTokens: true }).ids;
  }
  if (isMessages(input)) {
    const codec = readCodec(where, parts.tokenizer);
    const { chatTemplate: template, special, jinja } = parts;
    if (template === null) {
      const rule = "messages need a chat template, and the model's files have none: give a text";
      throw new HeedError("option", `${where}: ${rule}`);
    }
    const { bos, eos } = special;
    const text = await writeChat(where, { template, bos, eos, jinja, variables, signal }, input);
    return encoded(where, codec, text, { addSpecialTokens: false }).ids;
  }
  if (numbersOf(input) !== null) return readIds(where, "the prompt", input);
  throw new HeedError(
    "option",
    `${where}: a prompt must be messages, a text or tokens, or a list of those of several, got ${showValue(input)}`,
  );
}
