// Importing does nothing: not a global is needed, as on a server that renders pages.
const needed = [
  "WebAssembly",
  "Worker",
  "SharedArrayBuffer",
  "navigator",
  "fetch",
  "Blob",
  "URL",
  "FinalizationRegistry",
  "AbortSignal",
];
for (const name of needed) Reflect.deleteProperty(globalThis, name);
const before = Reflect.ownKeys(globalThis).length;
const heed = await import("heed");
const assets = await import("heed/assets");
await import("heed/layers");
await import("heed/models");
await import("heed/text");
await import("heed/reference");
// Without elements to register there is nothing to do.
(await import("heed/viz")).define();
if (Reflect.ownKeys(globalThis).length !== before) throw new Error("importing left something on globalThis");
const namesOf = (entry) => Object.keys(entry).sort().join();
if (namesOf(assets) !== namesOf(heed)) throw new Error("heed/assets differs from heed");
console.log(namesOf(heed));
