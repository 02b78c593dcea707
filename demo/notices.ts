// The licences of what the site holds of others, as a file of the site: those of heed's binaries, and Vite's, which writes into each page
// how its parts are loaded.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

export const NOTICES = "THIRD-PARTY-NOTICES.txt";

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");

function text(): string {
  const rule = "=".repeat(78);
  const [vite = ""] = read("../node_modules/vite/LICENSE.md").split("# Licenses of bundled dependencies");
  return `${read(`../dist/${NOTICES}`)}\n${rule}\nVite\n${rule}\n\n${vite.trim()}\n`;
}

export function notices(): Plugin {
  return {
    name: "notices",
    configureServer({ middlewares }) {
      middlewares.use(`/${NOTICES}`, (_request, response) => response.end(text()));
    },
    generateBundle() {
      this.emitFile({ type: "asset", fileName: NOTICES, source: text() });
    },
  };
}
