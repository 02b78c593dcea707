// Code copied from the demo, run as a person would run it.

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright";
import { expect } from "vitest";

const run = promisify(execFile);

/** Presses the button and reads the clipboard. */
export async function copied(page: Page, kind: "heed" | "torch"): Promise<string> {
  const panel = page.locator(".code-panel");
  await page.getByRole("radio", { name: "Code", exact: true }).check();
  await panel.getByRole("radio", { name: kind === "heed" ? "heed" : "PyTorch" }).check();
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await panel.getByRole("button", { name: "Copy" }).click();
  await panel.getByRole("button", { name: "Copied" }).waitFor();
  const read = () => page.evaluate(() => navigator.clipboard.readText());
  // "Copied" may still be there from the time before.
  await expect.poll(read).not.toBe("");
  await page.getByRole("radio", { name: "Arithmetic", exact: true }).check();
  return read();
}

/** The copied code against the built package, beside these files, with one line more that prints all numbers. */
export async function runUnderNode(
  code: string,
  files: ReadonlyMap<string, Uint8Array> = new Map(),
): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), "heed-copied-"));
  try {
    const built = (name: string): string => JSON.stringify(new URL(`../../../dist/${name}.js`, import.meta.url).href);
    for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
    const print = 'process.stdout.write("\\n" + JSON.stringify([...output.data]));\n';
    const found = code
      .replace('"heed"', built("index"))
      .replace('"heed/expr"', built("expr"))
      .replace('"heed/layers"', built("exports/layers"))
      // What a page fetches is read here.
      .replace(/loadSafetensors\("(\.\/.+?)"\)/, (_, path) => {
        const address = JSON.stringify(new URL(path, `file://${folder}/`).href);
        return `loadSafetensors(await (await import("node:fs/promises")).readFile(new URL(${address})))`;
      });
    writeFileSync(join(folder, "copied.mjs"), found + print);
    const { stdout } = await run(process.execPath, [join(folder, "copied.mjs")], { timeout: 20_000 });
    return JSON.parse(stdout.slice(stdout.lastIndexOf("\n")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
