// The budget of a visit: what the build measured, held to what the project promises.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Sizes {
  readonly index: number;
  /** assets.js and its worker. */
  readonly assets: number;
  /** heed/viz, alone. */
  readonly viz: number;
  readonly runners: { readonly shared: number; readonly unshared: number };
  /** heed/train, beside heed/layers. */
  readonly train: number;
  readonly training: Readonly<Record<string, { readonly chunk: number }>>;
  readonly narrow: Readonly<Record<string, { readonly chunk: number }>>;
  readonly variants: Readonly<Record<string, { readonly chunk: number; readonly hosted: number }>>;
}

const sizes: Sizes = JSON.parse(readFileSync(new URL("../../build/sizes.json", import.meta.url), "utf8"));

/** Brotli bytes of one variant, glue and wasm as they are shipped. */
const VARIANT_BUDGET = 52_000;

test("each of the four variants is within 52 kB brotli", () => {
  expect(Object.keys(sizes.variants).length).toBe(4);
  for (const [name, { chunk }] of Object.entries(sizes.variants)) {
    expect(chunk, `${name} takes ${chunk} bytes`).toBeLessThanOrEqual(VARIANT_BUDGET);
  }
});

test("what is loaded besides a variant is within 26.3 kB brotli", () => {
  const { shared, unshared } = sizes.runners;
  expect(sizes.index + Math.max(shared, unshared)).toBeLessThanOrEqual(26_300);
});

test("a visit loads at most 75 kB brotli in all, whichever entry and variant", () => {
  for (const [name, { chunk, hosted }] of Object.entries(sizes.variants)) {
    const runner = name.endsWith("-threads") ? sizes.runners.shared : sizes.runners.unshared;
    expect(sizes.index + runner + chunk, `heed with ${name}`).toBeLessThanOrEqual(75_000);
    expect(sizes.assets + runner + hosted, `heed/assets with ${name}`).toBeLessThanOrEqual(75_000);
  }
});

test("a first call loads in two steps: the entry, then everything that the entry imports", () => {
  const imports = (name: string): readonly string[] => {
    const code = readFileSync(new URL(`../../dist/${name}.js`, import.meta.url), "utf8");
    return Array.from(code.matchAll(/\b(?:from|import)\s*"\.\/([^"]+)\.js"/g), ([, imported = ""]) => imported);
  };
  const variants = Object.keys(sizes.variants).flatMap((name) => [name, `glue-${name}`]);
  for (const name of ["index", "assets", "shared-runner", "unshared-runners", ...variants]) {
    expect(imports(name), name).toEqual([]);
  }
});

test("what training loads beside layers is within 125 kB brotli", () => {
  for (const [name, { chunk }] of Object.entries(sizes.training)) {
    expect(sizes.train + chunk, `${name}, with heed/train`).toBeLessThanOrEqual(125_000);
  }
});

test("what stored weights load beside layers is within 125 kB brotli", () => {
  for (const [name, { chunk }] of Object.entries(sizes.narrow)) {
    expect(chunk, name).toBeLessThanOrEqual(125_000);
  }
});

test("the views are within 10 kB brotli, with all that they load", () => {
  expect(sizes.viz).toBeLessThanOrEqual(10_000);
});
