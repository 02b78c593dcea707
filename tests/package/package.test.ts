// The package as a stranger gets it: what is in it, what its README shows, and what a compiler says of its types.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, inject, test } from "vitest";
import { notices } from "../../scripts/make/notices.js";
import { Consumer } from "./support/consumer.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const consumer = await Consumer.make("package", "scripts");

describe("the packed package", () => {
  const installed = (...path: string[]): string => join(inject("workshop"), "node_modules/heed", ...path);

  /** `npx vitest run --project package tests/package/package.test.ts -u` records it. */
  test("holds the files of its record, and nothing else", async () => {
    const entries = readdirSync(installed(), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const names = files.map((file) => relative(installed(), file).split(sep).join("/")).sort();
    await expect(`${names.join("\n")}\n`).toMatchFileSnapshot("contents.txt");
  });

  test("has every file that it names, and names the addresses of repository and issues where they are known", () => {
    const manifest: Manifest = JSON.parse(readFileSync(installed("package.json"), "utf8"));
    const targets = Object.values(manifest.exports).flatMap((target) =>
      typeof target === "string" ? [target] : Object.values(target),
    );
    for (const target of targets.filter((path) => !path.includes("*")))
      expect(statSync(installed(target)).size, target).toBeGreaterThan(0);
    const { homepage, repository, bugs } = manifest;
    const addresses = [homepage, repository, bugs].map((place) => (typeof place === "string" ? place : place?.url));
    for (const address of addresses) if (address !== undefined) expect(address).toMatch(/^(?:git\+)?https:\/\//);
  });

  test("depends on nothing, has no side effects, and names types before code", () => {
    const manifest: Manifest = JSON.parse(readFileSync(installed("package.json"), "utf8"));
    expect(manifest).not.toHaveProperty("dependencies");
    // What renders chat templates, which a page without them does not need.
    expect(manifest).toMatchObject({
      peerDependencies: { "@huggingface/jinja": ">=0.5" },
      peerDependenciesMeta: { "@huggingface/jinja": { optional: true } },
    });
    expect(manifest).toMatchObject({ type: "module", sideEffects: false });
    const entries = Object.values(manifest.exports).filter((target) => typeof target !== "string");
    expect(entries.length).toBeGreaterThan(0);
    // Entries without an engine are the same in Cloudflare Workers.
    for (const [entry, target] of Object.entries(manifest.exports)) {
      if (typeof target === "string") continue;
      const own = ["./reference", "./viz"].includes(entry) ? [] : ["workerd"];
      expect(Object.keys(target)).toEqual(["types", ...own, "default"]);
    }
  });

  test("where a bundler reads no exports, finds the same files by older fields", () => {
    const { exports, main, alias }: Manifest = JSON.parse(readFileSync(installed("package.json"), "utf8"));
    for (const [path, target] of Object.entries(exports)) {
      if (typeof target === "string") continue;
      expect(path === "." ? main : alias[path]).toBe(target.default);
    }
  });
});

describe("the notices of what the binaries hold of others", () => {
  /** The section about each work, by its title. */
  const sections = (): Map<string, string> => {
    const text = readFileSync(join(inject("workshop"), "node_modules/heed/dist/THIRD-PARTY-NOTICES.txt"), "utf8");
    const [, ...parts] = text.split(/^={78}\n/m);
    return new Map(parts.flatMap((head, i) => (i % 2 === 0 ? [[head.trim(), parts[i + 1] ?? ""]] : [])));
  };
  const titled = (pattern: RegExp): string => [...sections()].find(([head]) => pattern.test(head))?.[1] ?? "";

  /** Sentences of each licence, by the libraries that it covers. */
  const LLVM = [/Apache License v2\.0 with LLVM Exceptions/, /portions\s+of this Software are embedded/];
  const MIT = /Permission is hereby granted,?\s+free of charge/;
  const EMSCRIPTEN = [/The Emscripten Authors/, MIT];
  const SENTENCES: Readonly<Record<string, readonly RegExp[]>> = {
    libc: [/Rich Felker/, MIT],
    "libc++": LLVM,
    "libc++abi": LLVM,
    libcompiler_rt: LLVM,
    libbulkmemory: EMSCRIPTEN,
    libembind: EMSCRIPTEN,
    libemmalloc: EMSCRIPTEN,
    libnoexit: EMSCRIPTEN,
    libstubs: EMSCRIPTEN,
    libwasm_workers: EMSCRIPTEN,
  };

  const maps = ["wasm-simd", "wasm-relaxed", "wasm-simd-threads", "wasm-relaxed-threads"].flatMap((variant) =>
    readdirSync(join(root, "build", variant))
      .filter((file) => file.endsWith(".map"))
      .map((file) => readFileSync(join(root, "build", variant, file), "utf8")),
  );
  const linked = new Set(
    maps.flatMap((map) => [...map.matchAll(/(lib[^/\s-]+)[^/\s]*\.a\(/g)].map(([, name]) => name)),
  );
  linked.delete("libheed");

  test("name every library that the linker took something from, in all sixteen modules", () => {
    expect(maps).toHaveLength(16);
    expect(linked).toContain("libc");
    const named = [...sections().keys()].flatMap((head) => head.split("linked: ")[1]?.split(", ") ?? []);
    expect(named.sort()).toEqual([...linked].sort());
  });

  test.each([...linked])("have the licence of %s", (library = "") => {
    const sentences = SENTENCES[library] ?? [];
    expect(sentences, `nobody has said whose ${library} is`).not.toEqual([]);
    const text = titled(new RegExp(`[ ,]${library.replaceAll("+", "\\+")}(?:,|$)`));
    for (const sentence of sentences) expect(text).toMatch(sentence);
  });

  test("have the licences of the kernels' vectors, of the code around the binaries, and Apache's in full", () => {
    expect(titled(/^xsimd$/)).toMatch(
      /Johan Mabille.*Redistributions in binary form must reproduce the above copyright/s,
    );
    expect(titled(/^Emscripten\n/)).toMatch(/The Emscripten Authors/);
    expect([...sections().values()].join("")).toMatch(/TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION/);
  });

  test("cannot be written for a library of which nobody has said whose it is", () => {
    const tools = { emscripten: { root: "" }, xsimd: { includeDir: "" } };
    expect(() => notices(["libc", "libother"], tools)).toThrow(/no licence is known .*: libother$/);
  });
});

describe("README.md", () => {
  const blocks = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/^```js\n(.*?)^```$/gms)].map(
    ([, code]) => code,
  );

  test("shows code", () => expect(blocks.length).toBeGreaterThan(0));

  test.each(blocks.map((code, index) => [index + 1, code ?? ""] as const))(
    "block %i runs as it stands",
    async (index, code) => {
      const file = `readme-${index}.mjs`;
      await writeFile(consumer.path(file), code);
      const { stdout, stderr } = await consumer.run(process.execPath, [file], 20_000);
      expect(stderr).toBe("");
      expect(stdout).not.toBe("");
      expect(stdout).not.toMatch(/NaN|undefined/);
    },
  );
});

const BROWSER = { lib: ["ES2022", "DOM"], types: [] };

/** Without the names of what browsers have. */
const NODE = { lib: ["ES2022"], types: ["node"], typeRoots: [join(root, "node_modules/@types")] };

test.each([
  ["ESNext", "bundler", "a browser's names", BROWSER],
  ["Node16", "node16", "a browser's names", BROWSER],
  ["NodeNext", "nodenext", "a browser's names", BROWSER],
  ["NodeNext", "nodenext", "Node's names", NODE],
])("type-checks with module %s, moduleResolution %s and %s", async (module, moduleResolution, _, names) => {
  const options = {
    ...names,
    module,
    moduleResolution,
    target: "ES2022",
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
  };
  const config = `tsconfig.${moduleResolution}.json`;
  await writeFile(consumer.path(config), JSON.stringify({ compilerOptions: options, files: ["types.ts"] }));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = await consumer
    .run(process.execPath, [compiler, "-p", config])
    .catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
});

interface Manifest {
  readonly homepage?: string;
  readonly repository?: string | { readonly url: string };
  readonly bugs?: string | { readonly url: string };
  readonly exports: Readonly<Record<string, string | Readonly<Record<"types" | "default", string>>>>;
  readonly main: string;
  readonly alias: Readonly<Record<string, string>>;
}
