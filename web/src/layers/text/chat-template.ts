// Writes messages as a prompt, by the Jinja template that a model's files have.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guardAsync } from "../../base/guard.js";
import { isOptions, isRecord, readRecord, readSignal, throwIfAborted } from "../../base/read-values.js";
import { listOf } from "../../base/typed-array.js";
import { findJinja, type JinjaSource } from "./jinja.js";

/** A turn of a dialogue. Templates may read other fields, such as `tool_calls`. */
export interface Message {
  readonly role: string;
  readonly content: unknown;
  readonly [field: string]: unknown;
}

const MOST_MESSAGES = 100_000;

export function isMessages(value: unknown): value is readonly Message[] {
  return Array.isArray(value) && isRecord(value[0]) && "role" in value[0];
}

/** The options of a chat template. */
export interface ChatOptions {
  /** The module @huggingface/jinja, or its address. Default: it is imported when a template is first used. */
  readonly jinja?: JinjaSource | undefined;
  /** What a template reads beside messages: `bos_token`, `eos_token`, `tools`, whatever it names. `add_generation_prompt` is true unless it is here. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A dialogue as a chat template writes it, such as that of `tokenizer_config.json`, up to the answer's beginning. */
export function renderChat(template: string, messages: readonly Message[], options?: ChatOptions): Promise<string> {
  const where = "renderChat";
  return guardAsync("option", where, async () => {
    const { jinja, variables, signal } = readRecord(where, "options", options, ["jinja", "variables", "signal"]);
    if (typeof template !== "string") {
      throw new HeedError("option", `${where}: template must be a text, got ${showValue(template)}`);
    }
    return writeChat(where, { template, jinja, variables, signal: readSignal(where, signal) }, messages);
  });
}

export interface ChatRule {
  readonly template: string;
  readonly jinja: unknown;
  readonly variables: unknown;
  /** How special tokens are written. Default "". */
  readonly bos?: string | undefined;
  readonly eos?: string | undefined;
  readonly signal: AbortSignal | null;
}

export async function writeChat(
  where: string,
  { template, jinja, variables, bos = "", eos = "", signal }: ChatRule,
  messages: readonly Message[],
): Promise<string> {
  const list = listOf<Message>(messages, MOST_MESSAGES, isOptions);
  const wrong = list?.findIndex(({ role }) => typeof role !== "string");
  if (list === null || wrong !== -1) {
    throw new HeedError("option", `${where}: messages must be { role, content }, got ${showValue(messages)}`);
  }
  if (variables !== undefined && !isOptions(variables)) {
    throw new HeedError("option", `${where}: a template's variables must be an object, got ${showValue(variables)}`);
  }
  throwIfAborted(where, signal);
  const values = { add_generation_prompt: true, bos_token: bos, eos_token: eos, ...variables, messages: list };
  const render = await findJinja(where, jinja, signal);
  const text = await guardAsync("option", `${where}: the model's chat template`, () => render(template, values));
  if (typeof text === "string") return text;
  throw new HeedError("option", `${where}: jinja must render a text, got ${showValue(text)}`);
}
