// The files of a model in a folder that somebody has chosen, by its FileSystemDirectoryHandle.

import { causeText, HeedError } from "../base/errors.js";
import { isRecord } from "../base/read-values.js";
import { ggufOf } from "./files-of-list.js";
import type { ModelFiles } from "./model-files.js";

/** The members of FileSystemDirectoryHandle that heed uses. */
export interface FolderHandle {
  readonly kind: "directory";
  readonly name: string;
  getDirectoryHandle(name: string): Promise<FolderHandle>;
  getFileHandle(name: string): Promise<{ getFile(): Promise<Blob> }>;
  keys(): AsyncIterable<string>;
}

export const isFolderHandle = (value: unknown): value is FolderHandle =>
  isRecord(value) && value["kind"] === "directory" && typeof value["getFileHandle"] === "function";

export async function filesInFolder(where: string, folder: FolderHandle): Promise<ModelFiles> {
  const open = (path: string): Promise<Blob | null> => fileIn(where, folder, path);
  const names: string[] = [];
  for await (const name of folder.keys()) names.push(name);
  const gguf = ggufOf(where, names);
  if (gguf === null) return { place: folder.name, gguf, open };
  const openGguf = async (): Promise<Blob> => {
    const file = await open(gguf);
    if (file !== null) return file;
    throw new HeedError("load", `${where}: ${gguf} is no longer there`);
  };
  return { place: folder.name, gguf: { name: gguf, open: openGguf }, open };
}

async function fileIn(where: string, folder: FolderHandle, path: string): Promise<Blob | null> {
  const parts = path.split("/");
  const name = parts.pop() ?? "";
  try {
    let inside = folder;
    for (const part of parts) inside = await inside.getDirectoryHandle(part);
    const handle = await inside.getFileHandle(name);
    return await handle.getFile();
  } catch (cause) {
    if (isRecord(cause) && cause["name"] === "NotFoundError") return null;
    throw new HeedError("load", `${where}: ${path} could not be opened: ${causeText(cause)}`, { cause });
  }
}
