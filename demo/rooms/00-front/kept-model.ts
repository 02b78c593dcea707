// A model that stays on this device for the next visit: the site's, which heed keeps, or the reader's files. Storage may be forbidden, or
// too small: then nothing is kept.

import { isWhole, type ModelFiles } from "../../src/brought/files.js";

/** heed's own, by `loadModel`; and the page's, of files that a reader gave. */
const [FETCHED, GIVEN] = ["heed-models", "heed-given"] as const;
const PATH = "path";

/** Addresses under which a site has nothing. */
const addressOf = (path: string): string => `./given?${new URLSearchParams({ [PATH]: path })}`;

const attempt = <T>(work: () => Promise<T>): Promise<T | undefined> => work().catch(() => undefined);

export async function keepFiles(files: ModelFiles): Promise<void> {
  const isKept = await attempt(async () => {
    await caches.delete(GIVEN);
    const kept = await caches.open(GIVEN);
    for (const [path, file] of files) await kept.put(addressOf(path), new Response(file));
    return true;
  });
  if (!isKept) await remove(GIVEN);
}

/** Nothing where a file is missing. */
export function keptFiles(): Promise<ModelFiles | undefined> {
  return attempt(async () => {
    if (!(await caches.has(GIVEN))) return undefined;
    const kept = await caches.open(GIVEN);
    const files = (await kept.keys()).map(async (request): Promise<[string, File]> => {
      const path = new URL(request.url).searchParams.get(PATH) ?? "";
      const content = await (await kept.match(request))?.blob();
      return [path, new File(content === undefined ? [] : [content], path)];
    });
    const all = new Map(await Promise.all(files));
    return isWhole([...all.keys()], true) ? all : undefined;
  });
}

/** Whether the site's was loaded on a visit before. */
export async function isFetched(folder: string): Promise<boolean> {
  const weights = new URL("model.safetensors", new URL(folder, document.baseURI));
  return (await attempt(async () => caches.match(weights.href))) !== undefined;
}

export const forgetModel = (): Promise<unknown> => remove(FETCHED, GIVEN);

const remove = (...names: readonly string[]): Promise<unknown> =>
  attempt(async () => Promise.all(names.map((name) => caches.delete(name))));
