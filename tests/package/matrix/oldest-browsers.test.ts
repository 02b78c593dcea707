// The oldest browsers that README.md names, as far as newer ones can tell: no later syntax, and no need of what later ones brought.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { Consumer } from "../support/consumer.js";
import { ISOLATION } from "../support/server.js";
import { pageOf, StaticHost } from "../support/static-host.js";
import { expectWorker, openChromium, visit } from "../support/visit.js";

const readme = readFileSync(fileURLToPath(new URL("../../../README.md", import.meta.url)), "utf8");

const browser = await openChromium();
afterAll(() => browser.close());

test("their syntax suffices: esbuild finds nothing to write otherwise for them", async () => {
  const [, named = ""] = /\((Chrome .*) and later\);/.exec(readme) ?? [];
  const target = named.toLowerCase().replaceAll(" ", "").split(",");
  expect(target.map((browser) => browser.replace(/[\d.]+/, ""))).toEqual(["chrome", "firefox", "safari"]);
  const consumer = await Consumer.make("syntax", "page");
  const dist = "node_modules/heed/dist";
  const scripts = readdirSync(consumer.path(dist)).filter((file) => file.endsWith(".js"));
  const files = [...scripts, "assets/worker.js"].map((file) => `${dist}/${file}`);
  const rewrite = async (folder: string, ...targets: readonly string[]): Promise<readonly string[]> => {
    // Classes of characters by their properties are old; esbuild is wary of newer properties.
    const options = [`--target=${targets}`, "--supported:regexp-unicode-property-escapes=true"];
    await consumer.tool("esbuild/bin/esbuild", ...files, ...options, "--format=esm", `--outdir=${folder}`);
    return files.map((file) => readFileSync(consumer.path(folder, file.slice(dist.length)), "utf8"));
  };
  const [untouched, forThem] = [await rewrite("untouched", "esnext"), await rewrite("rewritten", ...target)];
  expect(files.filter((_, i) => untouched[i] !== forThem[i])).toEqual([]);
});

/** Of the language and the platform: what one of those browsers or another came without. */
const LATER: Readonly<Record<string, readonly string[]>> = {
  "": ["structuredClone", "DisposableStack", "AsyncDisposableStack", "Iterator", "Float16Array", "scheduler"],
  Array: ["fromAsync"],
  "Array.prototype": ["findLast", "findLastIndex", "toReversed", "toSorted", "toSpliced", "with"],
  "ArrayBuffer.prototype": ["transfer", "transferToFixedLength", "resize"],
  AbortSignal: ["any", "timeout"],
  "AbortSignal.prototype": ["throwIfAborted", "reason"],
  Atomics: ["waitAsync", "pause"],
  "DataView.prototype": ["getFloat16", "setFloat16"],
  Error: ["isError"],
  "Int8Array.prototype.__proto__": ["findLast", "findLastIndex", "toReversed", "toSorted", "with"],
  Map: ["groupBy"],
  Math: ["f16round", "sumPrecise"],
  Object: ["groupBy"],
  Promise: ["try", "withResolvers"],
  RegExp: ["escape"],
  "Set.prototype": ["difference", "intersection", "isSubsetOf", "symmetricDifference", "union"],
  "String.prototype": ["isWellFormed", "toWellFormed"],
  Symbol: ["asyncDispose", "dispose"],
  Uint8Array: ["fromBase64", "fromHex"],
};

test.each([
  ["isolated", ISOLATION, "shared-memory"],
  ["not isolated", {}, "private-memory"],
])("a page that is %s computes without what later browsers brought", async (_name, headers, worker) => {
  const host = await StaticHost.make(`oldest-${worker}`);
  const context = await browser.newContext();
  await context.addInitScript((later) => {
    for (const [path, names] of Object.entries(later)) {
      let owner: object = globalThis;
      for (const name of path.split(".")) owner = name === "" ? owner : Reflect.get(owner, name);
      for (const name of names) Reflect.deleteProperty(owner, name);
    }
  }, LATER);
  const found = await visit(context, pageOf(await host.serve(headers)));
  await context.close();
  host.close();
  expectWorker(found, worker);
});
