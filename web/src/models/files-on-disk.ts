// The files of a model by their path, in Node and what is like it. Nothing is imported, because bundlers would look for it.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isRecord } from "../base/read-values.js";
import type { FileSource } from "../layers/io/byte-reader.js";
import { ggufOf } from "./files-of-list.js";
import type { ModelFiles } from "./model-files.js";

interface Stats {
  readonly size: number;
  isDirectory(): boolean;
}

interface FileHandle {
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
  close(): Promise<void>;
}

/** The members of node:fs/promises that heed uses. */
interface Disk {
  stat(path: string | URL): Promise<Stats>;
  readdir(path: string | URL): Promise<string[]>;
  open(path: string | URL): Promise<FileHandle>;
}

/** Outside pages, what is no address is a path. */
export function isPath(source: string | URL): boolean {
  const text = String(source);
  if (text.startsWith("file:")) return true;
  return globalThis.location === undefined && !/^[a-z][a-z\d+.-]+:/i.test(text);
}

export async function filesByPath(where: string, path: string | URL): Promise<ModelFiles> {
  const disk = diskOf(where, path);
  const found = await statOf(disk, path);
  if (found === null)
    throw new HeedError("load", `${where}: there must be a file or a folder at ${showValue(String(path))}, got none`);
  const within = (name: string): string | URL => {
    const folder = `${String(path).replace(/\/$/, "")}/${name}`;
    return path instanceof URL || String(path).startsWith("file:") ? new URL(folder) : folder;
  };
  const blobAt = async (place: string | URL): Promise<FileSource | null> => {
    const stats = await statOf(disk, place);
    // It has the members that a reader needs of a Blob.
    return stats === null ? null : (new DiskFile(disk, place, stats.size) as unknown as Blob);
  };
  const place = String(path);
  const open = (name: string): Promise<FileSource | null> => blobAt(within(name));
  const openOne = async (at: string | URL): Promise<FileSource> => {
    const file = await blobAt(at);
    if (file !== null) return file;
    throw new HeedError("load", `${where}: ${showValue(String(at))} is no longer there`);
  };
  if (!found.isDirectory()) {
    const name = place.split(/[\\/]/).at(-1) ?? place;
    return { place, gguf: { name, open: () => openOne(path) }, open: async () => null };
  }
  const gguf = ggufOf(where, await disk.readdir(path));
  return { place, gguf: gguf === null ? null : { name: gguf, open: () => openOne(within(gguf)) }, open };
}

function diskOf(where: string, path: string | URL): Disk {
  const { process } = globalThis as { readonly process?: { getBuiltinModule?(name: string): unknown } };
  const disk = process?.getBuiltinModule?.("node:fs/promises");
  if (isRecord(disk)) return disk as unknown as Disk;
  throw new HeedError(
    "unsupported",
    `${where}: a path needs Node 20.16 or later, Deno or Bun, got ${showValue(String(path))}`,
  );
}

async function statOf(disk: Disk, path: string | URL): Promise<Stats | null> {
  const address = String(path).startsWith("file:") ? new URL(path) : path;
  try {
    return await disk.stat(address);
  } catch (error) {
    if (isRecord(error) && (error["code"] === "ENOENT" || error["code"] === "ENOTDIR")) return null;
    throw error;
  }
}

/** A file of which ranges are read, as of a Blob. It is open while it is read. */
class DiskFile {
  readonly size: number;
  readonly #disk: Disk;
  readonly #path: string | URL;
  readonly #start: number;

  constructor(disk: Disk, path: string | URL, size: number, start = 0) {
    this.#disk = disk;
    this.#path = String(path).startsWith("file:") ? new URL(path) : path;
    this.#start = start;
    this.size = size;
  }

  slice(start: number, end: number): DiskFile {
    const from = Math.min(start, this.size);
    return new DiskFile(this.#disk, this.#path, Math.max(Math.min(end, this.size) - from, 0), this.#start + from);
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    const bytes = new Uint8Array(this.size);
    const file = await this.#disk.open(this.#path);
    try {
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, this.#start + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return filled === bytes.length ? bytes.buffer : bytes.buffer.slice(0, filled);
    } finally {
      await file.close();
    }
  }
}
