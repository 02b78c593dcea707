// Small files in JSON.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isOptions } from "../base/read-values.js";
import { readText } from "../layers/io/byte-reader.js";
import { parseJson } from "../layers/io/unique-json.js";
import type { ModelFiles } from "./model-files.js";

/** An object of a JSON file. */
export type Json = Readonly<Record<string, unknown>>;

const LARGEST = 20_000_000;

/** Null where there is none. */
export async function maybeText(
  where: string,
  files: ModelFiles,
  name: string,
  signal: AbortSignal | null,
): Promise<string | null> {
  const source = await files.open(name);
  return source === null ? null : readText(`${where}: ${name}`, source, LARGEST, signal);
}

export async function maybeParsed(
  where: string,
  files: ModelFiles,
  name: string,
  signal: AbortSignal | null,
): Promise<unknown> {
  const text = await maybeText(where, files, name, signal);
  return text === null ? null : parseJson(`${where}: ${name}`, "the file", text);
}

export async function maybeJson(
  where: string,
  files: ModelFiles,
  name: string,
  signal: AbortSignal | null,
): Promise<Json | null> {
  const parsed = await maybeParsed(where, files, name, signal);
  if (parsed === null || isOptions(parsed)) return parsed;
  throw new HeedError("load", `${where}: ${name} must be an object, got ${showValue(parsed)}`);
}
