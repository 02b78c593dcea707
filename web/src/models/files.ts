// The files of a model, wherever they are: by the names under which they are published.

import { showClass, showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isOptions, isRecord } from "../base/read-values.js";
import { isUint8Array } from "../base/typed-array.js";
import type { FileSource } from "../layers/io/byte-reader.js";
import { isMap } from "../layers/io/save-safetensors.js";
import { filesAtAddress } from "./files-at-address.js";
import { type FolderHandle, filesInFolder, isFolderHandle } from "./files-in-folder.js";
import { filesOfList } from "./files-of-list.js";
import { filesByPath, isPath } from "./files-on-disk.js";
import type { Fetching, ModelFiles } from "./model-files.js";

/** Where a model comes from: the address of a folder or of a GGUF file, the files themselves, or, in Node, a path. */
export type ModelSource =
  | FileSource
  | FolderHandle
  | ArrayLike<Blob & { readonly name: string }>
  | ReadonlyMap<string, Blob | ArrayBuffer | Uint8Array>
  | Readonly<Record<string, Blob | ArrayBuffer | Uint8Array>>;

export async function filesOf(where: string, source: unknown, fetching: Fetching): Promise<ModelFiles> {
  if (typeof source === "string" || source instanceof URL) {
    return isPath(source) ? filesByPath(where, source) : filesAtAddress(where, source, fetching);
  }
  if (isFolderHandle(source)) return filesInFolder(where, source);
  if (isOneFile(source)) return ofOneFile(source);
  if (isMap(source))
    return filesOfList(
      where,
      [...source].map(([name, file]) => [String(name), file] as const),
    );
  if (isList(source))
    return filesOfList(
      where,
      [...Array.from(source)].map((file) => [pathOf(where, file), file] as const),
    );
  if (isOptions(source)) return filesOfList(where, Object.entries(source));
  const got = isRecord(source) ? showClass(source) : showValue(source);
  throw new HeedError(
    "option",
    `${where}: a model must be an address, a GGUF file, a list of files, a folder's handle or { name: bytes }, got ${got}`,
  );
}

function ofOneFile(source: FileSource): ModelFiles {
  const name = isRecord(source) && typeof source["name"] === "string" ? source["name"] : "the GGUF file";
  return { place: name, gguf: { name, open: async () => source }, open: async () => null };
}

// These tests look at members, because objects may come from another realm.
function isOneFile(value: unknown): value is FileSource {
  if (isUint8Array(value) || Object.prototype.toString.call(value) === "[object ArrayBuffer]") return true;
  if (!isRecord(value)) return false;
  return typeof value["arrayBuffer"] === "function" || typeof value["getReader"] === "function";
}

const isList = (value: unknown): value is ArrayLike<unknown> =>
  Array.isArray(value) ||
  (isRecord(value) && typeof value["length"] === "number" && typeof value["item"] === "function");

/** With its folders, where a file was chosen with them. */
function pathOf(where: string, file: unknown): string {
  const { name, webkitRelativePath: path } = isRecord(file) ? file : {};
  if (typeof path === "string" && path !== "") return path;
  if (typeof name === "string") return name;
  throw new HeedError("option", `${where}: files in a list must have names, got ${showValue(file)}`);
}
