// The record of versions has this one, with the sizes that the build measures: whoever releases runs `npm run record`.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { recordPage, sizesOf } from "../../scripts/lib/record.js";

const text = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const versions: Parameters<typeof recordPage>[0] = JSON.parse(text("docs/record.json"));
const { version }: { version: string } = JSON.parse(text("package.json"));

/** Of another compiler, as on macOS, modules have other sizes: those on Linux are released. */
const isReleased = (name: string): boolean => process.platform === "linux" || !name.startsWith("module ");

/** A commit may change a size by this share before it is recorded anew. */
const SHARE = 0.015;

test("this version is recorded, with its sizes, its speeds and the machine", () => {
  const [newest] = versions;
  expect(newest?.version).toBe(version);
  const measured = sizesOf(JSON.parse(text("build/sizes.json")));
  expect(Object.keys(newest?.bytes ?? {})).toEqual(Object.keys(measured));
  for (const [name, bytes] of Object.entries(measured).filter(([name]) => isReleased(name)))
    expect(Math.abs((newest?.bytes[name] ?? 0) / bytes - 1), `${name}: npm run record`).toBeLessThan(SHARE);
  expect(Object.values(newest?.ms ?? {}).every((ms) => ms > 0)).toBe(true);
  expect(newest?.machine).toMatch(/cores, Node \d/);
});

test("each version is recorded once", () => {
  expect(new Set(versions.map((one) => one.version)).size).toBe(versions.length);
});

test("the page says what the record says", () => {
  expect(text("docs/record.md")).toBe(recordPage(versions));
});
