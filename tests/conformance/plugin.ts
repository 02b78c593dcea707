// Gives tests, in Node and in a page, the open third-party cases as one virtual module; null where their folder is missing.
// The cases are read where they lie (HEED_CONFORMANCE, else ../shared/conformance) and never copied.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const ID = "virtual:conformance";
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export function conformanceFolder(): string {
  return join(resolve(process.env["HEED_CONFORMANCE"] ?? join(root, "../shared/conformance")), "onnx");
}

export function conformance(): Plugin {
  return {
    name: "heed-conformance",
    resolveId: (id) => (id === ID ? `\0${ID}` : null),
    load: (id) => (id === `\0${ID}` ? moduleText(conformanceFolder()) : null),
  };
}

function moduleText(folder: string): string {
  const required = process.env["HEED_CONFORMANCE_REQUIRED"] === "1";
  const present = existsSync(join(folder, "cases.json"));
  const set = present
    ? `{ index: ${readFileSync(join(folder, "cases.json"), "utf8")}, bytes: Uint8Array.from(atob("${readFileSync(join(folder, "cases.bin"), "base64")}"), (one) => one.charCodeAt(0)) }`
    : "null";
  return `export const set = ${set}; export const required = ${required}; export const folder = ${JSON.stringify(folder)};`;
}
