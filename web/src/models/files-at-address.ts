// The files of a model on a server: a folder, or one GGUF file.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import type { FileSource } from "../layers/io/byte-reader.js";
import { keptFile } from "./browser-cache.js";
import type { Fetching, ModelFiles } from "./model-files.js";
import { isMissing, request } from "./request.js";

export function filesAtAddress(where: string, source: string | URL, fetching: Fetching): ModelFiles {
  const address = addressOf(where, source);
  const place = address.href;
  if (address.pathname.toLowerCase().endsWith(".gguf")) {
    const name = address.pathname.split("/").at(-1) ?? place;
    const open = async (): Promise<FileSource> => {
      const file = await fileAt(where, address, name, fetching);
      if (file !== null) return file;
      throw new HeedError("load", `${where}: the server must have ${showValue(place)}, got 404`);
    };
    return { place, gguf: { name, open }, open: async () => null };
  }
  const folder = new URL(address);
  if (!folder.pathname.endsWith("/")) folder.pathname += "/";
  const open = (name: string): Promise<FileSource | null> => {
    const file = new URL(folder);
    file.pathname += name;
    return fileAt(where, file, name, fetching);
  };
  return { place, gguf: null, open };
}

function addressOf(where: string, source: string | URL): URL {
  try {
    return new URL(source, globalThis.location?.href);
  } catch (cause) {
    throw new HeedError("option", `${where}: a model's address must be one, got ${showValue(String(source))}`, {
      cause,
    });
  }
}

/** Null where the server does not have it. */
async function fileAt(where: string, address: URL, name: string, fetching: Fetching): Promise<FileSource | null> {
  const { signal } = fetching;
  if (fetching.isKept) return keptFile(where, address, name, fetching);
  const answer = await request(where, address, { signal });
  if (isMissing(answer)) {
    answer.body?.cancel().catch(() => {});
    return null;
  }
  return answer;
}
