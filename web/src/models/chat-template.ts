// Writes messages as a prompt, by the Jinja template that a model's files have.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guardAsync } from "../base/guard.js";
import { isOptions, isRecord } from "../base/read-values.js";
import { listOf } from "../base/typed-array.js";
import { findJinja, type JinjaSource } from "./jinja.js";
import type { SpecialTokens } from "./special-tokens.js";

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

export async function renderChat(
  where: string,
  {
    template,
    special,
    jinja,
    variables,
  }: {
    readonly template: string | null;
    readonly special: SpecialTokens;
    readonly jinja: JinjaSource | undefined;
    readonly variables: unknown;
  },
  messages: readonly Message[],
): Promise<string> {
  if (template === null) {
    throw new HeedError(
      "option",
      `${where}: messages need a chat template, and the model's files have none: give a text`,
    );
  }
  const list = listOf<Message>(messages, MOST_MESSAGES, isOptions);
  const wrong = list?.findIndex(({ role }) => typeof role !== "string");
  if (list === null || wrong !== -1) {
    throw new HeedError("option", `${where}: messages must be { role, content }, got ${showValue(messages)}`);
  }
  if (variables !== undefined && !isOptions(variables)) {
    throw new HeedError("option", `${where}: template must be an object of variables, got ${showValue(variables)}`);
  }
  const values = {
    add_generation_prompt: true,
    bos_token: special.bos ?? "",
    eos_token: special.eos ?? "",
    ...variables,
    messages: list,
  };
  const render = await findJinja(where, jinja);
  const text = await guardAsync("option", `${where}: the model's chat template`, () => render(template, values));
  if (typeof text === "string") return text;
  throw new HeedError("option", `${where}: jinja must render a text, got ${showValue(text)}`);
}
