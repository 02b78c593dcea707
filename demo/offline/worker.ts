// The service worker of a reader who asked to keep the site: it keeps all of its files when it is installed, which a browser does anew
// for every build, and answers from them. demo/keep-offline.ts writes above it what there is to keep.

declare const self: ServiceWorkerGlobalScope;
/** Relative to the folder of the site. */
declare const FILES: readonly string[];
declare const BUILD: string;

const MINE = `heed ${self.registration.scope} `;
const KEPT = MINE + BUILD;
/** What Vite named by its content is the same in every build that has it. */
const IS_HASHED = /^assets\//;

let stopped = new AbortController();

self.addEventListener("install", (event) => event.waitUntil(keep()));

self.addEventListener("activate", (event) => event.waitUntil(takeOver()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && request.url.startsWith(self.registration.scope)) event.respondWith(answer(request));
});

self.addEventListener("message", (event) => {
  if (event.data === "stop") stopped.abort();
  if (event.data === "keep") event.waitUntil(keep());
  if (event.data === "forget") event.waitUntil(forget(event.ports[0]));
});

async function keep(): Promise<void> {
  stopped = new AbortController();
  const kept = await caches.open(KEPT);
  try {
    for (const [index, file] of FILES.entries()) {
      stopped.signal.throwIfAborted();
      const before = IS_HASHED.test(file) ? await caches.match(addressOf(file)) : undefined;
      await kept.put(addressOf(file), before ?? (await load(file)));
      await tellPages({ share: (index + 1) / FILES.length });
    }
  } catch (error) {
    await caches.delete(KEPT);
    await tellPages({ trouble: error instanceof Error ? error.message : String(error) });
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

async function tellPages(said: { readonly share: number } | { readonly trouble: string }): Promise<void> {
  const pages = await self.clients.matchAll({ includeUncontrolled: true, type: "window" });
  for (const page of pages) page.postMessage(said);
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

async function forget(done: MessagePort | undefined): Promise<void> {
  await Promise.all((await mine()).map((name) => caches.delete(name)));
  await self.registration.unregister();
  done?.postMessage("forgotten");
}

/** In the order in which they were made. */
const mine = async (): Promise<readonly string[]> => (await caches.keys()).filter((name) => name.startsWith(MINE));

const addressOf = (file: string): string => new URL(file, self.registration.scope).href;
