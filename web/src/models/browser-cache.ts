// Files that stay in the browser's Cache Storage. One that is there is used as long as the server has it with the same size and tag.

import { showValue } from "../base/describe.js";
import { causeText, HeedError } from "../base/errors.js";
import { isRecord } from "../base/read-values.js";
import { assertNotAborted } from "../layers/io/byte-reader.js";
import type { Fetching } from "./model-files.js";
import { isMissing, request } from "./request.js";

/** What the page may delete: `caches.delete("heed-models")`. */
export const STORAGE = "heed-models";

/** Null where the server does not have the file. */
export async function keptFile(where: string, address: URL, name: string, fetching: Fetching): Promise<Blob | null> {
  const { signal } = fetching;
  const storage = await openStorage(where);
  const kept = await storage.match(address.href);
  if (kept !== undefined && (await isCurrent(where, address, kept, signal))) return kept.ok ? kept.blob() : null;
  const answer = await request(where, address, { signal });
  if (isMissing(answer)) {
    answer.body?.cancel().catch(() => {});
    // So that a model is there without a network although it lacks a file.
    await storage.put(address.href, new Response(null, { status: 404 }));
    return null;
  }
  if (!answer.ok) {
    const got = `${answer.status} ${answer.statusText}`.trim();
    throw new HeedError("load", `${where}: the server must answer with the file, got ${got} for ${address.href}`);
  }
  await keep(where, storage, address, counted(answer, name, fetching), signal);
  const stored = await storage.match(address.href);
  if (stored !== undefined) return stored.blob();
  throw new HeedError("load", `${where}: cache: ${name} is no longer in the browser's storage`);
}

async function openStorage(where: string): Promise<Cache> {
  const { caches } = globalThis as { readonly caches?: CacheStorage };
  if (caches === undefined) {
    throw new HeedError(
      "unsupported",
      `${where}: cache: true needs a browser's Cache Storage, which pages by https and localhost have`,
    );
  }
  try {
    return await caches.open(STORAGE);
  } catch (cause) {
    throw new HeedError("unsupported", `${where}: cache: the browser's storage does not open: ${causeText(cause)}`, {
      cause,
    });
  }
}

/** Without a network, what is there counts. */
async function isCurrent(where: string, address: URL, kept: Response, signal: AbortSignal | null): Promise<boolean> {
  let answer: Response;
  try {
    answer = await fetch(address, { method: "HEAD", cache: "no-cache", signal });
  } catch {
    assertNotAborted(where, signal);
    return true;
  }
  if (isMissing(answer) || !kept.ok) return isMissing(answer) && !kept.ok;
  // Some servers have no HEAD.
  if (!answer.ok) return answer.status === 405 || answer.status === 501;
  return ["etag", "content-length"].every((header) => {
    const [now, then] = [answer.headers.get(header), kept.headers.get(header)];
    return now === null || then === null || now === then;
  });
}

/** The answer with its bytes reported as they pass. */
function counted(answer: Response, file: string, { report }: Fetching): Response {
  if (answer.body === null) return answer;
  const header = answer.headers.get("content-length");
  const isPacked = answer.headers.get("content-encoding") !== null;
  const total = header === null || isPacked ? undefined : Number(header);
  let loaded = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      loaded += chunk.length;
      report({ loaded, total, file });
      controller.enqueue(chunk);
    },
    flush(controller) {
      if (total === undefined || loaded === total) return;
      controller.error(new Error(`the answer ends after ${loaded} of ${total} bytes`));
    },
  });
  const { status, headers } = answer;
  return new Response(answer.body.pipeThrough(counting), { status, headers });
}

/** All of the file, or nothing. */
async function keep(
  where: string,
  storage: Cache,
  address: URL,
  answer: Response,
  signal: AbortSignal | null,
): Promise<void> {
  try {
    await storage.put(address.href, answer);
  } catch (cause) {
    await storage.delete(address.href).catch(() => {});
    assertNotAborted(where, signal);
    if (isRecord(cause) && cause["name"] === "QuotaExceededError") {
      const remedy = `free some by caches.delete(${showValue(STORAGE)}), ask for more by navigator.storage.persist(), or load with cache: false`;
      throw new HeedError("memory", `${where}: cache: the browser's storage is full${await usage()}: ${remedy}`, {
        cause,
      });
    }
    throw new HeedError("load", `${where}: ${address.href} could not be kept: ${causeText(cause)}`, { cause });
  }
}

/** `, 900 of 1000 MB`, where the browser says so. */
async function usage(): Promise<string> {
  const estimate = await globalThis.navigator?.storage?.estimate?.().catch(() => null);
  if (estimate?.usage === undefined || estimate.quota === undefined) return "";
  const megabytes = (bytes: number): number => Math.round(bytes / 1e6);
  return `, ${megabytes(estimate.usage)} of ${megabytes(estimate.quota)} MB`;
}
