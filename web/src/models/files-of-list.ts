// The files of a model by their paths: chosen by somebody, or made by a program.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import type { FileSource } from "../layers/io/byte-reader.js";
import type { ModelFiles } from "./model-files.js";

const CONFIGURATIONS = ["config.json", "adapter_config.json"];

const depthOf = (path: string): number => path.split("/").length;

/** The folder of the model is that of its configuration. */
export function filesOfList(where: string, list: readonly (readonly [path: string, file: unknown])[]): ModelFiles {
  const files = new Map<string, unknown>();
  for (const [path, file] of list) {
    if (files.has(path)) {
      throw new HeedError(
        "option",
        `${where}: files must have different paths, got ${showValue(path)} twice: choose their folder`,
      );
    }
    files.set(path, file);
  }
  const paths = [...files.keys()];
  // What reads a file refuses what is none.
  const fileOf = (path: string): FileSource => files.get(path) as FileSource;
  const gguf = ggufOf(where, paths);
  if (gguf !== null) {
    const named = { name: gguf, open: async () => fileOf(gguf) };
    return { place: gguf, gguf: named, open: async () => null };
  }
  const start = startOf(where, paths);
  return {
    place: "the files",
    gguf: null,
    open: async (name) => (files.has(start + name) ? fileOf(start + name) : null),
  };
}

/** A GGUF file among files without other weights. */
export function ggufOf(where: string, paths: readonly string[]): string | null {
  if (paths.some((path) => path.endsWith(".safetensors"))) return null;
  const [found, other] = paths.filter((path) => path.toLowerCase().endsWith(".gguf"));
  if (found === undefined || other === undefined) return found ?? null;
  throw new HeedError(
    "option",
    `${where}: a model must be one GGUF file, got ${showValue(found)} and ${showValue(other)}`,
  );
}

function startOf(where: string, paths: readonly string[]): string {
  const found = paths.filter((path) => CONFIGURATIONS.includes(path.split("/").at(-1) ?? ""));
  const depth = Math.min(...found.map(depthOf));
  const [first, other] = found.filter((path) => depthOf(path) === depth);
  const rule = "the files must have one config.json";
  if (first === undefined) throw new HeedError("load", `${where}: ${rule}, or be a GGUF file, got ${showValue(paths)}`);
  if (other !== undefined)
    throw new HeedError("load", `${where}: ${rule}, got ${showValue(first)} and ${showValue(other)}`);
  return first.slice(0, first.lastIndexOf("/") + 1);
}
