// Files to arrays, by what they are: npy, JSON or safetensors.

import { whole } from "../../src/ui/numbers.js";
import { FileTrouble, type NamedArray } from "./arrays.js";
import { readJson } from "./json-arrays.js";
import { readNpy } from "./npy.js";

/** JSON takes many times its size while it is read. */
const LARGEST_JSON = 256 * 2 ** 20;
const LARGEST_FILE = 2 ** 30;

export async function readFiles(files: readonly File[]): Promise<readonly NamedArray[]> {
  const read = [];
  for (const file of files) read.push(...(await readFile(file)));
  return read;
}

async function readFile(file: File): Promise<readonly NamedArray[]> {
  const [, stem = file.name, ending = ""] = /^(.*)\.([^.]+)$/.exec(file.name) ?? [];
  const most = ending.toLowerCase() === "json" ? LARGEST_JSON : LARGEST_FILE;
  if (file.size > most) {
    const [has, takes] = [file.size, most].map((bytes) => `${whole(Math.round(bytes / 2 ** 20))} MB`);
    throw new FileTrouble(`“${file.name}” is too large: ${has}, and this page takes ${takes}.`);
  }
  switch (ending.toLowerCase()) {
    case "npy":
      return [readNpy(stem, await file.arrayBuffer())];
    case "json":
      return readJson(stem, await file.text());
    case "safetensors":
      return readSafetensors(file);
    default:
      throw new FileTrouble(`“${file.name}” is none of npy, json and safetensors.`);
  }
}

async function readSafetensors(file: File): Promise<readonly NamedArray[]> {
  // Only for those who bring such a file.
  const { loadSafetensors } = await import("heed/layers");
  try {
    const tensors = await loadSafetensors(file);
    const floats = Array.from(tensors).flatMap(([name, { data, shape }]) =>
      data instanceof Float32Array ? [{ name, shape, data }] : [],
    );
    if (floats.length === 0) throw new FileTrouble(`“${file.name}” holds no floating-point tensors.`);
    return floats;
  } catch (error) {
    throw error instanceof FileTrouble
      ? error
      : new FileTrouble(`“${file.name}”: ${error instanceof Error ? error.message : String(error)}.`);
  }
}
