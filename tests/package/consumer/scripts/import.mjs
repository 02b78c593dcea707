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
const others = [];
for (const name of ["layers", "models", "reference", "text", "train", "webgpu"])
  others.push(await import(`heed/${name}`));
// Without elements to register there is nothing to do.
(await import("heed/viz")).define();
if (Reflect.ownKeys(globalThis).length !== before) throw new Error("importing left something on globalThis");
// It leaves its compiler there, by which entries of other bundles know its expressions.
others.push(await import("heed/expr"));
const namesOf = (entry) => Object.keys(entry).sort().join();
if (namesOf(assets) !== namesOf(heed)) throw new Error("heed/assets differs from heed");
for (const entry of [heed, ...others]) console.log(namesOf(entry));
