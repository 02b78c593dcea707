// A model that stays on this device for the next visit: the site's, which heed keeps, or the reader's files. Storage may be forbidden, or
// too small: then nothing is kept.

import { isWhole, type ModelFiles } from "../../src/brought/files.js";

/** heed's own, by `loadModel`; and the page's, of files that a reader gave. */
const [FETCHED, GIVEN] = ["heed-models", "heed-given"] as const;
const PATH = "path";

/** Addresses under which a site has nothing. */
const addressOf = (path: string): string => `./given?${new URLSearchParams({ [PATH]: path })}`;

export async function keepFiles(files: ModelFiles): Promise<void> {
  try {
    await caches.delete(GIVEN);
    const kept = await caches.open(GIVEN);
    for (const [path, file] of files) await kept.put(addressOf(path), new Response(file));
  } catch {
    await remove(GIVEN);
  }
}

/** Nothing where a file is missing. */
export async function keptFiles(): Promise<ModelFiles | undefined> {
  try {
    if (!(await caches.has(GIVEN))) return undefined;
    const kept = await caches.open(GIVEN);
    const files = (await kept.keys()).map(async (request): Promise<[string, File]> => {
      const path = new URL(request.url).searchParams.get(PATH) ?? "";
      const content = await (await kept.match(request))?.blob();
      return [path, new File(content === undefined ? [] : [content], path)];
    });
    const all = new Map(await Promise.all(files));
    return isWhole([...all.keys()], true) ? all : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the site's was loaded on a visit before. */
export async function isFetched(folder: string): Promise<boolean> {
  try {
    return (await caches.match(new URL("model.safetensors", new URL(folder, document.baseURI)).href)) !== undefined;
  } catch {
    return false;
  }
}

export const forgetModel = (): Promise<void> => remove(FETCHED, GIVEN);

async function remove(...names: readonly string[]): Promise<void> {
  try {
    await Promise.all(names.map((name) => caches.delete(name)));
  } catch {
    // Then there was none.
  }
}
