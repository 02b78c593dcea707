// Models in several files, with an index that says which file has which tensor.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guardAsync } from "../../base/guard.js";
import { isOptions, readRecord, readSignal } from "../../base/read-values.js";
import { type FileSource, readText } from "./byte-reader.js";
import { type FileTensor, type LoadOptions, openSafetensors, SAFETENSORS_OPTIONS } from "./load-safetensors.js";
import { collected, type TensorStream } from "./tensor-stream.js";
import { parseUniqueJson } from "./unique-json.js";

/** The options of `loadSafetensorsShards`. */
export interface ShardOptions extends LoadOptions {
  /** Finds a file that the index names. Default, for an index that was given by its address: beside it. */
  readonly resolve?: ((file: string) => FileSource | Promise<FileSource>) | undefined;
}

const WHERE = "loadSafetensorsShards";
const LARGEST_INDEX = 100_000_000;

/**
 * Loads the tensors of all files of a `model.safetensors.index.json`, one file after another. Files without a wanted tensor are not fetched.
 * Progress is reported for each file.
 */
export async function loadSafetensorsShards(
  index: FileSource,
  options?: ShardOptions,
): Promise<Map<string, FileTensor>> {
  return guardAsync("load", WHERE, async () => collected(await openShards(index, options)));
}

/** Reads the index, and then the tensors as they are asked for. */
export async function openShards(
  index: FileSource,
  options: ShardOptions | undefined,
): Promise<TensorStream<FileTensor>> {
  const given = readRecord(WHERE, "options", options, ["resolve", ...SAFETENSORS_OPTIONS]);
  const resolve = resolverOf(index, given["resolve"]);
  const { only, resolve: _, ...rest } = options ?? {};
  const text = await readText(WHERE, index, LARGEST_INDEX, readSignal(WHERE, rest.signal));
  const files = filesOf(readWeightMap(text), only);
  let open: TensorStream<FileTensor> | null = null;
  async function* tensors(): TensorStream<FileTensor>["tensors"] {
    for (const [file, names] of files) {
      open = await openSafetensors(WHERE, await resolve(file), { ...rest, only: names });
      yield* open.tensors;
      open.close();
    }
  }
  return { names: [...files.values()].flat(), tensors: tensors(), close: () => open?.close() };
}

/** The file of each tensor. */
function readWeightMap(text: string): ReadonlyMap<string, string> {
  const index = parseUniqueJson(WHERE, "the index", text);
  const map = isOptions(index) ? index["weight_map"] : undefined;
  if (!isOptions(map)) {
    throw new HeedError("load", `${WHERE}: the index must have a weight_map, got ${showValue(map ?? index)}`);
  }
  const files = new Map<string, string>();
  for (const [name, file] of Object.entries(map)) {
    // A path or an address could lead anywhere.
    if (typeof file !== "string" || !/^(?!\.)[\w. -]+$/u.test(file)) {
      throw new HeedError("load", `${WHERE}: the index must name files without a path, got ${showValue(file)}`);
    }
    files.set(name, file);
  }
  return files;
}

/** The wanted tensors of each file. */
function filesOf(map: ReadonlyMap<string, string>, only: LoadOptions["only"]): Map<string, string[]> {
  const files = new Map<string, string[]>();
  const names = typeof only === "function" ? [...map.keys()].filter(only) : (only ?? map.keys());
  for (const name of names) {
    const file = map.get(name);
    if (file === undefined) {
      throw new HeedError("load", `${WHERE}: the index must have what only names, got none named ${showValue(name)}`);
    }
    const others = files.get(file);
    if (others === undefined) files.set(file, [name]);
    else others.push(name);
  }
  return files;
}

function resolverOf(index: FileSource, resolve: unknown): (file: string) => Promise<FileSource> {
  if (typeof resolve === "function") return async (file) => Reflect.apply(resolve, undefined, [file]);
  if (resolve !== undefined) {
    throw new HeedError("option", `${WHERE}: resolve must be a function, got ${showValue(resolve)}`);
  }
  const address = index instanceof Response ? index.url : index;
  if (typeof address === "string" || address instanceof URL) {
    const base = new URL(address, globalThis.location?.href);
    return async (file) => new URL(file, base);
  }
  throw new HeedError("option", `${WHERE}: resolve must be given where the index is not an address, got none`);
}
