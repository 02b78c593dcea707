// The service worker of a reader who asked to keep the site: it keeps all of its files when it is installed, which a browser does anew
// for every build, and answers from them. demo/keep-offline.ts writes above it what there is to keep.

declare const self: ServiceWorkerGlobalScope;
/** Relative to the folder of the site. */
declare const FILES: readonly string[];
declare const BUILD: string;

/** So begin the names of its caches, by which the page forgets them. */
const MINE = `heed ${self.registration.scope} `;
const KEPT = MINE + BUILD;

const stopped = new AbortController();
self.addEventListener("message", () => stopped.abort());

self.addEventListener("install", (event) => event.waitUntil(keep()));

self.addEventListener("activate", (event) => event.waitUntil(takeOver()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && request.url.startsWith(self.registration.scope)) event.respondWith(answer(request));
});

async function keep(): Promise<void> {
  const kept = await caches.open(KEPT);
  try {
    await Promise.all(FILES.map(async (file) => kept.put(addressOf(file), await load(file))));
  } catch (error) {
    // Half of a build must not take the place of a whole one.
    await caches.delete(KEPT);
    throw error;
  }
  await self.skipWaiting();
}

async function load(file: string): Promise<Response> {
  const response = await fetch(addressOf(file), { cache: "no-cache", signal: stopped.signal });
  if (!response.ok) throw new Error(`${file}: ${response.status}`);
  // What was redirected may not answer for a page.
  return response.redirected ? new Response(response.body, response) : response;
}

/** Files of the build before stay for its pages that are still open. */
async function takeOver(): Promise<void> {
  const older = (await mine()).filter((name) => name !== KEPT);
  await Promise.all(older.slice(0, -1).map((name) => caches.delete(name)));
  await self.clients.claim();
}

async function answer(request: Request): Promise<Response> {
  const asked = request.url === self.registration.scope ? addressOf("index.html") : request;
  for (const name of [KEPT, ...(await mine())]) {
    const found = await (await caches.open(name)).match(asked, { ignoreSearch: true });
    if (found !== undefined) return found;
  }
  return fetch(request);
}

/** In the order in which they were made. */
const mine = async (): Promise<readonly string[]> => (await caches.keys()).filter((name) => name.startsWith(MINE));

const addressOf = (file: string): string => new URL(file, self.registration.scope).href;
