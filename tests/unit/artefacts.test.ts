// The sixteen artefacts are what their names say, so that a test of a variant is a test of it.

import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { decodeText } from "../../web/src/backends/wasm/binary.js";
import { MODULES } from "../../web/src/backends/wasm/inlined.js";
import { full, narrow, training } from "../../web/src/backends/wasm/inlined-more.js";

/** f32x4.relaxed_madd as it stands in a binary. */
const RELAXED_MADD = Buffer.of(0xfd, 0x85, 0x02);

const built = (variant: string, suffix: string): Buffer =>
  readFileSync(new URL(`../../build/${variant}/${variant}${suffix}.wasm`, import.meta.url));

const TABLES = { core: MODULES.core, full, training, narrow };

const ARTEFACTS = (["wasm-simd", "wasm-relaxed", "wasm-simd-threads", "wasm-relaxed-threads"] as const).flatMap(
  (name) => (["core", "full", "training", "narrow"] as const).map((module) => ({ name, module })),
);

describe.each(ARTEFACTS)("$name, $module", ({ name, module }) => {
  test("is inlined as it was built", async () => {
    const binary = decodeText((await TABLES[module][name]()).binary);
    expect(built(name, module === "core" ? "" : `-${module}`).equals(binary)).toBe(true);
  });

  test("shares its memory and fuses its sums if and only if its name says so: stored weights never do", async () => {
    const binary = decodeText((await TABLES[module][name]()).binary);
    const imports = WebAssembly.Module.imports(await WebAssembly.compile(binary));
    expect(imports.some(({ kind }) => kind === "memory")).toBe(name.endsWith("-threads"));
    const bytes = Buffer.from(binary);
    let fused = 0;
    for (let at = bytes.indexOf(RELAXED_MADD); at !== -1; at = bytes.indexOf(RELAXED_MADD, at + 1)) fused += 1;
    // Twelve in each tile; by chance the three bytes meet once in 16 million.
    // What is loaded for something else has nothing of it.
    expect(bytes.includes("weights of this format")).toBe(module === "narrow");
    if (name.includes("relaxed") && module !== "narrow") expect(fused).toBeGreaterThan(24);
    else expect(fused).toBe(0);
  });
});

test("an engine with relaxed SIMD but not its dot products gets the module of plain SIMD, of the same memory", async () => {
  const validate = vi.spyOn(WebAssembly, "validate").mockReturnValue(false);
  try {
    for (const end of ["", "-threads"] as const) {
      expect(await narrow[`wasm-relaxed${end}`]()).toBe(await narrow[`wasm-simd${end}`]());
    }
    validate.mockRestore();
    expect(await narrow["wasm-relaxed"]()).not.toBe(await narrow["wasm-simd"]());
  } finally {
    validate.mockRestore();
  }
});
