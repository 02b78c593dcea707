// Every part of the package in any runtime, and a model's files on disk, read piece by piece: as Blobs that are backed by them.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parts } from "./parts.js";

const folder = await mkdtemp(join(tmpdir(), "heed-"));

async function blobOf(path) {
  if (globalThis.Bun) return Bun.file(path);
  const { openAsBlob } = await import("node:fs");
  return openAsBlob?.(path) ?? new Blob([await readFile(path)]);
}

async function keep(files) {
  const blobs = [...files].map(async ([name, bytes]) => {
    const path = join(folder, name);
    await writeFile(path, bytes);
    return [name, await blobOf(path)];
  });
  return Object.fromEntries(await Promise.all(blobs));
}

const found = await parts(keep);
await rm(folder, { recursive: true });
console.log(JSON.stringify(found));
